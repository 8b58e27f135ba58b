use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::fingerprint::hex;
use super::{Narx, TrainedRows};
use crate::config::{Config, Skip};
use crate::frame::{Column, Frame};
use crate::network::Network;
use crate::scale::Scaler;
use crate::train::Report;
use crate::{Error, FileFault};

/// Version of the file format that this crate writes and reads.
const VERSION: u64 = 1;

/// What a file says it is.
const FORMAT: &str = "narx-model";

/// A model file. `sha256` is that of `model` as this crate writes it, without spaces.
#[derive(Serialize, Deserialize)]
struct File<'a> {
    format: &'a str,
    version: u64,
    sha256: String,
    model: Body,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    outputs: Vec<Series>,
    inputs: Vec<Series>,
    hidden: usize,
    skip: Skip,
    /// In the order of `network::Places`.
    weights: Vec<f64>,
    config: Config,
    report: Report,
    trained_rows: Vec<TrainedRows>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Series {
    name: String,
    lags: Vec<usize>,
    scaler: Scaler,
}

/// The fields that tell what a file is, before all others are read.
#[derive(Deserialize)]
struct Head {
    format: Option<String>,
    version: Option<u64>,
}

impl Narx {
    /// The model as a JSON file: lags, scaling, weights, configuration, training report and what it
    /// was trained on. Read back, it forecasts the same, bit for bit.
    pub fn to_json(&self) -> String {
        let series = |column: &Column| Series {
            name: column.name.clone(),
            lags: column.lags.clone(),
            scaler: column.scaler,
        };
        let (outputs, inputs) = self.frame.columns.split_at(self.frame.outputs);
        let model = Body {
            outputs: outputs.iter().map(series).collect(),
            inputs: inputs.iter().map(series).collect(),
            hidden: self.hidden(),
            skip: self.frame.skip,
            weights: self.network.weights().to_vec(),
            config: self.config.clone(),
            report: self.report.clone(),
            trained_rows: self.trained.clone(),
        };
        let file = File {
            format: FORMAT,
            version: VERSION,
            sha256: checksum(&model),
            model,
        };
        let mut text = serde_json::to_string_pretty(&file).expect("all keys are strings");
        text.push('\n');
        text
    }

    /// Reads what [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// [`Error::File`] if it is no model file, of an unknown version, cut off, edited, or its parts
    /// do not fit each other.
    pub fn from_json(text: &[u8]) -> Result<Self, Error> {
        let head: Head = serde_json::from_slice(text).map_err(not_json)?;
        if head.format.as_deref() != Some(FORMAT) {
            return Err(FileFault::NotAModel.into());
        }
        if head.version != Some(VERSION) {
            return Err(FileFault::Version {
                got: head.version.unwrap_or(0),
            }
            .into());
        }
        let file: File<'_> = serde_json::from_slice(text).map_err(not_json)?;
        if checksum(&file.model) != file.sha256 {
            return Err(FileFault::Edited.into());
        }
        file.model.into_narx()
    }
}

impl Body {
    fn into_narx(self) -> Result<Narx, Error> {
        let misfit = |what| Err(FileFault::Misfit { what }.into());
        if self.outputs.is_empty() {
            return misfit("there is no output");
        }
        let column = |series: Series| Column {
            name: series.name,
            lags: series.lags,
            scaler: series.scaler,
        };
        let outputs = self.outputs.len();
        let columns: Vec<Column> = self
            .outputs
            .into_iter()
            .chain(self.inputs)
            .map(column)
            .collect();
        if !columns.iter().all(|column| column.scaler.is_sound()) {
            return misfit("a scaler is not sound");
        }
        let rising = |lags: &[usize]| lags.windows(2).all(|pair| pair[0] < pair[1]);
        if !columns.iter().all(|column| rising(&column.lags)) {
            return misfit("lags do not increase");
        }
        if columns[..outputs]
            .iter()
            .any(|column| column.lags.first() == Some(&0))
        {
            return misfit("an output has lag 0");
        }
        if self.config.check().is_err() {
            return misfit("the configuration is not valid");
        }
        let dropped = self.report.dropped_inputs.clone();
        let frame = Frame::new(columns, outputs, dropped, self.skip);
        if frame.longest_lag() > self.config.longest_lag() {
            return misfit("lags go beyond those of the configuration");
        }
        let shape = frame.shape(self.hidden);
        if shape.hidden != self.hidden || shape.checked_weights() != Some(self.weights.len()) {
            return misfit("the number of weights does not fit the lags and hidden units");
        }
        if !self.weights.iter().all(|weight| weight.is_finite()) {
            return misfit("a weight is not finite");
        }
        if self.report.output_rmse.len() != outputs {
            return misfit("the report is about other outputs");
        }
        let network = Network::new(shape, &self.weights, &frame.last_values());
        Ok(Narx {
            frame,
            network,
            config: self.config,
            report: self.report,
            trained: self.trained_rows,
        })
    }
}

fn checksum(model: &Body) -> String {
    let text = serde_json::to_vec(model).expect("all keys are strings");
    hex(&Sha256::digest(text))
}

fn not_json(cause: serde_json::Error) -> Error {
    let (line, column) = (cause.line(), cause.column());
    if cause.is_eof() {
        return FileFault::CutOff { line }.into();
    }
    let message = cause.to_string();
    let place = format!(" at line {line} column {column}");
    FileFault::NotReadable {
        line,
        column,
        message: message.strip_suffix(&place).unwrap_or(&message).to_owned(),
    }
    .into()
}
