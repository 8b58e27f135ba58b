use serde::{Deserialize, Serialize};

use crate::Error;

/// Forecasts that are mixed.
pub(super) const MEMBERS: usize = 5;

/// Their shares at the start: last value, average, linear, online, corrected. The last value gets
/// least: it is the one to fall back on, and right away follows any spike.
const PRIOR: [f64; MEMBERS] = [0.02, 0.38, 0.2, 0.2, 0.2];

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
    /// Discounted losses above that of the best member.
    losses: [f64; MEMBERS],
    /// Discounted sum of what the mixture lost beyond the mix loss.
    gap: f64,
    /// Smallest and largest value so far.
    range: Option<(f64, f64)>,
    mean_loss: f64,
}

impl Mixture {
    pub(super) fn new() -> Self {
        Self {
            losses: [0.0; MEMBERS],
            gap: 0.0,
            range: None,
            mean_loss: 0.0,
        }
    }

    pub(super) fn weights(&self) -> [f64; MEMBERS] {
        let rate = RATE / self.gap;
        let mut weights = PRIOR;
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

    /// Learns what the members' forecasts of `y` were worth. One that is missing is as bad as the
    /// worst of the others.
    pub(super) fn observe(&mut self, y: f64, forecasts: &[f64; MEMBERS]) {
        let square = |forecast: f64| {
            let error = y - self.clipped(forecast);
            // Infinity times 0 is not to become a loss.
            (error * error).clamp(0.0, f64::MAX)
        };
        let squares = forecasts.map(square);
        self.widen(y);
        let known = squares.iter().copied().filter(|square| !square.is_nan());
        let Some(largest) = known.reduce(f64::max) else {
            return; // There is no forecast before the first value.
        };
        let most = LARGEST * self.mean_loss;
        let cut = match self.mean_loss > 0.0 && largest > most {
            true => most / largest,
            false => 1.0,
        };
        let losses = squares.map(|square| {
            let square = if square.is_nan() { largest } else { square };
            cut * square
        });
        self.learn(&losses);
    }

    fn learn(&mut self, losses: &[f64; MEMBERS]) {
        let weights = self.weights();
        let least = losses.iter().copied().fold(f64::MAX, f64::min);
        let pairs = weights.iter().zip(losses);
        let mean: f64 = pairs.map(|(w, loss)| w * (loss - least)).sum();
        let before = self.losses.map(|loss| DISCOUNT * loss);
        let mut after = before;
        for (sum, loss) in after.iter_mut().zip(losses) {
            *sum = (*sum + (loss - least)).min(f64::MAX);
        }
        let gap = mean - (self.mix_loss(&after) - self.mix_loss(&before));
        self.gap = (DISCOUNT * self.gap + gap.max(0.0)).min(f64::MAX);
        let best = after.iter().copied().fold(f64::MAX, f64::min);
        self.losses = after.map(|loss| loss - best);
        let weight = if self.mean_loss > 0.0 {
            MEAN_WEIGHT
        } else {
            1.0
        };
        let mean_loss = self.mean_loss + weight * (mean + least - self.mean_loss);
        self.mean_loss = mean_loss.min(f64::MAX);
    }

    fn widen(&mut self, y: f64) {
        self.range = Some(match self.range {
            Some((low, high)) => (low.min(y), high.max(y)),
            None => (y, y),
        });
    }

    /// −ln(Σ π exp(−η L)) / η for the discounted losses L. From the prior, not from the weights: one
    /// that has become 0 would hide what the mixture loses when its member leads again.
    fn mix_loss(&self, losses: &[f64; MEMBERS]) -> f64 {
        // The gap so far, in the unit of the present step.
        let rate = RATE / (DISCOUNT * self.gap);
        let best = losses.iter().copied().fold(f64::MAX, f64::min);
        let of_member = |(prior, loss): (f64, &f64)| match *loss > best {
            true => prior * (-rate * (loss - best)).exp(),
            false => prior,
        };
        let sum: f64 = PRIOR.into_iter().zip(losses).map(of_member).sum();
        best - sum.ln() / rate
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let (low, high) = self.range.unwrap_or((0.0, 0.0));
        let in_range = low.is_finite() && high.is_finite() && low <= high;
        Error::check("range", "finite and in order", low, in_range)?;
        for &number in self.losses.iter().chain([&self.gap, &self.mean_loss]) {
            let in_range = number >= 0.0 && number.is_finite();
            Error::check("mixture", "finite and not negative", number, in_range)?;
        }
        Ok(())
    }
}
