use csv::StringRecord;
use lbbsp::sizing::defaults;

use super::Fault;
use crate::worker_names::plain;

const TIME: &str = "t";
const SPEED: &str = "speed";
const WORKER: &str = "worker";

/// Which columns of a trace file mean what.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Columns of the traces")]
pub(crate) struct Columns {
    /// When a row begins, in seconds
    #[arg(long, value_name = "COLUMN", default_value = TIME)]
    time: String,
    /// Samples per second until the next row
    #[arg(long, value_name = "COLUMN", default_value = SPEED)]
    speed: String,
    /// Tells the workers of a file apart [default: worker, if there is such a column]
    #[arg(long, value_name = "COLUMN")]
    worker: Option<String>,
    /// Columns whose value is known when their row begins, as a list; others are known when it
    /// ends [default: running_before, if there is such a column]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    known_before: Option<Vec<String>>,
}

impl Default for Columns {
    fn default() -> Self {
        Self {
            time: TIME.to_owned(),
            speed: SPEED.to_owned(),
            worker: None,
            known_before: None,
        }
    }
}

impl Columns {
    /// Those of the `series` that are known when their row begins; Err is a name that was asked for
    /// but is none of them.
    pub(super) fn known_before(&self, series: &[&str]) -> Result<Vec<String>, &str> {
        let Some(asked) = &self.known_before else {
            return Ok(defaults::KNOWN_BEFORE.map(str::to_owned).to_vec());
        };
        let asked = asked.iter().map(|name| name.trim());
        let asked: Vec<&str> = asked.filter(|name| !name.is_empty()).collect();
        match asked.iter().find(|name| !series.contains(name)) {
            Some(name) => Err(name),
            None => Ok(asked.into_iter().map(str::to_owned).collect()),
        }
    }
}

/// Where the columns of one file are.
#[derive(Debug)]
pub(super) struct Layout {
    /// Names of all columns.
    pub(super) names: Vec<String>,
    pub(super) time: usize,
    pub(super) speed: usize,
    pub(super) worker: Option<usize>,
    /// All other columns that have a name.
    pub(super) series: Vec<usize>,
}

impl Layout {
    pub(super) fn of(header: &StringRecord, line: usize, columns: &Columns) -> Result<Self, Fault> {
        if header.iter().all(|cell| cell.trim().parse::<f64>().is_ok()) {
            return Err(Fault::NoHeader { line });
        }
        let names: Vec<String> = header.iter().map(|cell| cell.trim().to_owned()).collect();
        let place = |name: &str| names.iter().position(|other| other == name);
        let needed = |name: &str| place(name).ok_or_else(|| missing(name, line, &names));
        let (time, speed) = (needed(&columns.time)?, needed(&columns.speed)?);
        let worker = match &columns.worker {
            Some(name) => Some(needed(name)?),
            None => place(WORKER).filter(|&index| index != time && index != speed),
        };
        for (index, name) in names.iter().enumerate() {
            if !name.is_empty() && place(name) != Some(index) {
                let name = plain(name);
                return Err(Fault::DuplicateColumn { line, name });
            }
        }
        let other = |&index: &usize| ![Some(time), Some(speed), worker].contains(&Some(index));
        let named = |index: &usize| !names[*index].is_empty();
        let series = (0..names.len()).filter(other).filter(named).collect();
        Ok(Self {
            names,
            time,
            speed,
            worker,
            series,
        })
    }

    /// The name of a column, for a message.
    pub(super) fn name(&self, index: usize) -> String {
        plain(&self.names[index])
    }

    /// What a column is called here that a trace calls `t` or `speed`.
    pub(super) fn shown(&self, of_trace: &str) -> String {
        self.name(if of_trace == "t" {
            self.time
        } else {
            self.speed
        })
    }
}

fn missing(name: &str, line: usize, names: &[String]) -> Fault {
    const MOST_SHOWN: usize = 30;
    let quoted = |name: &String| format!("`{}`", plain(name));
    let shown: Vec<String> = names.iter().take(MOST_SHOWN).map(quoted).collect();
    let more = if names.len() > MOST_SHOWN { ", .." } else { "" };
    Fault::MissingColumn {
        line,
        name: plain(name),
        there: format!("{}{more}", shown.join(", ")),
        hint: if names.len() == 1 {
            "; columns are separated by commas, semicolons or tabs"
        } else {
            ""
        },
    }
}
