use approx::assert_relative_eq;
use gpu_profile::{Error, Point, Profile};
use proptest::prelude::*;

use super::{any_seconds, profile};

/// Both sides round a weighted mean of at most twelve values: a few dozen units in the last place.
const ROUNDING: f64 = 1e-13;

proptest! {
    #[test]
    fn seconds_never_fall_and_stay_within_the_knots(profile in profile(1..=300, any_seconds())) {
        let (first, last) = ends(&profile);
        let mut before = first.1;
        for batch in 1..=last.0 {
            let seconds = profile.seconds(batch)?;
            prop_assert!(before <= seconds && seconds <= last.1);
            before = seconds;
        }
    }

    #[test]
    fn seconds_never_fall_between_distant_knots(
        profile in profile(1..=u32::MAX, any_seconds()),
        at in any::<prop::sample::Index>(),
    ) {
        let (first, last) = ends(&profile);
        let batch = 1 + at.index(last.0 as usize) as u32;
        let (here, next) = (profile.seconds(batch)?, profile.seconds(last.0.min(batch.saturating_add(1)))?);
        prop_assert!(first.1 <= here && here <= next && next <= last.1);
    }

    #[test]
    fn seconds_are_exact_at_the_knots_and_refused_beyond(profile in profile(1..=300, any_seconds())) {
        for &(batch, seconds) in profile.knots() {
            prop_assert_eq!(profile.seconds(batch)?.to_bits(), seconds.to_bits());
        }
        let (_, (last_measured, _)) = ends(&profile);
        let batch = last_measured + 1;
        prop_assert_eq!(profile.seconds(batch), Err(Error::BeyondMeasured { batch, last_measured }));
    }

    #[test]
    fn knots_never_fall_and_match_the_measured_batches(profile in profile(1..=u32::MAX, any_seconds())) {
        prop_assert!(profile.knots().is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1));
        let knots = profile.knots().iter().map(|knot| knot.0);
        prop_assert!(knots.eq(profile.points().iter().map(|point| point.batch)));
    }

    #[test]
    fn knots_are_the_nearest_sequence_that_never_falls(profile in profile(1..=100, 1e-4..1.0f64)) {
        for (i, &(_, seconds)) in profile.knots().iter().enumerate() {
            assert_relative_eq!(seconds, isotonic_at(profile.points(), i), max_relative = ROUNDING);
        }
    }
}

fn ends(profile: &Profile) -> ((u32, f64), (u32, f64)) {
    let knots = profile.knots();
    (knots[0], knots[knots.len() - 1])
}

/// The max-min formula of isotonic regression, which needs no pooling: of all runs of points around
/// the i-th, the greatest over the starts of the least mean over the ends.
fn isotonic_at(points: &[Point], i: usize) -> f64 {
    let least = |start: usize| {
        let means = (i..points.len()).map(|end| mean(&points[start..=end]));
        means.fold(f64::INFINITY, f64::min)
    };
    (0..=i).map(least).fold(0.0, f64::max)
}

fn mean(points: &[Point]) -> f64 {
    let total: f64 = points.iter().map(|p| f64::from(p.n) * p.median_s).sum();
    total / points.iter().map(|p| f64::from(p.n)).sum::<f64>()
}
