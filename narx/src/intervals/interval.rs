use serde::{Deserialize, Serialize};

/// Where a value is expected to lie, both ends included, in the unit of the series.
///
/// Both ends are NaN where there is no forecast.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// What stands for an interval where there is none.
    pub(super) const MISSING: Self = Self {
        low: f64::NAN,
        high: f64::NAN,
    };

    /// `half` to each side of a finite forecast, as far as there are numbers.
    pub(super) fn around(forecast: f64, half: f64) -> Self {
        Self {
            low: (forecast - half).max(f64::MIN),
            high: (forecast + half).min(f64::MAX),
        }
    }

    /// Whether `y` lies in it. Nothing lies in a missing interval, and a missing `y` in none.
    pub fn contains(&self, y: f64) -> bool {
        self.low <= y && y <= self.high
    }

    /// Upper less lower end; infinite if there is no number for that.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// Whether both ends are numbers.
    pub(super) fn is_known(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }
}

/// The interval score: the width, and 2 / (1 − `coverage`) times how far `truth` is outside
/// (Gneiting and Raftery 2007, "Strictly proper scoring rules, prediction, and estimation",
/// equation 43).
///
/// In the unit of the series; smaller is better, and the true quantiles are best on average. NaN
/// if the truth or the interval is missing or `coverage` is not between 0 and 1; infinite if there
/// is no number for it.
///
/// # Example
/// ```
/// use narx::{Interval, interval_score};
/// let interval = Interval { low: 2.0, high: 5.0 };
/// assert_eq!(interval_score(4.0, interval, 0.75), 3.0);
/// assert_eq!(interval_score(6.0, interval, 0.75), 3.0 + 8.0);
/// ```
pub fn interval_score(truth: f64, interval: Interval, coverage: f64) -> f64 {
    let in_range = coverage > 0.0 && coverage < 1.0;
    if !(truth.is_finite() && interval.is_known() && in_range) {
        return f64::NAN;
    }
    let outside = (interval.low - truth).max(truth - interval.high).max(0.0);
    interval.width() + 2.0 / (1.0 - coverage) * outside
}
