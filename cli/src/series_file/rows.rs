use std::collections::HashMap;

use super::columns::Layout;
use super::{Fault, cell, date};
use crate::log_file::{self, Row};
use crate::worker_names::plain;

/// The rows of a file, apart by session.
#[derive(Debug)]
pub(super) struct Rows {
    layout: Layout,
    /// Whether decimals may be written with a comma.
    decimal_comma: bool,
    /// In the order in which they first appear.
    sessions: Vec<SessionRows>,
    places: HashMap<String, usize>,
}

#[derive(Debug)]
pub(super) struct SessionRows {
    /// If a column tells sessions apart.
    pub(super) name: Option<String>,
    /// First the outputs, then the inputs.
    pub(super) values: Vec<Vec<f64>>,
    /// None without a column of times.
    pub(super) times: Option<Vec<f64>>,
    pub(super) lines: Vec<usize>,
}

impl Rows {
    pub(super) fn new(layout: Layout, decimal_comma: bool) -> Self {
        Self {
            layout,
            decimal_comma,
            sessions: Vec::new(),
            places: HashMap::new(),
        }
    }

    pub(super) fn add(&mut self, row: &Row<'_>) -> Result<(), Fault> {
        let place = self.session(row)?;
        let time = self.time(row, &self.sessions[place])?;
        let session = &mut self.sessions[place];
        for (values, &column) in session.values.iter_mut().zip(&self.layout.values) {
            let value = cell::value(row.cell(column), self.decimal_comma);
            values.push(value.ok_or_else(|| row.not_a_number(column, &self.layout.header))?);
        }
        if let (Some(times), Some(time)) = (&mut session.times, time) {
            times.push(time);
        }
        session.lines.push(row.line);
        Ok(())
    }

    /// The place of the session that a row belongs to.
    fn session(&mut self, row: &Row<'_>) -> Result<usize, Fault> {
        let name = match self.layout.session {
            None => "",
            Some(column) => row.filled(column, &self.layout.header)?,
        };
        if let Some(&place) = self.places.get(name) {
            return Ok(place);
        }
        let place = self.sessions.len();
        self.places.insert(name.to_owned(), place);
        self.sessions.push(SessionRows {
            name: self.layout.session.map(|_| name.to_owned()),
            values: vec![Vec::new(); self.layout.values.len()],
            times: self.layout.time.map(|_| Vec::new()),
            lines: Vec::new(),
        });
        Ok(place)
    }

    /// When a row was recorded, which is not before the last row of its session.
    fn time(&self, row: &Row<'_>, session: &SessionRows) -> Result<Option<f64>, Fault> {
        let (Some(column), Some(times)) = (self.layout.time, &session.times) else {
            return Ok(None);
        };
        let header = &self.layout.header;
        let cell = row.filled(column, header)?;
        let number = cell::number(cell, self.decimal_comma).or_else(|| date::seconds(cell));
        let (line, got) = (row.line, || plain(cell));
        let Some(time) = number.filter(|number| number.is_finite()) else {
            return Err(Fault::NotATime {
                line,
                column: header.shown(column),
                got: got(),
            });
        };
        match (times.last(), session.lines.last()) {
            (Some(&last), Some(&before)) if time < last => Err(Fault::Decreasing {
                line,
                column: header.shown(column),
                got: got(),
                before,
                apart: self.layout.session.is_some(),
            }),
            _ => Ok(Some(time)),
        }
    }

    /// One session at least.
    pub(super) fn into_sessions(self) -> Result<Vec<SessionRows>, Fault> {
        if self.sessions.is_empty() {
            let line = self.layout.header.line();
            return Err(log_file::Fault::NoRows { line }.into());
        }
        Ok(self.sessions)
    }
}
