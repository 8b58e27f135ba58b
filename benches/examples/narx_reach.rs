//! How well the default settings forecast the data sets of the field, and in what time.
//!
//!     LBBSP_DATA=DIR cargo run --release -p benches --example narx_reach [> narx_reach.csv]
//!
//! One line a data set, kind of forecast and seed; the medians go to standard error. One set of
//! defaults serves all: `Config::default()`, and `Training::closed_loop()` for free runs. The test
//! rows decide nothing.

use std::path::PathBuf;
use std::time::Instant;

use benches::narx_tasks::{self as tasks, Task};
use cpu_time::ProcessTime;
use narx::{Config, Forecasts, Narx, Options, Part, Scores, Training, train_with};

const SEEDS: u64 = 9;

/// What is forecast.
#[derive(Clone, Copy)]
enum Kind {
    OneStep,
    /// With as many measured outputs to begin with.
    FreeRun(usize),
}

fn main() {
    let data = std::env::var_os("LBBSP_DATA").map(PathBuf::from);
    let data = data.expect("LBBSP_DATA names the folder of data that the repository lacks");
    println!("task,record,kind,seed,rmse,mae,fit_pct,rows,epochs,hidden,cpu_s,wall_s");
    for task in [tasks::silverbox(&data), tasks::tanks(&data)] {
        let initial = if task.name == "tanks" { 5 } else { 50 };
        run(&task, Kind::FreeRun(initial));
    }
    let all = [
        tasks::tanks(&data),
        tasks::bitbrains(&data),
        tasks::gas(&data),
        tasks::worker(&data),
    ];
    for task in all {
        run(&task, Kind::OneStep);
    }
}

fn run(task: &Task, kind: Kind) {
    let mut errors: Vec<Vec<f64>> = vec![Vec::new(); task.tests.len()];
    let (mut cpu, mut wall) = (Vec::new(), Vec::new());
    for seed in 0..SEEDS {
        let config = config(task, kind, seed);
        let (clock, processor) = (Instant::now(), ProcessTime::now());
        let trained = train_with(&task.series, &task.train, &config, &Options::default());
        let (model, report) = trained.expect("the data is sound");
        cpu.push(processor.elapsed().as_secs_f64());
        wall.push(clock.elapsed().as_secs_f64());
        let epochs: usize = report.starts.iter().map(|start| start.epochs).sum();
        let forecasts = forecasts(&model, task, kind);
        for (errors, (record, part)) in errors.iter_mut().zip(&task.tests) {
            let scores = scores(task, part, &forecasts);
            errors.push(scores.rmse);
            println!(
                "{},{record},{},{seed},{:.6e},{:.6e},{:.3},{},{epochs},{},{:.4},{:.4}",
                task.name,
                name(kind),
                scores.rmse,
                scores.mae,
                scores.fit_pct.unwrap_or(f64::NAN),
                scores.rows,
                model.hidden(),
                cpu[cpu.len() - 1],
                wall[wall.len() - 1],
            );
        }
    }
    let (cpu, wall) = (median(&mut cpu), median(&mut wall));
    for (errors, (record, _)) in errors.iter_mut().zip(&task.tests) {
        let middle = median(errors);
        let (low, high) = (errors[0], errors[errors.len() - 1]);
        eprintln!(
            "{:<12} {record:<28} {:<8} rmse {middle:.5} ({low:.5} to {high:.5}), {cpu:.3} CPU s, {wall:.3} s",
            task.name,
            name(kind)
        );
    }
}

fn config(task: &Task, kind: Kind, seed: u64) -> Config {
    let training = match kind {
        Kind::OneStep => Training::default(),
        Kind::FreeRun(_) => Training::closed_loop(),
    };
    Config {
        output_lags: task.output_lags.clone(),
        inputs: task.inputs.clone(),
        training: Training { seed, ..training },
        ..Config::default()
    }
}

fn forecasts(model: &Narx, task: &Task, kind: Kind) -> Forecasts {
    let forecasts = match kind {
        Kind::OneStep => model.one_step(&task.series),
        Kind::FreeRun(initial) => model.free_run(&task.series, initial),
    };
    forecasts.expect("it was trained on this data set")
}

/// Of the rows of `part`, none of which may lack a forecast.
fn scores(task: &Task, part: &Part, forecasts: &Forecasts) -> Scores {
    let (mut truth, mut forecast) = (Vec::new(), Vec::new());
    for (session, rows) in part.ranges().iter().enumerate() {
        truth.extend_from_slice(&task.series.sessions()[session].output(0)[rows.clone()]);
        forecast.extend_from_slice(&forecasts.of(session, 0)[rows.clone()]);
    }
    let wanted = truth.iter().filter(|y| y.is_finite()).count();
    let scores = Scores::of(&truth, &forecast, f64::NAN).expect("there are rows");
    assert_eq!(scores.rows, wanted, "a row has no forecast");
    scores
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::OneStep => "one step",
        Kind::FreeRun(_) => "free run",
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
