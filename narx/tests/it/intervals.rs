//! Intervals of one width, and the scores of any.

use approx::assert_relative_eq;
use narx::{Error, Interval, IntervalScores, SplitConformal, interval_score};
use proptest::prelude::*;

const NAN: f64 = f64::NAN;

/// A handful of sums.
const ROUNDING: f64 = 1e-12;

fn of(low: f64, high: f64) -> Interval {
    Interval { low, high }
}

#[test]
fn the_interval_score_follows_its_formula() {
    // Too low by 0.5, 2 / 0.1 each.
    assert_relative_eq!(
        interval_score(0.5, of(1.0, 4.0), 0.9),
        3.0 + 10.0,
        max_relative = ROUNDING
    );
    assert_eq!(interval_score(1.0, of(1.0, 4.0), 0.9), 3.0);
    assert_eq!(interval_score(7.0, of(1.0, 4.0), 0.5), 3.0 + 12.0);
    for coverage in [0.0, 1.0, -0.5, NAN] {
        assert!(interval_score(1.0, of(1.0, 4.0), coverage).is_nan());
    }
    assert!(interval_score(NAN, of(1.0, 4.0), 0.9).is_nan());
    assert!(interval_score(1.0, of(NAN, 4.0), 0.9).is_nan());
}

#[test]
fn an_interval_holds_its_ends_and_nothing_that_is_missing() {
    let interval = of(1.0, 4.0);
    assert!(interval.contains(1.0) && interval.contains(4.0));
    assert!(!interval.contains(0.999) && !interval.contains(NAN));
    assert!(!of(NAN, NAN).contains(1.0));
    assert_eq!(interval.width(), 3.0);
}

#[test]
fn interval_scores_leave_out_missing_pairs() {
    let truth = [1.0, NAN, 5.0, 2.0];
    let intervals = [of(0.0, 2.0), of(0.0, 2.0), of(0.0, 4.0), of(NAN, NAN)];
    let scores = IntervalScores::of(&truth, &intervals, 0.5).unwrap();
    assert_eq!((scores.rows, scores.coverage), (2, 0.5));
    assert_eq!(scores.mean_width, Some(3.0));
    assert_eq!(scores.interval_score, Some((2.0 + 8.0) / 2.0));
}

#[test]
fn interval_scores_without_a_number_are_missing() {
    let widest = of(-f64::MAX, f64::MAX);
    let scores = IntervalScores::of(&[1.0], &[widest], 0.9).unwrap();
    assert_eq!((scores.coverage, scores.mean_width), (1.0, None));
    assert_eq!(scores.interval_score, None);
    let json = serde_json::to_value(&scores).unwrap();
    assert!(json["mean_width"].is_null() && json["coverage"].is_number());
}

#[test]
fn intervals_that_cannot_be_scored_are_refused() {
    let count = Error::Count {
        what: "intervals",
        expected: 2,
        got: 1,
    };
    let one = [of(0.0, 1.0)];
    assert_eq!(IntervalScores::of(&[1.0, 2.0], &one, 0.9), Err(count));
    let nothing = Err(Error::TooFewRows { got: 0, needed: 1 });
    assert_eq!(IntervalScores::of(&[NAN], &one, 0.9), nothing);
    assert!(matches!(
        IntervalScores::of(&[1.0], &one, 1.0),
        Err(Error::Setting {
            name: "coverage",
            ..
        })
    ));
}

/// The smallest half width that holds enough residuals, by trying all.
fn naive_half_width(residuals: &[f64], hundredths: usize) -> Option<f64> {
    let needed = ((residuals.len() + 1) * hundredths).div_ceil(100);
    let held = |half: f64| residuals.iter().filter(|r| r.abs() <= half).count();
    let halves = residuals.iter().map(|r| r.abs());
    halves
        .filter(|half| held(*half) >= needed)
        .min_by(f64::total_cmp)
}

#[test]
fn too_few_residuals_are_told_with_the_number_needed() {
    for (coverage, needed) in [(0.5, 1), (0.8, 4), (0.9, 9), (0.95, 19), (0.99, 99)] {
        let residuals = vec![1.0; needed];
        assert!(SplitConformal::fit(&residuals, coverage).is_ok());
        let got = needed - 1;
        assert_eq!(
            SplitConformal::fit(&residuals[..got], coverage),
            Err(Error::TooFewRows { got, needed })
        );
    }
    for coverage in [0.0, 1.0, NAN] {
        assert!(matches!(
            SplitConformal::fit(&[1.0; 100], coverage),
            Err(Error::Setting {
                name: "coverage",
                ..
            })
        ));
    }
}

#[test]
fn scaled_residuals_give_intervals_in_proportion_to_the_scale() {
    let scales = [1.0, 2.0, 4.0, NAN, 0.0, 8.0];
    let residuals = [0.5, -2.0, 8.0, 3.0, 3.0, 0.0];
    let conformal = SplitConformal::fit_with_scales(&residuals, &scales, 0.6).unwrap();
    assert_eq!(conformal.half_width(), 1.0); // of 0, 0.5, 1 and 2
    assert_eq!(conformal.interval_with_scale(10.0, 3.0), of(7.0, 13.0));
    assert_eq!(conformal.interval(10.0), of(9.0, 11.0));
    for scale in [0.0, -1.0, NAN, f64::INFINITY] {
        assert!(conformal.interval_with_scale(10.0, scale).low.is_nan());
    }
    assert!(conformal.interval(NAN).low.is_nan());
    assert!(matches!(
        SplitConformal::fit_with_scales(&residuals, &[1.0], 0.6),
        Err(Error::Count { what: "scales", .. })
    ));
}

#[test]
fn a_half_width_that_is_none_is_refused() {
    for half_width in ["-1.0", "null", "1e999"] {
        let text = format!(r#"{{"half_width":{half_width}}}"#);
        assert!(serde_json::from_str::<SplitConformal>(&text).is_err());
    }
    let conformal = SplitConformal::fit(&[0.1, 0.7, 0.3], 0.7).unwrap();
    let text = serde_json::to_string(&conformal).unwrap();
    assert_eq!(
        serde_json::from_str::<SplitConformal>(&text).unwrap(),
        conformal
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn half_the_width_is_the_exact_quantile(
        residuals in prop::collection::vec(-9..9i32, 0..60), hundredths in 1..100usize,
    ) {
        let residuals: Vec<f64> = residuals.into_iter().map(f64::from).collect();
        let fitted = SplitConformal::fit(&residuals, hundredths as f64 / 100.0);
        let half_width = fitted.ok().map(|conformal| conformal.half_width());
        prop_assert_eq!(half_width, naive_half_width(&residuals, hundredths));
    }
}
