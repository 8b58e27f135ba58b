use serde::{Deserialize, Serialize};

use crate::Forecaster;

/// Forecasts that the next value is the last one known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LastValue {
    last: Option<f64>,
}

impl LastValue {
    /// A rule that has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Forecaster for LastValue {
    fn observe(&mut self, y: f64, _inputs: &[f64]) {
        if y.is_finite() {
            self.last = Some(y);
        }
    }

    fn forecast(&self, _inputs_now: &[f64], out: &mut [f64]) {
        out.fill(self.last.unwrap_or(f64::NAN));
    }
}
