use std::io;
use std::path::PathBuf;

use lbbsp::{gpu_profile, narx, sizing};

use crate::worker_names::plain;
use crate::{series_file, state_file, trace_file};

/// Why a command came to no end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("cannot read {}: {cause}", .path.display())]
    Read { path: PathBuf, cause: io::Error },
    #[error("cannot read {}: it is a directory, a file is needed", .path.display())]
    Directory { path: PathBuf },
    #[error("cannot write {}: {cause}", .path.display())]
    Write { path: PathBuf, cause: io::Error },
    #[error("cannot write to standard output: {0}")]
    Stdout(io::Error),
    #[error("cannot draw {}: {cause}", .path.display())]
    Picture { path: PathBuf, cause: String },
    #[error("{file}: {fault}")]
    Table {
        file: String,
        fault: trace_file::Fault,
    },
    #[error("{file}: {fault}")]
    Log {
        file: String,
        fault: series_file::Fault,
    },
    #[error("{}: {cause}", .path.display())]
    Profile {
        path: PathBuf,
        cause: gpu_profile::Error,
    },
    #[error("{}: {cause}", .path.display())]
    Curve { path: PathBuf, cause: sizing::Error },
    #[error(
        "`{flag}` has {got} values, but there are {workers} workers: give one for all, or one each"
    )]
    ListLength {
        flag: &'static str,
        got: usize,
        workers: usize,
    },
    #[error("`--known-before {name}`: that column holds no driving series in {file}")]
    NoSeries { file: String, name: String },
    #[error("`--target` names no column: name at least one to forecast")]
    NoTarget,
    #[error("column `{name}` is named twice in `--target` and `--inputs`")]
    ColumnTwice { name: String },
    #[error("`{flag} {}` is one of the logs, which would be lost: name another file", .path.display())]
    OverLog { flag: &'static str, path: PathBuf },
    #[error("`{flags}` name the same file, `{}`: each needs its own", .path.display())]
    SameFile { flags: String, path: PathBuf },
    #[error("policy `{name}` is named twice")]
    Twice { name: String },
    #[error("`--lags` names `{column}`, which is none of the columns in use: {}", quoted(.known))]
    LagsOfUnknown { column: String, known: Vec<String> },
    #[error("`--lags` names `{column}` twice; several lags are joined by `+`")]
    LagsTwice { column: String },
    #[error("`{}` and `{}` are both targets, which share their lags: give them the same", .names[0], .names[1])]
    LagsDiffer { names: [String; 2] },
    #[error("lag 0 of the target `{column}` is what is to be forecast: its lags begin at 1")]
    LagZero { column: String },
    #[error("{}: {cause}", .path.display())]
    Model { path: PathBuf, cause: narx::Error },
    #[error("cannot train {what}: {cause}{}", among(.cause, *.rows, *.part, *.longest_lag))]
    Training {
        what: String,
        cause: narx::Error,
        /// Rows of the logs.
        rows: usize,
        /// Those of them to train on.
        part: usize,
        longest_lag: usize,
    },
    #[error(
        "{} has been trained on every row of these logs, so its errors there say nothing about new rows: give logs with later rows, or `--allow-seen` to score these nevertheless",
        .path.display()
    )]
    AllSeen { path: PathBuf },
    #[error(
        "baseline `{name}` learns from the rows that the model was trained on, and none of them are in these logs: give the logs that it was trained on too, or other `--baselines`"
    )]
    NothingToLearnFrom { name: &'static str },
    #[error("{name} has no forecast of any row to score that has a value")]
    NothingScored { name: String },
    #[error("no row to score has a value and a forecast of every model")]
    NothingInCommon,
    #[error("{}: the model has no inputs, so it needs no `--future`", .path.display())]
    NoFuture { path: PathBuf },
    #[error("`{session}`: {}", future_rows(.file.as_ref(), .name, *.needed, *.got))]
    FutureRows {
        file: Option<PathBuf>,
        session: String,
        name: String,
        needed: usize,
        got: usize,
    },
    #[error("cannot forecast `{session}`: {cause}")]
    Forecast { session: String, cause: narx::Error },
    #[error("{} cannot go on learning: {cause}{}", .path.display(), smaller(.cause))]
    ModelOnline { path: PathBuf, cause: narx::Error },
    #[error("`{flag}`: {cause}{}", smaller(.cause))]
    FlagsOnline {
        flag: &'static str,
        cause: narx::Error,
    },
    #[error(
        "`{flag}` is the state of one worker, a single session, but the logs have {got}: give the log of one"
    )]
    SeveralSessions { flag: &'static str, got: usize },
    #[error(
        "baseline `{name}` learns from rows trained on, and `--online-state` has none: give other `--baselines`"
    )]
    NoTraining { name: &'static str },
    #[error(
        "{} is the state of an online forecaster, not a model: only `lbbsp backtest --online-state` and `lbbsp inspect` take it",
        .path.display()
    )]
    NotAModel { path: PathBuf },
    #[error("{}: {cause}", .path.display())]
    State {
        path: PathBuf,
        cause: state_file::Fault,
    },
    #[error("{0}")]
    Narx(narx::Error),
    #[error("{cause}{}", called(.name))]
    Sizing {
        cause: sizing::Error,
        /// What the worker that the cause numbers is called.
        name: Option<String>,
    },
}

fn called(name: &Option<String>) -> String {
    name.as_ref()
        .map_or(String::new(), |name| format!(" (that is `{name}`)"))
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Why there may be too few rows to train on.
fn among(cause: &narx::Error, rows: usize, part: usize, longest_lag: usize) -> String {
    match cause {
        narx::Error::TooFewRows { .. } | narx::Error::TooShort { .. } => format!(
            "; of the {rows} rows in the logs, {part} are to train on, and the longest lag is {longest_lag}"
        ),
        _ => String::new(),
    }
}

/// What to train instead of a model that cannot go on learning.
fn smaller(cause: &narx::Error) -> &'static str {
    match cause {
        narx::Error::SeveralOutputs { .. } => "; train one model for each target",
        narx::Error::Setting { name: "hidden", .. } => {
            ", over all starts averaged: train with fewer `--hidden` units or a smaller `--average`"
        }
        narx::Error::Setting {
            name: "lag" | "weights",
            ..
        } => "; give fewer or shorter `--lags`",
        _ => "",
    }
}

fn future_rows(file: Option<&PathBuf>, name: &str, needed: usize, got: usize) -> String {
    let rows = if needed == 1 { "row" } else { "rows" };
    let name = plain(name);
    match file {
        None => format!(
            "the forecast needs the input `{name}` of the coming {needed} {rows}: give a file of them as `--future`"
        ),
        Some(file) => format!(
            "{} must have {needed} {rows} with the input `{name}` for it, got {got}",
            file.display()
        ),
    }
}

impl Error {
    pub(crate) fn narx(cause: narx::Error) -> Self {
        Self::Narx(cause)
    }

    /// A cause that numbers workers, where these have names.
    pub(crate) fn sizing(cause: sizing::Error, names: &[String]) -> Self {
        use sizing::Error as E;
        let called = |worker: u64| {
            let name = names.get(usize::try_from(worker).ok()?)?;
            (*name != worker.to_string()).then(|| name.clone())
        };
        let name = match cause {
            E::Limits { worker, .. }
            | E::Speed { worker, .. }
            | E::Seconds { worker, .. }
            | E::Decreasing { worker, .. }
            | E::NeverFinishes { worker, .. }
            | E::TraceTooShort { worker } => called(worker),
            _ => None,
        };
        Self::Sizing { cause, name }
    }
}
