//! Millions of steps.

use nalgebra::{Cholesky, DMatrix};
use narx::{Forecaster, Online, OnlineConfig};

use crate::random::Uniform;

/// The covariance of a forecaster with a full one, read from its state.
fn covariance(online: &Online) -> DMatrix<f64> {
    let state = serde_json::to_value(online).unwrap();
    let number = |place: usize| state["record"][place].as_f64().unwrap();
    let weights = online.weights();
    // At the end of the record, rows in groups of eight, each as long as its group's diagonal reaches.
    let groups = weights.div_ceil(8);
    let start = state["record"].as_array().unwrap().len() - 32 * groups * (groups + 1);
    let place = |i: usize, j: usize| {
        let group = i / 8;
        start + 32 * group * (group + 1) + i % 8 * 8 * (group + 1) + j
    };
    DMatrix::from_fn(weights, weights, |i, j| {
        if i / 8 == j / 8 {
            assert_eq!(number(place(i, j)), number(place(j, i)), "it is symmetric");
        }
        number(place(i.max(j), i.min(j)))
    })
}

fn soak(config: &OnlineConfig, steps: usize) {
    let mut online = Online::new(config).unwrap();
    let mut random = Uniform(21);
    let (mut level, mut inputs) = (1.0, [0.0; 2]);
    for t in 0..steps {
        // Quiet for most of the time, then a spell of everything.
        let loud = t % 100_000 < 500;
        let size = if loud { 1.0 } else { 1e-3 };
        level += 0.01 * (1.0 - level) + 0.1 * size * random.normal();
        inputs[0] = if loud { random.next() } else { 0.5 };
        inputs[1] = f64::from(u8::from(t % 10_000 == 0));
        online.observe(
            level + 0.02 * random.normal(),
            &inputs[..config.inputs.len()],
        );
    }
    let covariance = covariance(&online);
    let largest = covariance.diagonal().max();
    assert!(
        largest <= 0.31,
        "variances stay below those of the start: {largest}"
    );
    assert!(
        Cholesky::new(covariance).is_some(),
        "it is positive definite"
    );
    let mut forecast = [0.0];
    online.forecast(&inputs[..config.inputs.len()], &mut forecast);
    assert!((forecast[0] - level).abs() < 0.2, "{} {level}", forecast[0]);
}

#[test]
fn the_covariance_stays_sound_over_ten_million_steps() {
    soak(
        &OnlineConfig {
            hidden: 2,
            output_lags: vec![1],
            ..OnlineConfig::new(0)
        },
        10_000_000,
    );
}

#[test]
fn that_of_least_squares_does_with_inputs_that_hardly_move() {
    soak(&OnlineConfig::linear(2), 10_000_000);
}

#[test]
fn and_that_of_a_larger_network() {
    soak(&OnlineConfig::new(2), 300_000);
}
