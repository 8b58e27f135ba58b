use std::ops::Range;

use crate::Error;

/// A data set: named outputs and inputs, and the sessions in which they were recorded.
///
/// A session is one worker's run (or one experiment). Lags never reach from one session into
/// another.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    outputs: Vec<String>,
    inputs: Vec<String>,
    sessions: Vec<Session>,
}

impl Series {
    /// A data set without sessions yet. The outputs are what is forecast, the inputs (driving
    /// series) what it is forecast from besides its own past.
    ///
    /// # Errors
    /// [`Error::NoOutput`] without an output, [`Error::DuplicateName`] if a name is there twice.
    pub fn new<S: Into<String>>(
        outputs: impl IntoIterator<Item = S>,
        inputs: impl IntoIterator<Item = S>,
    ) -> Result<Self, Error> {
        let outputs: Vec<String> = outputs.into_iter().map(Into::into).collect();
        let inputs: Vec<String> = inputs.into_iter().map(Into::into).collect();
        if outputs.is_empty() {
            return Err(Error::NoOutput);
        }
        let mut names: Vec<&String> = outputs.iter().chain(&inputs).collect();
        names.sort();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::DuplicateName {
                name: pair[0].clone(),
            });
        }
        Ok(Self {
            outputs,
            inputs,
            sessions: Vec::new(),
        })
    }

    /// Adds a session.
    ///
    /// # Errors
    /// [`Error::Columns`] if it has not as many outputs and inputs as this data set.
    pub fn push(&mut self, session: Session) -> Result<(), Error> {
        let columns = |what, expected, got| {
            if expected == got {
                return Ok(());
            }
            Err(Error::Columns {
                what,
                expected,
                got,
            })
        };
        columns("outputs", self.outputs.len(), session.outputs.len())?;
        columns("inputs", self.inputs.len(), session.inputs.len())?;
        self.sessions.push(session);
        Ok(())
    }

    /// This data set with one more session.
    ///
    /// # Errors
    /// Those of [`push`](Self::push).
    pub fn with(mut self, session: Session) -> Result<Self, Error> {
        self.push(session)?;
        Ok(self)
    }

    /// Names of the outputs.
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }

    /// Names of the inputs.
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// The sessions, in the order in which they were added.
    pub fn sessions(&self) -> &[Session] {
        &self.sessions
    }

    /// All rows.
    pub fn all(&self) -> Part {
        Part(self.sessions.iter().map(|s| 0..s.len()).collect())
    }

    /// The first `share` of the rows of each session, 0 ≤ `share` ≤ 1, rounded down.
    ///
    /// # Errors
    /// [`Error::Setting`] if `share` is outside that range.
    pub fn first(&self, share: f64) -> Result<Part, Error> {
        if !(0.0..=1.0).contains(&share) {
            return Err(Error::Setting {
                name: "share",
                expected: "between 0 and 1",
                got: share,
            });
        }
        // A share such as 0.6 is slightly less than it says: 0.6 of 5 rows are 3 rows.
        let of = |rows: usize| ((rows as f64 * share + 1e-9) as usize).min(rows);
        Ok(Part(self.sessions.iter().map(|s| 0..of(s.len())).collect()))
    }

    /// What follows a part: the rows of each session after its range.
    pub fn after(&self, part: &Part) -> Part {
        let rest = self.sessions.iter().zip(part.ranges());
        Part(
            rest.map(|(s, rows)| rows.end.min(s.len())..s.len())
                .collect(),
        )
    }
}

/// One recording without a break: as many values of each output and input, one per time step.
///
/// NaN means missing; an infinite value is taken as missing too.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    outputs: Vec<Vec<f64>>,
    inputs: Vec<Vec<f64>>,
    rows: usize,
}

impl Session {
    /// A recording of the given columns, in the order of the names in the [`Series`].
    ///
    /// # Errors
    /// [`Error::NoOutput`] without an output, [`Error::Length`] if the columns differ in length.
    pub fn new(outputs: Vec<Vec<f64>>, inputs: Vec<Vec<f64>>) -> Result<Self, Error> {
        let rows = outputs.first().ok_or(Error::NoOutput)?.len();
        for (place, column) in outputs.iter().chain(&inputs).enumerate() {
            if column.len() != rows {
                return Err(Error::Length {
                    column: place,
                    expected: rows,
                    got: column.len(),
                });
            }
        }
        Ok(Self {
            outputs,
            inputs,
            rows,
        })
    }

    /// A recording of one output.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn of(output: Vec<f64>, inputs: Vec<Vec<f64>>) -> Result<Self, Error> {
        Self::new(vec![output], inputs)
    }

    /// Number of time steps.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no time step at all.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The values of an output.
    ///
    /// # Panics
    /// If there is no such output.
    pub fn output(&self, index: usize) -> &[f64] {
        &self.outputs[index]
    }

    /// The values of an input.
    ///
    /// # Panics
    /// If there is no such input.
    pub fn input(&self, index: usize) -> &[f64] {
        &self.inputs[index]
    }
}

/// Rows of a data set: one range of time steps per session, such as those to train on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part(Vec<Range<usize>>);

impl Part {
    /// The given rows, one range per session in their order.
    pub fn new(ranges: Vec<Range<usize>>) -> Self {
        Self(ranges)
    }

    /// The given rows of a data set of one session.
    pub fn of(rows: Range<usize>) -> Self {
        Self(std::iter::once(rows).collect())
    }

    /// The range of each session.
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.0
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.0.iter().map(|rows| rows.len()).sum()
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks that every range lies in its session.
    pub(crate) fn check(&self, series: &Series) -> Result<(), Error> {
        let sessions = series.sessions();
        if self.0.len() != sessions.len() {
            return Err(Error::Part {
                session: self.0.len().min(sessions.len()),
                rows: 0,
                end: 0,
            });
        }
        for (index, (rows, session)) in self.0.iter().zip(sessions).enumerate() {
            if rows.start > rows.end || rows.end > session.len() {
                return Err(Error::Part {
                    session: index,
                    rows: session.len(),
                    end: rows.end,
                });
            }
        }
        Ok(())
    }
}
