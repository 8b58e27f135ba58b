//! Models against simple rules, on rows that they have not seen.

mod checks;
mod contender;
mod fresh;
mod intervals;
mod members;
mod outcome;
mod resumed;
mod split;
mod tested;

use std::io::Write;
use std::path::{Path, PathBuf};

use lbbsp::narx::{AdaptiveConformal, Config, Narx};

use crate::error::Error;
use crate::online::Learners;
use crate::series_file::{self, Log, RowColumns};
use crate::{files, json, model_file, picture, train};
pub(crate) use checks::Checks;
pub(crate) use contender::{Baseline, Contender};
use fresh::Fresh;
pub(crate) use members::Members;
pub(crate) use outcome::{Form, Outcome, Ranked, Trial};

/// What the model in question is called.
const NAME: &str = "narx";

/// Compare a model with simple rules on rows that it has not seen
///
/// Every forecast is made from nothing but what was known before the row, and of the row itself the
/// inputs of lag 0. Rows that the model was trained on are recognised and not scored. Without a
/// model, new ones are trained on the first part of each session. All are scored on the same rows,
/// and ranked by the root mean squared error.
///
/// With `--online` there are three forecasters more, which learn from every row as they go through a
/// session, from its first row on. `online` is a network, which begins as the model if there is one,
/// `corrected` a moving average with a network that corrects it, and `guarded` mixes both with simple
/// rules, so that it is never much worse than the best of them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lbbsp backtest bursts.csv --model model.json --baselines last,ema,ema-adaptive,ar,arx
  lbbsp backtest bursts.csv --model model.json --horizon 5 --json --plot pictures
  lbbsp backtest bursts.csv --model model.json --online --intervals 0.9 --plot pictures
  lbbsp backtest bursts.csv --online-state state.json
  lbbsp backtest sine.csv --target speed --inputs running_before --lags speed=1..3,running_before=0")]
pub(crate) struct Args {
    /// Logs to try the models on, CSV files
    #[arg(required = true, value_name = "LOG.csv")]
    logs: Vec<PathBuf>,
    /// The model in question; without, new ones are trained by Levenberg-Marquardt and with Bayesian
    /// regularisation
    #[arg(long, value_name = "MODEL.json")]
    model: Option<PathBuf>,
    /// Rules to compare with [default: all that make sense]
    #[arg(long, value_enum, value_delimiter = ',')]
    baselines: Option<Vec<Baseline>>,
    /// How many steps ahead the forecasts are made
    #[arg(long, value_name = "STEPS", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    horizon: u32,
    /// Score all rows, those that the model was trained on too
    #[arg(long, requires = "model")]
    allow_seen: bool,
    /// Compare with forecasters that learn as they go, too: guarded, online and corrected
    #[arg(long)]
    online: bool,
    /// Go on with the online forecasters that `lbbsp train --online-state` left, in place of a model;
    /// the log should be the rows of that worker from then on
    #[arg(long, value_name = "STATE.json", conflicts_with_all = ["model", "online"])]
    online_state: Option<PathBuf>,
    /// Judge intervals that are to hold this share of the values, too, from 0.5 to 0.999; each is made
    /// from the errors of the rows before
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, value_parser = coverage)]
    intervals: Option<f64>,
    /// Write the pictures forecast.svg and residuals.svg into this folder, with online forecasters
    /// members.svg too
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    columns: RowColumns,
    #[command(flatten)]
    fresh: Fresh,
}

fn coverage(text: &str) -> Result<f64, String> {
    let coverage = text.parse().ok();
    let coverage = coverage.filter(|&coverage| AdaptiveConformal::new(coverage).is_ok());
    coverage.ok_or_else(|| "it must be from 0.5 to 0.999".to_owned())
}

/// A back-test and what it was about.
struct Tried {
    log: Log,
    outcome: Outcome,
    /// The online forecasters before the first row, if there were any.
    learners: Option<Learners>,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let tried = match (&args.model, &args.online_state) {
        (Some(path), _) => of_model(args, path)?,
        (None, Some(path)) => resumed::tried(args, path)?,
        (None, None) => fresh::tried(args)?,
    };
    let (log, outcome) = (tried.log, tried.outcome);
    let mut text = if args.json {
        json::text(&outcome.form())
    } else {
        outcome.text()
    };
    if let Some(folder) = &args.plot {
        let members = tried.learners.map(|it| Members::of(it, &log, &outcome));
        let written = picture::write_backtest(&outcome, members.as_ref(), &log, folder)?;
        if !args.json {
            text.push_str(&format!("\nwrote {written}\n"));
        }
    }
    files::print(&text)
}

fn of_model(args: &Args, path: &Path) -> Result<Tried, Error> {
    let model = model_file::read(path)?;
    let learners = args.online.then(|| Learners::warm(&model)).transpose();
    let learners = learners.map_err(|cause| {
        let path = path.to_owned();
        Error::ModelOnline { path, cause }
    })?;
    let series = model_file::series(&model, path)?;
    let log = series_file::read(
        &args.logs,
        series,
        &args.columns,
        model.config().longest_lag(),
    )?;
    let seen = model.seen(&log.series).map_err(Error::narx)?;
    let scored = match args.allow_seen {
        true => log.series.all(),
        false => log.series.after(&seen),
    };
    if scored.is_empty() {
        let path = path.to_owned();
        return Err(Error::AllSeen { path });
    }
    if seen.is_empty() {
        // Nobody is left to be told if this cannot be written.
        let _ = writeln!(std::io::stderr(), "note: {}", split::NONE_SEEN);
    }
    let config = config_in_use(&model);
    let baselines = match &args.baselines {
        Some(asked) => distinct(asked),
        None => {
            let mut usual = Baseline::usual(&config);
            usual.retain(|baseline| !(baseline.learns() && seen.is_empty()));
            usual
        }
    };
    if let Some(name) = baselines.iter().find(|it| it.learns() && seen.is_empty()) {
        let name = name.name();
        return Err(Error::NothingToLearnFrom { name });
    }
    let mut contenders = vec![Contender::model(NAME, model)];
    for baseline in baselines {
        contenders.push(Contender::baseline(baseline, &log, &seen, &config)?);
    }
    if let Some(learners) = &learners {
        contenders.extend(Contender::learners(learners));
    }
    let trial = Trial {
        log: &log,
        trained: &seen,
        scored: &scored,
        horizon: args.horizon as usize,
        allow_seen: args.allow_seen,
        resumed: false,
        intervals: args.intervals,
        model: Some(NAME),
    };
    let outcome = Outcome::of(&trial, &contenders)?;
    Ok(Tried {
        log,
        outcome,
        learners,
    })
}

/// A new model and all rules that make sense beside it, trained on the first `share` of the rows.
pub(crate) fn of_new_model(log: &Log, config: &Config, share: f64) -> Result<Outcome, Error> {
    let trained = log.series.first(share).expect("the share is from 0 to 1");
    let model = train::train(log, &trained, config, NAME)?.model;
    let mut contenders = vec![Contender::model(NAME, model)];
    for baseline in Baseline::usual(config) {
        contenders.push(Contender::baseline(baseline, log, &trained, config)?);
    }
    let trial = Trial {
        log,
        trained: &trained,
        scored: &log.series.after(&trained),
        horizon: 1,
        allow_seen: false,
        resumed: false,
        intervals: None,
        model: Some(NAME),
    };
    Outcome::of(&trial, &contenders)
}

/// The configuration of a model without the inputs that were of no use to it.
fn config_in_use(model: &Narx) -> Config {
    let mut config = model.config().clone();
    let in_use = |name: &str| model.inputs().any(|(used, _)| used == name);
    config.inputs.retain(|input| in_use(&input.name));
    config
}

fn distinct(asked: &[Baseline]) -> Vec<Baseline> {
    let mut distinct: Vec<Baseline> = Vec::new();
    for &baseline in asked {
        if !distinct.contains(&baseline) {
            distinct.push(baseline);
        }
    }
    distinct
}
