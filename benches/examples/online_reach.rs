//! How well the forecasters that learn as they go forecast recorded workers and machines.
//!
//!     LBBSP_DATA=DIR cargo run --release -p benches --example online_reach [> online_reach.csv]
//!
//! One line a series, seed and rule: predict, then learn, one step ahead; one set of defaults serves
//! all. RMSE is also given relative to an average whose factor (0.05, 0.10, .. 1) is the best one on
//! the first rows. What is made of it goes to standard error.

use std::collections::BTreeMap;
use std::path::PathBuf;

use benches::narx_tasks::{self as tasks, Stream};
use narx::{
    AdaptiveConformal, Config, Covariance, Forecaster, Guarded, Input, IntervalScores, Member,
    Online, OnlineConfig, Options, Part, Scores, Series, Session, Training, train_with,
};

const SEEDS: u64 = 5;
const COVERAGE: f64 = 0.9;

fn main() {
    let data = std::env::var_os("LBBSP_DATA").map(PathBuf::from);
    let data = data.expect("LBBSP_DATA names the folder of data that the repository lacks");
    let mut groups: Vec<(&str, Vec<Stream>)> = vec![
        (
            "30 PAI workers",
            [1, 3, 4].map(|job| tasks::pai(&data, job)).concat(),
        ),
        ("worker2", vec![tasks::worker_stream(&data)]),
        ("semi 0", vec![tasks::semi(&data, 0)]),
        ("10 traces", tasks::traces(&data)),
    ];
    let machines = [1, 43, 67, 97, 193, 235].map(|number| tasks::machine(&data, number));
    groups.push(("6 Bitbrains machines", machines.to_vec()));
    println!("series,seed,rule,rmse,relative,coverage,interval_score");
    for (name, streams) in &groups {
        let mut seeds: Vec<BTreeMap<&str, Vec<Row>>> = Vec::new();
        for seed in 0..SEEDS {
            let mut rules: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
            for stream in streams {
                for (rule, row) in of_stream(stream, seed) {
                    println!(
                        "{},{seed},{rule},{:.6e},{:.4},{:.4},{:.5e}",
                        stream.name, row.rmse, row.relative, row.coverage, row.interval_score
                    );
                    rules.entry(rule).or_default().push(row);
                }
            }
            seeds.push(rules);
        }
        summarise(name, &seeds);
    }
}

#[derive(Debug, Clone, Copy)]
struct Row {
    rmse: f64,
    relative: f64,
    coverage: f64,
    interval_score: f64,
}

/// All rules on one series.
fn of_stream(stream: &Stream, seed: u64) -> Vec<(&'static str, Row)> {
    let inputs = stream.inputs.len();
    let config = |inputs| OnlineConfig {
        seed,
        ..OnlineConfig::new(inputs)
    };
    let guarded = |inputs| Guarded::with(&config(inputs)).expect("the defaults are sound");
    let average = tuned_rmse(stream);
    let row = |forecasts: &[f64]| scored(stream, forecasts, average);
    let mut rows = Vec::new();
    let mut all = Run::of(guarded(inputs), stream, inputs);
    rows.push(("guarded", row(&all.mixture)));
    for (name, forecasts) in NAMES.into_iter().zip(&mut all.members) {
        rows.push((name, row(forecasts)));
    }
    // What the inputs are worth.
    rows.push((
        "guarded without inputs",
        row(&Run::of(guarded(0), stream, 0).mixture),
    ));
    if inputs > 1 {
        rows.push((
            "guarded with first input",
            row(&Run::of(guarded(1), stream, 1).mixture),
        ));
    }
    let nodes = OnlineConfig {
        covariance: Covariance::Nodes,
        ..config(inputs)
    };
    let nodes = Online::new(&nodes).expect("the defaults are sound");
    rows.push(("online by nodes", row(&forecasts(nodes, stream, inputs))));
    if let Some((frozen, warm)) = trained(stream, seed) {
        rows.push(("frozen network", row(&frozen)));
        rows.push((
            "guarded from a model",
            row(&Run::of(warm, stream, inputs).mixture),
        ));
    }
    rows
}

const NAMES: [&str; 5] = ["last value", "average", "linear", "online", "corrected"];

/// Forecasts of a mixture and its members.
struct Run {
    mixture: Vec<f64>,
    members: Vec<Vec<f64>>,
}

impl Run {
    fn of(mut guarded: Guarded, stream: &Stream, inputs: usize) -> Self {
        let mut run = Self {
            mixture: Vec::new(),
            members: vec![Vec::new(); NAMES.len()],
        };
        let mut now = vec![0.0; inputs];
        for (t, &y) in stream.y.iter().enumerate() {
            known(stream, t, &mut now);
            let mut forecast = [f64::NAN];
            for (member, forecasts) in Member::ALL.into_iter().zip(&mut run.members) {
                guarded.forecast_of(member, &now, &mut forecast);
                forecasts.push(forecast[0]);
            }
            guarded.forecast(&now, &mut forecast);
            run.mixture.push(forecast[0]);
            guarded.observe(y, &now);
        }
        run
    }
}

fn forecasts(mut rule: impl Forecaster, stream: &Stream, inputs: usize) -> Vec<f64> {
    let mut now = vec![0.0; inputs];
    let mut next = |(t, &y): (usize, &f64)| {
        known(stream, t, &mut now);
        let mut forecast = [f64::NAN];
        rule.forecast(&now, &mut forecast);
        rule.observe(y, &now);
        forecast[0]
    };
    stream.y.iter().enumerate().map(&mut next).collect()
}

fn known(stream: &Stream, t: usize, now: &mut [f64]) {
    for (now, (_, column)) in now.iter_mut().zip(&stream.inputs) {
        *now = column[t];
    }
}

/// What a network forecasts that was trained on the first rows, and a mixture that begins with it;
/// none where an input never changed in these.
fn trained(stream: &Stream, seed: u64) -> Option<(Vec<f64>, Guarded)> {
    let (names, columns): (Vec<&str>, Vec<Vec<f64>>) = stream.inputs.iter().cloned().unzip();
    let inputs = names.iter().map(|name| Input::new(*name, [0, 1]));
    let config = Config {
        inputs: inputs.collect(),
        training: Training {
            starts: Some(1),
            seed,
            ..Training::default()
        },
        ..Config::default()
    };
    let session = Session::of(stream.y.clone(), columns).expect("they fit");
    let series = Series::new(["y"], names).and_then(|series| series.with(session));
    let series = series.expect("they fit");
    let part = Part::of(0..stream.tuned_to);
    let (model, report) = train_with(&series, &part, &config, &Options::default()).ok()?;
    if !report.dropped_inputs.is_empty() {
        return None;
    }
    let frozen = model.one_step(&series).expect("it was trained on it");
    let online = Online::warm(&model, Covariance::Full).ok()?;
    let guarded = Guarded::around(online).expect("the defaults are sound");
    Some((frozen.of(0, 0).to_vec(), guarded))
}

fn scored(stream: &Stream, forecasts: &[f64], average: f64) -> Row {
    let mut conformal = AdaptiveConformal::new(COVERAGE).expect("a share");
    let mut intervals = Vec::new();
    for (&y, &forecast) in stream.y.iter().zip(forecasts) {
        intervals.push(conformal.interval(forecast));
        conformal.observe(y, forecast);
    }
    let from = stream.scored_from;
    let truth = &stream.y[from..];
    let scores = Scores::of(truth, &forecasts[from..], f64::NAN).expect("there are rows");
    let intervals = IntervalScores::of(truth, &intervals[from..], COVERAGE);
    let intervals = intervals.expect("there are rows");
    Row {
        rmse: scores.rmse,
        relative: scores.rmse / average,
        coverage: intervals.coverage,
        interval_score: intervals.interval_score.unwrap_or(f64::NAN),
    }
}

/// RMSE of the average whose factor is the best one on the first rows, which it starts in.
fn tuned_rmse(stream: &Stream) -> f64 {
    const FIRST: usize = 7;
    let squares = |alpha: f64, from: usize, to: usize| {
        let (mut level, mut sum) = (stream.y[0], 0.0);
        for (t, y) in stream.y[..to].iter().enumerate() {
            if t >= from {
                sum += (y - level).powi(2);
            }
            level += alpha * (y - level);
        }
        sum
    };
    let alphas = (1..=20).map(|k| f64::from(k) * 0.05);
    let on_first = |alpha: &f64| squares(*alpha, FIRST, stream.tuned_to);
    let best = alphas.min_by(|a, b| on_first(a).total_cmp(&on_first(b)));
    let sum = squares(
        best.expect("there are some"),
        stream.scored_from,
        stream.y.len(),
    );
    (sum / (stream.y.len() - stream.scored_from) as f64).sqrt()
}

/// Of each rule the median over the seeds, and the range.
fn summarise(name: &str, seeds: &[BTreeMap<&str, Vec<Row>>]) {
    eprintln!("{name}");
    for rule in seeds[0].keys() {
        let over_seeds = |measure: &dyn Fn(&[Row]) -> f64| {
            let mut values: Vec<f64> = seeds.iter().map(|rules| measure(&rules[rule])).collect();
            values.sort_by(f64::total_cmp);
            (
                values[values.len() / 2],
                values[0],
                values[values.len() - 1],
            )
        };
        let mean = over_seeds(&|rows| {
            let logs = rows.iter().map(|row| row.relative.ln()).sum::<f64>();
            (logs / rows.len() as f64).exp()
        });
        let worst = over_seeds(&|rows| rows.iter().map(|row| row.relative).fold(0.0, f64::max));
        let low = over_seeds(&|rows| rows.iter().map(|row| row.coverage).fold(1.0, f64::min));
        let high = over_seeds(&|rows| rows.iter().map(|row| row.coverage).fold(0.0, f64::max));
        let single = match seeds[0][rule].len() {
            1 => format!(", RMSE {:.3}", over_seeds(&|rows| rows[0].rmse).0),
            _ => String::new(),
        };
        eprintln!(
            "  {rule:<24} of the tuned average {:.3} ({:.3} to {:.3}), worst {:.3} ({:.3} to {:.3}), coverage {:.3} to {:.3}{single}",
            mean.0, mean.1, mean.2, worst.0, worst.1, worst.2, low.1, high.2
        );
    }
}
