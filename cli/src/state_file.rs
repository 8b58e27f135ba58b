use std::path::Path;

use lbbsp::narx::{Guarded, Member, Narx, Series};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::files;
use crate::json::{self, FORMAT};
use crate::lags::in_words;
use crate::online::Learners;
use crate::series_file::Log;
use crate::table::{align_left, aligned, counted};
use crate::worker_names::plain;

const KIND: &str = "lbbsp-online-state";

/// An online forecaster of one worker, to go on with.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    format: u32,
    kind: String,
    pub(crate) target: String,
    /// In the order in which the forecaster takes them.
    pub(crate) inputs: Vec<String>,
    /// Rows that it has gone through.
    rows: usize,
    pub(crate) forecaster: Guarded,
}

/// What is wrong with a state file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(
        "this is not the state of an online forecaster: its field `kind` should be `{KIND}`, as `lbbsp train --online-state` writes it"
    )]
    Foreign,
    #[error("the file is of format {got}, format {FORMAT} is needed")]
    Format { got: u64 },
    #[error("the file is cut off at line {line}")]
    CutOff { line: usize },
    #[error("line {line}, column {column}: {message}")]
    NotReadable {
        line: usize,
        column: usize,
        message: String,
    },
    #[error(
        "the parts of the file do not fit each other: {names} inputs have names, the forecaster takes {taken}"
    )]
    Inputs { names: usize, taken: usize },
    #[error("a column is named twice in `target` and `inputs`")]
    Names,
}

/// What tells the file from others.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    format: serde_json::Value,
}

impl State {
    /// A model that went on learning through the one session of a log, from its first row on.
    pub(crate) fn after(model: &Narx, log: &Log) -> Result<Self, lbbsp::narx::Error> {
        let mut learners = Learners::warm(model)?;
        learners.run(&log.series, 0, |_| {});
        Ok(Self {
            format: FORMAT,
            kind: KIND.to_owned(),
            target: log.series.outputs()[0].clone(),
            inputs: learners.inputs,
            rows: log.rows(),
            forecaster: learners.guarded,
        })
    }

    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        Self::parse(&files::read(path)?, path)
    }

    /// Reads a state from a file that is in memory.
    pub(crate) fn parse(file: &[u8], path: &Path) -> Result<Self, Error> {
        Self::of(file).map_err(|cause| Error::State {
            path: path.to_owned(),
            cause,
        })
    }

    fn of(text: &[u8]) -> Result<Self, Fault> {
        let head: Head = serde_json::from_slice(text).map_err(Fault::of)?;
        if head.kind.as_deref() != Some(KIND) {
            return Err(Fault::Foreign);
        }
        match head.format.as_u64() {
            Some(format) if format == u64::from(FORMAT) => {}
            got => {
                return Err(Fault::Format {
                    got: got.unwrap_or(0),
                });
            }
        }
        let state: Self = serde_json::from_slice(text).map_err(Fault::of)?;
        let (names, taken) = (state.inputs.len(), state.lags().len() - 1);
        if names != taken {
            return Err(Fault::Inputs { names, taken });
        }
        match Series::new([&state.target], &state.inputs) {
            Ok(_) => Ok(state),
            Err(_) => Err(Fault::Names),
        }
    }

    /// On one line, as most of it are numbers.
    pub(crate) fn to_json(&self) -> String {
        let text = serde_json::to_string(self);
        let mut text = text.expect("structs with text keys are always representable as JSON");
        text.push('\n');
        text
    }

    /// A data set of what it reads, without sessions yet.
    pub(crate) fn series(&self) -> Series {
        let series = Series::new([&self.target], &self.inputs);
        series.expect("the names were checked when it was read")
    }

    /// The lags of the target, then those of the inputs.
    fn lags(&self) -> Vec<&[usize]> {
        let config = self.forecaster.online().config();
        let inputs = config.inputs.iter().map(Vec::as_slice);
        std::iter::once(config.output_lags.as_slice())
            .chain(inputs)
            .collect()
    }

    pub(crate) fn longest_lag(&self) -> usize {
        self.lags()
            .into_iter()
            .flatten()
            .copied()
            .max()
            .unwrap_or(0)
    }

    /// The forecasters that go on from here.
    pub(crate) fn into_learners(self) -> Learners {
        Learners {
            guarded: self.forecaster,
            inputs: self.inputs,
        }
    }

    fn members(&self) -> impl Iterator<Item = MemberForm> {
        let members = Member::ALL.into_iter().zip(self.forecaster.weights());
        members.map(|(member, weight)| MemberForm {
            member,
            name: member.name(),
            weight,
        })
    }

    /// What it has gone through and what counts most, as a sentence without its full stop.
    pub(crate) fn sentence(&self) -> String {
        let most = self.members().max_by(|a, b| a.weight.total_cmp(&b.weight));
        let most = most.expect("there are members");
        format!(
            "an online forecaster of `{}` after {}; its member with most weight is {} ({:.0} %)",
            plain(&self.target),
            counted(self.rows, "row"),
            most.name,
            100.0 * most.weight
        )
    }

    /// What `lbbsp inspect` prints.
    pub(crate) fn text(&self, name: &str) -> String {
        let mut series = aligned(&["series", "is", "lags"]);
        let names = std::iter::once(&self.target).chain(&self.inputs);
        for (place, (name, lags)) in names.zip(self.lags()).enumerate() {
            let role = if place == 0 { "target" } else { "input" };
            let lags = in_words(lags);
            let lags = lags.trim_start_matches("lags ").trim_start_matches("lag ");
            series.add_row([&plain(name), role, lags]);
        }
        align_left(&mut series, 1);
        align_left(&mut series, 2);
        let mut members = aligned(&["member", "weight"]);
        for MemberForm { name, weight, .. } in self.members() {
            members.add_row([name.to_owned(), format!("{weight:.4}")]);
        }
        let network = self.forecaster.online();
        format!(
            "{name} is {}\n\n{series}\n\n{members}\n\nnetwork   {}, {}\nfile      state of format {FORMAT}\n",
            self.sentence(),
            counted(network.config().hidden, "hidden tanh unit"),
            counted(network.weights(), "weight"),
        )
    }

    /// What `lbbsp inspect --json` prints.
    pub(crate) fn json(&self) -> String {
        json::text(&Form {
            format: FORMAT,
            kind: KIND,
            target: &self.target,
            inputs: &self.inputs,
            lags: self.lags(),
            rows: self.rows,
            hidden: self.forecaster.online().config().hidden,
            weights: self.forecaster.online().weights(),
            members: self.members().collect(),
        })
    }
}

impl Fault {
    fn of(cause: serde_json::Error) -> Self {
        match cause.classify() {
            serde_json::error::Category::Eof => Self::CutOff { line: cause.line() },
            _ => Self::NotReadable {
                line: cause.line(),
                column: cause.column(),
                message: message(&cause),
            },
        }
    }
}

/// What was wrong, without the place.
fn message(cause: &serde_json::Error) -> String {
    let text = cause.to_string();
    let place = format!(" at line {} column {}", cause.line(), cause.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

/// Whether a file says that it is a state.
pub(crate) fn is_state(text: &[u8]) -> bool {
    let head = serde_json::from_slice::<Head>(text);
    head.is_ok_and(|head| head.kind.as_deref() == Some(KIND))
}

#[derive(Serialize)]
struct Form<'a> {
    format: u32,
    kind: &'static str,
    target: &'a str,
    inputs: &'a [String],
    /// Of the target, then of each input.
    lags: Vec<&'a [usize]>,
    rows: usize,
    hidden: usize,
    weights: usize,
    members: Vec<MemberForm>,
}

#[derive(Serialize)]
struct MemberForm {
    member: Member,
    #[serde(skip)]
    name: &'static str,
    weight: f64,
}
