//! How much memory a training takes beyond its data: 10 million rows, 101 weights.
//!
//!     cargo run --release -p benches --example narx_memory
//!
//! Reads the process's own peak from /proc, so it runs on Linux only.

use narx::{Config, Input, Part, Series, Session, Skip, Training, Validation, train_with};

const ROWS: usize = 10_000_000;

fn main() {
    let mut state = 0.0_f64;
    let (mut y, mut u) = (Vec::with_capacity(ROWS), Vec::with_capacity(ROWS));
    for t in 0..ROWS as u64 {
        let input = (t.wrapping_mul(6_364_136_223_846_793_005) >> 40) as f64 / 2_f64.powi(23) - 1.0;
        y.push(state);
        u.push(input);
        state = 0.8 * state + (2.0 * input).tanh() - 0.1 * state * input;
    }
    let session = Session::of(y, vec![u]).expect("as many inputs as outputs");
    let series = Series::new(["y"], ["u"])
        .and_then(|it| it.with(session))
        .expect("two names");
    let config = Config {
        output_lags: (1..=4).collect(),
        inputs: vec![Input::new("u", 1..=4)],
        skip: Skip::None,
        training: Training {
            validation: Validation::None,
            starts: Some(1),
            max_epochs: 20,
            ..Training::default()
        },
        ..Config::default()
    };
    let before = peak_mb();
    let part = Part::of(0..ROWS);
    let trained = train_with(&series, &part, &config, &Default::default());
    let (_, report) = trained.expect("the data is sound");
    println!(
        "{} rows, {} weights: {before:.0} MB before, {:.0} MB more at the peak of training",
        report.rows,
        report.weights,
        peak_mb() - before
    );
}

/// The most memory that this process has held so far.
fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("this runs on Linux");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .expect("a peak");
    let kb: f64 = line
        .split_whitespace()
        .nth(1)
        .and_then(|it| it.parse().ok())
        .expect("a number");
    kb / 1024.0
}
