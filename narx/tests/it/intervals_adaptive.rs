//! Intervals of a stream: what they promise of every step.

use narx::{AdaptiveConformal, Error, Interval};
use proptest::prelude::*;

const NAN: f64 = f64::NAN;

fn of(low: f64, high: f64) -> Interval {
    Interval { low, high }
}

#[test]
fn coverage_outside_its_range_is_refused() {
    for coverage in [0.0, 0.49, 0.9991, 1.0, NAN, f64::INFINITY] {
        assert!(matches!(
            AdaptiveConformal::new(coverage),
            Err(Error::Setting {
                name: "coverage",
                ..
            })
        ));
    }
}

#[test]
fn a_series_forecast_exactly_has_ever_narrower_intervals() {
    let mut conformal = AdaptiveConformal::new(0.9).unwrap();
    assert_eq!(conformal.interval(8.0), of(0.0, 16.0));
    for _ in 0..3 {
        conformal.observe(8.0, 8.0);
    }
    assert_eq!(conformal.interval(8.0), of(6.0, 10.0));
    assert!(conformal.interval(0.0).width() > 0.0);
    conformal.observe(9.0, 8.0);
    assert!(conformal.interval(8.0).width() > 0.1);
}

#[test]
fn what_is_missing_changes_nothing() {
    let mut conformal = AdaptiveConformal::new(0.9).unwrap();
    for k in 0..10 {
        conformal.observe(f64::from(k % 3), 1.0);
    }
    let before = conformal.clone();
    for (y, forecast) in [
        (NAN, 1.0),
        (1.0, NAN),
        (f64::INFINITY, 1.0),
        (1.0, -f64::INFINITY),
    ] {
        conformal.observe(y, forecast);
    }
    assert_eq!(conformal, before);
    conformal.observe_issued(1.0, 1.0, NAN, of(NAN, NAN));
    assert_eq!(conformal, before);
    assert!(conformal.interval(NAN).low.is_nan());
}

#[test]
fn a_state_that_no_stream_leads_to_is_refused() {
    let mut conformal = AdaptiveConformal::new(0.9).unwrap();
    (0..20).for_each(|k| conformal.observe(f64::from(k * k % 7), 3.0));
    let sound = serde_json::to_value(&conformal).unwrap();
    assert!(serde_json::from_value::<AdaptiveConformal>(sound.clone()).is_ok());
    for (pointer, values) in [
        ("/coverage", vec![0.4, 1.0]),
        ("/owed", vec![-21.0, 21.0, 1e300]),
        ("/scales/3", vec![-1.0, 0.0]),
        ("/running/5/log_multiplier", vec![-7.1, 7.1]),
        ("/running/0/loss", vec![-0.1]),
        ("/outside/loss", vec![-0.1]),
    ] {
        for value in values {
            let mut broken = sound.clone();
            *broken.pointer_mut(pointer).unwrap() = value.into();
            let read = serde_json::from_value::<AdaptiveConformal>(broken);
            assert!(read.is_err(), "{pointer} = {value}");
        }
    }
    let mut short = sound.clone();
    short["scales"].as_array_mut().unwrap().pop();
    assert!(serde_json::from_value::<AdaptiveConformal>(short).is_err());
    let fresh = serde_json::to_value(AdaptiveConformal::new(0.9).unwrap()).unwrap();
    let mut unseen = sound;
    unseen["seen"] = fresh["seen"].clone();
    assert!(serde_json::from_value::<AdaptiveConformal>(unseen).is_err());
}

#[test]
fn a_step_allocates_nothing() {
    let mut conformal = AdaptiveConformal::new(0.9).unwrap();
    let counted = allocation_counter::measure(|| {
        for k in 0..100 {
            let y = f64::from(k * k % 7);
            assert!(conformal.interval_with_sd(3.0, 1.0).low.is_finite());
            conformal.observe_with_sd(y, 3.0, 1.0);
        }
    });
    assert_eq!(counted.count_total, 0);
}

/// Numbers of every kind and size.
fn wild() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -10.0..10.0f64,
        Just(5.0),
        Just(0.0),
        Just(NAN),
        Just(f64::INFINITY),
        Just(1e300),
        Just(f64::MAX),
        Just(-f64::MAX),
        Just(f64::MIN_POSITIVE),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn an_interval_is_finite_and_holds_its_forecast(
        rows in prop::collection::vec((wild(), wild(), wild()), 1..200),
        coverage in 0.5..0.999f64, forecast in wild(), sd in wild(),
    ) {
        let mut conformal = AdaptiveConformal::new(coverage).unwrap();
        for (y, forecast, sd) in rows {
            conformal.observe_with_sd(y, forecast, sd);
        }
        let interval = conformal.interval_with_sd(forecast, sd);
        if forecast.is_finite() {
            prop_assert!(interval.low.is_finite() && interval.high.is_finite());
            prop_assert!(interval.low <= forecast && forecast <= interval.high);
            prop_assert!(interval.low < interval.high);
        } else {
            prop_assert!(interval.low.is_nan() && interval.high.is_nan());
        }
        let text = serde_json::to_string(&conformal).unwrap();
        prop_assert_eq!(serde_json::from_str::<AdaptiveConformal>(&text).unwrap(), conformal);
    }

    #[test]
    fn an_enemy_who_always_steps_just_outside_gets_no_infinite_interval(
        cases in prop::collection::vec((any::<bool>(), 1.0..10.0f64), 1..2000),
    ) {
        let mut conformal = AdaptiveConformal::new(0.9).unwrap();
        for (above, by) in cases {
            let interval = conformal.interval(1.0);
            prop_assert!(interval.low.is_finite() && interval.high.is_finite());
            let y = if above { interval.high } else { interval.low };
            conformal.observe(y * by, 1.0);
        }
    }

    #[test]
    fn the_unit_of_the_series_does_not_matter(
        series in prop::collection::vec(-10.0..10.0f64, 5..200), exponent in -60..60,
    ) {
        let unit = 2_f64.powi(exponent);
        let mut one = AdaptiveConformal::new(0.9).unwrap();
        let mut other = one.clone();
        for pair in series.windows(2) {
            one.observe(pair[1], pair[0]);
            other.observe(pair[1] * unit, pair[0] * unit);
        }
        let (one, other) = (one.interval(1.0), other.interval(unit));
        // The logarithm of a scale is rounded.
        prop_assert!((one.width() * unit / other.width() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn saved_intervals_continue_to_the_last_bit(
        rows in prop::collection::vec((-1e3..1e3f64, -1e3..1e3f64, 0.1..10.0f64), 1..80),
        cut in 0..80usize,
    ) {
        let mut conformal = AdaptiveConformal::new(0.9).unwrap();
        let (before, after) = rows.split_at(cut.min(rows.len()));
        before.iter().for_each(|&(y, f, sd)| conformal.observe_with_sd(y, f, sd));
        let text = serde_json::to_string(&conformal).unwrap();
        let mut restored: AdaptiveConformal = serde_json::from_str(&text).unwrap();
        for &(y, f, sd) in after {
            conformal.observe_with_sd(y, f, sd);
            restored.observe_with_sd(y, f, sd);
        }
        let (one, other) = (conformal.interval_with_sd(1.0, 2.0), restored.interval_with_sd(1.0, 2.0));
        prop_assert_eq!(one.low.to_bits(), other.low.to_bits());
        prop_assert_eq!(one.high.to_bits(), other.high.to_bits());
    }
}

#[test]
fn an_sd_that_was_never_tried_does_not_take_over() {
    let mut conformal = AdaptiveConformal::new(0.9).unwrap();
    for t in 0..1000 {
        conformal.observe(f64::from(t % 7), 3.0);
    }
    let usual = conformal.interval(3.0).width();
    let width = conformal.interval_with_sd(3.0, 1e6).width();
    assert!(width <= 1.5 * usual, "{width} {usual}");
}
