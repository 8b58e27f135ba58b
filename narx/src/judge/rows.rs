use nalgebra::DMatrix;

use super::moments::{deviations, is_constant, mean, root_mean_square};
use super::normal_equations::NormalEquations;
use super::regressor::Regressor;
use crate::{Error, Part, Series};

/// Of ten complete rows of a session, the first seven are for training.
const TRAINING_TENTHS: usize = 7;

/// A training standard deviation further from the training mean than this, a value is of no more
/// use for telling good lags from bad ones, but its square would have no room in a number.
const FARTHEST: f64 = 1e100;

/// Rows that are multiplied at once: enough for speed, few enough to stay in the cache.
const BLOCK: usize = 128;

/// A row of a session: the places of both.
type Place = (usize, usize);

/// The rows for which every regressor is there. The last regressor is what is to be explained.
pub(super) struct Rows<'a> {
    series: &'a Series,
    regressors: &'a [Regressor],
    training: Vec<Place>,
    validation: Vec<Place>,
}

impl<'a> Rows<'a> {
    /// The early rows of each session of a part, for training, and the late ones, for validation.
    pub(super) fn of(series: &'a Series, part: &Part, regressors: &'a [Regressor]) -> Self {
        let longest = regressors.iter().map(|r| r.lag).max().unwrap_or(0);
        let (mut training, mut validation) = (Vec::new(), Vec::new());
        for (index, (session, rows)) in series.sessions().iter().zip(part.ranges()).enumerate() {
            let complete = |row: &usize| {
                let mut values = regressors.iter().map(|r| r.value(session, *row));
                values.all(f64::is_finite)
            };
            let places: Vec<Place> = (rows.start.saturating_add(longest)..rows.end)
                .filter(complete)
                .map(|row| (index, row))
                .collect();
            let (early, late) = places.split_at(places.len() * TRAINING_TENTHS / 10);
            training.extend_from_slice(early);
            validation.extend_from_slice(late);
        }
        Self {
            series,
            regressors,
            training,
            validation,
        }
    }

    /// Checks that a model with a constant and all candidates would not fit the training rows
    /// exactly. Then there are validation rows too.
    pub(super) fn check(&self) -> Result<(), Error> {
        let (got, needed) = (self.training.len(), self.regressors.len() + 1);
        if got < needed {
            return Err(Error::TooFewRows { got, needed });
        }
        Ok(())
    }

    /// The normal equations of the training and the validation rows, and the unit of their target.
    /// All columns are scaled by what they are in the training rows.
    ///
    /// # Errors
    /// [`Error::Constant`] if the target does not vary in the training rows.
    pub(super) fn equations(&self) -> Result<(NormalEquations, NormalEquations, f64), Error> {
        let scale = |regressor| Scale::of(&self.column(regressor));
        let scales: Vec<Scale> = self.regressors.iter().map(scale).collect();
        let unit = scales.last().map_or(0.0, |target| target.unit);
        if unit == 0.0 {
            return Err(Error::Constant {
                what: "training values of the output",
            });
        }
        let train = self.sums(&self.training, &scales);
        let judged = self.sums(&self.validation, &scales);
        Ok((train, judged, unit))
    }

    fn value(&self, (session, row): Place, regressor: &Regressor) -> f64 {
        regressor.value(&self.series.sessions()[session], row)
    }

    /// The training values of a regressor.
    fn column(&self, regressor: &Regressor) -> Vec<f64> {
        let places = self.training.iter();
        places.map(|place| self.value(*place, regressor)).collect()
    }

    fn sums(&self, places: &[Place], scales: &[Scale]) -> NormalEquations {
        let columns = self.regressors.len();
        let mut equations = NormalEquations::new(columns - 1);
        for block in places.chunks(BLOCK) {
            equations.add(&DMatrix::from_fn(columns, block.len(), |column, place| {
                let value = self.value(block[place], &self.regressors[column]);
                scales[column].apply(value)
            }));
        }
        equations
    }
}

/// Mean and standard deviation of training values.
struct Scale {
    mean: f64,
    /// 0 if they do not vary.
    unit: f64,
}

impl Scale {
    fn of(values: &[f64]) -> Self {
        let unit = match is_constant(values) {
            true => 0.0,
            false => root_mean_square(&deviations(values)),
        };
        Self {
            mean: mean(values),
            unit,
        }
    }

    fn apply(&self, value: f64) -> f64 {
        if self.unit == 0.0 {
            return 0.0;
        }
        ((value - self.mean) / self.unit).clamp(-FARTHEST, FARTHEST)
    }
}
