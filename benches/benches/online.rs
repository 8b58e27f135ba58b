//! How long do a forecast and a step of learning take, of one worker and of 4,096?
//!
//! The yardsticks are the update of a filter through a general linear algebra crate, and for a fleet
//! a forecaster of its own for each worker.

use std::hint::black_box;

use benches::Random;
use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::{DMatrix, DVector};
use narx::{Corrected, Covariance, Fleet, Forecaster, Guarded, Online, OnlineConfig};

const WORKERS: usize = 4096;
const INPUTS: usize = 3;

/// Steps before the clock runs, so that all are learning.
const WARM_UP: usize = 50;

/// The inputs and values of a step of all workers.
struct Step {
    inputs: Vec<f64>,
    y: Vec<f64>,
}

fn step(random: &mut Random) -> Step {
    let inputs: Vec<f64> = (0..WORKERS * INPUTS)
        .map(|_| random.uniform(0.0, 1.0))
        .collect();
    let y = inputs
        .chunks(INPUTS)
        .map(|own| 10.0 + own[0] * own[1] + random.uniform(0.0, 0.3))
        .collect();
    Step { inputs, y }
}

fn config() -> OnlineConfig {
    OnlineConfig {
        covariance: Covariance::Nodes,
        ..OnlineConfig::new(INPUTS)
    }
}

fn fleet(criterion: &mut Criterion) {
    let mut random = Random::new(1);
    let mut fleet = Fleet::new(&config()).expect("the settings are sound");
    for _ in 0..WORKERS {
        fleet.join_fresh();
    }
    for _ in 0..WARM_UP {
        let Step { inputs, y } = step(&mut random);
        fleet.observe_all(&y, &inputs).expect("one each");
    }
    let steps: Vec<Step> = (0..8).map(|_| step(&mut random)).collect();
    let mut group = criterion.benchmark_group("fleet of 4,096");
    group.sample_size(50);
    let mut out = vec![0.0; WORKERS];
    group.bench_function("forecast all", |bencher| {
        bencher.iter(|| fleet.forecast_all(black_box(&steps[0].inputs), &mut out));
    });
    group.bench_function("observe all", |bencher| {
        let mut steps = steps.iter().cycle();
        bencher.iter(|| {
            let Step { inputs, y } = steps.next().expect("they go round");
            fleet.observe_all(black_box(y), inputs)
        });
    });
    group.sample_size(10);
    group.bench_function("snapshot", |bencher| bencher.iter(|| fleet.to_bytes()));
    let bytes = fleet.to_bytes();
    group.bench_function("restore", |bencher| {
        bencher.iter(|| Fleet::from_bytes(black_box(&bytes)));
    });
    group.finish();
}

fn alone(criterion: &mut Criterion) {
    let mut random = Random::new(1);
    let mut workers = vec![Online::new(&config()).expect("the settings are sound"); WORKERS];
    let observe = |workers: &mut [Online], Step { inputs, y }: &Step| {
        let own = workers.iter_mut().zip(y).zip(inputs.chunks(INPUTS));
        own.for_each(|((worker, y), inputs)| worker.observe(*y, inputs));
    };
    for _ in 0..WARM_UP {
        observe(&mut workers, &step(&mut random));
    }
    let last = step(&mut random);
    let mut group = criterion.benchmark_group("4,096 forecasters alone");
    group.sample_size(10);
    let mut out = vec![0.0; WORKERS];
    group.bench_function("forecast all", |bencher| {
        bencher.iter(|| {
            let own = workers.iter().zip(last.inputs.chunks(INPUTS));
            for ((worker, inputs), out) in own.zip(out.chunks_mut(1)) {
                worker.forecast(black_box(inputs), out);
            }
        });
    });
    group.bench_function("observe all", |bencher| {
        bencher.iter(|| observe(&mut workers, black_box(&last)));
    });
    group.finish();
}

/// A forecast and what is learnt from the value, hot.
fn one(criterion: &mut Criterion) {
    let mut random = Random::new(1);
    let Step { inputs, y } = step(&mut random);
    let online = |config: &OnlineConfig| Online::new(config).expect("the settings are sound");
    let full = online(&OnlineConfig::new(INPUTS));
    let weights = full.weights();
    let guarded = Guarded::new(INPUTS).expect("few inputs");
    let corrected = Corrected::new(INPUTS, 0).expect("few inputs");
    let mut rules: [(String, Box<dyn Forecaster>); 5] = [
        (
            format!("full covariance, {weights} weights"),
            Box::new(full),
        ),
        (
            format!("nodes, {weights} weights"),
            Box::new(online(&config())),
        ),
        (
            "linear".to_owned(),
            Box::new(online(&OnlineConfig::linear(INPUTS))),
        ),
        ("corrected".to_owned(), Box::new(corrected)),
        ("guarded".to_owned(), Box::new(guarded)),
    ];
    let mut group = criterion.benchmark_group("forecast and learn");
    for (name, rule) in &mut rules {
        let mut rows = y.iter().zip(inputs.chunks(INPUTS)).cycle();
        group.bench_function(name.as_str(), |bencher| {
            bencher.iter(|| {
                let (y, inputs) = rows.next().expect("they go round");
                let mut out = [0.0];
                rule.forecast(black_box(inputs), &mut out);
                rule.observe(*y, inputs);
                out
            });
        });
    }
    // P ← P − Pg (Pg)ᵀ / (r + gᵀPg), nothing else.
    let mut covariance = DMatrix::identity(weights, weights);
    let gradient = DVector::from_fn(weights, |i, _| ((i * 37) % 19) as f64 / 19.0 - 0.5);
    let mut product = DVector::zeros(weights);
    group.bench_function("nalgebra: covariance alone", |bencher| {
        bencher.iter(|| {
            product.gemv(1.0, &covariance, black_box(&gradient), 0.0);
            let variance = 1.0 + product.dot(&gradient);
            covariance.ger(-1.0 / variance, &product, &product, 1.0);
            covariance.fill_diagonal(1.0);
        });
    });
    group.finish();
}

criterion_group!(benches, one, fleet, alone);
criterion_main!(benches);
