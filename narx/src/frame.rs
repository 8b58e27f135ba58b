use std::ops::Range;

use crate::config::{Config, Skip, Target};
use crate::network::{ROWS, Shape, Strip};
use crate::scale::Scaler;
use crate::{Error, Part, Series, Session};

/// What a row of regressors is made of: which columns, at which lags, scaled how.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    /// Outputs first, then the inputs in use.
    pub(crate) columns: Vec<Column>,
    pub(crate) outputs: usize,
    /// Inputs that were asked for but never changed in the training rows.
    pub(crate) dropped: Vec<String>,
    /// The regressors; those of lag 0 come last.
    pub(crate) terms: Vec<Term>,
    pub(crate) skip: Skip,
}

/// A series that the model reads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) lags: Vec<usize>,
    pub(crate) scaler: Scaler,
}

/// One regressor: a column at a lag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) column: usize,
    pub(crate) lag: usize,
}

impl Frame {
    /// The frame of a model for `series`, with scalers fitted on the rows of `part` only.
    pub(crate) fn fitted(series: &Series, part: &Part, config: &Config) -> Result<Self, Error> {
        let mut columns = Vec::new();
        for (index, name) in series.outputs().iter().enumerate() {
            let values = values(series, part, move |session| session.output(index));
            let fitted = Scaler::fitted(config.scaling, config.target, values.clone());
            let mut finite = values.filter(|value| value.is_finite());
            let (scaler, lags) = match fitted {
                Some(scaler) => (Some(scaler), config.output_lags.clone()),
                // An output that never changes is forecast as that value, from nothing.
                None => (
                    finite.find_map(|value| Scaler::constant(config.target, value)),
                    Vec::new(),
                ),
            };
            let scaler = scaler.ok_or(Error::TooShort { got: 0, needed: 1 })?;
            columns.push(Column {
                name: name.clone(),
                lags,
                scaler,
            });
        }
        let mut dropped = Vec::new();
        for input in &config.inputs {
            let index = index_of(series, &input.name)?;
            let values = values(series, part, move |session| session.input(index));
            match Scaler::fitted(config.scaling, Target::Value, values) {
                Some(scaler) => columns.push(Column {
                    name: input.name.clone(),
                    lags: input.lags.clone(),
                    scaler,
                }),
                None => dropped.push(input.name.clone()),
            }
        }
        Ok(Self::new(
            columns,
            series.outputs().len(),
            dropped,
            config.skip,
        ))
    }

    pub(crate) fn new(
        columns: Vec<Column>,
        outputs: usize,
        dropped: Vec<String>,
        skip: Skip,
    ) -> Self {
        let all = columns
            .iter()
            .enumerate()
            .flat_map(|(column, it)| it.lags.iter().map(move |&lag| Term { column, lag }));
        let (past, now): (Vec<Term>, Vec<Term>) = all.partition(|term| term.lag > 0);
        let terms = past.into_iter().chain(now).collect();
        Self {
            columns,
            outputs,
            dropped,
            terms,
            skip,
        }
    }

    pub(crate) fn shape(&self, hidden: usize) -> Shape {
        // What never changes has no last value among the regressors, and needs none.
        Shape {
            regressors: self.terms.len(),
            hidden: if self.terms.is_empty() { 0 } else { hidden },
            outputs: self.outputs,
            skip: self.skip,
        }
    }

    /// The regressor that holds the last value of each output; none for a constant output.
    pub(crate) fn last_values(&self) -> Vec<Option<usize>> {
        let place = |column| {
            let last = Term { column, lag: 1 };
            self.terms.iter().position(|term| *term == last)
        };
        (0..self.outputs).map(place).collect()
    }

    pub(crate) fn longest_lag(&self) -> usize {
        self.terms.iter().map(|term| term.lag).max().unwrap_or(0)
    }

    /// How many of the regressors have a lag of at least 1; they come first.
    pub(crate) fn past_terms(&self) -> usize {
        self.terms.iter().take_while(|term| term.lag > 0).count()
    }

    /// Finds the columns in a data set, by name.
    pub(crate) fn bind<'a>(&'a self, series: &'a Series) -> Result<Data<'a>, Error> {
        let mut places = Vec::new();
        for (column, it) in self.columns.iter().enumerate() {
            places.push(if column < self.outputs {
                let found = series.outputs().iter().position(|name| *name == it.name);
                Place::Output(found.ok_or_else(|| missing("output", &it.name, series.outputs()))?)
            } else {
                Place::Input(index_of(series, &it.name)?)
            });
        }
        let of_session = |session: &'a Session| {
            let column = |place: &Place| match *place {
                Place::Output(index) => session.output(index),
                Place::Input(index) => session.input(index),
            };
            places.iter().map(column).collect()
        };
        Ok(Data {
            frame: self,
            sessions: series.sessions().iter().map(of_session).collect(),
        })
    }
}

enum Place {
    Output(usize),
    Input(usize),
}

fn index_of(series: &Series, name: &str) -> Result<usize, Error> {
    let found = series.inputs().iter().position(|other| other == name);
    found.ok_or_else(|| missing("input", name, series.inputs()))
}

fn missing(what: &'static str, name: &str, there: &[String]) -> Error {
    Error::MissingSeries {
        what,
        name: name.to_owned(),
        there: there.to_vec(),
    }
}

/// The values of a column in the rows of a part.
fn values<'a>(
    series: &'a Series,
    part: &'a Part,
    column: impl Fn(&'a Session) -> &'a [f64] + Copy + 'a,
) -> impl Iterator<Item = f64> + Clone + 'a {
    let sessions = series.sessions().iter().zip(part.ranges());
    sessions.flat_map(move |(session, rows)| column(session)[rows.clone()].iter().copied())
}

/// The columns of a data set in the order of a frame.
#[derive(Debug, Clone)]
pub(crate) struct Data<'a> {
    pub(crate) frame: &'a Frame,
    /// Per session, per column of the frame.
    pub(crate) sessions: Vec<Vec<&'a [f64]>>,
}

/// Neighbouring rows of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) session: usize,
    pub(crate) rows: Range<usize>,
}

impl Data<'_> {
    /// Rows of a session.
    pub(crate) fn len(&self, session: usize) -> usize {
        self.sessions[session]
            .first()
            .map_or(0, |column| column.len())
    }

    /// The scaled value of a column, NaN where it is missing or before the session.
    #[inline(always)]
    pub(crate) fn value(&self, session: usize, column: usize, row: usize, lag: usize) -> f64 {
        match row.checked_sub(lag) {
            Some(row) => {
                let value = self.sessions[session][column][row];
                self.frame.columns[column].scaler.scale(value)
            }
            None => f64::NAN,
        }
    }

    /// Writes the regressors of at most [`ROWS`] neighbouring rows; missing ones are NaN.
    pub(crate) fn regressors(&self, session: usize, rows: Range<usize>, out: &mut [Strip]) {
        debug_assert!(rows.len() <= ROWS);
        for (strip, term) in out.iter_mut().zip(&self.frame.terms) {
            let scaler = &self.frame.columns[term.column].scaler;
            let column = self.sessions[session][term.column];
            strip.fill(f64::NAN);
            let first = rows.start.max(term.lag).min(rows.end);
            let values = &column[first - term.lag.min(first)..rows.end - term.lag.min(rows.end)];
            for (x, &value) in strip[first - rows.start..].iter_mut().zip(values) {
                *x = scaler.scale(value);
            }
        }
    }

    /// Whether the regressors of a row are all there.
    pub(crate) fn has_history(&self, session: usize, row: usize) -> bool {
        let mut terms = self.frame.terms.iter();
        terms.all(|term| !self.value(session, term.column, row, term.lag).is_nan())
    }

    /// The runs of rows in `part` whose regressors and outputs are all there, without those of
    /// weight 0.
    pub(crate) fn complete_runs(&self, part: &Part, row_weights: Option<&[Vec<f64>]>) -> Vec<Run> {
        let mut runs = Vec::new();
        for (session, rows) in part.ranges().iter().enumerate() {
            let is_complete = |row: usize| {
                self.has_history(session, row)
                    && (0..self.frame.outputs).all(|o| !self.value(session, o, row, 0).is_nan())
                    && row_weights.is_none_or(|weights| weights[session][row] > 0.0)
            };
            let mut start = None;
            for row in rows.clone() {
                match (is_complete(row), start) {
                    (true, None) => start = Some(row),
                    (false, Some(first)) => {
                        runs.push(Run {
                            session,
                            rows: first..row,
                        });
                        start = None;
                    }
                    _ => {}
                }
            }
            if let Some(first) = start {
                runs.push(Run {
                    session,
                    rows: first..rows.end,
                });
            }
        }
        runs
    }
}
