//! Properties of a profile that hold through its public interface.

mod curve;
mod json;

use std::collections::BTreeMap;

use gpu_profile::{DeviceInfo, Point, Profile};
use proptest::prelude::*;

/// Profiles of up to twelve points with times from `seconds`, without optional keys.
fn profile(
    batches: std::ops::RangeInclusive<u32>,
    seconds: impl Strategy<Value = f64>,
) -> impl Strategy<Value = Profile> {
    let timings = prop_oneof![Just(1), 1..50u32, Just(u32::MAX)];
    prop::collection::btree_map(batches, (seconds, timings), 1..=12).prop_map(from_medians)
}

fn from_medians(medians: BTreeMap<u32, (f64, u32)>) -> Profile {
    let points = medians.into_iter().map(|(batch, (median_s, n))| {
        let mut point = Point::new(batch, median_s);
        point.n = n;
        point
    });
    Profile::new(
        DeviceInfo::new("virtual", "formula"),
        points.collect(),
        None,
    )
    .unwrap()
}

/// Every finite positive number, down to the subnormal ones.
fn any_seconds() -> impl Strategy<Value = f64> {
    use prop::num::f64::{NORMAL, POSITIVE, SUBNORMAL};
    POSITIVE | NORMAL | SUBNORMAL
}
