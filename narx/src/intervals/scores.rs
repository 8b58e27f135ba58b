use serde::Serialize;

use super::interval::{Interval, interval_score};
use crate::Error;

/// How many values intervals held, and how wide they were for that.
///
/// Never NaN or infinite, so it can be written as JSON: a mean that is too large for a number is
/// `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IntervalScores {
    /// Rows that were scored: those with a true value and an interval.
    pub rows: usize,
    /// Share of these rows whose value lies in its interval, from 0 to 1.
    pub coverage: f64,
    /// Mean width, in the unit of the series.
    pub mean_width: Option<f64>,
    /// Mean of [`interval_score`], in the unit of the series. Smaller is better.
    pub interval_score: Option<f64>,
}

impl IntervalScores {
    /// Scores `intervals`, one for each of `truth`, that were to hold the share `coverage`.
    ///
    /// A pair of which one is missing (NaN or infinite) is left out.
    ///
    /// # Errors
    /// [`Error::Setting`] if `coverage` is not between 0 and 1, [`Error::Count`] if the lengths
    /// differ, [`Error::TooFewRows`] if no pair is complete.
    ///
    /// # Example
    /// ```
    /// use narx::{Interval, IntervalScores};
    /// let interval = Interval { low: 1.0, high: 3.0 };
    /// let scores = IntervalScores::of(&[2.0, 4.0], &[interval; 2], 0.5)?;
    /// assert_eq!((scores.coverage, scores.mean_width), (0.5, Some(2.0)));
    /// assert_eq!(scores.interval_score, Some((2.0 + 6.0) / 2.0));
    /// # Ok::<(), narx::Error>(())
    /// ```
    pub fn of(truth: &[f64], intervals: &[Interval], coverage: f64) -> Result<Self, Error> {
        let in_range = coverage > 0.0 && coverage < 1.0;
        Error::check("coverage", "between 0 and 1", coverage, in_range)?;
        if truth.len() != intervals.len() {
            return Err(Error::Count {
                what: "intervals",
                expected: truth.len(),
                got: intervals.len(),
            });
        }
        let pairs = truth.iter().zip(intervals);
        let pairs: Vec<(f64, Interval)> = pairs
            .filter(|(y, interval)| y.is_finite() && interval.is_known())
            .map(|(y, interval)| (*y, *interval))
            .collect();
        if pairs.is_empty() {
            return Err(Error::TooFewRows { got: 0, needed: 1 });
        }
        let held = pairs.iter().filter(|(y, interval)| interval.contains(*y));
        Ok(Self {
            rows: pairs.len(),
            coverage: held.count() as f64 / pairs.len() as f64,
            mean_width: mean(&pairs, |(_, interval)| interval.width()),
            interval_score: mean(&pairs, |(y, interval)| {
                interval_score(y, interval, coverage)
            }),
        })
    }
}

fn mean(pairs: &[(f64, Interval)], of: impl Fn((f64, Interval)) -> f64) -> Option<f64> {
    let mean = pairs.iter().map(|pair| of(*pair)).sum::<f64>() / pairs.len() as f64;
    mean.is_finite().then_some(mean)
}
