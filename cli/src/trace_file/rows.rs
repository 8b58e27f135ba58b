use std::collections::HashMap;

use csv::StringRecord;
use lbbsp::sizing::replay::Trace;

use super::columns::Layout;
use super::{Fault, Text, refusal, start};
use crate::worker_names::plain;

/// The rows of a file, apart by worker.
pub(super) struct Rows<'a> {
    layout: &'a Layout,
    /// In the order in which they first appear.
    workers: Vec<WorkerRows>,
    places: HashMap<String, usize>,
    /// Whether each series is one of numbers so far.
    numeric: Vec<bool>,
}

struct WorkerRows {
    name: Option<String>,
    starts_s: Vec<f64>,
    speeds: Vec<f64>,
    series: Vec<Vec<f64>>,
    /// Where each row starts in the file, in bytes.
    bytes: Vec<u64>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(layout: &'a Layout) -> Self {
        Self {
            layout,
            workers: Vec::new(),
            places: HashMap::new(),
            numeric: vec![true; layout.series.len()],
        }
    }

    pub(super) fn add(&mut self, record: &StringRecord, text: &Text<'_>) -> Result<(), Fault> {
        let layout = self.layout;
        if record.len() != layout.names.len() {
            return Err(Fault::Cells {
                line: text.line(record),
                expected: layout.names.len(),
                got: record.len(),
            });
        }
        let start_s = self.number(record, layout.time, text)?;
        let speed = self.number(record, layout.speed, text)?;
        let place = self.worker(record, text)?;
        let worker = &mut self.workers[place];
        worker.starts_s.push(start_s);
        worker.speeds.push(speed);
        worker.bytes.push(start(record));
        for (i, &column) in layout.series.iter().enumerate() {
            if self.numeric[i] {
                match value(record[column].trim()) {
                    Some(value) => worker.series[i].push(value),
                    None => self.numeric[i] = false,
                }
            }
        }
        Ok(())
    }

    fn number(&self, record: &StringRecord, column: usize, text: &Text<'_>) -> Result<f64, Fault> {
        let cell = record[column].trim();
        let fault = || {
            let (line, column) = (text.line(record), self.layout.name(column));
            if cell.is_empty() {
                return Fault::EmptyCell { line, column };
            }
            Fault::NotANumber {
                line,
                column,
                got: plain(cell),
                decimal_comma: cell.replacen(',', ".", 1).parse::<f64>().is_ok(),
            }
        };
        cell.parse().map_err(|_| fault())
    }

    /// The place of the worker that a row is about.
    fn worker(&mut self, record: &StringRecord, text: &Text<'_>) -> Result<usize, Fault> {
        let name = match self.layout.worker {
            None => "",
            Some(column) => match record[column].trim() {
                "" => {
                    let (line, column) = (text.line(record), self.layout.name(column));
                    return Err(Fault::EmptyCell { line, column });
                }
                name => name,
            },
        };
        if let Some(&place) = self.places.get(name) {
            return Ok(place);
        }
        let place = self.workers.len();
        self.places.insert(name.to_owned(), place);
        self.workers.push(WorkerRows {
            name: self.layout.worker.map(|_| plain(name)),
            starts_s: Vec::new(),
            speeds: Vec::new(),
            series: vec![Vec::new(); self.layout.series.len()],
            bytes: Vec::new(),
        });
        Ok(place)
    }

    /// Names of the driving series: of the other columns those that hold numbers and nothing else.
    pub(super) fn series(&self) -> Vec<&str> {
        let columns = self.layout.series.iter().zip(&self.numeric);
        let numeric = columns.filter(|&(_, &numeric)| numeric);
        let name = |(&column, _): (&usize, &bool)| self.layout.names[column].as_str();
        numeric.map(name).collect()
    }

    /// One trace a worker, with its driving series; those in `known_before` are known when a row
    /// begins.
    pub(super) fn into_traces(
        self,
        text: &Text<'_>,
        known_before: &[String],
    ) -> Result<Vec<(Option<String>, Trace)>, Fault> {
        if self.workers.is_empty() {
            return Err(Fault::NoRows {
                line: text.line_at(0),
            });
        }
        let mut traces = Vec::new();
        for worker in self.workers {
            let refused = |cause| refusal(cause, text, &worker.bytes, self.layout);
            let mut trace = Trace::new(&worker.starts_s, &worker.speeds).map_err(refused)?;
            for (i, values) in worker.series.into_iter().enumerate() {
                if self.numeric[i] {
                    let name = &self.layout.names[self.layout.series[i]];
                    let known = known_before.contains(name);
                    trace = trace
                        .with_series(name, values, known)
                        .map_err(Fault::Trace)?;
                }
            }
            traces.push((worker.name, trace));
        }
        in_step(traces)
    }
}

/// The workers of one file, on the clock that they share.
fn in_step(traces: Vec<(Option<String>, Trace)>) -> Result<Vec<(Option<String>, Trace)>, Fault> {
    let starts_s = traces.iter().map(|(_, trace)| trace.start_s());
    let ends_s = traces
        .iter()
        .map(|(_, trace)| trace.start_s() + trace.length_s());
    let start_s = starts_s.fold(f64::INFINITY, f64::min);
    let end_s = ends_s.fold(f64::NEG_INFINITY, f64::max);
    let placed = traces.into_iter().map(|(name, trace)| {
        let trace = trace.on_clock(start_s, end_s).map_err(Fault::Trace)?;
        Ok((name, trace))
    });
    placed.collect()
}

/// The value of a cell of a driving series, NaN if it is missing; None if it is no number.
fn value(cell: &str) -> Option<f64> {
    if cell.is_empty() {
        return Some(f64::NAN);
    }
    cell.parse().ok()
}
