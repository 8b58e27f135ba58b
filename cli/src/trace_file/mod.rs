//! The one place where log files are read.

mod columns;
mod fault;
mod rows;

use std::path::PathBuf;

use csv::{ReaderBuilder, StringRecord};
use lbbsp::sizing;
use lbbsp::sizing::replay::Trace;

use crate::error::Error;
use crate::files;
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
    let text = Text::of(bytes).map_err(fail)?;
    let mut records = ReaderBuilder::new()
        .delimiter(text.delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.text.as_bytes());
    let mut record = StringRecord::new();
    if !next(&mut records, &mut record) {
        return Err(fail(Fault::Empty));
    }
    text.check_breaks(&record).map_err(fail)?;
    let layout = Layout::of(&record, text.line(&record), columns).map_err(fail)?;
    let mut rows = Rows::new(&layout);
    while next(&mut records, &mut record) {
        text.check_breaks(&record).map_err(fail)?;
        rows.add(&record, &text).map_err(fail)?;
    }
    let known = columns.known_before(&rows.series());
    let known = known.map_err(|name| Error::NoSeries {
        file: plain(file),
        name: plain(name),
    })?;
    rows.into_traces(&text, &known).map_err(fail)
}

/// Reads on to the next record that is not blank.
fn next(records: &mut csv::Reader<&[u8]>, record: &mut StringRecord) -> bool {
    loop {
        let more = records.read_record(record);
        if !more.expect("UTF-8 in memory with rows of any length is always readable") {
            return false;
        }
        if record.iter().any(|cell| !cell.trim().is_empty()) || record.len() > 1 {
            return true;
        }
    }
}

/// A whole file.
struct Text<'a> {
    /// Without the byte order mark.
    text: &'a str,
    delimiter: u8,
}

impl<'a> Text<'a> {
    fn of(bytes: &'a [u8]) -> Result<Self, Fault> {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|cause| {
            let before = &bytes[..cause.valid_up_to()];
            Fault::NotUtf8 {
                line: breaks(before) + 1,
                wide: bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]),
            }
        })?;
        let header = text.trim_start().lines().next().unwrap_or("");
        let there = |delimiter: &&u8| header.as_bytes().contains(delimiter);
        let delimiter = [b',', b';', b'\t'].iter().find(there).copied();
        Ok(Self {
            text,
            delimiter: delimiter.unwrap_or(b','),
        })
    }

    /// Refuses a cell that has swallowed a line: rows would be lost in it.
    fn check_breaks(&self, record: &StringRecord) -> Result<(), Fault> {
        const BREAKS: [char; 2] = ['\n', '\r'];
        if !record.as_slice().contains(BREAKS) {
            return Ok(());
        }
        match record.iter().position(|cell| cell.trim().contains(BREAKS)) {
            Some(cell) => Err(Fault::SeveralLines {
                line: self.line(record),
                cell: cell + 1,
            }),
            None => Ok(()),
        }
    }

    fn line(&self, record: &StringRecord) -> usize {
        self.line_at(start(record))
    }

    /// The line of a record of which the reader says that it starts at `byte`: it counts line ends
    /// before a record, blank lines among them, as part of it.
    fn line_at(&self, byte: u64) -> usize {
        let bytes = self.text.as_bytes();
        let is_break = |&&b: &&u8| b == b'\n' || b == b'\r';
        let byte = (byte as usize).min(bytes.len());
        let blank = bytes[byte..].iter().take_while(is_break).count();
        breaks(&bytes[..byte + blank]) + 1
    }
}

/// Where the reader says that a record starts, in bytes.
fn start(record: &StringRecord) -> u64 {
    record.position().map_or(0, csv::Position::byte)
}

/// Line ends: of Unix, of Windows and, alone, the carriage return.
fn breaks(bytes: &[u8]) -> usize {
    let feeds = bytes.iter().filter(|&&b| b == b'\n').count();
    let returns = bytes.iter().filter(|&&b| b == b'\r').count();
    let pairs = bytes.windows(2).filter(|pair| pair == b"\r\n").count();
    feeds + returns - pairs
}

/// A cause that numbers rows, in a file whose rows start at `starts`.
fn refusal(cause: sizing::Error, text: &Text<'_>, starts: &[u64], layout: &Layout) -> Fault {
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
        line: text.line_at(starts.get(row).copied().unwrap_or(0)),
        column: layout.shown(&column),
        expected,
        got,
    }
}
