use serde::{Deserialize, Serialize};

use super::interval::Interval;
use crate::Error;

/// Products that should be whole numbers, such as 10 · 0.9, are so to within this share.
const ROUNDING: f64 = 1e-12;

/// Intervals of one width, from the errors on rows that the model was not trained on.
///
/// Split conformal prediction (Vovk, Gammerman and Shafer 2005, "Algorithmic learning in a random
/// world"; Lei et al. 2018, "Distribution-free predictive inference for regression", algorithm 2).
/// If the errors are exchangeable, an interval holds the next value with a probability of at least
/// `coverage`, and at most 1 / (n + 1) more if no two errors are equal. A series that changes
/// breaks that promise; [`AdaptiveConformal`](crate::AdaptiveConformal) is for those.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct SplitConformal(State);

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct State {
    half_width: f64,
}

impl SplitConformal {
    /// Half the width is the k-th smallest |residual|, with k = ⌈(n + 1) · `coverage`⌉.
    ///
    /// `residuals` are true value less forecast, of rows that the model was not trained on, in the
    /// unit of the series; the n finite ones count.
    ///
    /// # Errors
    /// [`Error::Setting`] if `coverage` is not between 0 and 1, [`Error::TooFewRows`] if k is
    /// above n: 90 % takes 9 residuals, 95 % takes 19.
    ///
    /// # Example
    /// ```
    /// use narx::{Interval, SplitConformal};
    /// let residuals = [0.1, -0.4, 0.2, 0.0, -0.3, 0.6, -0.5, 0.9, -0.7];
    /// let conformal = SplitConformal::fit(&residuals, 0.8)?;
    /// assert_eq!(conformal.half_width(), 0.7); // the 8th smallest of 9
    /// assert_eq!(conformal.interval(2.0), Interval { low: 1.3, high: 2.7 });
    /// # Ok::<(), narx::Error>(())
    /// ```
    pub fn fit(residuals: &[f64], coverage: f64) -> Result<Self, Error> {
        let sizes = residuals.iter().map(|r| r.abs());
        Self::of_sizes(sizes.filter(|size| size.is_finite()).collect(), coverage)
    }

    /// The same with residuals in units of `scales`, one a residual, such as the standard
    /// deviation that the model foresaw for that row (Lei et al. 2018, section 5.2). Then
    /// [`interval_with_scale`](Self::interval_with_scale) gives the intervals.
    ///
    /// Rows whose scale is not a positive number are left out.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and [`Error::Count`] if the lengths differ.
    pub fn fit_with_scales(
        residuals: &[f64],
        scales: &[f64],
        coverage: f64,
    ) -> Result<Self, Error> {
        if residuals.len() != scales.len() {
            return Err(Error::Count {
                what: "scales",
                expected: residuals.len(),
                got: scales.len(),
            });
        }
        let rows = residuals.iter().zip(scales);
        let sizes = rows
            .filter(|(residual, scale)| residual.is_finite() && is_scale(**scale))
            .map(|(residual, scale)| (residual / scale).abs().min(f64::MAX));
        Self::of_sizes(sizes.collect(), coverage)
    }

    fn of_sizes(mut sizes: Vec<f64>, coverage: f64) -> Result<Self, Error> {
        let in_range = coverage > 0.0 && coverage < 1.0;
        Error::check("coverage", "between 0 and 1", coverage, in_range)?;
        let rank = rank(sizes.len(), coverage);
        if rank > sizes.len() {
            return Err(Error::TooFewRows {
                got: sizes.len(),
                needed: needed(coverage),
            });
        }
        let (_, half_width, _) = sizes.select_nth_unstable_by(rank - 1, f64::total_cmp);
        Self::try_from(State {
            half_width: *half_width,
        })
    }

    /// Half the width of every interval, in the unit of the series, or in that of the scales.
    pub fn half_width(&self) -> f64 {
        self.0.half_width
    }

    /// Where the value is expected, given its forecast. Missing if the forecast is.
    pub fn interval(&self, forecast: f64) -> Interval {
        self.interval_with_scale(forecast, 1.0)
    }

    /// The same for a row with a scale. Missing if the scale is not a positive number.
    pub fn interval_with_scale(&self, forecast: f64, scale: f64) -> Interval {
        if !(forecast.is_finite() && is_scale(scale)) {
            return Interval::MISSING;
        }
        Interval::around(forecast, self.0.half_width * scale)
    }
}

/// Which of n sorted values is the quantile, from 1; above n if they are too few.
fn rank(n: usize, coverage: f64) -> usize {
    let exact = (n as f64 + 1.0) * coverage;
    let whole = exact.round();
    let rank = match (exact - whole).abs() <= ROUNDING * exact {
        true => whole,
        false => exact.ceil(),
    };
    (rank as usize).max(1)
}

/// The fewest values that have the quantile: coverage / (1 − coverage), rounded up.
fn needed(coverage: f64) -> usize {
    let about = (coverage / (1.0 - coverage)) as usize;
    let mut counts = about.saturating_sub(1).max(1)..;
    let enough = counts.find(|&n| rank(n, coverage) <= n);
    enough.expect("one more row at most: the ratio was only rounded")
}

fn is_scale(scale: f64) -> bool {
    scale > 0.0 && scale.is_finite()
}

impl TryFrom<State> for SplitConformal {
    type Error = Error;

    fn try_from(state: State) -> Result<Self, Error> {
        let in_range = state.half_width >= 0.0 && state.half_width.is_finite();
        let expected = "finite and not negative";
        Error::check("half_width", expected, state.half_width, in_range)?;
        Ok(Self(state))
    }
}

impl From<SplitConformal> for State {
    fn from(conformal: SplitConformal) -> Self {
        conformal.0
    }
}
