use std::path::PathBuf;

use lbbsp::narx::Config;
use lbbsp::sizing::replay::Job;

use crate::error::Error;
use crate::replay::{Choice, Outcome};
use crate::series_file::{self, Log, named_series};
use crate::trace_file::{self, Columns};
use crate::{backtest, files, json, lags, picture, table};

const GLOBAL_BATCH: u32 = 2048;

const POLICIES: [&str; 7] = [
    "equal",
    "last",
    "ema",
    "ema-adaptive",
    "guarded",
    "informed",
    "oracle",
];

/// The worker whose speed is forecast, from itself and from the run queue that it finds.
const FORECAST_OF: &str = "bursts";
const TARGET: &str = "speed";
const KNOWN_BEFORE: &str = "running_before";
const TRAIN_SHARE: f64 = 0.6;

const INTRODUCTION: &str = "\
Four recorded workers under CPU contention share every iteration; its end waits for the slowest.
The same recordings are replayed with equal batches, with batches sized by LB-BSP, and by an oracle.

";

const FORECAST_INTRODUCTION: &str = "\
A NARX model of the worker `bursts` is trained on the first 60 % of its recording, to forecast the
speed of a step from earlier ones and from the run queue just before it. On the rest it meets simple
rules, the best one first:

";

/// Replay four recorded workers and forecast one of them, with pictures
///
/// Needs no input: the recordings are part of the program. Writes demo.json (the form of
/// `lbbsp replay --json`, and in `forecast` that of `lbbsp backtest --json`), sizes.svg, waiting.svg
/// and forecast.svg. The same each time.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lbbsp demo
  lbbsp demo --out pictures --json")]
pub(crate) struct Args {
    /// Folder to write into
    #[arg(long, value_name = "DIR", default_value = "lbbsp-demo")]
    out: PathBuf,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    files::make_folder(&args.out)?;
    let outcome = replayed()?;
    let (log, forecast) = forecast()?;
    let json = json::of_demo(&outcome, &forecast);
    let json_path = args.out.join("demo.json");
    files::write(&json_path, &json)?;
    let pictures = picture::write(&outcome, &args.out)?;
    let forecast_path = args.out.join("forecast.svg");
    picture::write_forecast(&forecast, &log, &forecast_path)?;
    if args.json {
        return files::print(&json);
    }
    let (table, scores) = (table::of_replay(&outcome), forecast.table());
    let verdict = forecast.verdict();
    let (json_path, forecast_path) = (json_path.display(), forecast_path.display());
    files::print(&format!(
        "{INTRODUCTION}{table}\n{FORECAST_INTRODUCTION}{scores}\n\n{verdict}\n\n\
         wrote {json_path}, {pictures}, {forecast_path}\n"
    ))
}

fn forecast() -> Result<(Log, backtest::Outcome), Error> {
    let recorded = fixtures::WORKER_TRACES
        .iter()
        .find(|it| it.name == FORECAST_OF);
    let recorded = recorded.expect("it is one of the recordings");
    let [target, input] = [TARGET, KNOWN_BEFORE].map(str::to_owned);
    let series = named_series(&[target], &[input])?;
    let (output_lags, inputs) = lags::of_series(&series, &[])?;
    let config = Config {
        output_lags,
        inputs,
        ..Config::default()
    };
    let csv = recorded.csv.as_bytes();
    let log = series_file::parse(recorded.name, csv, series, config.longest_lag())?;
    let outcome = backtest::of_new_model(&log, &config, TRAIN_SHARE)?;
    Ok((log, outcome))
}

fn replayed() -> Result<Outcome, Error> {
    let mut workers = Vec::new();
    for recorded in fixtures::WORKER_TRACES {
        let read = trace_file::parse(recorded.name, recorded.csv.as_bytes(), &Columns::default())?;
        let trace = read.into_iter().map(|(_, trace)| trace);
        workers.extend(trace.map(|trace| (recorded.name.to_owned(), trace)));
    }
    let policies = POLICIES.map(|name| {
        let choice: Result<Choice, _> = name.parse();
        choice.expect("the names are those of policies")
    });
    Outcome::of(workers, &Job::new(GLOBAL_BATCH), &policies)
}
