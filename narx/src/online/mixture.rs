use serde::{Deserialize, Serialize};

use crate::Error;

/// Forecasts that are mixed.
pub(super) const MEMBERS: usize = 5;

/// What is left of a loss after one more step, so that the weights rest on about the last 200.
pub(super) const DISCOUNT: f64 = 0.995;

/// The learning rate times the mixability gap so far: higher follows the best member faster, and
/// costs more where the members take turns.
pub(super) const RATE: f64 = 0.4;

/// The newest loss's weight in the running mean, and how many times that mean a loss may count.
const MEAN_WEIGHT: f64 = 0.03;
const LARGEST: f64 = 1e4;

/// Weights of several forecasts by what each of them has lost.
///
/// This is AdaHedge (de Rooij, van Erven, Grünwald and Koolen 2014, "Follow the leader if you can,
/// hedge if you must") on discounted losses with a prior. See [`Guarded`](crate::Guarded) for the
/// bound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Mixture {
    prior: [f64; MEMBERS],
    /// Discounted losses above that of the best member.
    losses: [f64; MEMBERS],
    /// Discounted sum of what the mixture lost beyond the mix loss.
    gap: f64,
    /// Smallest and largest value so far.
    range: Option<(f64, f64)>,
    mean_loss: f64,
}

impl Mixture {
    /// Weights that start at `prior`, which add up to 1.
    pub(super) fn new(prior: [f64; MEMBERS]) -> Self {
        Self {
            prior,
            losses: [0.0; MEMBERS],
            gap: 0.0,
            range: None,
            mean_loss: 0.0,
        }
    }

    pub(super) fn weights(&self) -> [f64; MEMBERS] {
        let rate = RATE / self.gap;
        let mut weights = self.prior;
        for (weight, loss) in weights.iter_mut().zip(self.losses) {
            // The best member has lost 0, where 0 / 0 is not to matter.
            if loss > 0.0 {
                *weight *= (-rate * loss).exp();
            }
        }
        let sum: f64 = weights.iter().sum();
        weights.map(|weight| weight / sum)
    }

    /// A forecast no further out than the values so far.
    pub(super) fn clipped(&self, forecast: f64) -> f64 {
        match self.range {
            Some((low, high)) => forecast.clamp(low, high),
            None => forecast,
        }
    }

    /// Learns what the members' forecasts of `y` were worth.
    pub(super) fn observe(&mut self, y: f64, forecasts: &[f64; MEMBERS]) {
        if forecasts.iter().any(|forecast| forecast.is_nan()) {
            self.widen(y);
            return; // There is no forecast before the first value.
        }
        let weights = self.weights();
        let most = match self.mean_loss > 0.0 {
            true => (LARGEST * self.mean_loss).min(f64::MAX),
            false => f64::MAX,
        };
        let loss = |forecast: f64| {
            let error = y - self.clipped(forecast);
            (error * error).min(most)
        };
        let losses = forecasts.map(loss);
        self.widen(y);
        let least = losses.iter().copied().fold(f64::MAX, f64::min);
        let mean: f64 = weights
            .iter()
            .zip(losses)
            .map(|(w, loss)| w * (loss - least))
            .sum();
        let gap = (mean - self.mix_loss(&weights, &losses, least)).max(0.0);
        self.gap = DISCOUNT * self.gap + gap;
        for (sum, loss) in self.losses.iter_mut().zip(losses) {
            *sum = DISCOUNT * *sum + (loss - least);
        }
        let best = self.losses.iter().copied().fold(f64::MAX, f64::min);
        for sum in &mut self.losses {
            *sum = (*sum - best).min(f64::MAX);
        }
        let weight = if self.mean_loss > 0.0 {
            MEAN_WEIGHT
        } else {
            1.0
        };
        self.mean_loss += weight * (mean + least - self.mean_loss).min(f64::MAX);
    }

    fn widen(&mut self, y: f64) {
        self.range = Some(match self.range {
            Some((low, high)) => (low.min(y), high.max(y)),
            None => (y, y),
        });
    }

    /// −ln(Σ w exp(−η loss)) / η, above `least`.
    fn mix_loss(&self, weights: &[f64; MEMBERS], losses: &[f64; MEMBERS], least: f64) -> f64 {
        let pairs = weights.iter().zip(losses);
        if self.gap == 0.0 {
            let in_use = pairs.filter(|(weight, _)| **weight > 0.0);
            return in_use
                .map(|(_, loss)| loss - least)
                .fold(f64::MAX, f64::min);
        }
        let rate = RATE / self.gap;
        let sum: f64 = pairs
            .map(|(w, loss)| w * (-rate * (loss - least)).exp())
            .sum();
        -sum.ln() / rate
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let (low, high) = self.range.unwrap_or((0.0, 0.0));
        let in_range = low.is_finite() && high.is_finite() && low <= high;
        Error::check("range", "finite and in order", low, in_range)?;
        let numbers = self.prior.iter().chain(&self.losses);
        for &number in numbers.chain([&self.gap, &self.mean_loss]) {
            let in_range = number >= 0.0 && number.is_finite();
            Error::check("mixture", "finite and not negative", number, in_range)?;
        }
        Ok(())
    }
}
