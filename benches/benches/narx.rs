//! How long do one Levenberg–Marquardt iteration and one forecast take?
//!
//! The yardsticks are the same work through a general linear algebra crate.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use nalgebra::{Cholesky, DMatrix, DVector};
use narx::{
    Config, Forecaster, Input, Options, Series, Session, Skip, Training, Validation, train,
    train_with,
};

/// Rows, lags and hidden units that make 1,020 × 101 derivatives.
const ROWS: usize = 1020;
const LAGS: usize = 4;
const HIDDEN: usize = 10;
const WEIGHTS: usize = 101;

/// Epochs that a training runs through, so that its start does not count.
const FEW: usize = 10;
const MANY: usize = 60;

/// A bounded nonlinear system with a little noise.
fn series() -> Series {
    let rows = ROWS + LAGS;
    let u: Vec<f64> = (0..rows)
        .map(|t| ((t * t * 7 + 3 * t) % 101) as f64 / 50.0 - 1.0)
        .collect();
    let mut y = vec![0.0_f64; rows];
    for t in 2..rows {
        let noise = (t * t * 31 % 17) as f64 / 100.0;
        y[t] = 0.6 * y[t - 1] - 0.2 * (y[t - 2] * y[t - 1]).tanh() + (2.0 * u[t - 1]).sin() + noise;
    }
    let session = Session::of(y, vec![u]).expect("as many inputs as outputs");
    Series::new(["y"], ["u"])
        .and_then(|series| series.with(session))
        .expect("two names")
}

fn config(first_lag: usize, epochs: usize) -> Config {
    Config {
        output_lags: (1..=LAGS).collect(),
        inputs: vec![Input::new("u", first_lag..first_lag + LAGS)],
        hidden: HIDDEN,
        skip: Skip::None,
        training: Training {
            validation: Validation::None,
            starts: Some(1),
            max_epochs: epochs,
            ..Training::default()
        },
        ..Config::default()
    }
}

/// The time of `MANY` epochs and of `FEW`: their difference is that of `MANY − FEW` iterations.
fn training(criterion: &mut Criterion) {
    let series = series();
    let mut group = criterion.benchmark_group("narx training");
    group.sample_size(20);
    for epochs in [FEW, MANY] {
        let config = config(1, epochs);
        let (model, report) = train(&series, &config).expect("the data is sound");
        assert_eq!(report.starts[0].epochs, epochs, "it must not end before");
        assert_eq!(model.report().weights, WEIGHTS);
        group.bench_function(format!("{epochs} epochs"), |bencher| {
            let all = series.all();
            bencher.iter(|| train_with(&series, &all, black_box(&config), &Options::default()));
        });
    }
    let jacobian = DMatrix::from_fn(ROWS, WEIGHTS, |i, j| {
        ((i * 37 + j * 101) % 89) as f64 / 44.0
    });
    let errors = DVector::from_fn(ROWS, |i, _| (i as f64).sin());
    group.bench_function("nalgebra: normal equations and step alone", |bencher| {
        bencher.iter(|| {
            let transposed = black_box(&jacobian).transpose();
            let square = &transposed * &jacobian + DMatrix::identity(WEIGHTS, WEIGHTS);
            Cholesky::new(square).map(|factor| factor.solve(&(&transposed * &errors)))
        });
    });
    group.finish();
}

fn forecasts(criterion: &mut Criterion) {
    let series = series();
    let mut group = criterion.benchmark_group("narx forecast");
    for (name, first_lag) in [("inputs from lag 1", 1), ("inputs from lag 0", 0)] {
        let (model, _) = train(&series, &config(first_lag, FEW)).expect("the data is sound");
        let session = &series.sessions()[0];
        let mut live = model.predictor().expect("one output");
        for (y, u) in session.output(0).iter().zip(session.input(0)) {
            live.observe(*y, &[*u]);
        }
        group.bench_function(format!("forecast, {name}"), |bencher| {
            bencher.iter(|| {
                let mut out = [0.0];
                live.forecast(black_box(&[0.3]), &mut out);
                out
            });
        });
        group.bench_function(format!("observe, {name}"), |bencher| {
            bencher.iter_batched_ref(
                || live.clone(),
                |live| live.observe(black_box(0.2), &[0.3]),
                BatchSize::NumIterations(1000),
            );
        });
        group.bench_function(format!("1,020 rows at once, {name}"), |bencher| {
            bencher.iter(|| model.one_step(black_box(&series)));
        });
    }
    yardstick(&mut group);
    group.finish();
}

/// Scaling, two products, tanh of the standard library.
fn yardstick(group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>) {
    let first = DMatrix::from_fn(HIDDEN, 2 * LAGS, |i, j| {
        ((i * 7 + j * 3) % 11) as f64 / 9.0 - 0.5
    });
    let second = DMatrix::from_fn(1, HIDDEN, |_, j| (j as f64).cos());
    let bias = DVector::from_element(HIDDEN, 0.1);
    group.bench_function("nalgebra", |bencher| {
        bencher.iter(|| {
            let x = DVector::from_fn(2 * LAGS, |i, _| (black_box(i as f64) - 2.0) * 0.3);
            let units = (&first * x + &bias).map(f64::tanh);
            (&second * units)[0] * 2.0 + 1.0
        });
    });
}

criterion_group!(benches, training, forecasts);
criterion_main!(benches);
