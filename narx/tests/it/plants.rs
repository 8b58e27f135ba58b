//! Simulated systems with known answers, and what the tests about models share.

use narx::{
    Config, Error, Input, Narx, Part, Report, Scaling, Series, Session, Skip, Training, Validation,
};

use crate::judge_noise::white;

/// A data set of one output `y` and inputs `u0`, `u1`, .. in one session.
pub(crate) fn one_session(y: Vec<f64>, inputs: Vec<Vec<f64>>) -> Series {
    sessions(vec![(y, inputs)])
}

/// The same of several sessions.
pub(crate) fn sessions(sessions: Vec<(Vec<f64>, Vec<Vec<f64>>)>) -> Series {
    let inputs = sessions.first().map_or(0, |(_, inputs)| inputs.len());
    let mut series = Series::new(["y".to_owned()], names("u", inputs)).unwrap();
    for (y, inputs) in sessions {
        series.push(Session::of(y, inputs).unwrap()).unwrap();
    }
    series
}

pub(crate) fn names(letter: &str, count: usize) -> Vec<String> {
    (0..count).map(|k| format!("{letter}{k}")).collect()
}

/// `inputs[k]` are the lags of `u<k>`.
pub(crate) fn config(output_lags: &[usize], inputs: &[&[usize]], hidden: usize) -> Config {
    let input = |(k, lags): (usize, &&[usize])| Input::new(format!("u{k}"), lags.to_vec());
    Config {
        output_lags: output_lags.to_vec(),
        inputs: inputs.iter().enumerate().map(input).collect(),
        hidden,
        training: Training {
            starts: Some(1),
            ..Training::default()
        },
        ..Config::default()
    }
}

/// The same without rows that judge.
pub(crate) fn unjudged(mut config: Config) -> Config {
    config.training.validation = Validation::None;
    config
}

/// y(t) = 0.7 tanh(1.1 y(t−1) + 0.9 u(t) − 0.2) − 0.4 tanh(0.8 y(t−2) − 1.2 u(t−1) + 0.3), which a
/// network of two hidden units without direct connections can be.
pub(crate) fn planted(seed: u64, rows: usize) -> (Vec<f64>, Vec<f64>) {
    let u = white(seed, rows);
    let mut y = vec![0.1, -0.2];
    for t in 2..rows {
        let first: f64 = 1.1 * y[t - 1] + 0.9 * u[t] - 0.2;
        let second: f64 = 0.8 * y[t - 2] - 1.2 * u[t - 1] + 0.3;
        y.push(0.7 * first.tanh() - 0.4 * second.tanh());
    }
    y.truncate(rows);
    (y, u)
}

pub(crate) fn planted_config() -> Config {
    Config {
        skip: Skip::None,
        ..config(&[1, 2], &[&[0, 1]], 2)
    }
}

/// y(t) = 1.2 y(t−1) − 0.5 y(t−2) + u(t−1) + 0.4 u(t−3) + `noise` · e(t).
pub(crate) fn linear(seed: u64, rows: usize, noise: f64) -> (Vec<f64>, Vec<f64>) {
    let (u, e) = (white(seed, rows), white(seed + 1_000_000, rows));
    let mut y = vec![0.3; 3.min(rows)];
    for t in 3..rows {
        y.push(1.2 * y[t - 1] - 0.5 * y[t - 2] + u[t - 1] + 0.4 * u[t - 3] + noise * e[t]);
    }
    (y, u)
}

pub(crate) fn train(series: &Series, config: &Config) -> (Narx, Report) {
    narx::train(series, config).unwrap()
}

pub(crate) fn one_step(model: &Narx, series: &Series) -> Vec<f64> {
    model.one_step(series).unwrap().of(0, 0).to_vec()
}

pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Root mean squared difference where both are there.
pub(crate) fn rmse(forecasts: &[f64], truth: &[f64]) -> f64 {
    let pairs = forecasts.iter().zip(truth);
    let squares: Vec<f64> = pairs
        .filter(|(f, _)| f.is_finite())
        .map(|(f, y)| (f - y).powi(2))
        .collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}

/// The rows whose forecasts differ.
pub(crate) fn moved(a: &[f64], b: &[f64]) -> Vec<usize> {
    let pairs = a.iter().zip(b).enumerate();
    pairs
        .filter(|(_, (a, b))| a.to_bits() != b.to_bits())
        .map(|(row, _)| row)
        .collect()
}

/// The middle one.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

pub(crate) const SCALINGS: [Scaling; 3] = [Scaling::MinMax, Scaling::Standard, Scaling::Robust];

/// Asks what every model must be, whatever it was trained on: finite numbers in the report and the
/// forecasts, and a file that can be read back.
pub(crate) fn assert_sensible(model: &Narx, report: &Report, series: &Series, what: &str) {
    let numbers = report.output_rmse.iter().copied();
    let of_starts = report.starts.iter();
    let of_starts = of_starts.flat_map(|it| [it.rmse.unwrap_or(0.0), it.effective_weights]);
    for number in numbers.chain(of_starts) {
        assert!(number.is_finite(), "{what}: {report:?}");
    }
    let read = Narx::from_json(model.to_json().as_bytes()).unwrap();
    assert_eq!(read, *model, "{what}");
    for forecasts in [
        model.one_step(series).unwrap(),
        model.steps_ahead(series, 3).unwrap(),
        model.free_run(series, 0).unwrap(),
    ] {
        for (session, rows) in series.sessions().iter().enumerate() {
            for output in 0..series.outputs().len() {
                let of = forecasts.of(session, output);
                assert_eq!(of.len(), rows.len(), "{what}");
                assert!(of.iter().all(|v| !v.is_infinite()), "{what}: {of:?}");
            }
        }
    }
    assert!(model.seen(series).is_ok());
}

/// Trains and, if there is a model, asks that it be sensible.
pub(crate) fn try_train(
    series: &Series,
    part: &Part,
    config: &Config,
    what: &str,
) -> Result<Narx, Error> {
    let (model, report) = narx::train_with(series, part, config, &narx::Options::default())?;
    assert_sensible(&model, &report, series, what);
    Ok(model)
}
