use serde::Serialize;

use super::moments::{deviations, difference, is_constant, mean, root_mean_square};
use crate::Error;

/// How far forecasts were from what came true.
///
/// Never NaN or infinite, so it can be written as JSON: a score that is not defined, or too large
/// for a number, is `None`. The scores relative to the spread of the truth are not defined where
/// the truth does not vary (one scored row is enough for that), the one relative to the naive
/// forecast not where that one makes no error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scores {
    /// Rows that were scored: those with a true value and a forecast.
    pub rows: usize,
    /// Root of the mean squared error, in the unit of the series.
    pub rmse: f64,
    /// Mean absolute error, in the unit of the series.
    pub mae: f64,
    /// `rmse` over the standard deviation of the scored truth (divisor n). 1 is as good as its
    /// mean.
    pub nrmse: Option<f64>,
    /// How much of the truth is explained, in per cent: 100 · (1 − ‖error‖ / ‖truth − its mean‖).
    /// At most 100, below 0 if worse than the mean.
    pub fit_pct: Option<f64>,
    /// Coefficient of determination: 1 − Σ error² / Σ (truth − its mean)². At most 1.
    pub r2: Option<f64>,
    /// `mae` over that of forecasting the last value on the training rows (Hyndman and Koehler
    /// 2006, "Another look at measures of forecast accuracy"). Below 1 is better than that.
    pub mase: Option<f64>,
}

impl Scores {
    /// Scores `forecast`, which has one value for each of `truth`, both in the unit of the series.
    ///
    /// A pair of which one is missing (NaN or infinite) is left out. `naive_mae` is what
    /// [`naive_mae`] says of the training rows; anything but a positive number leaves
    /// [`mase`](Self::mase) out. Values up to the largest `f64` do no harm.
    ///
    /// # Errors
    /// [`Error::Count`] if the lengths differ, [`Error::TooFewRows`] if no pair is complete.
    ///
    /// # Example
    /// ```
    /// use narx::Scores;
    /// let scores = Scores::of(&[1.0, 2.0, 3.0, 6.0], &[1.0, 2.0, 3.0, 4.0], 0.5)?;
    /// assert_eq!((scores.rmse, scores.mae, scores.mase), (1.0, 0.5, Some(1.0)));
    /// # Ok::<(), narx::Error>(())
    /// ```
    pub fn of(truth: &[f64], forecast: &[f64], naive_mae: f64) -> Result<Self, Error> {
        if truth.len() != forecast.len() {
            return Err(Error::Count {
                what: "forecasts",
                expected: truth.len(),
                got: forecast.len(),
            });
        }
        let (truth, errors) = scored(truth, forecast);
        if errors.is_empty() {
            return Err(Error::TooFewRows { got: 0, needed: 1 });
        }
        let (rmse, mae) = (root_mean_square(&errors), mean_magnitude(&errors));
        let nrmse = match is_constant(&truth) {
            true => None,
            false => ratio(rmse, root_mean_square(&deviations(&truth))),
        };
        Ok(Self {
            rows: errors.len(),
            rmse,
            mae,
            nrmse,
            fit_pct: nrmse.and_then(|share| finite(100.0 * (1.0 - share))),
            r2: nrmse.and_then(|share| finite(1.0 - share * share)),
            mase: ratio(mae, naive_mae),
        })
    }
}

/// Mean |y(t) − y(t−1)| over the given runs, such as one slice of training rows per session, in
/// the unit of the series: the mean absolute error of forecasting the last value.
///
/// Only neighbours within a run count, and only where neither is missing (NaN or infinite).
///
/// # Errors
/// [`Error::TooFewRows`] if there are no such neighbours.
pub fn naive_mae<'a>(runs: impl IntoIterator<Item = &'a [f64]>) -> Result<f64, Error> {
    let neighbours = runs.into_iter().flat_map(|run| run.windows(2));
    let steps: Vec<f64> = neighbours
        .filter(|pair| pair.iter().all(|y| y.is_finite()))
        .map(|pair| difference(pair[1], pair[0]))
        .collect();
    if steps.is_empty() {
        return Err(Error::TooFewRows { got: 0, needed: 1 });
    }
    Ok(mean_magnitude(&steps))
}

/// The truth and the errors of the rows that have both values.
fn scored(truth: &[f64], forecast: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let pairs = truth.iter().zip(forecast);
    pairs
        .filter(|(y, guess)| y.is_finite() && guess.is_finite())
        .map(|(y, guess)| (*y, difference(*y, *guess)))
        .unzip()
}

fn mean_magnitude(values: &[f64]) -> f64 {
    mean(&values.iter().map(|v| v.abs()).collect::<Vec<f64>>())
}

fn ratio(of: f64, to: f64) -> Option<f64> {
    (to > 0.0 && to.is_finite())
        .then(|| of / to)
        .and_then(finite)
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
