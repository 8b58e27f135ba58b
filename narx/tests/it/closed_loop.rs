//! Training on the model's own forecasts.

use std::ops::ControlFlow;
use std::sync::Mutex;

use narx::{
    ClosedLoop, Config, Epoch, Narx, Options, Series, Skip, Training, Validation, train_with,
};

use crate::judge_noise::white;
use crate::plants::{assert_sensible, config, median, one_session, rmse, train};

/// x(t) = 1.5 x(t−1) − 0.7 x(t−2) + tanh u(t−1), measured with noise that the system does not feel
/// (output error).
fn measured(seed: u64, rows: usize, noise: f64) -> (Series, Vec<f64>) {
    let (u, e) = (white(seed, rows), white(seed + 900, rows));
    let mut x = vec![0.0, 0.0];
    for t in 2..rows {
        x.push(1.5 * x[t - 1] - 0.7 * x[t - 2] + u[t - 1].tanh());
    }
    let y = x.iter().zip(&e).map(|(x, e)| x + noise * e).collect();
    (one_session(y, vec![u]), x)
}

fn settings(hidden: usize) -> Config {
    let mut settings = config(&[1, 2], &[&[1]], hidden);
    settings.training.validation = Validation::None;
    settings
}

fn closed(settings: &Config, horizons: &[usize]) -> Config {
    Config {
        training: Training {
            starts: Some(1),
            closed_loop: Some(ClosedLoop {
                horizons: horizons.to_vec(),
                ..ClosedLoop::default()
            }),
            ..Training::closed_loop()
        },
        ..settings.clone()
    }
}

#[test]
fn a_free_run_is_better_after_closed_loop_training() {
    let ratio = |seed: u64| {
        let (series, _) = measured(seed, 300, 0.7);
        let (fresh, truth) = measured(seed + 40, 300, 0.0);
        let error = |settings: &Config| {
            let (model, _) = train(&series, settings);
            rmse(model.free_run(&fresh, 0).unwrap().of(0, 0), &truth)
        };
        let open = settings(2);
        error(&closed(&open, &[5, 20, 0])) / error(&open)
    };
    let ratios: Vec<f64> = (0..5).map(ratio).collect();
    assert!(median(ratios.clone()) < 0.6, "{ratios:?}");
}

/// Feedback keeps an unstable system within bounds; left to itself it explodes.
fn unstable(rows: usize) -> Series {
    let e = white(3, rows);
    let (mut y, mut u) = (vec![0.1], vec![]);
    for t in 0..rows {
        u.push(-1.1 * y[t] + e[t]);
        y.push(1.6 * y[t] + u[t] + 0.1 * e[(t * 7) % rows]);
    }
    y.truncate(rows);
    one_session(y, vec![u])
}

#[test]
fn a_run_that_diverges_is_cut_and_told() {
    let series = unstable(300);
    for validation in [
        Validation::None,
        Validation::Tail { share: 0.2 },
        Validation::Folds { folds: 2 },
    ] {
        for hidden in [0, 2] {
            let mut settings = closed(&config(&[1], &[&[1]], hidden), &[3, 200, 0]);
            settings.training.validation = validation;
            let (model, report) = train(&series, &settings);
            assert_sensible(&model, &report, &series, "unstable");
            let forecasts = model.free_run(&series, 0).unwrap();
            let cut = !report.starts[0].cut_horizons.is_empty();
            assert!(
                cut || !forecasts.ran_away().is_empty(),
                "{validation:?} {hidden} {report:?}"
            );
            for &(session, row) in forecasts.ran_away() {
                let of = &forecasts.of(session, 0)[row..];
                assert!(of.iter().all(|f| f.is_nan()));
            }
            // One step is as good as ever.
            let one = model.one_step(&series).unwrap();
            assert!(rmse(one.of(0, 0), series.sessions()[0].output(0)) < 1.0);
        }
    }
}

#[test]
fn the_stages_come_one_after_the_other() {
    let (series, _) = measured(1, 200, 0.3);
    let told = Mutex::new(Vec::new());
    let listen = |epoch: &Epoch| {
        assert!(epoch.train_rmse.is_finite());
        told.lock().unwrap().push(epoch.horizon);
        ControlFlow::Continue(())
    };
    let options = Options {
        on_epoch: Some(&listen),
        ..Options::default()
    };
    let mut settings = closed(&settings(2), &[7, 0, 30]);
    settings.training.max_epochs = 4;
    let (_, report) = train_with(&series, &series.all(), &settings, &options).unwrap();
    let mut told = told.into_inner().unwrap();
    assert_eq!(told.len(), report.starts[0].epochs);
    told.dedup();
    assert_eq!(told, [1, 7, 0, 30]);
    assert!(report.starts[0].cut_horizons.is_empty());
}

#[test]
fn a_horizon_longer_than_every_run_is_one_to_the_end() {
    let (series, _) = measured(2, 120, 0.3);
    let of = |horizon| train(&series, &closed(&settings(2), &[horizon])).0;
    let forecasts = |model: &Narx| model.one_step(&series).unwrap().of(0, 0)[2..].to_vec();
    let whole = forecasts(&of(0));
    for horizon in [118, 119, usize::MAX] {
        assert_eq!(forecasts(&of(horizon)), whole);
    }
    assert_ne!(forecasts(&of(117)), whole);
}

#[test]
fn a_linear_output_error_model_is_found() {
    let rows = 1_500;
    let (u, e) = (white(1, rows), white(2, rows));
    let mut x = vec![0.0];
    for t in 1..rows {
        x.push(0.8 * x[t - 1] + u[t]);
    }
    let y: Vec<f64> = x.iter().zip(&e).map(|(x, e)| x + e).collect();
    let series = one_session(y, vec![u]);
    let settings = config(&[1], &[&[0]], 0);
    // The gain of y(t − 1), from what a small change there does.
    let gain = |settings: &Config| {
        let (model, _) = train(&series, settings);
        let future = [vec![0.0; 1]];
        let at = |last: f64| {
            let series = one_session(vec![last], vec![vec![0.0]]);
            model.forecast(&series, 0, 1, &future).unwrap()[0][0]
        };
        at(1.0) - at(0.0)
    };
    let (open, closed) = (gain(&settings.linear()), gain(&closed(&settings, &[10, 0])));
    // Noise in the regressor pulls the one-step estimate to 0; the multi-step one is consistent.
    assert!(open < 0.65, "{open}");
    assert!((closed - 0.8).abs() < 0.02, "{closed}");
}

#[test]
fn every_skip_connection_can_be_closed() {
    let (series, truth) = measured(5, 250, 0.2);
    for skip in [Skip::None, Skip::Linear, Skip::LastValue] {
        let settings = Config {
            skip,
            ..settings(3)
        };
        let (model, report) = train(&series, &closed(&settings, &[5, 20, 0]));
        assert_sensible(&model, &report, &series, "closed");
        let free = model.free_run(&series, 0).unwrap();
        assert!(rmse(free.of(0, 0), &truth) < 0.4, "{skip:?}");
    }
}
