use crate::frame::Data;
use crate::network::{Lanes, Network};

/// Beyond this, in scaled units (1 is the training range), a model has run away.
pub(crate) const RUNAWAY: f64 = 20.0;

/// A model that runs on its own forecasts: the outputs up to a row are measured, from there on they
/// are what it forecast itself.
#[derive(Debug)]
pub(crate) struct Roll<'a> {
    data: &'a Data<'a>,
    /// Longest lag of an output.
    reach: usize,
    session: usize,
    /// The row to be forecast next.
    row: usize,
    /// Scaled outputs of the rows from `start − reach` on.
    history: Vec<f64>,
    regressors: Vec<f64>,
}

impl<'a> Roll<'a> {
    pub(crate) fn new(data: &'a Data<'a>) -> Self {
        let outputs = data.frame.outputs;
        let terms = data.frame.terms.iter();
        let fed_back = terms.filter(|term| term.column < outputs);
        Self {
            data,
            reach: fed_back.map(|term| term.lag).max().unwrap_or(0),
            session: 0,
            row: 0,
            history: Vec::new(),
            regressors: vec![0.0; data.frame.terms.len()],
        }
    }

    /// Puts it before a row; the outputs of the rows before are the measured ones.
    pub(crate) fn begin(&mut self, session: usize, row: usize) {
        (self.session, self.row) = (session, row);
        self.history.clear();
        for lag in (1..=self.reach).rev() {
            for output in 0..self.data.frame.outputs {
                self.history
                    .push(self.data.value(session, output, row, lag));
            }
        }
    }

    /// Longest lag of an output.
    pub(crate) fn reach(&self) -> usize {
        self.reach
    }

    /// The regressors of the row to be forecast next.
    pub(crate) fn regressors(&mut self) -> &[f64] {
        let outputs = self.data.frame.outputs;
        let rows = self.history.len() / outputs;
        for (x, term) in self.regressors.iter_mut().zip(&self.data.frame.terms) {
            *x = if term.column < outputs {
                self.history[(rows - term.lag) * outputs + term.column]
            } else {
                self.data
                    .value(self.session, term.column, self.row, term.lag)
            };
        }
        &self.regressors
    }

    /// Takes forecasts as the outputs of the row and moves on; false if they ran away or are
    /// missing.
    pub(crate) fn push(&mut self, forecasts: &[f64]) -> bool {
        self.history.extend_from_slice(forecasts);
        self.row += 1;
        forecasts.iter().all(|forecast| forecast.abs() <= RUNAWAY)
    }

    /// Forecasts the next row and moves on to the one after; false as for [`push`](Self::push).
    pub(crate) fn step(
        &mut self,
        network: &Network,
        scratch: &mut [Lanes],
        out: &mut [f64],
    ) -> bool {
        self.regressors();
        network.outputs(&self.regressors, scratch, out);
        self.push(out)
    }
}
