use serde::{Deserialize, Serialize};

use super::config::Jumps;
use crate::Error;

/// The newest error's weight in the running mean square.
const WEIGHT: f64 = 0.03;

/// An error counts as at most this many root mean squares, so that one spike does not open the gate.
const LARGEST: f64 = 4.0;

/// Where more of the values than this are jumps, they are part of the series; the newest value's
/// weight in their share.
const MOST_JUMPS: f64 = 0.02;
const JUMP_WEIGHT: f64 = 0.01;

/// Errors that must have been seen before a value is held back.
const FIRST: u32 = 20;

/// A level that changes by more than this factor says nothing of the noise.
const LARGEST_FACTOR: f64 = 10.0;

/// What is left of the count of earlier jumps when there is a new one.
const FADING: f64 = 0.9;

/// Holds back values that may be spikes, see [`Jumps`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Gate {
    jumps: Jumps,
    seen: u32,
    mean_square: f64,
    /// Share of jumps among the values.
    share: f64,
    held: Option<f64>,
    lasted: f64,
    passed: f64,
}

/// What to do with a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    /// Learn from it.
    Take,
    /// Go on as if it were missing.
    Hold,
    /// The level has moved; `first` is the value before this one, which was held back.
    Shift { shift: Shift, first: f64 },
}

/// A lasting move of the level of a series. One of positive values is taken to change by a factor,
/// and its noise with it: a worker at half its speed varies half as much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shift {
    from: f64,
    to: f64,
}

impl Shift {
    /// How many times larger everything is.
    pub(super) fn factor(&self) -> f64 {
        let factor = self.to / self.from;
        let scales = self.from > 0.0 && (1.0 / LARGEST_FACTOR..=LARGEST_FACTOR).contains(&factor);
        if scales { factor } else { 1.0 }
    }

    /// Where a value would be had the level been there all along.
    pub(super) fn apply(&self, y: f64) -> f64 {
        let factor = self.factor();
        let moved = factor.mul_add(y - self.from, self.to);
        moved.clamp(f64::MIN, f64::MAX)
    }
}

impl Gate {
    pub(super) fn new(jumps: Jumps) -> Self {
        Self {
            jumps,
            seen: 0,
            mean_square: 0.0,
            share: 0.0,
            held: None,
            lasted: 0.0,
            passed: 0.0,
        }
    }

    /// Judges a value by its forecast.
    pub(super) fn judge(&mut self, y: f64, forecast: f64) -> Verdict {
        let error = y - forecast;
        let usual = self.mean_square.sqrt();
        let never = self.jumps.threshold == f64::MAX;
        let far = self.seen >= FIRST && !never && error.abs() > self.jumps.threshold * usual;
        let jumped = far && self.share <= MOST_JUMPS;
        self.share += JUMP_WEIGHT * (f64::from(u8::from(far)) - self.share);
        let verdict = match (self.held.take(), jumped) {
            (None, true) => {
                self.held = Some(y);
                Verdict::Hold
            }
            (Some(first), true) if (first > forecast) != (y > forecast) => {
                // To the other side: two spikes.
                self.count(0.0);
                self.held = Some(y);
                Verdict::Hold
            }
            (Some(first), true) => {
                self.count(1.0);
                let level = 0.5 * first + 0.5 * y;
                let shift = Shift {
                    from: forecast,
                    to: level,
                };
                Verdict::Shift { shift, first }
            }
            (Some(_), false) => {
                self.count(0.0);
                Verdict::Take
            }
            (None, false) => Verdict::Take,
        };
        match verdict {
            Verdict::Hold => {}
            Verdict::Shift { first, .. } => self.measure(0.5 * y - 0.5 * first),
            Verdict::Take => self.measure(error),
        }
        verdict
    }

    /// The value that is held back.
    pub(super) fn held(&self) -> Option<f64> {
        self.held
    }

    /// The forecast with what is held back in it.
    pub(super) fn blend(&self, forecast: f64) -> f64 {
        match self.held {
            Some(held) => {
                let share = (self.jumps.expected + self.lasted) / (1.0 + self.lasted + self.passed);
                (1.0 - share) * forecast + share * held
            }
            None => forecast,
        }
    }

    fn count(&mut self, lasted: f64) {
        self.lasted = FADING * self.lasted + lasted;
        self.passed = FADING * self.passed + (1.0 - lasted);
    }

    fn measure(&mut self, error: f64) {
        self.seen = self.seen.saturating_add(1);
        let weight = WEIGHT.max(1.0 / f64::from(self.seen));
        let square = (error * error).min(f64::MAX);
        let square = match self.seen >= FIRST && self.mean_square > 0.0 {
            true => square.min(LARGEST * LARGEST * self.mean_square),
            false => square,
        };
        self.mean_square += weight * (square - self.mean_square);
    }

    /// All that it has seen, for a file; a value that is not held back is NaN.
    pub(super) fn numbers(&self) -> [f64; 6] {
        let held = self.held.unwrap_or(f64::NAN);
        let seen = f64::from(self.seen);
        [
            seen,
            self.mean_square,
            self.share,
            held,
            self.lasted,
            self.passed,
        ]
    }

    /// The gate that wrote these numbers; nonsense in them is found by [`check`](Self::check).
    pub(super) fn of(jumps: Jumps, numbers: [f64; 6]) -> Self {
        let [seen, mean_square, share, held, lasted, passed] = numbers;
        Self {
            jumps,
            seen: seen as u32,
            mean_square,
            share,
            held: (!held.is_nan()).then_some(held),
            lasted,
            passed,
        }
    }

    /// Refuses one that no values lead to, or that takes jumps in another way.
    pub(super) fn check(&self, jumps: Jumps) -> Result<(), Error> {
        let same = self.jumps == jumps;
        Error::check("jumps", "those of the settings", self.jumps.threshold, same)?;
        let held = self.held.unwrap_or(0.0);
        Error::check("held", "finite", held, held.is_finite())?;
        for value in [self.mean_square, self.share, self.lasted, self.passed] {
            let in_range = value >= 0.0 && value.is_finite();
            Error::check("gate", "finite and not negative", value, in_range)?;
        }
        Ok(())
    }
}
