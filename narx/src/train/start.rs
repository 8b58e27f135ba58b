//! Where a start begins.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::lm::Problem;
use crate::network::{Network, Shape};

/// Weight of the identity against the normal equations of the output layer, per error: with hidden
/// units, which are much alike, and without, where it only has to make them solvable.
const RIDGE: f64 = 1e-8;
const RIDGE_OF_LINEAR: f64 = 1e-14;

/// A stream of random numbers of its own for each start of a training.
pub(crate) fn stream(seed: u64, start: usize) -> Xoshiro256PlusPlus {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for _ in 0..start {
        random.jump();
    }
    random
}

/// Hidden weights after Nguyen & Widrow (1990), which spread the units' slopes over the box [−1, 1]
/// of the regressors; everything after the hidden layer is 0.
pub(crate) fn nguyen_widrow(shape: Shape, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let mut weights = vec![0.0; shape.weights()];
    let (width, hidden, places) = (shape.regressors, shape.hidden, shape.places());
    if width == 0 || hidden == 0 {
        return weights;
    }
    let size = 0.7 * (hidden as f64).powf(1.0 / width as f64);
    for unit in 0..hidden {
        let direction: Vec<f64> = (0..width).map(|_| uniform(random)).collect();
        let norm = direction
            .iter()
            .map(|d| d * d)
            .sum::<f64>()
            .sqrt()
            .max(1e-12);
        for (d, value) in direction.iter().enumerate() {
            weights[d * hidden + unit] = size * value / norm;
        }
        let place = match hidden {
            1 => 0.0,
            _ => 2.0 * unit as f64 / (hidden - 1) as f64 - 1.0,
        };
        weights[places.hidden_bias + unit] = size * place * direction[0].signum();
    }
    weights
}

/// Sets everything after the hidden layer to its least-squares solution.
pub(crate) fn fit_output_layer(problem: &dyn Problem, network: &mut Network) {
    let from = network.places().output;
    let mut weights = network.weights().to_vec();
    weights[from..].fill(0.0);
    network.set_weights(&weights);
    let Some(at_zero) = problem.linearise(network) else {
        return;
    };
    let share = match network.shape().hidden {
        0 => RIDGE_OF_LINEAR,
        _ => RIDGE,
    };
    // Tiny row weights must not make it 0, which no factor makes larger.
    let mut ridge = (problem.errors() * share).max(f64::MIN_POSITIVE);
    while ridge.is_finite() {
        if let Some(solution) = at_zero.gram.solve_from(from, ridge) {
            weights[from..].copy_from_slice(solution.as_slice());
            network.set_weights(&weights);
            return;
        }
        ridge *= 100.0;
    }
}

/// Uniform between −1 and 1.
pub(crate) fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
    2.0 * (random.next_u64() >> 11) as f64 * UNIT - 1.0
}
