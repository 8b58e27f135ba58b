//! How weights are found: Levenberg–Marquardt, its loss, its prior, its starts.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use approx::{assert_abs_diff_eq, assert_relative_eq};
use nalgebra::DMatrix;
use narx::{
    Algorithm, Config, Epoch, Error, Loss, Narx, OnEpoch, Options, Part, Report, Scaling, Series,
    Skip, StopReason, Training, Validation, train_with,
};

use crate::judge_noise::white;
use crate::plants::{
    bits, config, linear, median, one_session, one_step, planted, planted_config, rmse, sessions,
    train, unjudged,
};

const NAN: f64 = f64::NAN;

fn planted_series(seed: u64, rows: usize) -> Series {
    let (y, u) = planted(seed, rows);
    one_session(y, vec![u])
}

/// y(t) = sin 2u(t) + e(t): a network can follow the noise, too.
fn noisy(seed: u64, rows: usize, noise: f64) -> (Vec<f64>, Vec<f64>) {
    let (u, e) = (white(seed, rows), white(seed + 500, rows));
    let y = u.iter().zip(&e).map(|(u, e)| (2.0 * u).sin() + noise * e);
    (y.collect(), u)
}

fn with_options(series: &Series, config: &Config, options: &Options<'_>) -> (Narx, Report) {
    train_with(series, &series.all(), config, options).unwrap()
}

#[test]
fn a_planted_network_is_found() {
    let mut settings = unjudged(planted_config());
    settings.training.starts = Some(4);
    settings.training.average = Some(1);
    settings.training.max_epochs = 300;
    let (model, report) = train(&planted_series(1, 400), &settings);
    assert!(report.rmse() < 1e-5, "{report:?}");
    // Found is the rule, not the rows.
    let (y, u) = planted(2, 300);
    let series = one_session(y.clone(), vec![u]);
    assert!(rmse(&one_step(&model, &series), &y) < 1e-4);
    assert!(rmse(model.free_run(&series, 0).unwrap().of(0, 0), &y) < 1e-4);
}

#[test]
fn training_ends_where_the_validation_error_has_risen_long_enough() {
    let (y, u) = noisy(1, 120, 0.5);
    let series = one_session(y, vec![u]);
    let mut settings = config(&[1, 2, 3], &[&[0, 1, 2]], 8);
    settings.training.max_failures = 3;
    settings.training.validation = Validation::Tail { share: 0.3 };
    let told = Mutex::new(Vec::new());
    let listen = |epoch: &Epoch| {
        told.lock().unwrap().push(*epoch);
        ControlFlow::Continue(())
    };
    let options = Options {
        on_epoch: Some(&listen),
        ..Options::default()
    };
    let (model, report) = with_options(&series, &settings, &options);
    let start = &report.starts[0];
    assert_eq!(start.stopped, StopReason::ValidationRose);
    let told = told.into_inner().unwrap();
    assert_eq!(told.len(), start.epochs);
    let errors: Vec<f64> = told.iter().map(|it| it.validation_rmse.unwrap()).collect();
    // The rule, from the error before the first epoch on.
    let mut untrained = settings.clone();
    untrained.training.max_epochs = 0;
    let mut best = train(&series, &untrained).1.starts[0].rmse.unwrap();
    let mut failures = 0;
    for error in errors {
        assert!(failures < 3);
        failures = if error < best { 0 } else { failures + 1 };
        best = best.min(error);
    }
    assert_eq!(failures, 3);
    assert_eq!(start.rmse, Some(best));
    // The weights are those of the best epoch: the model has that error on the judging rows.
    let judged = report.judged_rows;
    let (first, y) = (120 - judged, series.sessions()[0].output(0));
    let scale = rmse(&one_step(&model, &series)[first..], &y[first..]) / start.rmse.unwrap();
    let file: serde_json::Value = serde_json::from_str(&model.to_json()).unwrap();
    let spread = file["model"]["outputs"][0]["scaler"]["spread"]
        .as_f64()
        .unwrap();
    assert_relative_eq!(scale, spread, max_relative = 1e-12);
}

#[test]
fn more_epochs_never_make_the_validation_error_larger() {
    let (y, u) = noisy(2, 100, 0.7);
    let series = one_session(y, vec![u]);
    let mut settings = config(&[1, 2], &[&[0, 1]], 6);
    let error_after = |max_epochs| {
        let mut settings = settings.clone();
        settings.training.max_epochs = max_epochs;
        train(&series, &settings).1.starts[0].rmse.unwrap()
    };
    let errors: Vec<f64> = (0..12).map(error_after).collect();
    assert!(
        errors.windows(2).all(|pair| pair[1] <= pair[0]),
        "{errors:?}"
    );
    settings.training.max_epochs = 1;
    assert_eq!(
        train(&series, &settings).1.starts[0].stopped,
        StopReason::EpochLimit
    );
}

#[test]
fn the_last_share_of_every_session_judges() {
    // What the last rows of each session are must not be learnt: they are the reverse.
    let reversed = |seed: u64, rows: usize| {
        let u = white(seed, rows);
        let sign = |t: usize| if t * 5 < rows * 4 { 1.0 } else { -1.0 };
        let y = u.iter().enumerate().map(|(t, u)| sign(t) * u).collect();
        (y, vec![u])
    };
    let series = sessions(vec![reversed(1, 50), reversed(2, 200), reversed(3, 10)]);
    let mut settings = config(&[], &[&[0]], 0);
    settings.training.validation = Validation::Tail { share: 0.2 };
    let (model, report) = train(&series, &settings);
    assert_eq!((report.rows, report.judged_rows), (260, 52));
    for session in 0..3 {
        let forecasts = model.one_step(&series).unwrap();
        let u = series.sessions()[session].input(0);
        let close = forecasts.of(session, 0).iter().zip(u);
        assert!(close.into_iter().all(|(f, u)| (f - u).abs() < 1e-6));
    }
}

#[test]
fn a_row_of_weight_zero_is_a_missing_row() {
    let (mut y, u) = noisy(3, 150, 0.3);
    // The scale must not depend on the rows that are left out.
    let out = [10, 11, 40, 99, 140, 149];
    for &row in &out {
        y[row] = 0.5;
    }
    let weights = vec![
        (0..150)
            .map(|t| f64::from(u8::from(!out.contains(&t))))
            .collect(),
    ];
    let mut missing = y.clone();
    out.iter().for_each(|&row| missing[row] = NAN);
    for validation in [
        Validation::None,
        Validation::Tail { share: 0.2 },
        Validation::Folds { folds: 3 },
    ] {
        for loss in [Loss::Squares, Loss::Huber { threshold: 0.5 }] {
            let mut settings = config(&[], &[&[0, 1]], 3);
            settings.scaling = Scaling::MinMax;
            settings.training = Training {
                validation,
                loss,
                ..settings.training
            };
            let options = Options {
                row_weights: Some(&weights),
                ..Options::default()
            };
            let weighted = with_options(
                &one_session(y.clone(), vec![u.clone()]),
                &settings,
                &options,
            );
            let without = train(&one_session(missing.clone(), vec![u.clone()]), &settings);
            assert_eq!(weighted.1, without.1);
            let series = one_session(y.clone(), vec![u.clone()]);
            assert_eq!(
                bits(&one_step(&weighted.0, &series)),
                bits(&one_step(&without.0, &series))
            );
        }
    }
}

#[test]
fn a_row_of_weight_two_is_the_row_twice() {
    let (y, u) = noisy(4, 100, 0.3);
    let twice: Vec<usize> = (0..100).filter(|t| t % 3 == 0).collect();
    let weights = vec![
        (0..100)
            .map(|t| if t % 3 == 0 { 2.0 } else { 1.0 })
            .collect(),
    ];
    let again = |values: &[f64]| twice.iter().map(|&t| values[t]).collect::<Vec<f64>>();
    let doubled = sessions(vec![
        (y.clone(), vec![u.clone()]),
        (again(&y), vec![again(&u)]),
    ]);
    let series = one_session(y, vec![u]);
    for algorithm in [Algorithm::Lm, Algorithm::Bayes] {
        let mut settings = unjudged(config(&[], &[&[0]], 2));
        settings.scaling = Scaling::MinMax;
        settings.training.algorithm = algorithm;
        let options = Options {
            row_weights: Some(&weights),
            ..Options::default()
        };
        let (weighted, _) = with_options(&series, &settings, &options);
        let (copied, _) = train(&doubled, &settings);
        let plain = train(&series, &settings).0;
        let forecasts = one_step(&weighted, &series);
        for (a, b) in forecasts.iter().zip(&one_step(&copied, &series)) {
            assert_relative_eq!(*a, *b, epsilon = 1e-5, max_relative = 1e-5);
        }
        assert!(rmse(&forecasts, &one_step(&plain, &series)) > 1e-3);
    }
}

#[test]
fn row_weights_that_do_not_fit_are_refused() {
    let series = planted_series(1, 30);
    let of = |weights: Vec<Vec<f64>>| {
        let options = Options {
            row_weights: Some(&weights),
            ..Options::default()
        };
        train_with(&series, &series.all(), &planted_config(), &options).unwrap_err()
    };
    for bad in [-1.0, NAN, f64::INFINITY] {
        let mut weights = vec![1.0; 30];
        weights[7] = bad;
        let error = of(vec![weights]);
        assert!(matches!(error, Error::RowWeights { got } if got.to_bits() == bad.to_bits()));
    }
    for shape in [vec![], vec![vec![1.0; 29]], vec![vec![1.0; 30]; 2]] {
        assert!(matches!(of(shape), Error::RowWeights { got } if got.is_nan()));
    }
    assert!(matches!(
        of(vec![vec![0.0; 30]]),
        Error::TooFewRows { got: 0, .. }
    ));
    // So small that nothing is left of their squares: whatever comes out, it comes out.
    for tiny in [5e-324, 1e-300, 1e-150] {
        let weights = vec![vec![tiny; 30]];
        let options = Options {
            row_weights: Some(&weights),
            ..Options::default()
        };
        if let Ok((_, report)) = train_with(&series, &series.all(), &planted_config(), &options) {
            assert!(report.rmse().is_finite());
        }
    }
    // Their sum is beyond all numbers.
    assert_eq!(of(vec![vec![f64::MAX; 30]]), Error::Diverged);
}

#[test]
fn wild_rows_hardly_move_a_huber_fit() {
    let share = |settings: &Config, seed: u64| {
        let (mut y, u) = noisy(seed, 300, 0.1);
        let (truth, fresh) = noisy(seed + 30, 300, 0.0);
        for row in (20..300).step_by(29) {
            y[row] += 60.0;
        }
        let (series, fresh) = (
            one_session(y, vec![u]),
            one_session(truth.clone(), vec![fresh]),
        );
        let error_of = |loss| {
            let mut settings = settings.clone();
            settings.training.loss = loss;
            rmse(&one_step(&train(&series, &settings).0, &fresh), &truth)
        };
        error_of(Loss::Huber { threshold: 1.345 }) / error_of(Loss::Squares)
    };
    let network = config(&[], &[&[0]], 3);
    for settings in [
        config(&[], &[&[0]], 0).linear(),
        unjudged(network.clone()),
        bayes(network.clone()),
        // The rows that judge are wild, too.
        network,
    ] {
        let shares: Vec<f64> = (0..5).map(|seed| share(&settings, seed)).collect();
        assert!(median(shares.clone()) < 0.4, "{shares:?}");
    }
}

#[test]
fn a_threshold_that_no_error_reaches_is_least_squares() {
    let series = planted_series(3, 120);
    let of = |loss| {
        let mut settings = unjudged(planted_config());
        settings.training.loss = loss;
        bits(&one_step(&train(&series, &settings).0, &series))
    };
    assert_eq!(of(Loss::Huber { threshold: 1e9 }), of(Loss::Squares));
}

#[test]
fn every_epoch_of_every_start_is_told() {
    let series = planted_series(1, 150);
    let mut settings = planted_config();
    settings.training.starts = Some(3);
    settings.training.validation = Validation::Folds { folds: 2 };
    let told = Mutex::new(Vec::new());
    let listen = |epoch: &Epoch| {
        told.lock().unwrap().push(*epoch);
        ControlFlow::Continue(())
    };
    let options = Options {
        on_epoch: Some(&listen),
        ..Options::default()
    };
    let (model, report) = with_options(&series, &settings, &options);
    assert_eq!(report.starts.len(), 6);
    assert_eq!(report.judged_rows, report.rows);
    let told = told.into_inner().unwrap();
    for start in &report.starts {
        let of_start = told
            .iter()
            .filter(|it| (it.start, it.fold) == (start.start, start.fold));
        let epochs: Vec<usize> = of_start.clone().map(|it| it.epoch).collect();
        assert_eq!(epochs, (1..=start.epochs).collect::<Vec<_>>());
        for epoch in of_start {
            assert_eq!(epoch.horizon, 1);
            assert!(epoch.train_rmse.is_finite() && epoch.validation_rmse.is_some());
            assert!(epoch.mu > 0.0 && epoch.gradient >= 0.0);
            assert_eq!(epoch.effective_weights, report.weights_of_one() as f64);
        }
    }
    // Both folds of all starts are in the model.
    assert_eq!(model.hidden(), 2 * 3 * 2);
    // Being watched changes nothing.
    assert_eq!(train(&series, &settings).0.to_json(), model.to_json());
}

trait OfOne {
    fn weights_of_one(&self) -> usize;
}

impl OfOne for Report {
    /// Weights of a planted network: four regressors, two hidden units.
    fn weights_of_one(&self) -> usize {
        (4 + 1) * 2 + 2 + 1
    }
}

#[test]
fn epochs_are_counted_on_when_the_rows_change() {
    let (y, u) = linear(2, 8_000, 0.3);
    let series = one_session(y, vec![u]);
    let mut settings = unjudged(config(&[1, 2], &[&[1, 3]], 2));
    settings.training.max_epochs = 5;
    let told = Mutex::new(Vec::new());
    let listen = |epoch: &Epoch| {
        told.lock().unwrap().push(epoch.epoch);
        ControlFlow::Continue(())
    };
    let options = Options {
        on_epoch: Some(&listen),
        ..Options::default()
    };
    let (_, report) = with_options(&series, &settings, &options);
    // A few on all rows follow.
    assert!(report.starts[0].epochs > 5);
    let expected: Vec<usize> = (1..=report.starts[0].epochs).collect();
    assert_eq!(told.into_inner().unwrap(), expected);
}

#[test]
fn the_caller_can_end_a_start() {
    let rows = 4096 * 2;
    for (series, closed) in [
        (planted_series(1, 200), false),
        (planted_series(1, 200), true),
        (planted_series(1, rows), false),
    ] {
        let mut settings = planted_config();
        if closed {
            settings.training = Training {
                starts: Some(1),
                ..Training::closed_loop()
            };
        }
        let calls = AtomicUsize::new(0);
        let second = |_: &Epoch| match calls.fetch_add(1, Ordering::Relaxed) {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        let second: &OnEpoch<'_> = &second;
        let options = Options {
            on_epoch: Some(second),
            ..Options::default()
        };
        let (_, report) = with_options(&series, &settings, &options);
        assert_eq!(report.starts[0].stopped, StopReason::Stopped);
        assert_eq!(report.starts[0].epochs, 2);
        assert_eq!(calls.into_inner(), 2);
    }
}

#[test]
fn the_covariance_of_a_linear_model_is_the_textbook_one() {
    let (y, u) = linear(7, 200, 0.5);
    let series = one_session(y.clone(), vec![u.clone()]);
    let settings = config(&[1], &[&[1]], 0).linear();
    let (model, _) = train(&series, &settings);
    let part = Part::of(20..150);
    let covariance = model.covariance(&series, &part).unwrap().unwrap();
    let file: serde_json::Value = serde_json::from_str(&model.to_json()).unwrap();
    let scaled = |what: &str, value: f64| {
        let scaler = &file["model"][what][0]["scaler"];
        (value - scaler["shift"].as_f64().unwrap()) / scaler["spread"].as_f64().unwrap()
    };
    // The weights are those of y(t − 1), of u(t − 1), and the bias.
    let x = DMatrix::from_fn(130, 3, |row, k| match k {
        0 => scaled("outputs", y[19 + row]),
        1 => scaled("inputs", u[19 + row]),
        _ => 1.0,
    });
    let forecasts = one_step(&model, &series);
    let errors = (20..150).map(|t| scaled("outputs", y[t]) - scaled("outputs", forecasts[t]));
    let variance = errors.map(|e| e * e).sum::<f64>() / (130.0 - 3.0);
    let expected = (x.transpose() * &x).try_inverse().unwrap() * variance;
    for i in 0..3 {
        for j in 0..3 {
            assert_abs_diff_eq!(covariance[i][j], expected[(i, j)], epsilon = 1e-12);
        }
    }
    assert_eq!(model.covariance(&series, &Part::of(20..23)).unwrap(), None);
    assert_eq!(model.covariance(&series, &Part::of(0..0)).unwrap(), None);
    assert!(matches!(
        model.covariance(&series, &Part::of(0..201)),
        Err(Error::Part { .. })
    ));
}

#[test]
fn weights_that_the_rows_do_not_determine_have_no_covariance() {
    let (y, u) = linear(7, 200, 0.5);
    let series = one_session(y, vec![u.clone(), u.iter().map(|u| 2.0 * u).collect()]);
    let (model, _) = train(&series, &config(&[1], &[&[1], &[1]], 0).linear());
    let covariance = model.covariance(&series, &series.all()).unwrap();
    assert_eq!(covariance, None);
}

fn bayes(mut settings: Config) -> Config {
    settings.training.algorithm = Algorithm::Bayes;
    unjudged(settings)
}

#[test]
fn the_evidence_counts_few_weights_where_there_is_nothing_to_learn() {
    let settings = bayes(config(&[1, 2], &[&[0, 1]], 6));
    let mut shares = Vec::new();
    for seed in 0..7 {
        let series = one_session(white(seed, 300), vec![white(seed + 50, 300)]);
        let (_, report) = train(&series, &settings);
        let effective = report.starts[0].effective_weights;
        assert!(effective > 0.0 && effective <= report.weights as f64);
        shares.push(effective / report.weights as f64);
    }
    assert!(median(shares.clone()) < 0.4, "{shares:?}");
    // There is much to learn, and no noise.
    let mut settings = bayes(planted_config());
    settings.training.max_epochs = 300;
    let (_, report) = train(&planted_series(1, 500), &settings);
    let effective = report.starts[0].effective_weights;
    assert!(
        effective > 0.7 * report.weights as f64,
        "{effective} of {}",
        report.weights
    );
}

#[test]
fn bayesian_regularisation_forecasts_noise_better_than_plain_training() {
    let gain = |seed: u64| {
        let (y, u) = noisy(seed, 80, 0.8);
        let (truth, fresh) = noisy(seed + 20, 400, 0.0);
        let series = one_session(y, vec![u]);
        let fresh = one_session(truth.clone(), vec![fresh]);
        let settings = config(&[], &[&[0, 1, 2]], 8);
        let error =
            |settings: &Config| rmse(&one_step(&train(&series, settings).0, &fresh), &truth);
        error(&bayes(settings.clone())) / error(&unjudged(settings))
    };
    assert!(median((0..7).map(gain).collect()) < 0.8);
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(work)
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let small = planted_series(1, 200);
    let (y, u) = linear(2, 4096 * 3 + 1_234, 0.3);
    let large = one_session(y, vec![u]);
    let mut of_small = planted_config();
    of_small.training.starts = Some(5);
    let mut folds = of_small.clone();
    folds.training.validation = Validation::Folds { folds: 3 };
    let mut closed = of_small.clone();
    closed.training = Training {
        starts: Some(3),
        ..Training::closed_loop()
    };
    let mut of_large = unjudged(config(&[1, 2], &[&[1, 3]], 3));
    of_large.training.max_epochs = 8;
    let mut judged = of_large.clone();
    judged.training.validation = Validation::Tail { share: 0.2 };
    judged.training.loss = Loss::Huber { threshold: 1.0 };
    for (series, settings) in [
        (&small, &of_small),
        (&small, &folds),
        (&small, &closed),
        (&large, &of_large),
        (&large, &judged),
    ] {
        let on = |threads| on_threads(threads, || train(series, settings).0.to_json());
        let one = on(1);
        assert!(on(2) == one && on(5) == one);
        assert!(train(series, settings).0.to_json() == one);
    }
}

#[test]
fn many_rows_are_scored_on_all_of_them() {
    // Three parts and more, thinned for most epochs.
    let rows = 4096 * 3 + 1_000;
    for seed in 0..6 {
        let (y, u) = linear(seed, rows, 0.3);
        let series = one_session(y, vec![u]);
        let mut settings = unjudged(config(&[1, 2], &[&[1, 3]], 1));
        settings.training.max_epochs = 5;
        let (model, report) = train(&series, &settings);
        let file: serde_json::Value = serde_json::from_str(&model.to_json()).unwrap();
        let spread = file["model"]["outputs"][0]["scaler"]["spread"]
            .as_f64()
            .unwrap();
        let of_start = report.starts[0].rmse.unwrap() * spread;
        assert_relative_eq!(of_start, report.rmse(), max_relative = 1e-9);
    }
}

#[test]
fn another_seed_is_another_model() {
    let series = planted_series(1, 100);
    let of = |seed| {
        let mut settings = config(&[1], &[&[0]], 3);
        settings.training.seed = seed;
        bits(&one_step(&train(&series, &settings).0, &series))
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
    assert_ne!(of(0), of(u64::MAX));
}

#[test]
fn the_best_starts_by_the_judging_rows_make_the_model() {
    let (y, u) = noisy(5, 120, 0.4);
    let series = one_session(y, vec![u]);
    for validation in [
        Validation::Tail { share: 0.3 },
        Validation::Folds { folds: 3 },
        Validation::None,
    ] {
        let mut settings = config(&[1], &[&[0, 1]], 4);
        settings.training = Training {
            starts: Some(6),
            average: Some(2),
            validation,
            ..settings.training
        };
        let (_, report) = train(&series, &settings);
        let score = |start: usize| {
            let of_start = report.starts.iter().filter(|it| it.start == start);
            of_start.map(|it| it.rmse.unwrap().powi(2)).sum::<f64>()
        };
        let is_chosen = |start: usize| {
            let mut of_start = report.starts.iter().filter(|it| it.start == start);
            let chosen = of_start.next().unwrap().chosen;
            assert!(of_start.all(|it| it.chosen == chosen));
            chosen
        };
        let (chosen, others): (Vec<usize>, Vec<usize>) =
            (0..6).partition(|start| is_chosen(*start));
        assert_eq!(chosen.len(), 2);
        let worst = chosen.iter().map(|it| score(*it)).fold(0.0, f64::max);
        assert!(others.iter().all(|it| score(*it) >= worst));
    }
}

#[test]
fn an_average_forecasts_the_mean_of_its_members() {
    let (y, u) = noisy(5, 120, 0.4);
    let series = one_session(y, vec![u]);
    let mut compared = 0;
    for skip in [Skip::None, Skip::Linear, Skip::LastValue] {
        for seed in 0..8 {
            let of = |starts, average| {
                let mut settings = config(&[1], &[&[0, 1]], 3);
                settings.skip = skip;
                settings.training.seed = seed;
                settings.training.starts = Some(starts);
                settings.training.average = average;
                train(&series, &settings)
            };
            let (both, _) = of(2, None);
            let (best, report) = of(2, Some(1));
            if report.starts[0].chosen {
                continue;
            }
            // Start 0 is what a training of one start is.
            let (first, _) = of(1, None);
            let members = (one_step(&best, &series), one_step(&first, &series));
            let forecasts = one_step(&both, &series);
            for (row, forecast) in forecasts.iter().enumerate().skip(1) {
                let mean = (members.0[row] + members.1[row]) / 2.0;
                assert_relative_eq!(*forecast, mean, epsilon = 1e-12, max_relative = 1e-12);
            }
            assert_eq!(both.hidden(), 6);
            compared += 1;
        }
    }
    assert!(compared > 5);
}

#[test]
fn folds_are_learnt_from_without_their_own_rows() {
    // The middle third is the reverse of the others.
    let u = white(1, 300);
    let y = (0..300)
        .map(|t| if t / 100 == 1 { -u[t] } else { u[t] })
        .collect();
    let mut settings = config(&[], &[&[0]], 0);
    settings.training.validation = Validation::Folds { folds: 3 };
    let (_, report) = train(&one_session(y, vec![u]), &settings);
    let errors: Vec<f64> = report.starts.iter().map(|it| it.rmse.unwrap()).collect();
    // Fold 1 learns u and is judged by −u; the others learn about 0.
    assert_abs_diff_eq!(errors[1], 2.0, epsilon = 0.2);
    assert!(errors[0] < 1.3 && errors[2] < 1.3);
}
