use std::collections::HashMap;

use lbbsp::sizing::replay::Trace;

use super::columns::Layout;
use super::{Fault, refusal};
use crate::log_file::{self, Row};
use crate::worker_names::plain;

/// The rows of a file, apart by worker.
pub(super) struct Rows {
    layout: Layout,
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
    /// The line of each row.
    lines: Vec<usize>,
}

impl Rows {
    pub(super) fn new(layout: Layout) -> Self {
        Self {
            workers: Vec::new(),
            places: HashMap::new(),
            numeric: vec![true; layout.series.len()],
            layout,
        }
    }

    pub(super) fn add(&mut self, row: &Row<'_>) -> Result<(), log_file::Fault> {
        let start_s = self.number(row, self.layout.time)?;
        let speed = self.number(row, self.layout.speed)?;
        let place = self.worker(row)?;
        let worker = &mut self.workers[place];
        worker.starts_s.push(start_s);
        worker.speeds.push(speed);
        worker.lines.push(row.line);
        for (i, &column) in self.layout.series.iter().enumerate() {
            if self.numeric[i] {
                match value(row.cell(column)) {
                    Some(value) => worker.series[i].push(value),
                    None => self.numeric[i] = false,
                }
            }
        }
        Ok(())
    }

    fn number(&self, row: &Row<'_>, column: usize) -> Result<f64, log_file::Fault> {
        let header = &self.layout.header;
        let cell = row.filled(column, header)?;
        cell.parse().map_err(|_| row.not_a_number(column, header))
    }

    /// The place of the worker that a row is about.
    fn worker(&mut self, row: &Row<'_>) -> Result<usize, log_file::Fault> {
        let name = match self.layout.worker {
            None => "",
            Some(column) => row.filled(column, &self.layout.header)?,
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
            lines: Vec::new(),
        });
        Ok(place)
    }

    /// Names of the driving series: of the other columns those that hold numbers and nothing else.
    pub(super) fn series(&self) -> Vec<&str> {
        let columns = self.layout.series.iter().zip(&self.numeric);
        let numeric = columns.filter(|&(_, &numeric)| numeric);
        let name = |(&column, _): (&usize, &bool)| self.layout.header.names()[column].as_str();
        numeric.map(name).collect()
    }

    /// One trace a worker, with its driving series; those in `known_before` are known when a row
    /// begins.
    pub(super) fn into_traces(
        self,
        known_before: &[String],
    ) -> Result<Vec<(Option<String>, Trace)>, Fault> {
        if self.workers.is_empty() {
            let line = self.layout.header.line();
            return Err(log_file::Fault::NoRows { line }.into());
        }
        let mut traces = Vec::new();
        for worker in self.workers {
            let refused = |cause| refusal(cause, &worker.lines, &self.layout);
            let mut trace = Trace::new(&worker.starts_s, &worker.speeds).map_err(refused)?;
            for (i, values) in worker.series.into_iter().enumerate() {
                if self.numeric[i] {
                    let name = &self.layout.header.names()[self.layout.series[i]];
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
