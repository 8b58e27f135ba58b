use std::path::Path;

use lbbsp::narx::{Narx, Series};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::lags::in_words;
use crate::worker_names::plain;
use crate::{files, state_file};

/// Reads a model.
pub(crate) fn read(path: &Path) -> Result<Narx, Error> {
    parse(&files::read(path)?, path)
}

/// Reads a model from a file that is in memory.
pub(crate) fn parse(file: &[u8], path: &Path) -> Result<Narx, Error> {
    Narx::from_json(file).map_err(|cause| {
        let path = path.to_owned();
        match state_file::is_state(file) {
            true => Error::NotAModel { path },
            false => Error::Model { path, cause },
        }
    })
}

/// A data set of what a model reads, its inputs in the model's order, without sessions yet.
pub(crate) fn series(model: &Narx, path: &Path) -> Result<Series, Error> {
    let inputs = model.inputs().map(|(name, _)| name);
    Series::new(model.outputs(), inputs).map_err(|cause| {
        let path = path.to_owned();
        Error::Model { path, cause }
    })
}

/// What only the file says of a model.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) sha256: String,
    pub(crate) outputs: Vec<Scaled>,
    pub(crate) inputs: Vec<Scaled>,
}

#[derive(Deserialize)]
struct File {
    sha256: String,
    model: Body,
}

#[derive(Deserialize)]
struct Body {
    outputs: Vec<Scaled>,
    inputs: Vec<Scaled>,
}

/// A series and the change of units that brings it to the size of 1.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Scaled {
    pub(crate) name: String,
    pub(crate) lags: Vec<usize>,
    pub(crate) scaler: Scaler,
}

/// (value - shift) / spread, of the logarithm of the value if `log`.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Scaler {
    shift: f64,
    spread: f64,
    log: bool,
}

impl Written {
    pub(crate) fn of(model: &Narx) -> Self {
        let file = serde_json::from_str(&model.to_json());
        let File { sha256, model } = file.expect("a model is written in this form");
        Self {
            sha256,
            outputs: model.outputs,
            inputs: model.inputs,
        }
    }
}

impl Scaler {
    /// The values that become -1 and 1.
    pub(crate) fn range(self) -> [f64; 2] {
        let ends = [self.shift - self.spread, self.shift + self.spread];
        if self.log { ends.map(f64::exp) } else { ends }
    }
}

/// What is forecast from what, as a sentence without its full stop.
pub(crate) fn sentence(model: &Narx) -> String {
    let mut from = Vec::new();
    if let Some(lags) = model.output_lags().find(|lags| !lags.is_empty()) {
        let own = if model.outputs().len() == 1 {
            "its own past"
        } else {
            "their own past"
        };
        from.push(format!("{own} ({})", in_words(lags)));
    }
    for (name, lags) in model.inputs() {
        from.push(format!("`{}` ({})", plain(name), in_words(lags)));
    }
    if from.is_empty() {
        from.push("nothing".to_owned());
    }
    format!("forecasts {} from {}", quoted(model.outputs()), list(&from))
}

/// The columns that never changed, as a sentence.
pub(crate) fn dropped(model: &Narx) -> Option<String> {
    let lagged = !model.config().output_lags.is_empty();
    let outputs = model.outputs().zip(model.output_lags());
    let flat = outputs.filter(|(_, lags)| lagged && lags.is_empty());
    let names = flat.map(|(name, _)| name);
    let inputs = model.report().dropped_inputs.iter().map(String::as_str);
    let names: Vec<&str> = names.chain(inputs).collect();
    let all = quoted(names.iter().copied());
    match names.len() {
        0 => None,
        1 => Some(format!(
            "{all} never changes in the rows trained on, so it is not used"
        )),
        _ => Some(format!(
            "{all} never change in the rows trained on, so they are not used"
        )),
    }
}

/// Names in quotes, as a list.
fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.map(|name| format!("`{}`", plain(name))).collect();
    list(&quoted)
}

fn list(parts: &[String]) -> String {
    match parts.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}
