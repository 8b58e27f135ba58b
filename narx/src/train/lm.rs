//! The Levenberg–Marquardt iteration, for any least-squares problem of a network.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::factor::Factor;
use super::gram::Gram;
use crate::network::Network;

/// A least-squares problem in the weights of a network.
pub(crate) trait Problem: Sync {
    /// Number of errors.
    fn errors(&self) -> f64;

    /// The normal equations and the objective at these weights; None if it is not finite or the
    /// model ran away.
    fn linearise(&self, network: &Network) -> Option<Linearised>;

    /// The objective alone.
    fn objective(&self, network: &Network) -> Option<f64>;

    /// The objective per error.
    fn mean(&self, network: &Network) -> Option<f64> {
        Some(self.objective(network)? / self.errors())
    }
}

/// A problem around one point.
#[derive(Debug)]
pub(crate) struct Linearised {
    pub(crate) gram: Gram,
    /// Sum of the losses; of squared errors where the loss is the square.
    pub(crate) objective: f64,
}

/// What the weights cost besides the errors: the objective is β·errors + α·Σ weight².
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Prior {
    /// Nothing: β = 1, α = 0.
    None,
    /// α and β follow the evidence.
    Evidence,
}

/// Why a start ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The gradient or the gain of a step was next to nothing.
    Converged,
    /// No step, however short, made the objective smaller.
    NoBetterStep,
    /// The validation error rose for as many epochs as allowed.
    ValidationRose,
    /// The number of epochs allowed was used up.
    EpochLimit,
    /// The caller's function said so.
    Stopped,
    /// The objective could not be computed at the first weights.
    Diverged,
}

/// The state after an epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Step {
    pub(crate) epoch: usize,
    pub(crate) mean_loss: f64,
    pub(crate) mu: f64,
    pub(crate) gradient: f64,
    pub(crate) effective_weights: f64,
}

/// How an iteration ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) reason: StopReason,
    pub(crate) epochs: usize,
    pub(crate) effective_weights: f64,
}

/// Damping: how it starts, falls after a step that was taken, rises after one that was not, and
/// where the search for a step ends. The values are those of the usual implementations.
const MU_START: f64 = 1e-3;
const MU_DECREASE: f64 = 0.1;
const MU_INCREASE: f64 = 10.0;
const MU_MOST: f64 = 1e10;
const MU_LEAST: f64 = 1e-20;

const LEAST_GRADIENT: f64 = 1e-7;
/// Relative gain of an epoch that is not worth another one. With the evidence it is larger: the
/// objective is rescaled to about half the number of errors in every epoch.
const LEAST_GAIN: f64 = 1e-9;
const LEAST_GAIN_OF_EVIDENCE: f64 = 3e-4;

/// Lowers the objective step by step from the weights of `network`, which takes the last ones.
///
/// `after` is told each epoch and may end the iteration.
pub(crate) fn minimise(
    problem: &dyn Problem,
    network: &mut Network,
    prior: Prior,
    max_epochs: usize,
    after: &mut dyn FnMut(&Network, &Step) -> ControlFlow<StopReason>,
) -> Ended {
    let mut search = match Search::start(problem, network, prior) {
        Ok(search) => search,
        Err(ended) => return ended,
    };
    for epoch in 1..=max_epochs {
        if search.is_flat() {
            return search.ended(StopReason::Converged, epoch - 1);
        }
        let before = search.cost(search.last.objective, network.weights());
        let Some(cost) = search.step(problem, network, before) else {
            return search.ended(StopReason::NoBetterStep, epoch - 1);
        };
        if !search.settle(problem, network) {
            return search.ended(StopReason::NoBetterStep, epoch);
        }
        let step = search.report(epoch);
        if let ControlFlow::Break(reason) = after(network, &step) {
            return search.ended(reason, epoch);
        }
        if before - cost <= search.least_gain() * before {
            return search.ended(StopReason::Converged, epoch);
        }
    }
    search.ended(StopReason::EpochLimit, max_epochs)
}

struct Search {
    prior: Prior,
    errors: f64,
    alpha: f64,
    beta: f64,
    effective: f64,
    mu: f64,
    last: Linearised,
    gradient: Vec<f64>,
    factor: Factor,
}

impl Search {
    fn start(problem: &dyn Problem, network: &Network, prior: Prior) -> Result<Self, Ended> {
        let weights = network.weights();
        let Some(last) = problem.linearise(network) else {
            return Err(Ended {
                reason: StopReason::Diverged,
                epochs: 0,
                effective_weights: 0.0,
            });
        };
        let mut search = Self {
            prior,
            errors: problem.errors(),
            alpha: 0.0,
            beta: 1.0,
            effective: weights.len() as f64,
            mu: MU_START,
            last,
            gradient: vec![0.0; weights.len()],
            factor: Factor::new(weights.len()),
        };
        if prior == Prior::Evidence {
            search.weigh(weights);
        }
        search.set_gradient(weights);
        Ok(search)
    }

    fn cost(&self, objective: f64, weights: &[f64]) -> f64 {
        self.beta * objective + self.alpha * squares(weights)
    }

    /// Moves to better weights and returns their cost; None if there are none.
    fn step(&mut self, problem: &dyn Problem, network: &mut Network, before: f64) -> Option<f64> {
        let start = network.weights().to_vec();
        while self.mu <= MU_MOST {
            let (beta, ridge) = (self.beta, self.alpha + self.mu);
            if self.last.gram.factor(beta, ridge, &mut self.factor) {
                let step = self.factor.solve(&self.gradient);
                let moved: Vec<f64> = start.iter().zip(&step).map(|(w, d)| w + d).collect();
                network.set_weights(&moved);
                let cost = problem.objective(network).map(|it| self.cost(it, &moved));
                if let Some(cost) = cost.filter(|&cost| cost < before) {
                    self.mu = (self.mu * MU_DECREASE).max(MU_LEAST);
                    return Some(cost);
                }
            }
            self.mu *= MU_INCREASE;
        }
        network.set_weights(&start);
        None
    }

    /// Takes the new weights as the point to go on from.
    fn settle(&mut self, problem: &dyn Problem, network: &Network) -> bool {
        let Some(last) = problem.linearise(network) else {
            return false;
        };
        self.last = last;
        if self.prior == Prior::Evidence {
            self.count_effective();
            self.weigh(network.weights());
        }
        self.set_gradient(network.weights());
        true
    }

    /// γ = P − α·trace((β JᵀJ + α I)⁻¹): how many weights the data determine.
    fn count_effective(&mut self) {
        let weights = self.gradient.len() as f64;
        let (beta, alpha) = (self.beta, self.alpha);
        if self.last.gram.factor(beta, alpha, &mut self.factor) {
            let trace = self.factor.trace_of_inverse();
            self.effective = (weights - self.alpha * trace).clamp(1e-6, weights);
        }
    }

    /// α = γ/(2 Σ weight²), β = (n − γ)/(2 Σ error²).
    fn weigh(&mut self, weights: &[f64]) {
        let free = (self.errors - self.effective).max(1.0);
        let beta = free / (2.0 * self.last.objective);
        let alpha = self.effective / (2.0 * squares(weights));
        // A perfect fit or zero weights leave them as they are.
        if beta.is_finite() && alpha.is_finite() {
            (self.alpha, self.beta) = (alpha, beta);
        }
    }

    fn set_gradient(&mut self, weights: &[f64]) {
        self.gradient = self.last.gram.gradient();
        for (slope, weight) in self.gradient.iter_mut().zip(weights) {
            *slope = self.beta * *slope - self.alpha * weight;
        }
    }

    fn is_flat(&self) -> bool {
        2.0 * squares(&self.gradient).sqrt() <= LEAST_GRADIENT * self.beta * self.errors
    }

    fn least_gain(&self) -> f64 {
        match self.prior {
            Prior::None => LEAST_GAIN,
            Prior::Evidence => LEAST_GAIN_OF_EVIDENCE,
        }
    }

    fn report(&self, epoch: usize) -> Step {
        Step {
            epoch,
            mean_loss: self.last.objective / self.errors,
            mu: self.mu,
            gradient: squares(&self.gradient).sqrt(),
            effective_weights: self.effective,
        }
    }

    fn ended(self, reason: StopReason, epochs: usize) -> Ended {
        Ended {
            reason,
            epochs,
            effective_weights: self.effective,
        }
    }
}

fn squares(weights: &[f64]) -> f64 {
    weights.iter().map(|w| w * w).sum()
}
