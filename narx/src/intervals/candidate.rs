use serde::{Deserialize, Serialize};

use crate::Error;

/// How far the logarithm of a multiplier moves a step, times how wrong the coverage was. Slow: it
/// only has to find the shape of the errors, the level comes with the scale.
const GAIN: f64 = 0.03;

/// Largest logarithm of a multiplier: a quantile may be a thousandth of the mean error, where most
/// errors are next to nothing, or a thousand times it.
const LIMIT: f64 = 7.0;

/// The newest step's weight in a mean loss, once 200 steps are in it.
const LOSS_WEIGHT: f64 = 0.005;

/// How sharply a weight falls with the loss: twice the loss has a thousandth of the weight.
const SHARPNESS: i32 = 10;

/// A half width that is a multiple of some scale, and how good it was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Candidate {
    log_multiplier: f64,
    /// Mean of half the interval score, the latest steps counting most.
    loss: f64,
    steps: u64,
}

impl Candidate {
    pub(super) fn new(multiplier: f64) -> Self {
        Self {
            log_multiplier: multiplier.ln(),
            loss: 0.0,
            steps: 0,
        }
    }

    /// Whether it has learnt from a step.
    pub(super) fn is_tried(&self) -> bool {
        self.steps > 0
    }

    /// The mean loss so far, 0 before the first.
    pub(super) fn loss(&self) -> f64 {
        self.loss
    }

    /// The logarithm of the half width for a positive scale.
    pub(super) fn log_half(&self, scale: f64) -> f64 {
        scale.ln() + self.log_multiplier
    }

    /// Its weight beside one whose loss is `least`, from 0 to 1.
    pub(super) fn weight(&self, least: f64) -> f64 {
        if self.loss <= least {
            return 1.0;
        }
        (least / self.loss).powi(SHARPNESS)
    }

    /// Learns from an error of the given size, where the scale was `scale` and the share `missed`
    /// of all errors is to be larger than the half width.
    ///
    /// The multiplier follows Gibbs and Candès 2021, equation 2, on the logarithm.
    pub(super) fn learn(&mut self, error: f64, scale: f64, missed: f64) {
        let half = self.log_half(scale).exp().min(f64::MAX);
        let loss = (half + (error - half).max(0.0) / missed).min(f64::MAX);
        self.steps = self.steps.saturating_add(1);
        self.loss += LOSS_WEIGHT.max(1.0 / self.steps as f64) * (loss - self.loss);
        let excess = f64::from(u8::from(error > half)) - missed;
        self.log_multiplier = (self.log_multiplier + GAIN * excess).clamp(-LIMIT, LIMIT);
    }

    /// Refuses what no stream of errors leads to.
    pub(super) fn check(&self) -> Result<(), Error> {
        let in_range = self.log_multiplier.abs() <= LIMIT;
        let expected = "from -7 to 7";
        Error::check("log_multiplier", expected, self.log_multiplier, in_range)?;
        let in_range = self.loss >= 0.0 && self.loss.is_finite();
        Error::check("loss", "finite and not negative", self.loss, in_range)
    }
}
