use serde::{Deserialize, Serialize};

use super::learner::Scale;
use crate::Error;

/// Most inputs in use at a time.
pub(super) const MOST: usize = 4;

/// The newest step's weight in the running gains, once so many steps are in them.
const WEIGHT: f64 = 0.005;

/// Steps between two choices.
const INTERVAL: u64 = 32;

/// By how much the correlation of an input must be the better one to replace another.
const MARGIN: f64 = 0.1;

/// Inputs and targets count as at most this many standard deviations in a correlation.
const LARGEST: f64 = 4.0;

/// Chooses the inputs whose values at the start of a step tell most of what is to be forecast: those
/// with the largest running correlation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Selection {
    chosen: Vec<usize>,
    scales: Vec<Scale>,
    /// Running mean of input · target, both scaled.
    gains: Vec<f64>,
    target: Scale,
    steps: u64,
}

/// An input that takes the place of another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Change {
    pub(super) place: usize,
    pub(super) scale: Scale,
}

impl Selection {
    pub(super) fn new(inputs: usize) -> Self {
        Self {
            chosen: (0..inputs.min(MOST)).collect(),
            scales: vec![Scale::default(); inputs],
            gains: vec![0.0; inputs],
            target: Scale::default(),
            steps: 0,
        }
    }

    pub(super) fn chosen(&self) -> &[usize] {
        &self.chosen
    }

    /// Takes in the inputs of a step and what came of it.
    pub(super) fn observe(&mut self, inputs: &[f64], target: f64) -> Option<Change> {
        if self.scales.len() <= MOST || !target.is_finite() {
            return None;
        }
        self.steps = self.steps.saturating_add(1);
        let weight = (1.0 / self.steps as f64).max(WEIGHT);
        self.target.take(target, weight);
        let scaled = |scale: &Scale, value: f64| {
            let scaled = (value - scale.mean) * scale.factor();
            scaled.clamp(-LARGEST, LARGEST)
        };
        let target = scaled(&self.target, target);
        for ((scale, gain), &value) in self.scales.iter_mut().zip(&mut self.gains).zip(inputs) {
            scale.take(value, weight);
            let product = scaled(scale, value) * target;
            if product.is_finite() {
                *gain += weight * (product - *gain);
            }
        }
        if self.steps.is_multiple_of(INTERVAL) {
            return self.choose();
        }
        None
    }

    /// Replaces the worst of the chosen ones by the best of the others if that is clearly better.
    fn choose(&mut self) -> Option<Change> {
        let gain = |input: usize| self.gains[input].abs();
        let places = 0..self.chosen.len();
        let worst =
            places.min_by(|&a, &b| gain(self.chosen[a]).total_cmp(&gain(self.chosen[b])))?;
        let others = (0..self.gains.len()).filter(|input| !self.chosen.contains(input));
        let best = others.max_by(|&a, &b| gain(a).total_cmp(&gain(b)))?;
        if gain(best) <= gain(self.chosen[worst]) + MARGIN {
            return None;
        }
        self.chosen[worst] = best;
        Some(Change {
            place: worst,
            scale: self.scales[best],
        })
    }

    pub(super) fn check(&self, inputs: usize) -> Result<(), Error> {
        let fresh = Self::new(inputs);
        let sizes = (self.scales.len(), self.gains.len(), self.chosen.len());
        let in_range = sizes == (inputs, inputs, fresh.chosen.len());
        Error::check(
            "inputs",
            "as many as the state has",
            inputs as f64,
            in_range,
        )?;
        for (place, &input) in self.chosen.iter().enumerate() {
            let in_range = input < inputs && !self.chosen[..place].contains(&input);
            Error::check("chosen", "different inputs", input as f64, in_range)?;
        }
        Ok(())
    }
}
