use serde::{Deserialize, Serialize};

use super::gate::Shift;
use super::track::known;
use crate::Error;

/// Where a regressor comes from: column 0 is the series itself, 1 the first input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Term {
    pub(super) column: usize,
    pub(super) lag: usize,
}

/// The last values of a series and its inputs, those of one step side by side.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct History {
    columns: usize,
    /// A power of two of steps; NaN is missing.
    #[serde(with = "missing")]
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
        let values = std::iter::once(&y).chain(inputs);
        let values = values.copied().chain(std::iter::repeat(f64::NAN));
        for (place, value) in self.values[first..][..self.columns].iter_mut().zip(values) {
            *place = known(value);
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

impl PartialEq for History {
    fn eq(&self, other: &Self) -> bool {
        let alike = (self.columns, self.step) == (other.columns, other.step);
        // NaN is equal to itself here.
        let mut values = self.values.iter().zip(&other.values);
        let same = self.values.len() == other.values.len();
        alike && same && values.all(|(a, b)| a.to_bits() == b.to_bits())
    }
}

/// Missing values are null in a file.
mod missing {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(values: &[f64], to: S) -> Result<S::Ok, S::Error> {
        let known = |value: &f64| value.is_finite().then_some(*value);
        to.collect_seq(values.iter().map(known))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        let values = Vec::<Option<f64>>::deserialize(from)?;
        Ok(values
            .into_iter()
            .map(|value| value.unwrap_or(f64::NAN))
            .collect())
    }
}
