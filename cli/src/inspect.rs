use std::path::PathBuf;

use lbbsp::narx::{
    Algorithm, Config, Loss, Narx, Report, Scaling, Skip, Target, TrainedRows, Training, Validation,
};
use serde::Serialize;

use crate::error::Error;
use crate::lags::in_words;
use crate::model_file::{Scaled, Written};
use crate::state_file::State;
use crate::table::{align_left, aligned, counted};
use crate::unit::number;
use crate::worker_names::plain;
use crate::{files, json, model_file, state_file, training};

/// Say what a model file holds
///
/// What is forecast from what, the scaling, how it was trained and on what. A file that was changed
/// after it was written is refused. Of the state of an online forecaster it says what is forecast from
/// what, how many rows it has gone through, and what counts how much.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lbbsp inspect model.json
  lbbsp inspect model.json --json
  lbbsp inspect state.json")]
pub(crate) struct Args {
    /// The model, or the state of an online forecaster
    #[arg(value_name = "MODEL.json")]
    model: PathBuf,
    /// Print JSON instead of sentences
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let read = files::read(&args.model)?;
    if state_file::is_state(&read) {
        return of_state(args, &State::parse(&read, &args.model)?);
    }
    let model = model_file::parse(&read, &args.model)?;
    let file = Written::of(&model);
    if args.json {
        return files::print(&json::text(&Form::of(&model, &file)));
    }
    let name = args.model.display().to_string();
    files::print(&text(&name, &model, &file))
}

fn of_state(args: &Args, state: &State) -> Result<(), Error> {
    if args.json {
        return files::print(&state.json());
    }
    files::print(&state.text(&args.model.display().to_string()))
}

fn text(name: &str, model: &Narx, file: &Written) -> String {
    let (config, report) = (model.config(), model.report());
    let mut lines = vec![
        format!("{name} {}", model_file::sentence(model)),
        String::new(),
        scaling_table(file),
        format!("scaled so that {}", scaling(config)),
        String::new(),
        format!("network   {}", network(model)),
        format!("training  {}", how(&config.training)),
        format!("starts    {}", training::starts(report)),
        format!("epochs    {}", training::ending(report)),
        format!("rows      {}", rows(model)),
    ];
    let dropped = model_file::dropped(model);
    lines.extend(dropped.map(|dropped| format!("dropped   {dropped}")));
    let errors = model.outputs().zip(&report.output_rmse);
    let several = report.output_rmse.len() > 1;
    lines.extend(errors.map(|(name, rmse)| {
        let of = if several {
            format!(" of `{}`", plain(name))
        } else {
            String::new()
        };
        format!(
            "errors    one-step RMSE{of} {} on the rows trained on",
            number(*rmse)
        )
    }));
    let short = &file.sha256[..file.sha256.len().min(12)];
    lines.push(format!(
        "file      unchanged since it was written, checksum {short}.."
    ));
    format!("{}\n", lines.join("\n"))
}

fn scaling_table(file: &Written) -> String {
    let mut table = aligned(&["series", "is", "lags", "-1 stands for", "1 stands for"]);
    let outputs = file.outputs.iter().map(|series| ("target", series));
    let inputs = file.inputs.iter().map(|series| ("input", series));
    for (role, series) in outputs.chain(inputs) {
        let [low, high] = series.scaler.range().map(number);
        let lags = in_words(&series.lags);
        let lags = lags.trim_start_matches("lags ").trim_start_matches("lag ");
        table.add_row([
            plain(&series.name),
            role.to_owned(),
            lags.to_owned(),
            low,
            high,
        ]);
    }
    align_left(&mut table, 1);
    align_left(&mut table, 2);
    table.to_string()
}

fn scaling(config: &Config) -> &'static str {
    match config.scaling {
        Scaling::MinMax => "the training values are from -1 to 1",
        Scaling::Standard => "the training values have mean 0 and standard deviation 1",
        Scaling::Robust => "the training values have median 0 and half an interquartile range of 1",
    }
}

fn network(model: &Narx) -> String {
    let units = match model.hidden() {
        0 => "linear".to_owned(),
        units => counted(units, "hidden tanh unit"),
    };
    let direct = match model.config().skip {
        Skip::None => "",
        Skip::Linear if model.hidden() == 0 => "",
        Skip::Linear => ", direct linear connections",
        Skip::LastValue => ", added to the last value",
    };
    let log = match model.config().target {
        Target::Value => "",
        Target::Log => ", forecasts logarithms",
    };
    format!(
        "{units}{direct}, {}{log}",
        counted(model.report().weights, "weight")
    )
}

fn how(training: &Training) -> String {
    let algorithm = match training.algorithm {
        Algorithm::Lm => "Levenberg-Marquardt",
        Algorithm::Bayes => "Levenberg-Marquardt with Bayesian regularisation",
        _ => "another algorithm",
    };
    let closed = match &training.closed_loop {
        None => String::new(),
        Some(closed) => {
            let end = |&horizon: &usize| match horizon {
                0 => "to the end".to_owned(),
                horizon => horizon.to_string(),
            };
            let horizons: Vec<String> = closed.horizons.iter().map(end).collect();
            format!(
                ", then on its own forecasts over {} steps",
                horizons.join(", ")
            )
        }
    };
    let loss = match training.loss {
        Loss::Squares => String::new(),
        Loss::Huber { threshold } => format!(", errors beyond {threshold} deviations count less"),
    };
    let judged = match training.validation {
        Validation::None => "every row learnt from".to_owned(),
        Validation::Tail { share } => format!("the last {:.0} % judge", 100.0 * share),
        Validation::Folds { folds } => format!("{folds} folds judge"),
    };
    format!(
        "{algorithm}{closed}{loss}, {judged}, seed {}",
        training.seed
    )
}

fn rows(model: &Narx) -> String {
    let rows = model.trained_rows().iter();
    let given: usize = rows.map(|rows| rows.end.saturating_sub(rows.start)).sum();
    let report = model.report();
    let judged = match report.judged_rows {
        0 => String::new(),
        judged => format!(", {judged} of them to judge the weights"),
    };
    let sessions = counted(model.trained_rows().len(), "session");
    format!(
        "{given} in {sessions}, {} of them complete and used{judged}",
        report.rows
    )
}

#[derive(Serialize)]
struct Form<'a> {
    format: u32,
    checksum: &'static str,
    sha256: &'a str,
    outputs: &'a [Scaled],
    inputs: &'a [Scaled],
    hidden: usize,
    weights: usize,
    config: &'a Config,
    report: &'a Report,
    trained_rows: &'a [TrainedRows],
}

impl<'a> Form<'a> {
    fn of(model: &'a Narx, file: &'a Written) -> Self {
        Self {
            format: json::FORMAT,
            checksum: "matches",
            sha256: &file.sha256,
            outputs: &file.outputs,
            inputs: &file.inputs,
            hidden: model.hidden(),
            weights: model.report().weights,
            config: model.config(),
            report: model.report(),
            trained_rows: model.trained_rows(),
        }
    }
}
