//! Series to learn from and to forecast, as they are in log files.

mod cell;
mod columns;
mod date;
mod fault;
mod gaps;
mod rows;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use lbbsp::narx::{Series, Session};

use crate::error::Error;
use crate::files;
use crate::log_file::{self, Records, Text};
use crate::worker_names::{self, plain};
use columns::Layout;
pub(crate) use columns::SeriesColumns;
pub(crate) use fault::Fault;
use gaps::{behind_gaps, opened};
use rows::{Rows, SessionRows};

/// The sessions of some files; all lists have one entry a session, in the same order.
#[derive(Debug)]
pub(crate) struct Log {
    /// The sessions, with a row of nothing but missing values in each gap.
    pub(crate) series: Series,
    /// The file, and the session of it if a column tells several apart. No two are the same.
    pub(crate) names: Vec<String>,
    /// How many gaps were found.
    pub(crate) gaps: Vec<usize>,
    /// When each row was recorded, NaN in a gap; None without a column of times. Dates are seconds
    /// since 1970.
    pub(crate) times: Option<Vec<Vec<f64>>>,
    /// The line of its file that each row is in; of a gap that of the row behind it.
    pub(crate) lines: Vec<Vec<usize>>,
}

impl Log {
    /// How many rows of the files each session has: gaps do not count.
    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> {
        let sessions = self.series.sessions().iter().zip(&self.gaps);
        sessions.map(|(session, gaps)| session.len() - gaps)
    }

    fn push(&mut self, name: String, session: SessionRows) {
        let outputs = self.series.outputs().len();
        let behind = session.times.as_deref().map_or(Vec::new(), behind_gaps);
        let missing = |values| opened(values, &behind, |_| f64::NAN);
        let mut values: Vec<Vec<f64>> = session.values.into_iter().map(missing).collect();
        let inputs = values.split_off(outputs);
        let read = Session::new(values, inputs).expect("every row has a value of every column");
        let pushed = self.series.push(read);
        pushed.expect("the columns are those of the series");
        if let (Some(all), Some(times)) = (&mut self.times, session.times) {
            all.push(missing(times));
        }
        self.lines.push(opened(session.lines, &behind, |next| next));
        self.gaps.push(behind.len());
        self.names.push(name);
    }
}

/// Reads the sessions of all files.
pub(crate) fn read(paths: &[PathBuf], columns: &SeriesColumns) -> Result<Log, Error> {
    let mut log = Log {
        series: columns.series()?,
        names: Vec::new(),
        gaps: Vec::new(),
        times: columns.time.as_ref().map(|_| Vec::new()),
        lines: Vec::new(),
    };
    for (path, file) in paths.iter().zip(worker_names::of_files(paths)) {
        let bytes = files::read(path)?;
        let sessions = sessions(&bytes, &log.series, columns).map_err(|fault| Error::Log {
            file: plain(&path.to_string_lossy()),
            fault,
        })?;
        for session in sessions {
            let name = match &session.name {
                None => file.clone(),
                Some(name) => format!("{file}/{name}"),
            };
            log.push(name, session);
        }
    }
    log.names = worker_names::numbered(log.names);
    Ok(log)
}

/// The sessions of one file; `series` has the names of outputs and inputs.
fn sessions(
    bytes: &[u8],
    series: &Series,
    columns: &SeriesColumns,
) -> Result<Vec<SessionRows>, Fault> {
    let bytes = log_file::unpacked(bytes)?;
    let text = Text::of(&bytes)?;
    let mut records = Records::of(&text);
    let header = records.header(&example(series))?;
    let layout = Layout::of(header, series, columns)?;
    // Where commas separate no cells they can only be meant as decimal commas.
    let mut rows = Rows::new(layout, text.delimiter() == b';');
    while let Some(row) = records.read()? {
        rows.add(&row)?;
    }
    rows.into_sessions()
}

/// What a header could look like.
fn example(series: &Series) -> String {
    plain(&[series.outputs(), series.inputs()].concat().join(","))
}
