use serde::{Deserialize, Serialize};

use super::config::Jumps;
use super::gate::{Gate, Shift, Verdict};
use super::single::finite;
use crate::Error;

/// Smoothing factors that are averaged over.
const FACTORS: [f64; 12] = [0.03, 0.06, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// How much of a factor's error score is left after one more step.
const SCORE_DECAY: f64 = 0.98;

/// Exponential moving averages with many smoothing factors, averaged by how well each forecast
/// lately: a mean of all is safer than [`Ema::adaptive`](crate::Ema::adaptive), which takes the
/// best one, where the best one changes. Jumps are taken as [`Jumps`] says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Smoother {
    gate: Gate,
    started: bool,
    levels: [f64; FACTORS.len()],
    /// Discounted squared errors.
    scores: [f64; FACTORS.len()],
}

impl Smoother {
    pub(super) fn new(jumps: Jumps) -> Self {
        Self {
            gate: Gate::new(jumps),
            started: false,
            levels: [0.0; FACTORS.len()],
            scores: [0.0; FACTORS.len()],
        }
    }

    /// The average; none before the first value.
    pub(super) fn level(&self) -> Option<f64> {
        if !self.started {
            return None;
        }
        let least = self.scores.iter().copied().fold(f64::MAX, f64::min);
        let (mut sum, mut weights) = (0.0, 0.0);
        for (level, score) in self.levels.iter().zip(self.scores) {
            let weight = match score > least {
                true => (least.max(f64::MIN_POSITIVE) / score).max(f64::MIN_POSITIVE),
                false => 1.0,
            };
            weights += weight;
            // A running mean, as the sum of large levels could overflow.
            let share = weight / weights;
            sum = (1.0 - share) * sum + share * level;
        }
        Some(sum)
    }

    /// A forecast with what is held back in it.
    pub(super) fn blend(&self, forecast: f64) -> f64 {
        finite(self.gate.blend(forecast))
    }

    /// The value that is held back.
    pub(super) fn held(&self) -> Option<f64> {
        self.gate.held()
    }

    /// Takes in a value. Returns how the level has moved and the value before, if it was held back
    /// and is now believed.
    pub(super) fn observe(&mut self, y: f64) -> Option<(Shift, f64)> {
        if !y.is_finite() {
            return None;
        }
        let Some(level) = self.level() else {
            self.started = true;
            self.levels = [y; FACTORS.len()];
            return None;
        };
        match self.gate.judge(y, level) {
            Verdict::Hold => {}
            Verdict::Shift { shift, first } => {
                self.levels = [shift.apply(level); FACTORS.len()];
                return Some((shift, first));
            }
            Verdict::Take => self.take(y),
        }
        None
    }

    fn take(&mut self, y: f64) {
        for ((level, score), factor) in self.levels.iter_mut().zip(&mut self.scores).zip(FACTORS) {
            let miss = y - *level;
            // A miss too large to square is no evidence for or against any factor.
            let worse = SCORE_DECAY * *score + miss * miss;
            if worse.is_finite() {
                *score = worse;
            }
            *level = finite((1.0 - factor) * *level + factor * y);
        }
    }

    /// Whether all averages are above 0.
    pub(super) fn is_positive(&self) -> bool {
        !self.started || self.levels.iter().all(|level| *level > 0.0)
    }

    pub(super) fn check(&self, jumps: Jumps) -> Result<(), Error> {
        self.gate.check(jumps)?;
        for level in self.levels {
            Error::check("level", "finite", level, level.is_finite())?;
        }
        for score in self.scores {
            let in_range = score >= 0.0 && score.is_finite();
            Error::check("score", "finite and not negative", score, in_range)?;
        }
        Ok(())
    }
}
