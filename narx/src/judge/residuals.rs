use std::ops::Range;

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::moments::{deviations, is_constant, root_mean_square};
use crate::Error;

/// Two-sided 95 % quantile of the normal distribution.
const QUANTILE: f64 = 1.96;

/// What forecasts left unexplained: truth less forecast, in one or several runs.
///
/// A run is one session's rows in their order. A missing residual (NaN or infinite) is a gap that
/// may have taken any time, so no two residuals on different sides of it are ever paired, and
/// neither are those of different runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Residuals {
    runs: Vec<Vec<f64>>,
}

/// Correlation coefficients by lag.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Correlogram {
    /// Rows that were used.
    pub rows: usize,
    /// Lag of the first value, in steps; the others follow one step apart.
    pub first_lag: i64,
    /// The coefficients, −1 to 1.
    pub values: Vec<f64>,
    /// Where no correlation is, 95 % of the values lie within ± this: 1.96 / √rows.
    pub limit: f64,
}

/// The test of Ljung and Box (1978), "On a measure of lack of fit in time series models".
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LjungBox {
    /// Q = n · (n + 2) · Σ r(k)² / (n − k) over the lags k.
    pub statistic: f64,
    /// Lags less fitted parameters.
    pub degrees_of_freedom: usize,
    /// Probability of a Q this large if the residuals are not correlated with their past.
    pub p_value: f64,
}

impl Residuals {
    /// The given runs of residuals.
    pub fn new(runs: Vec<Vec<f64>>) -> Self {
        Self { runs }
    }

    /// The runs, as they were given.
    pub fn runs(&self) -> &[Vec<f64>] {
        &self.runs
    }

    /// How the residuals go with those 0, 1, .. `max_lag` steps before; 1 at lag 0.
    ///
    /// At lag k this is Σ e(t) · e(t−k) / Σ e(t)² with the mean taken off, where the upper sum runs
    /// over the pairs within a run (Box, Jenkins and Reinsel, "Time Series Analysis", section 2.1).
    ///
    /// # Errors
    /// [`Error::TooFewRows`] with fewer than two residuals, [`Error::Constant`] if they do not
    /// vary, [`Error::Setting`] if no two residuals of a run without a gap are `max_lag` apart.
    pub fn autocorrelation(&self, max_lag: usize) -> Result<Correlogram, Error> {
        let pairs = self.with_themselves()?;
        pairs.check_reach("max_lag", max_lag)?;
        Ok(pairs.correlogram(0, max_lag as i64))
    }

    /// How the residuals go with an input, given as one run of values for each run of residuals.
    ///
    /// Lags are −`max_lag` to `max_lag`: at lag k the residual at step t meets the input at step
    /// t − k. So a value at a positive lag (or 0) says that the input's past still explains
    /// something, one at a negative lag that the input follows the residuals. Only rows that have
    /// both values count, and a row without is a gap.
    ///
    /// # Errors
    /// [`Error::Count`] if runs or their lengths differ, [`Error::TooFewRows`] with fewer than two
    /// rows, [`Error::Constant`] if either does not vary, [`Error::Setting`] if no two rows of a
    /// run without a gap are `max_lag` apart.
    pub fn cross_correlation(
        &self,
        input: &[&[f64]],
        max_lag: usize,
    ) -> Result<Correlogram, Error> {
        check_count("runs of the input", self.runs.len(), input.len())?;
        for (residuals, values) in self.runs.iter().zip(input) {
            check_count("values of the input", residuals.len(), values.len())?;
        }
        let pairs = Pairs::of(
            self.runs
                .iter()
                .map(Vec::as_slice)
                .zip(input.iter().copied()),
        )?;
        pairs.check_reach("max_lag", max_lag)?;
        Ok(pairs.correlogram(-(max_lag as i64), max_lag as i64))
    }

    /// Tests whether the residuals are correlated with those 1 to `lags` steps before.
    ///
    /// `fitted_parameters` is what the model behind the residuals has learnt from these very rows;
    /// 0 for rows that it has not seen. With gaps or several runs, the number of pairs stands in
    /// for n − k (Stoffer and Toloi 1992, "A note on the Ljung-Box-Pierce portmanteau statistic
    /// with missing data").
    ///
    /// # Errors
    /// [`Error::Setting`] if `lags` is not above `fitted_parameters` or no two residuals of a run
    /// without a gap are so far apart, [`Error::TooFewRows`] with fewer than two residuals,
    /// [`Error::Constant`] if they do not vary.
    pub fn ljung_box(&self, lags: usize, fitted_parameters: usize) -> Result<LjungBox, Error> {
        if lags <= fitted_parameters {
            return Err(Error::Setting {
                name: "lags",
                expected: "more than the fitted parameters",
                got: lags as f64,
            });
        }
        let pairs = self.with_themselves()?;
        pairs.check_reach("lags", lags)?;
        let rows = pairs.left.len() as f64;
        let term = |lag| pairs.correlation(lag as i64).powi(2) / pairs.count(lag) as f64;
        let statistic = rows * (rows + 2.0) * (1..=lags).map(term).sum::<f64>();
        let degrees_of_freedom = lags - fitted_parameters;
        let distribution =
            ChiSquared::new(degrees_of_freedom as f64).expect("there is a degree of freedom");
        Ok(LjungBox {
            statistic,
            degrees_of_freedom,
            p_value: distribution.sf(statistic),
        })
    }

    fn with_themselves(&self) -> Result<Pairs, Error> {
        let runs = self.runs.iter().map(Vec::as_slice);
        Pairs::of(runs.clone().zip(runs))
    }
}

impl Correlogram {
    /// The coefficient at a lag in steps, `None` outside the range.
    pub fn at(&self, lag: i64) -> Option<f64> {
        let place = usize::try_from(lag.checked_sub(self.first_lag)?).ok()?;
        self.values.get(place).copied()
    }
}

/// The rows that have both a residual and a partner, each with mean 0 and mean square 1.
struct Pairs {
    left: Vec<f64>,
    right: Vec<f64>,
    /// Where the rows follow each other without a gap.
    stretches: Vec<Range<usize>>,
}

impl Pairs {
    fn of<'a>(runs: impl Iterator<Item = (&'a [f64], &'a [f64])>) -> Result<Self, Error> {
        let (mut left, mut right, mut stretches) = (Vec::new(), Vec::new(), Vec::new());
        for (residuals, partners) in runs {
            let mut start = left.len();
            for (e, u) in residuals.iter().zip(partners) {
                if e.is_finite() && u.is_finite() {
                    left.push(*e);
                    right.push(*u);
                } else {
                    stretches.push(start..left.len());
                    start = left.len();
                }
            }
            stretches.push(start..left.len());
        }
        stretches.retain(|rows| !rows.is_empty());
        Ok(Self {
            left: standardised("residuals", &left)?,
            right: standardised("values of the input", &right)?,
            stretches,
        })
    }

    fn check_reach(&self, name: &'static str, lag: usize) -> Result<(), Error> {
        if self.stretches.iter().any(|rows| rows.len() > lag) {
            return Ok(());
        }
        Err(Error::Setting {
            name,
            expected: "shorter than the longest run without a gap",
            got: lag as f64,
        })
    }

    fn correlogram(&self, first_lag: i64, last_lag: i64) -> Correlogram {
        let rows = self.left.len();
        Correlogram {
            rows,
            first_lag,
            values: (first_lag..=last_lag)
                .map(|lag| self.correlation(lag))
                .collect(),
            limit: QUANTILE / (rows as f64).sqrt(),
        }
    }

    /// How many pairs of rows are `lag` apart.
    fn count(&self, lag: usize) -> usize {
        let counts = self.stretches.iter().map(|s| s.len().saturating_sub(lag));
        counts.sum()
    }

    fn correlation(&self, lag: i64) -> f64 {
        let (later, earlier) = match lag >= 0 {
            true => (&self.left, &self.right),
            false => (&self.right, &self.left),
        };
        let lag = lag.unsigned_abs() as usize;
        let reaching = self.stretches.iter().filter(|rows| rows.len() > lag);
        let sums = reaching.map(|rows| {
            dot(
                &later[rows.start + lag..rows.end],
                &earlier[rows.start..rows.end - lag],
            )
        });
        sums.sum::<f64>() / (dot(&self.left, &self.left) * dot(&self.right, &self.right)).sqrt()
    }
}

fn standardised(what: &'static str, values: &[f64]) -> Result<Vec<f64>, Error> {
    if values.len() < 2 {
        return Err(Error::TooFewRows {
            got: values.len(),
            needed: 2,
        });
    }
    if is_constant(values) {
        return Err(Error::Constant { what });
    }
    let deviations = deviations(values);
    let spread = root_mean_square(&deviations);
    Ok(deviations.iter().map(|d| d / spread).collect())
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

fn check_count(what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    if expected == got {
        return Ok(());
    }
    Err(Error::Count {
        what,
        expected,
        got,
    })
}
