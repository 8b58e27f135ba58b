use std::path::{Path, PathBuf};

use lbbsp::narx::{self, Narx, Series};
use serde::Serialize;

use crate::error::Error;
use crate::series_file::{self, Log, RowColumns};
use crate::{files, json, model_file};

/// Forecast the steps after the end of logs
///
/// One line a step, for each session (each file, if no column tells sessions apart). Inputs must be
/// known as far ahead as the lags reach: with a smallest lag of 1, the last step needs none.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lbbsp forecast bursts.csv --model model.json --horizon 3 --future next.csv
  lbbsp forecast bursts.csv --model model.json --horizon 1 --future next.csv --json
  lbbsp forecast jobs.csv --model jobs.json --session job --time when --horizon 5 > forecast.csv")]
pub(crate) struct Args {
    /// Logs to forecast the continuation of, CSV files
    #[arg(required = true, value_name = "LOG.csv")]
    logs: Vec<PathBuf>,
    /// The model
    #[arg(long, value_name = "MODEL.json")]
    model: PathBuf,
    /// How many steps to forecast
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    horizon: u32,
    /// CSV file with the inputs of the coming steps, one row a step, for all sessions; with
    /// `--session` that column must be there and tells whose they are
    #[arg(long, value_name = "FILE.csv")]
    future: Option<PathBuf>,
    /// Print JSON instead of CSV
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    columns: RowColumns,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let model = model_file::read(&args.model)?;
    let series = model_file::series(&model, &args.model)?;
    let reach = model.config().longest_lag();
    let log = series_file::read(&args.logs, series, &args.columns, reach)?;
    let future = args.future.as_deref();
    let future = future
        .map(|path| Future::read(path, &log, &args.columns))
        .transpose()?;
    let horizon = args.horizon as usize;
    let forecasts = (0..log.names.len()).map(|session| {
        let inputs = future
            .as_ref()
            .map_or(Vec::new(), |it| it.of(&log, session));
        let forecast = model.forecast(&log.series, session, horizon, &inputs);
        forecast.map_err(|cause| refusal(cause, &log.names[session], args))
    });
    let forecasts = forecasts.collect::<Result<Vec<_>, Error>>()?;
    files::print(&if args.json {
        json::text(&Form::of(&model, horizon, &log, &forecasts))
    } else {
        csv(&model, &log, &forecasts)
    })
}

fn refusal(cause: narx::Error, session: &str, args: &Args) -> Error {
    let session = session.to_owned();
    let file = args.future.clone();
    match cause {
        narx::Error::FutureInputs { name, needed, got } => Error::FutureRows {
            file,
            session,
            name,
            needed,
            got,
        },
        cause => Error::Forecast { session, cause },
    }
}

/// The inputs of the coming steps.
#[derive(Debug)]
struct Future {
    log: Log,
    /// Whether one session is for all.
    for_all: bool,
}

impl Future {
    fn read(path: &Path, past: &Log, columns: &RowColumns) -> Result<Self, Error> {
        let inputs = past.series.inputs();
        let for_all = columns.session.is_none();
        // A model without inputs reads nothing from the file.
        let series = Series::new(inputs.to_vec(), Vec::new()).map_err(|_| Error::NoFuture {
            path: path.to_owned(),
        })?;
        let columns = RowColumns {
            session: columns.session.clone(),
            time: None,
        };
        let log = series_file::read(&[path.to_owned()], series, &columns, 0)?;
        Ok(Self { log, for_all })
    }

    /// The inputs that follow a session, one list each.
    fn of(&self, past: &Log, session: usize) -> Vec<Vec<f64>> {
        let sessions = &self.log.sessions;
        let same = || {
            sessions
                .iter()
                .position(|name| *name == past.sessions[session])
        };
        let place = if self.for_all { Some(0) } else { same() };
        let Some(place) = place else {
            return Vec::new();
        };
        let values = &self.log.series.sessions()[place];
        let inputs = 0..past.series.inputs().len();
        inputs.map(|input| values.output(input).to_vec()).collect()
    }
}

fn csv(model: &Narx, log: &Log, forecasts: &[Vec<Vec<f64>>]) -> String {
    let mut lines = csv::Writer::from_writer(Vec::new());
    let header = match model.outputs().len() {
        1 => vec!["forecast".to_owned()],
        _ => model
            .outputs()
            .map(|name| format!("forecast_{name}"))
            .collect(),
    };
    let head = ["session", "step"].map(str::to_owned);
    let written = lines.write_record(head.into_iter().chain(header));
    written.expect("memory can be written to");
    for (session, outputs) in log.names.iter().zip(forecasts) {
        for step in 0..outputs.first().map_or(0, Vec::len) {
            let values = outputs.iter().map(|values| format!("{:?}", values[step]));
            let head = [session.clone(), (step + 1).to_string()];
            let written = lines.write_record(head.into_iter().chain(values));
            written.expect("memory can be written to, and all rows have the same columns");
        }
    }
    let bytes = lines.into_inner().expect("memory can be written to");
    String::from_utf8(bytes).expect("names and numbers are UTF-8")
}

#[derive(Serialize)]
struct Form<'a> {
    format: u32,
    horizon: usize,
    targets: Vec<&'a str>,
    sessions: Vec<SessionForm<'a>>,
}

#[derive(Serialize)]
struct SessionForm<'a> {
    name: &'a str,
    /// By target and step.
    forecasts: &'a [Vec<f64>],
}

impl<'a> Form<'a> {
    fn of(model: &'a Narx, horizon: usize, log: &'a Log, forecasts: &'a [Vec<Vec<f64>>]) -> Self {
        let sessions = log.names.iter().zip(forecasts);
        let session =
            |(name, forecasts): (&'a String, &'a Vec<Vec<f64>>)| SessionForm { name, forecasts };
        Self {
            format: json::FORMAT,
            horizon,
            targets: model.outputs().collect(),
            sessions: sessions.map(session).collect(),
        }
    }
}
