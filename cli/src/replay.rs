use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;
use lbbsp::prelude::{Ema, Guarded, LastValue, Policy};
use lbbsp::sizing::defaults;
use lbbsp::sizing::replay::{AtEnd, Comparison, Job, Strategy, Trace, compare};

use crate::error::Error;
use crate::progress::Progress;
use crate::trace_file::{self, Columns};
use crate::worker_lists::{WorkerLists, seconds};
use crate::{files, json, picture, table};

/// Show what balancing would have gained on recorded workers
///
/// A trace is a CSV file with a header and the columns `t` (start of the row, in seconds) and
/// `speed` (samples per second, until the next row). One file is one worker, unless a column
/// `worker` tells several apart, which then share a clock; each file begins with its first row. Other columns of numbers are driving series.
///
/// A policy is one of `equal`, `last` (value), `ema` (smoothing 0.3), `ema:ALPHA`, `ema-adaptive`,
/// `guarded` (a network that learns as it goes, held by simple rules), `informed` (knows the speeds
/// at the start of an iteration) and `oracle` (knows the future).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lbbsp replay bursts.csv periodic.csv sine.csv quota.csv --global-batch 2048
  lbbsp replay bursts.csv quota.csv --global-batch 1024 --policy equal,ema:0.5,oracle --json
  lbbsp replay cluster.csv --time start_s --speed rate --worker host --global-batch 512
  lbbsp replay bursts.csv quota.csv --global-batch 1024 --comm 0.02 --planning 0.001 --plot out")]
pub(crate) struct Args {
    /// Recorded workers, CSV files
    #[arg(required = true, value_name = "TRACE.csv")]
    traces: Vec<PathBuf>,
    /// Samples of one iteration over all workers
    #[arg(long, value_name = "SAMPLES", value_parser = clap::value_parser!(u32).range(1..))]
    global_batch: u32,
    /// Policies to compare
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "equal,last,ema,guarded,informed,oracle"
    )]
    policy: Vec<Choice>,
    /// Iterations to run [default: until equal batches have seen the longest trace, at most 100000]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// Time that choosing the sizes adds to an iteration, in seconds; `equal` needs none
    #[arg(long, value_name = "SECONDS", default_value = "0", allow_hyphen_values = true, value_parser = seconds)]
    planning: f64,
    /// What a trace does after its last row
    #[arg(long, value_enum, default_value = "wrap")]
    at_end: End,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Write the pictures sizes.svg and waiting.svg into this folder
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten, next_help_heading = "One value, or a list with one a worker")]
    lists: WorkerLists,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum End {
    /// Begins again
    Wrap,
    /// Ends the replay
    Stop,
    /// Keeps its last speed
    Hold,
}

/// A policy and the name it was asked for by.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    name: String,
    strategy: Strategy,
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let name = name.trim();
        let strategy = match name {
            "equal" => Strategy::Online(Policy::Equal),
            "last" => Strategy::Online(Policy::predictive(LastValue::new())),
            "ema" => Strategy::Online(Policy::predictive(fixed_ema(defaults::EMA_ALPHA)?)),
            "ema-adaptive" => Strategy::Online(Policy::predictive(Ema::adaptive())),
            "guarded" => Strategy::Online(guarded()),
            "informed" => Strategy::Informed,
            "oracle" => Strategy::Oracle,
            _ => Strategy::Online(Policy::predictive(ema(name)?)),
        };
        let name = name.to_owned();
        Ok(Self { name, strategy })
    }
}

fn ema(name: &str) -> Result<Ema, String> {
    let alpha = name.strip_prefix("ema:").ok_or(
        "it is none of equal, last, ema, ema:ALPHA, ema-adaptive, guarded, informed, oracle",
    )?;
    let alpha: f64 = alpha
        .parse()
        .map_err(|_| format!("alpha must be above 0 and at most 1, got {alpha}"))?;
    fixed_ema(alpha)
}

fn fixed_ema(alpha: f64) -> Result<Ema, String> {
    Ema::new(alpha).map_err(|cause| cause.to_string())
}

/// The default forecaster, which reads what is known before a row. A series that a trace lacks
/// tells it nothing.
fn guarded() -> Policy {
    let inputs = defaults::KNOWN_BEFORE;
    let guarded = Guarded::new(inputs.len()).expect("they are few enough");
    Policy::forecast_by(guarded.into(), &inputs)
}

/// A finished replay.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) global_batch: u32,
    /// Names of the workers.
    pub(crate) workers: Vec<String>,
    pub(crate) comparison: Comparison,
}

impl Outcome {
    /// Replays a job on named workers, with progress on a terminal.
    pub(crate) fn of(
        workers: Vec<(String, Trace)>,
        job: &Job,
        policies: &[Choice],
    ) -> Result<Self, Error> {
        let (names, traces): (Vec<_>, Vec<_>) = workers.into_iter().unzip();
        let strategies = distinct(policies)?;
        let progress = Progress::new("replaying");
        let comparison = compare(&traces, job, &strategies, &mut |part| progress.show(part))
            .map_err(|cause| Error::sizing(cause, &names))?;
        Ok(Self {
            global_batch: job.global_batch,
            workers: names,
            comparison,
        })
    }

    /// How many iterations every policy was run for.
    pub(crate) fn iterations(&self) -> usize {
        let first = self.comparison.summaries.first();
        first.map_or(0, |summary| summary.iterations)
    }
}

fn distinct(policies: &[Choice]) -> Result<Vec<(String, Strategy)>, Error> {
    let mut strategies: Vec<(String, Strategy)> = Vec::new();
    for Choice { name, strategy } in policies {
        if strategies.iter().any(|(other, _)| other == name) {
            let name = name.clone();
            return Err(Error::Twice { name });
        }
        strategies.push((name.clone(), strategy.clone()));
    }
    Ok(strategies)
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let mut workers = trace_file::read_all(&args.traces, &args.columns)?;
    let at_end = match args.at_end {
        End::Wrap => AtEnd::Wrap,
        End::Stop => AtEnd::Stop,
        End::Hold => AtEnd::Hold,
    };
    for (_, trace) in &mut workers {
        *trace = trace.clone().at_end(at_end);
    }
    let job = Job {
        limits: args.lists.limits(workers.len())?,
        communication_s: args.lists.communication_s(workers.len())?,
        planning_s: args.planning,
        iterations: args.iterations.map(|iterations| iterations as usize),
        ..Job::new(args.global_batch)
    };
    let outcome = Outcome::of(workers, &job, &args.policy)?;
    if args.iterations.is_none() && outcome.iterations() >= defaults::MOST_ITERATIONS {
        let most = defaults::MOST_ITERATIONS;
        let note = "the traces go on; --iterations NUMBER runs more";
        // Nobody is left to be told if this cannot be written.
        let _ = writeln!(std::io::stderr(), "stopped after {most} iterations: {note}");
    }
    let mut text = if args.json {
        json::of_replay(&outcome)
    } else {
        table::of_replay(&outcome)
    };
    if let Some(folder) = &args.plot {
        let written = picture::write(&outcome, folder)?;
        if !args.json {
            text.push_str(&format!("\nwrote {written}\n"));
        }
    }
    files::print(&text)
}
