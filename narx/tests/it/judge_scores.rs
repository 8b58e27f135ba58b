//! Scores of forecasts.

use approx::assert_relative_eq;
use narx::{Error, Scores, naive_mae};
use proptest::prelude::*;

const NAN: f64 = f64::NAN;

/// A handful of sums and roots.
const ROUNDING: f64 = 1e-12;

#[test]
fn scores_follow_their_formulas() {
    // Errors 1, -1, 2, 0 around a truth of mean 5 with squared deviations 9 + 1 + 1 + 9.
    let scores = Scores::of(&[2.0, 4.0, 6.0, 8.0], &[1.0, 5.0, 4.0, 8.0], 2.0).unwrap();
    assert_eq!(scores.rows, 4);
    assert_relative_eq!(scores.rmse, 1.5_f64.sqrt(), max_relative = ROUNDING);
    assert_relative_eq!(scores.mae, 1.0, max_relative = ROUNDING);
    let nrmse = 0.3_f64.sqrt();
    assert_relative_eq!(scores.nrmse.unwrap(), nrmse, max_relative = ROUNDING);
    let fit = 100.0 - 100.0 * nrmse;
    assert_relative_eq!(scores.fit_pct.unwrap(), fit, max_relative = ROUNDING);
    assert_relative_eq!(scores.r2.unwrap(), 0.7, max_relative = ROUNDING);
    assert_relative_eq!(scores.mase.unwrap(), 0.5, max_relative = ROUNDING);
}

#[test]
fn a_perfect_forecast_has_the_best_scores() {
    let truth = [3.0, 1.0, 4.0];
    let scores = Scores::of(&truth, &truth, 1.0).unwrap();
    assert_eq!((scores.rmse, scores.mae), (0.0, 0.0));
    assert_eq!(scores.nrmse, Some(0.0));
    assert_eq!(scores.fit_pct, Some(100.0));
    assert_eq!((scores.r2, scores.mase), (Some(1.0), Some(0.0)));
}

#[test]
fn the_mean_as_forecast_explains_nothing() {
    let scores = Scores::of(&[1.0, 2.0, 6.0], &[3.0; 3], 1.0).unwrap();
    assert_eq!(scores.nrmse, Some(1.0));
    assert_eq!((scores.fit_pct, scores.r2), (Some(0.0), Some(0.0)));
}

#[test]
fn pairs_with_a_missing_value_are_left_out() {
    let truth = [1.0, NAN, 3.0, 9.0, f64::INFINITY, 5.0];
    let forecast = [1.5, 2.0, 3.5, NAN, 1.0, 4.5];
    let whole = Scores::of(&truth, &forecast, 1.0).unwrap();
    let complete = Scores::of(&[1.0, 3.0, 5.0], &[1.5, 3.5, 4.5], 1.0).unwrap();
    assert_eq!(whole, complete);
    assert_eq!((whole.rows, whole.rmse), (3, 0.5));
}

#[test]
fn what_cannot_be_scored_is_refused() {
    assert_eq!(
        Scores::of(&[1.0, 2.0], &[1.0], 1.0),
        Err(Error::Count {
            what: "forecasts",
            expected: 2,
            got: 1
        })
    );
    let nothing = Err(Error::TooFewRows { got: 0, needed: 1 });
    assert_eq!(Scores::of(&[], &[], 1.0), nothing);
    assert_eq!(Scores::of(&[1.0, NAN], &[NAN, 1.0], 1.0), nothing);
}

#[test]
fn a_constant_truth_has_no_relative_score() {
    // 0.1 thirty times has a mean that is not 0.1 to the last bit.
    let scores = Scores::of(&[0.1; 30], &[0.2; 30], 0.0).unwrap();
    assert_relative_eq!(scores.rmse, 0.1, max_relative = ROUNDING);
    assert_eq!(
        (scores.nrmse, scores.fit_pct, scores.r2, scores.mase),
        (None, None, None, None)
    );
    let json = serde_json::to_value(&scores).unwrap();
    assert!(json["nrmse"].is_null() && json["rmse"].is_number());
}

#[test]
fn a_spike_of_1e12_does_not_drown_the_scores() {
    let mut truth: Vec<f64> = (0..1000).map(f64::from).collect();
    truth[500] = 1e12;
    let forecast: Vec<f64> = truth.iter().map(|y| y + 1.0).collect();
    let scores = Scores::of(&truth, &forecast, 1.0).unwrap();
    assert_eq!((scores.rmse, scores.mae), (1.0, 1.0));
    assert_eq!(scores.r2, Some(1.0));
    let deviation = 1e12 * (0.001_f64 * 0.999).sqrt();
    assert_relative_eq!(
        scores.nrmse.unwrap(),
        1.0 / deviation,
        max_relative = 1e-6 // the other 999 rows
    );
}

#[test]
fn the_naive_error_knows_no_step_across_a_border_or_gap() {
    let runs: [&[f64]; 4] = [&[1.0, 2.0, NAN, 100.0, 97.0], &[0.0, 5.0], &[7.0], &[]];
    assert_eq!(naive_mae(runs), Ok(3.0));
    let alone: [&[f64]; 2] = [&[1.0, NAN, 2.0], &[3.0]];
    assert_eq!(
        naive_mae(alone),
        Err(Error::TooFewRows { got: 0, needed: 1 })
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn scores_are_always_numbers_or_missing(
        pairs in prop::collection::vec((any::<f64>(), any::<f64>()), 1..20), naive in any::<f64>(),
    ) {
        let (truth, forecast): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        if let Ok(scores) = Scores::of(&truth, &forecast, naive) {
            prop_assert!(scores.rmse.is_finite() && scores.mae.is_finite());
            for score in [scores.nrmse, scores.fit_pct, scores.r2, scores.mase] {
                prop_assert!(score.is_none_or(f64::is_finite));
            }
        }
    }

    #[test]
    fn the_unit_of_the_series_does_not_matter_to_relative_scores(
        pairs in prop::collection::vec((-1e3..1e3f64, -1e3..1e3f64), 2..20), exponent in -60..60,
    ) {
        let unit = 2_f64.powi(exponent);
        let (truth, forecast): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let scaled = |values: &[f64]| values.iter().map(|v| v * unit).collect::<Vec<f64>>();
        let one = Scores::of(&truth, &forecast, 1.0).unwrap();
        let other = Scores::of(&scaled(&truth), &scaled(&forecast), unit).unwrap();
        prop_assert_eq!(one.rmse * unit, other.rmse);
        prop_assert_eq!((one.r2, one.mase), (other.r2, other.mase));
    }
}
