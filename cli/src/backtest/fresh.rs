use lbbsp::narx::{Config, Training};

use super::{Args, Baseline, Contender, Outcome, Trial, Tried, distinct};
use crate::error::Error;
use crate::lags::{self, ColumnLags};
use crate::model_flags::bayes;
use crate::online::Learners;
use crate::series_file::{self, named_series};
use crate::train;

/// What is trained without a model.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Without a model")]
pub(super) struct Fresh {
    /// Column to forecast
    #[arg(
        long,
        value_name = "COLUMN",
        required_unless_present_any = ["model", "online_state"],
        conflicts_with_all = ["model", "online_state"]
    )]
    target: Option<String>,
    /// Columns to forecast it from besides its own past, as a list
    #[arg(
        long,
        value_name = "COLUMNS",
        value_delimiter = ',',
        conflicts_with_all = ["model", "online_state"]
    )]
    inputs: Vec<String>,
    /// Lags by column, as in `lbbsp train` [default: 1..2 for the target, 0..1 for an input]
    #[arg(
        long,
        value_name = "COLUMN=LAGS",
        value_delimiter = ',',
        conflicts_with_all = ["model", "online_state"]
    )]
    lags: Vec<ColumnLags>,
    /// First part of the rows of each session to train on, below 1; the rest is scored
    #[arg(long, value_name = "SHARE", default_value = "0.6", conflicts_with_all = ["model", "online_state"],
        allow_hyphen_values = true, value_parser = share)]
    train_share: f64,
    /// Where the random numbers of the training start
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 0,
        conflicts_with_all = ["model", "online_state"]
    )]
    seed: u64,
}

fn share(text: &str) -> Result<f64, String> {
    let share = train::share(text).ok().filter(|share| *share < 1.0);
    share.ok_or_else(|| "it must be above 0 and below 1".to_owned())
}

/// New models and all rules that make sense beside them.
pub(super) fn tried(args: &Args) -> Result<Tried, Error> {
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
    let learners = args.online.then(|| Learners::fresh(&config)).transpose();
    let learners = learners.map_err(|cause| {
        let flag = "--online";
        Error::FlagsOnline { flag, cause }
    })?;
    if let Some(learners) = &learners {
        contenders.extend(Contender::learners(learners));
    }
    let trial = Trial {
        log: &log,
        trained: &trained,
        scored: &log.series.after(&trained),
        horizon: args.horizon as usize,
        allow_seen: false,
        resumed: false,
        intervals: args.intervals,
        model: None,
    };
    let outcome = Outcome::of(&trial, &contenders)?;
    Ok(Tried {
        log,
        outcome,
        learners,
    })
}

fn seeded(training: Training, seed: u64) -> Training {
    Training { seed, ..training }
}
