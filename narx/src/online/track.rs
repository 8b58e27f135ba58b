use serde::{Deserialize, Serialize};

use super::config::OnlineConfig;
use super::gate::{Gate, Shift, Verdict};
use super::history::{History, Term};
use super::single::finite;
use crate::Error;

/// What an online forecaster knows of the last steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Track {
    terms: Vec<Term>,
    history: History,
    gate: Gate,
    /// The last value that was taken in.
    last: Option<f64>,
}

/// What to do with a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judged {
    /// The level has moved.
    pub(super) shift: Option<Shift>,
    /// The value is there and not held back.
    pub(super) taken: bool,
}

/// One regressor of the step that follows `past` forecasts; `before` tells what was observed.
#[inline]
pub(super) fn regressor(
    term: Term,
    inputs_now: &[f64],
    past: &[f64],
    before: impl FnOnce(Term) -> f64,
) -> f64 {
    match (term.column, past.len().checked_sub(term.lag)) {
        (0, Some(step)) => past[step],
        (column, Some(_)) => inputs_now.get(column - 1).copied().map_or(f64::NAN, known),
        (column, None) => before(Term {
            column,
            lag: term.lag - past.len(),
        }),
    }
}

/// A value; NaN if it is not finite.
#[inline]
pub(super) fn known(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::NAN }
}

impl Track {
    pub(super) fn new(config: &OnlineConfig) -> Self {
        let terms: Vec<Term> = config.terms().collect();
        let longest = terms.iter().map(|term| term.lag).max().unwrap_or(0);
        Self {
            history: History::new(1 + config.inputs.len(), longest),
            terms,
            gate: Gate::new(config.jumps),
            last: None,
        }
    }

    pub(super) fn last(&self) -> Option<f64> {
        self.last
    }

    /// The regressors of the step that follows `past` forecasts of the next steps; the inputs stay
    /// as they are now.
    pub(super) fn regressors(&self, inputs_now: &[f64], past: &[f64], raw: &mut [f64]) {
        for (raw, term) in raw.iter_mut().zip(&self.terms) {
            *raw = regressor(*term, inputs_now, past, |before| self.history.at(before));
        }
    }

    /// Judges the value of a step by its forecast.
    pub(super) fn judge(&mut self, y: f64, forecast: f64) -> Judged {
        let known = y.is_finite();
        if !known || forecast.is_nan() {
            return Judged {
                shift: None,
                taken: known,
            };
        }
        match self.gate.judge(y, forecast) {
            Verdict::Take => Judged {
                shift: None,
                taken: true,
            },
            Verdict::Hold => Judged {
                shift: None,
                taken: false,
            },
            Verdict::Shift { shift, first } => {
                self.history.shift(shift, first);
                self.last = Some(first);
                Judged {
                    shift: Some(shift),
                    taken: true,
                }
            }
        }
    }

    /// Takes in a step: its value, or in place of it its forecast.
    pub(super) fn push(&mut self, value: Option<f64>, forecast: f64, inputs: &[f64]) {
        self.history.push(value.unwrap_or(forecast), inputs);
        self.last = value.or(self.last);
    }

    /// A forecast with what is held back in it.
    pub(super) fn blend(&self, forecast: f64) -> f64 {
        finite(self.gate.blend(forecast))
    }

    pub(super) fn check(&self, config: &OnlineConfig) -> Result<(), Error> {
        let fresh = Self::new(config);
        let terms = self.terms.len();
        let in_range = self.terms == fresh.terms;
        Error::check("terms", "those of the lags", terms as f64, in_range)?;
        self.history.check(&fresh.history)?;
        self.gate.check(config.jumps)?;
        let last = self.last.unwrap_or(0.0);
        Error::check("last", "finite", last, last.is_finite())
    }
}
