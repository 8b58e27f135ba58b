use smallvec::SmallVec;

use super::Narx;
use crate::frame::Term;
use crate::network::Network;
use crate::scale::Scaler;
use crate::{Error, Forecaster};

/// A model at work: holds the last values and forecasts the next ones.
///
/// The inputs of [`observe`](Forecaster::observe) and [`forecast`](Forecaster::forecast) are those
/// that the model uses, in the order of [`Narx::inputs`], each with its value at the start of the
/// step: what a log has in the same row as the output of that step. A forecast of one step is the
/// one that [`Narx::one_step`] makes, to the last bit, and allocates nothing (with an input of lag 0:
/// up to 256 regressors). It is NaN until there is a complete history.
///
/// Forecasts of several steps keep the present inputs for the steps after the first one. Unlike
/// [`Narx::forecast`] they are not cut where the model runs away.
#[derive(Debug, Clone)]
pub struct Predictor {
    network: Network,
    terms: Vec<Term>,
    scalers: Vec<Scaler>,
    /// How many of the terms are about steps that have passed.
    past: usize,
    /// Scaled values of the last steps, a power of two of them, one row a step.
    history: Vec<f64>,
    /// The step to be forecast next.
    step: usize,
    /// Regressors of that step, those of lag 0 excepted.
    regressors: Vec<f64>,
}

/// Room for as many regressors, and values of history, as a forecast handles without allocating.
type Few = SmallVec<[f64; 256]>;

impl Predictor {
    pub(super) fn new(model: &Narx) -> Result<Self, Error> {
        let frame = &model.frame;
        if frame.outputs != 1 {
            return Err(Error::SeveralOutputs { got: frame.outputs });
        }
        let rows = (frame.longest_lag() + 1).next_power_of_two();
        Ok(Self {
            network: model.network.clone(),
            terms: frame.terms.clone(),
            scalers: frame.columns.iter().map(|column| column.scaler).collect(),
            past: frame.past_terms(),
            history: vec![f64::NAN; rows * frame.columns.len()],
            step: rows,
            regressors: vec![f64::NAN; frame.terms.len()],
        })
    }

    /// Number of inputs that it reads.
    pub fn inputs(&self) -> usize {
        self.scalers.len() - 1
    }

    #[inline]
    fn place(&self, step: usize, column: usize) -> usize {
        let columns = self.scalers.len();
        let rows = self.history.len() / columns;
        (step & (rows - 1)) * columns + column
    }

    #[inline]
    fn scaled(&self, column: usize, inputs: &[f64]) -> f64 {
        let value = inputs.get(column - 1).copied().unwrap_or(f64::NAN);
        self.scalers[column].scale(value)
    }

    /// Forecasts the step that follows the history in units of the network.
    #[inline]
    fn next(&self, inputs_now: &[f64]) -> f64 {
        if self.past == self.terms.len() {
            return self.network.first_output(&self.regressors);
        }
        // Clearing more room than is needed would take as long as the network itself.
        match self.terms.len() {
            ..=16 => self.next_in(&mut [0.0; 16], inputs_now),
            _ => self.next_in(&mut Few::from_slice(&self.regressors), inputs_now),
        }
    }

    #[inline]
    fn next_in(&self, room: &mut [f64], inputs_now: &[f64]) -> f64 {
        let x = &mut room[..self.terms.len()];
        x[..self.past].copy_from_slice(&self.regressors[..self.past]);
        for (x, term) in x[self.past..].iter_mut().zip(&self.terms[self.past..]) {
            *x = self.scaled(term.column, inputs_now);
        }
        self.network.first_output(x)
    }

    /// Forecasts several steps on a copy of the history.
    fn ahead(&self, inputs_now: &[f64], out: &mut [f64]) {
        let mut ahead = Ahead {
            live: self,
            history: Few::from_slice(&self.history),
            regressors: Few::from_slice(&self.regressors),
        };
        for (n, out) in out.iter_mut().enumerate() {
            *out = self.scalers[0].unscale(ahead.step(self.step + n, inputs_now));
        }
    }
}

/// A predictor that runs on its own forecasts.
struct Ahead<'a> {
    live: &'a Predictor,
    history: Few,
    regressors: Few,
}

impl Ahead<'_> {
    fn step(&mut self, step: usize, inputs: &[f64]) -> f64 {
        let live = self.live;
        for (x, term) in self.regressors.iter_mut().zip(&live.terms) {
            *x = if term.lag == 0 {
                live.scaled(term.column, inputs)
            } else {
                self.history[live.place(step - term.lag, term.column)]
            };
        }
        let scaled = live.network.first_output(&self.regressors);
        self.history[live.place(step, 0)] = scaled;
        for column in 1..live.scalers.len() {
            self.history[live.place(step, column)] = live.scaled(column, inputs);
        }
        scaled
    }
}

impl Forecaster for Predictor {
    fn observe(&mut self, y: f64, inputs: &[f64]) {
        let place = self.place(self.step, 0);
        self.history[place] = self.scalers[0].scale(y);
        for column in 1..self.scalers.len() {
            let place = self.place(self.step, column);
            self.history[place] = self.scaled(column, inputs);
        }
        self.step += 1;
        for k in 0..self.past {
            let term = self.terms[k];
            self.regressors[k] = self.history[self.place(self.step - term.lag, term.column)];
        }
    }

    fn forecast(&self, inputs_now: &[f64], out: &mut [f64]) {
        match out {
            [] => {}
            [first] => *first = self.scalers[0].unscale(self.next(inputs_now)),
            several => self.ahead(inputs_now, several),
        }
    }
}
