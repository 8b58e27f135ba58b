mod profiled;

use narx::AnyForecaster;
use serde::{Deserialize, Serialize};

/// How a balancer decides how fast its workers will be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Policy<F = AnyForecaster> {
    /// All workers get the same batch, as far as their limits allow: plain BSP.
    Equal,
    /// Each worker's speed is forecast from its past (LB-BSP for CPU clusters).
    #[non_exhaustive]
    Predictive {
        /// The forecaster that every worker starts with, before it has seen anything.
        forecaster: F,
        /// Names of the driving series that the forecaster reads, in its order.
        inputs: Vec<String>,
    },
}

impl<F> Policy<F> {
    /// Forecasts every worker's speed with a copy of `forecaster`, which reads the driving series
    /// named in `inputs`, in that order.
    ///
    /// # Example
    /// ```
    /// use narx::{AnyForecaster, Guarded};
    /// use sizing::{Balancer, Policy};
    /// // The run queue that a worker finds before its step tells most of the step's speed.
    /// let guarded = AnyForecaster::from(Guarded::new(1)?);
    /// let job = Balancer::new(1024, Policy::forecast_by(guarded, &["running_before"]));
    /// assert!(job.is_ok());
    /// # Ok::<(), narx::Error>(())
    /// ```
    pub fn forecast_by(forecaster: F, inputs: &[&str]) -> Self {
        Self::Predictive {
            forecaster,
            inputs: inputs.iter().map(ToString::to_string).collect(),
        }
    }
}

impl Policy {
    /// Forecasts every worker's speed with a copy of one of the forecasters that ship with
    /// [`narx`], without driving series; [`forecast_by`](Policy::forecast_by) takes any other.
    pub fn predictive(forecaster: impl Into<AnyForecaster>) -> Self {
        Self::forecast_by(forecaster.into(), &[])
    }
}

impl Default for Policy {
    /// [`narx::Guarded`] without driving series. It takes about 30 kB a worker and 10 µs a report;
    /// [`narx::Ema::adaptive`] takes nearly nothing.
    fn default() -> Self {
        Self::predictive(AnyForecaster::default())
    }
}
