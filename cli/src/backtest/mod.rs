//! Models against simple rules, on rows that they have not seen.

mod checks;
mod contender;
mod outcome;
mod split;

use std::io::Write;
use std::path::{Path, PathBuf};

use lbbsp::narx::{Config, Narx, Training};

use crate::error::Error;
use crate::lags::{self, ColumnLags};
use crate::model_flags::bayes;
use crate::series_file::{self, Log, RowColumns, named_series};
use crate::{files, json, model_file, picture, train};
pub(crate) use checks::Checks;
pub(crate) use contender::{Baseline, Contender};
pub(crate) use outcome::{Form, Outcome, Ranked, Trial};

/// What the model in question is called.
const NAME: &str = "narx";

/// Compare a model with simple rules on rows that it has not seen
///
/// Every forecast is made from nothing but what was known before the row, and of the row itself the
/// inputs of lag 0. Rows that the model was trained on are recognised and not scored. Without a
/// model, new ones are trained on the first part of each session. All are scored on the same rows,
/// and ranked by the root mean squared error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lbbsp backtest bursts.csv --model model.json --baselines last,ema,ema-adaptive,ar,arx
  lbbsp backtest bursts.csv --model model.json --horizon 5 --json --plot pictures
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
    /// Write the pictures forecast.svg and residuals.svg into this folder
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

/// What is trained without a model.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Without a model")]
struct Fresh {
    /// Column to forecast
    #[arg(
        long,
        value_name = "COLUMN",
        required_unless_present = "model",
        conflicts_with = "model"
    )]
    target: Option<String>,
    /// Columns to forecast it from besides its own past, as a list
    #[arg(
        long,
        value_name = "COLUMNS",
        value_delimiter = ',',
        conflicts_with = "model"
    )]
    inputs: Vec<String>,
    /// Lags by column, as in `lbbsp train` [default: 1..2 for the target, 0..1 for an input]
    #[arg(
        long,
        value_name = "COLUMN=LAGS",
        value_delimiter = ',',
        conflicts_with = "model"
    )]
    lags: Vec<ColumnLags>,
    /// First part of the rows of each session to train on, below 1; the rest is scored
    #[arg(long, value_name = "SHARE", default_value = "0.6", conflicts_with = "model",
        allow_hyphen_values = true, value_parser = share)]
    train_share: f64,
    /// Where the random numbers of the training start
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 0,
        conflicts_with = "model"
    )]
    seed: u64,
}

fn share(text: &str) -> Result<f64, String> {
    let share = train::share(text).ok().filter(|share| *share < 1.0);
    share.ok_or_else(|| "it must be above 0 and below 1".to_owned())
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let (log, outcome) = match &args.model {
        Some(path) => of_model(args, path)?,
        None => of_fresh(args)?,
    };
    let mut text = if args.json {
        json::text(&outcome.form())
    } else {
        outcome.text()
    };
    if let Some(folder) = &args.plot {
        let written = picture::write_backtest(&outcome, &log, folder)?;
        if !args.json {
            text.push_str(&format!("\nwrote {written}\n"));
        }
    }
    files::print(&text)
}

fn of_model(args: &Args, path: &Path) -> Result<(Log, Outcome), Error> {
    let model = model_file::read(path)?;
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
    let trial = Trial {
        log: &log,
        trained: &seen,
        scored: &scored,
        horizon: args.horizon as usize,
        allow_seen: args.allow_seen,
        model: Some(NAME),
    };
    let outcome = Outcome::of(&trial, &contenders)?;
    Ok((log, outcome))
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

fn of_fresh(args: &Args) -> Result<(Log, Outcome), Error> {
    let fresh = &args.fresh;
    let series = named_series(fresh.target.as_slice(), &fresh.inputs)?;
    let (output_lags, inputs) = lags::of_series(&series, &fresh.lags)?;
    let config = Config {
        output_lags,
        inputs,
        training: seeded(Training::default(), fresh.seed),
        ..Config::default()
    };
    let log = series_file::read(&args.logs, series, &args.columns, config.longest_lag())?;
    let trained = log.series.first(fresh.train_share);
    let trained = trained.expect("the share is from 0 to 1");
    let mut contenders = Vec::new();
    for (name, training) in [
        ("narx-lm", config.training.clone()),
        ("narx-bayes", seeded(bayes(), fresh.seed)),
    ] {
        let config = Config {
            training,
            ..config.clone()
        };
        let model = train::train(&log, &trained, &config, name)?.model;
        contenders.push(Contender::model(name, model));
    }
    let asked = args.baselines.as_deref().map(distinct);
    for baseline in asked.unwrap_or_else(|| Baseline::usual(&config)) {
        contenders.push(Contender::baseline(baseline, &log, &trained, &config)?);
    }
    let trial = Trial {
        log: &log,
        trained: &trained,
        scored: &log.series.after(&trained),
        horizon: args.horizon as usize,
        allow_seen: false,
        model: None,
    };
    let outcome = Outcome::of(&trial, &contenders)?;
    Ok((log, outcome))
}

fn seeded(training: Training, seed: u64) -> Training {
    Training { seed, ..training }
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
