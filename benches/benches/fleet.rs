//! How long do the forecasts of 4,096 workers take, and what do they learn in a step?
//!
//! The yardstick is a forecaster of its own for each of them.

use std::hint::black_box;

use benches::Random;
use criterion::{Criterion, criterion_group, criterion_main};
use narx::{Covariance, Fleet, Forecaster, Online, OnlineConfig};

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

criterion_group!(benches, fleet, alone);
criterion_main!(benches);
