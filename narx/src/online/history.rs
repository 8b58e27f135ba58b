use serde::{Deserialize, Serialize};

use super::gate::Shift;
use crate::Error;

/// Where a regressor comes from: column 0 is the series itself, 1 the first input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Term {
    pub(super) column: usize,
    pub(super) lag: usize,
}

/// The last values of a series and its inputs, those of one step side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct History {
    columns: usize,
    /// A power of two of steps.
    values: Vec<f64>,
    /// The step to be forecast next.
    step: usize,
}

impl History {
    pub(super) fn new(columns: usize, longest_lag: usize) -> Self {
        let rows = (longest_lag + 1).next_power_of_two();
        Self {
            columns,
            values: vec![f64::NAN; rows * columns],
            step: 0,
        }
    }

    #[inline]
    fn place(&self, step: usize, column: usize) -> usize {
        let rows = self.values.len() / self.columns;
        (step & (rows - 1)) * self.columns + column
    }

    #[inline]
    pub(super) fn at(&self, term: Term) -> f64 {
        self.values[self.place(self.step.wrapping_sub(term.lag), term.column)]
    }

    /// Takes in a step: what is missing of it is NaN.
    pub(super) fn push(&mut self, y: f64, inputs: &[f64]) {
        let first = self.place(self.step, 0);
        self.values[first] = y;
        for column in 1..self.columns {
            let value = inputs.get(column - 1).copied().unwrap_or(f64::NAN);
            self.values[first + column] = value;
        }
        self.step = self.step.wrapping_add(1);
    }

    /// Moves all values of the series along with its level, then sets the last one.
    pub(super) fn shift(&mut self, shift: Shift, last: f64) {
        for y in self.values.iter_mut().step_by(self.columns) {
            *y = shift.apply(*y);
        }
        let place = self.place(self.step.wrapping_sub(1), 0);
        self.values[place] = last;
    }

    /// Refuses one that is not made like `fresh`.
    pub(super) fn check(&self, fresh: &Self) -> Result<(), Error> {
        let expected = fresh.values.len();
        if self.columns != fresh.columns || self.values.len() != expected {
            return Err(Error::Count {
                what: "values of history",
                expected,
                got: self.values.len(),
            });
        }
        Ok(())
    }
}
