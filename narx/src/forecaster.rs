use serde::{Deserialize, Serialize};

use crate::{Corrected, Ema, Guarded, LastValue, Online};

/// Something that forecasts a series from its past and from the driving series.
///
/// NaN means missing everywhere: in `y`, in the inputs and, before anything was observed, in the
/// forecast. An infinite value is taken as missing too. Both calls take constant time and never
/// panic, whatever they are given.
pub trait Forecaster: Send {
    /// Takes in the value of the next step.
    ///
    /// `inputs` are the driving series that held at the start of that step, in an order that the
    /// caller keeps. `y` = NaN says that the step passed but its value is unknown.
    fn observe(&mut self, y: f64, inputs: &[f64]);

    /// Writes the forecasts of the next `out.len()` steps, the first one first.
    ///
    /// `inputs_now` are the driving series measured at the start of the first of these steps.
    fn forecast(&self, inputs_now: &[f64], out: &mut [f64]);
}

/// Any of the forecasters that ship with this crate, as one serialisable type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AnyForecaster {
    /// The next value is the last one.
    LastValue(LastValue),
    /// The next value is an exponential moving average of the past ones.
    Ema(Ema),
    /// A network that learns at every step.
    Online(Box<Online>),
    /// A moving average that such a network corrects.
    Corrected(Box<Corrected>),
    /// Several forecasters, each by what it was worth lately: the default.
    Guarded(Box<Guarded>),
}

impl Default for AnyForecaster {
    /// [`Guarded`] without inputs.
    fn default() -> Self {
        Guarded::default().into()
    }
}

impl From<LastValue> for AnyForecaster {
    fn from(rule: LastValue) -> Self {
        Self::LastValue(rule)
    }
}

impl From<Ema> for AnyForecaster {
    fn from(rule: Ema) -> Self {
        Self::Ema(rule)
    }
}

impl From<Online> for AnyForecaster {
    fn from(online: Online) -> Self {
        Self::Online(Box::new(online))
    }
}

impl From<Corrected> for AnyForecaster {
    fn from(corrected: Corrected) -> Self {
        Self::Corrected(Box::new(corrected))
    }
}

impl From<Guarded> for AnyForecaster {
    fn from(guarded: Guarded) -> Self {
        Self::Guarded(Box::new(guarded))
    }
}

impl Forecaster for AnyForecaster {
    fn observe(&mut self, y: f64, inputs: &[f64]) {
        match self {
            Self::LastValue(rule) => rule.observe(y, inputs),
            Self::Ema(rule) => rule.observe(y, inputs),
            Self::Online(rule) => rule.observe(y, inputs),
            Self::Corrected(rule) => rule.observe(y, inputs),
            Self::Guarded(rule) => rule.observe(y, inputs),
        }
    }

    fn forecast(&self, inputs_now: &[f64], out: &mut [f64]) {
        match self {
            Self::LastValue(rule) => rule.forecast(inputs_now, out),
            Self::Ema(rule) => rule.forecast(inputs_now, out),
            Self::Online(rule) => rule.forecast(inputs_now, out),
            Self::Corrected(rule) => rule.forecast(inputs_now, out),
            Self::Guarded(rule) => rule.forecast(inputs_now, out),
        }
    }
}
