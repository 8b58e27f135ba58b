//! Recorded workers, as they are in log files.

mod columns;
mod fault;
mod rows;

use std::path::PathBuf;

use lbbsp::sizing;
use lbbsp::sizing::replay::Trace;

use crate::error::Error;
use crate::files;
use crate::log_file::{self, Records, Text};
use crate::worker_names::{self, plain};
pub(crate) use columns::Columns;
use columns::Layout;
pub(crate) use fault::Fault;
use rows::Rows;

/// Reads the workers of all files, with names of which no two are the same.
pub(crate) fn read_all(
    paths: &[PathBuf],
    columns: &Columns,
) -> Result<Vec<(String, Trace)>, Error> {
    let files = worker_names::of_files(paths);
    let (mut names, mut traces) = (Vec::new(), Vec::new());
    for (path, file) in paths.iter().zip(&files) {
        let bytes = files::read(path)?;
        for (worker, trace) in parse(&path.to_string_lossy(), &bytes, columns)? {
            names.push(match worker {
                None => file.clone(),
                Some(worker) if paths.len() == 1 => worker,
                Some(worker) => format!("{file}/{worker}"),
            });
            traces.push(trace);
        }
    }
    let names = worker_names::numbered(names);
    Ok(names.into_iter().zip(traces).collect())
}

/// Reads the workers of one file, each with its name if a column tells several apart. `file` is
/// what messages call the file.
pub(crate) fn parse(
    file: &str,
    bytes: &[u8],
    columns: &Columns,
) -> Result<Vec<(Option<String>, Trace)>, Error> {
    let fail = |fault| Error::Table {
        file: plain(file),
        fault,
    };
    let rows = rows(bytes, columns).map_err(|fault| fail(fault.into()))?;
    let known = columns.known_before(&rows.series());
    let known = known.map_err(|name| Error::NoSeries {
        file: plain(file),
        name: plain(name),
    })?;
    rows.into_traces(&known).map_err(fail)
}

fn rows(bytes: &[u8], columns: &Columns) -> Result<Rows, log_file::Fault> {
    let bytes = log_file::unpacked(bytes)?;
    let mut records = Records::of(&Text::of(&bytes)?);
    let header = records.header("t,speed")?;
    let mut rows = Rows::new(Layout::of(header, columns)?);
    while let Some(row) = records.read()? {
        rows.add(&row)?;
    }
    Ok(rows)
}

/// A cause that numbers rows, where these are in the given lines.
fn refusal(cause: sizing::Error, lines: &[usize], layout: &Layout) -> Fault {
    let sizing::Error::Trace {
        column,
        row,
        expected,
        got,
    } = cause
    else {
        return Fault::Trace(cause);
    };
    Fault::Value {
        line: lines.get(row).copied().unwrap_or(layout.header.line()),
        column: layout.shown(&column),
        expected,
        got,
    }
}
