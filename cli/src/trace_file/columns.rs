use lbbsp::sizing::defaults;

use crate::log_file::{Fault, Header};

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
    pub(super) header: Header,
    pub(super) time: usize,
    pub(super) speed: usize,
    pub(super) worker: Option<usize>,
    /// All other columns that have a name.
    pub(super) series: Vec<usize>,
}

impl Layout {
    pub(super) fn of(header: Header, columns: &Columns) -> Result<Self, Fault> {
        let time = header.needed(&columns.time)?;
        let speed = header.needed(&columns.speed)?;
        let worker = match &columns.worker {
            Some(name) => Some(header.needed(name)?),
            None => header
                .place(WORKER)
                .filter(|&index| index != time && index != speed),
        };
        header.check_doubled(|_| true)?;
        let other = |&index: &usize| ![Some(time), Some(speed), worker].contains(&Some(index));
        let names = header.names();
        let named = |index: &usize| !names[*index].is_empty();
        let series = (0..names.len()).filter(other).filter(named).collect();
        Ok(Self {
            header,
            time,
            speed,
            worker,
            series,
        })
    }

    /// What a column is called here that a trace calls `t` or `speed`.
    pub(super) fn shown(&self, of_trace: &str) -> String {
        self.header.shown(if of_trace == "t" {
            self.time
        } else {
            self.speed
        })
    }
}
