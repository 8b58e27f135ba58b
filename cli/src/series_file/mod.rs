//! Series to learn from and to forecast, as they are in log files.

mod cell;
mod columns;
mod date;
mod fault;
mod gaps;
mod rows;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::path::PathBuf;

use lbbsp::narx::{Series, Session};

use crate::error::Error;
use crate::files;
use crate::log_file::{self, Records, Text};
use crate::worker_names::{self, plain};
use columns::Layout;
pub(crate) use columns::{RowColumns, SeriesColumns, named_series};
pub(crate) use fault::Fault;
use gaps::{behind_gaps, opened};
use rows::{Rows, SessionRows};

/// The sessions of some files; all lists have one entry a session, in the same order.
#[derive(Debug)]
pub(crate) struct Log {
    /// The sessions, with rows of nothing but missing values in each gap.
    pub(crate) series: Series,
    /// The file, and the session of it if a column tells several apart. No two are the same.
    pub(crate) names: Vec<String>,
    /// What the file calls the session, if a column tells several apart.
    pub(crate) sessions: Vec<Option<String>>,
    /// How many gaps were found.
    pub(crate) gaps: Vec<usize>,
    /// The line of its file that each row is in; of a gap that of the row behind it.
    pub(crate) lines: Vec<Vec<usize>>,
}

impl Log {
    /// How many of some rows of a session are rows of its file: those in gaps do not count.
    pub(crate) fn recorded(&self, session: usize, rows: Range<usize>) -> usize {
        let lines = &self.lines[session];
        let recorded = |&row: &usize| lines.get(row + 1) != Some(&lines[row]);
        rows.filter(recorded).count()
    }

    /// How many rows of the files there are in all.
    pub(crate) fn rows(&self) -> usize {
        let sessions = 0..self.names.len();
        sessions
            .map(|session| self.recorded(session, 0..self.lines[session].len()))
            .sum()
    }

    fn of(series: Series) -> Self {
        Self {
            series,
            names: Vec::new(),
            sessions: Vec::new(),
            gaps: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// Adds the sessions of a file; in messages it is `shown`.
    fn add(
        &mut self,
        file: &str,
        shown: &str,
        bytes: &[u8],
        columns: &RowColumns,
        reach: usize,
    ) -> Result<(), Error> {
        let sessions = sessions(bytes, &self.series, columns).map_err(|fault| Error::Log {
            file: shown.to_owned(),
            fault,
        })?;
        for session in sessions {
            self.push(file, session, reach);
        }
        Ok(())
    }

    fn push(&mut self, file: &str, session: SessionRows, reach: usize) {
        let outputs = self.series.outputs().len();
        let mut behind = session.times.as_deref().map_or(Vec::new(), behind_gaps);
        self.gaps.push(behind.len());
        // A lag that reaches further back than there are rows finds nothing across a gap either.
        if reach > session.lines.len() {
            behind.clear();
        }
        let missing = |values| opened(values, &behind, reach, |_| f64::NAN);
        let mut values: Vec<Vec<f64>> = session.values.into_iter().map(missing).collect();
        let inputs = values.split_off(outputs);
        let read = Session::new(values, inputs).expect("every row has a value of every column");
        let pushed = self.series.push(read);
        pushed.expect("the columns are those of the series");
        let lines = opened(session.lines, &behind, reach, |next| next);
        self.lines.push(lines);
        self.names.push(match &session.name {
            None => file.to_owned(),
            Some(name) => format!("{file}/{}", plain(name)),
        });
        self.sessions.push(session.name);
    }
}

/// Reads the sessions of all files, with the columns that `series` names.
///
/// `reach` is the longest lag in use: so many rows of missing values are put into each gap, and no
/// lag reaches across.
pub(crate) fn read(
    paths: &[PathBuf],
    series: Series,
    columns: &RowColumns,
    reach: usize,
) -> Result<Log, Error> {
    let mut log = Log::of(series);
    for (path, file) in paths.iter().zip(worker_names::of_files(paths)) {
        let bytes = files::read(path)?;
        let shown = plain(&path.to_string_lossy());
        log.add(&file, &shown, &bytes, columns, reach)?;
    }
    log.names = worker_names::numbered(log.names);
    Ok(log)
}

/// Reads the one session of a file that is in memory.
pub(crate) fn parse(name: &str, bytes: &[u8], series: Series, reach: usize) -> Result<Log, Error> {
    let mut log = Log::of(series);
    log.add(name, name, bytes, &RowColumns::default(), reach)?;
    Ok(log)
}

/// The sessions of one file; `series` has the names of outputs and inputs.
fn sessions(
    bytes: &[u8],
    series: &Series,
    columns: &RowColumns,
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
