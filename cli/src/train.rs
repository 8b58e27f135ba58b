use std::path::{Path, PathBuf};

use lbbsp::narx::{self, Config, Narx, Part, Report, Scores, naive_mae};
use serde::Serialize;

use crate::error::Error;
use crate::model_flags::ModelFlags;
use crate::series_file::{self, Log, RowColumns, SeriesColumns, named_series};
use crate::state_file::State;
use crate::table::counted;
use crate::training::{self, Trained};
use crate::unit::number;
use crate::{files, json, model_file, online, picture};

/// Train a NARX model on logs
///
/// A log is a CSV file with a header, one row a step; `--target` and `--inputs` name its columns,
/// empty cells are missing values. A file is a session, unless a column tells several apart. The
/// same logs, flags and seed give the same model file, byte for byte.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lbbsp train bursts.csv --target speed --inputs running_before -o model.json
  lbbsp train bursts.csv sine.csv --target speed --lags speed=1..4 -o two.json --plot two.svg
  lbbsp train bursts.csv --target speed --inputs cpu_s --lags cpu_s=1+3 --closed-loop -o cpu.json
  lbbsp train bursts.csv --target speed --inputs running_before -o m.json --online-state state.json
  lbbsp train jobs.csv --target rate --session job --time when -o jobs.json --json")]
pub(crate) struct Args {
    /// Logs to learn from, CSV files
    #[arg(required = true, value_name = "LOG.csv")]
    logs: Vec<PathBuf>,
    /// File to write the model into
    #[arg(short, long = "out", value_name = "MODEL.json")]
    out: PathBuf,
    /// First part of the rows of each session to train on, up to 1; the model is tried on the rest
    #[arg(long, value_name = "SHARE", default_value = "0.6", allow_hyphen_values = true, value_parser = share)]
    train_share: f64,
    /// Write a picture of the errors over the epochs into this file
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Let the model go on learning through the log from its first row on, and write the forecaster
    /// that results into this file, for `lbbsp backtest --online-state` on later rows; the log must be
    /// one session, and the target one column
    #[arg(long, value_name = "STATE.json")]
    online_state: Option<PathBuf>,
    /// Print JSON instead of a summary
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    names: SeriesColumns,
    #[command(flatten)]
    columns: RowColumns,
    #[command(flatten)]
    flags: ModelFlags,
}

/// A part of the rows to train on, above 0.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share: &f64| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| "it must be above 0 and at most 1".to_owned())
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let names = named_series(&args.names.target, &args.names.inputs)?;
    let config = args.flags.config(&names)?;
    let optional = [("--plot", &args.plot), (ONLINE_STATE, &args.online_state)];
    let optional = optional
        .into_iter()
        .filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    let mut written: Vec<(&'static str, &Path)> = vec![("--out", &args.out)];
    written.extend(optional);
    for &(flag, path) in &written {
        spare(&args.logs, flag, path)?;
    }
    distinct(&written)?;
    let log = series_file::read(&args.logs, names, &args.columns, config.longest_lag())?;
    let part = log
        .series
        .first(args.train_share)
        .expect("the share is from 0 to 1");
    if args.online_state.is_some() {
        check_online(&log, &part, &config)?;
    }
    let trained = train(&log, &part, &config, "the model")?;
    let held_back = held_back(&trained.model, &log, &part)?;
    files::write(&args.out, &trained.model.to_json())?;
    if let Some(path) = &args.plot {
        picture::write_training(&trained.history, path)?;
    }
    let state = args.online_state.as_ref();
    let state = state
        .map(|path| write_state(&trained.model, &log, path))
        .transpose()?;
    if args.json {
        return files::print(&json::text(&Form::of(&trained.model, &held_back)));
    }
    let mut text = summary(args, &log, &part, &trained.model, &held_back);
    text.extend(state);
    files::print(&text)
}

/// Refuses to write over a log, by whatever path it is reached.
fn spare(logs: &[PathBuf], flag: &'static str, path: &Path) -> Result<(), Error> {
    let Ok(written) = path.canonicalize() else {
        return Ok(()); // There is no such file yet.
    };
    let is_it = |log: &PathBuf| log.canonicalize().is_ok_and(|log| log == written);
    if logs.iter().any(is_it) {
        let path = path.to_owned();
        return Err(Error::OverLog { flag, path });
    }
    Ok(())
}

/// Refuses two flags that write the same file, there or not yet.
fn distinct(written: &[(&'static str, &Path)]) -> Result<(), Error> {
    let full = |path: &Path| {
        let there = path.canonicalize().or_else(|_| std::path::absolute(path));
        there.unwrap_or_else(|_| path.to_owned())
    };
    for (place, (flag, path)) in written.iter().enumerate() {
        let same = |(_, other): &&(&str, &Path)| full(other) == full(path);
        if let Some((first, _)) = written[..place].iter().find(same) {
            return Err(Error::SameFile {
                flags: format!("{first}` and `{flag}"),
                path: path.to_path_buf(),
            });
        }
    }
    Ok(())
}

const ONLINE_STATE: &str = "--online-state";

/// Refuses a model that could not go on learning, before it is trained.
fn check_online(log: &Log, part: &Part, config: &Config) -> Result<(), Error> {
    let (flag, got) = (ONLINE_STATE, log.names.len());
    if got != 1 {
        return Err(Error::SeveralSessions { flag, got });
    }
    let outputs = log.series.outputs().len();
    online::check(config, outputs, part.len()).map_err(|cause| Error::FlagsOnline { flag, cause })
}

/// Lets a model go on learning and writes what results, which it says in a line.
fn write_state(model: &Narx, log: &Log, path: &Path) -> Result<String, Error> {
    let flag = ONLINE_STATE;
    let state = State::after(model, log).map_err(|cause| Error::FlagsOnline { flag, cause })?;
    files::write(path, &state.to_json())?;
    Ok(format!("wrote {}: {}\n", path.display(), state.sentence()))
}

/// Trains on some rows of a log; an error says what there was to train on.
pub(crate) fn train(log: &Log, part: &Part, config: &Config, what: &str) -> Result<Trained, Error> {
    training::train(&log.series, part, config).map_err(|cause| {
        let ranges = part.ranges().iter().enumerate();
        Error::Training {
            what: what.to_owned(),
            cause,
            rows: log.rows(),
            part: ranges
                .map(|(session, rows)| log.recorded(session, rows.clone()))
                .sum(),
            longest_lag: config.longest_lag(),
        }
    })
}

/// The scores of one-step forecasts of the rows after `part`, by output; None without such rows.
fn held_back(model: &Narx, log: &Log, part: &Part) -> Result<Vec<Option<Scores>>, Error> {
    let forecasts = model.one_step(&log.series).map_err(Error::narx)?;
    let rest = log.series.after(part);
    let of_output = |output: usize| {
        let (mut truth, mut guess, mut before) = (Vec::new(), Vec::new(), Vec::new());
        for (index, session) in log.series.sessions().iter().enumerate() {
            let rows = rest.ranges()[index].clone();
            truth.extend_from_slice(&session.output(output)[rows.clone()]);
            guess.extend_from_slice(&forecasts.of(index, output)[rows]);
            before.push(&session.output(output)[part.ranges()[index].clone()]);
        }
        let naive = naive_mae(before).unwrap_or(f64::NAN);
        match Scores::of(&truth, &guess, naive) {
            Ok(scores) => Ok(Some(scores)),
            Err(narx::Error::TooFewRows { .. }) => Ok(None),
            Err(cause) => Err(Error::narx(cause)),
        }
    };
    (0..model.outputs().len()).map(of_output).collect()
}

fn summary(
    args: &Args,
    log: &Log,
    part: &Part,
    model: &Narx,
    held_back: &[Option<Scores>],
) -> String {
    let report = model.report();
    let to_train: usize = recorded(log, part);
    let judged = match report.judged_rows {
        0 => String::new(),
        judged => format!(", {judged} of them to judge the weights"),
    };
    let mut lines = vec![
        format!("{} {}", args.out.display(), model_file::sentence(model)),
        format!(
            "rows     {} in {}, {to_train} to train on, {} of them complete and used{judged}",
            log.rows(),
            counted(log.names.len(), "session"),
            report.rows
        ),
    ];
    match log.gaps.iter().sum() {
        0 => {}
        1 => lines.push("gaps     1, no lag reaches across".to_owned()),
        gaps => lines.push(format!("gaps     {gaps}, no lag reaches across")),
    }
    lines.extend(model_file::dropped(model).map(|dropped| format!("dropped  {dropped}")));
    lines.push(format!(
        "model    {}, {}",
        counted(model.hidden(), "hidden unit"),
        counted(report.weights, "weight")
    ));
    lines.push(format!("starts   {}", training::starts(report)));
    lines.push(format!("epochs   {}", training::ending(report)));
    let several = model.outputs().len() > 1;
    for (output, name) in model.outputs().enumerate() {
        let of = if several {
            format!(" of `{name}`")
        } else {
            String::new()
        };
        let rmse = number(report.output_rmse[output]);
        lines.push(format!("one-step RMSE{of} {rmse} on the rows trained on"));
        if let Some(scores) = &held_back[output] {
            lines.push(format!("one-step RMSE{of} {}", of_new_rows(scores)));
        }
    }
    let rest = recorded(log, &log.series.after(part));
    if rest == 0 {
        lines.push("no rows were held back: nothing is known of its errors on new rows".to_owned());
    } else if held_back.iter().all(Option::is_none) {
        lines.push("no row held back has a value and a forecast".to_owned());
    }
    let plot = args.plot.as_ref();
    let plot = plot.map_or(String::new(), |path| format!(", {}", path.display()));
    format!(
        "{}\n\nwrote {}{plot}\n",
        lines.join("\n"),
        args.out.display()
    )
}

fn recorded(log: &Log, part: &Part) -> usize {
    let ranges = part.ranges().iter().enumerate();
    ranges
        .map(|(session, rows)| log.recorded(session, rows.clone()))
        .sum()
}

fn of_new_rows(scores: &Scores) -> String {
    let fit = scores
        .fit_pct
        .map_or(String::new(), |fit| format!(", fit {fit:.1} %"));
    let mase = scores
        .mase
        .map_or(String::new(), |mase| format!(", MASE {}", number(mase)));
    let rows = counted(scores.rows, "row");
    format!("{} on {rows} held back{fit}{mase}", number(scores.rmse))
}

#[derive(Serialize)]
struct Form<'a> {
    format: u32,
    targets: Vec<&'a str>,
    inputs: Vec<&'a str>,
    hidden: usize,
    report: &'a Report,
    /// By target.
    held_back: &'a [Option<Scores>],
}

impl<'a> Form<'a> {
    fn of(model: &'a Narx, held_back: &'a [Option<Scores>]) -> Self {
        Self {
            format: json::FORMAT,
            targets: model.outputs().collect(),
            inputs: model.inputs().map(|(name, _)| name).collect(),
            hidden: model.hidden(),
            report: model.report(),
            held_back,
        }
    }
}
