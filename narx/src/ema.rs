use serde::{Deserialize, Serialize};

use crate::{Error, Forecaster};

/// Smoothing factors that [`Ema::tuned`] and [`Ema::adaptive`] choose from: k/10.
const CANDIDATES: usize = 10;

/// Where an adaptive average starts before it has made any error to learn from: alpha = 0.3.
const FIRST_CHOICE: usize = 2;

/// How much of a candidate's error score is left after one more step, so that a choice rests on
/// about the last 50 steps.
const SCORE_DECAY: f64 = 0.98;

/// An exponential moving average: level ← level + alpha · (y − level).
///
/// A missing value leaves the level as it is. The forecast is the level for every step ahead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct Ema(State);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Fixed { alpha: f64, level: Option<f64> },
    Adaptive(Bank),
}

/// One average a candidate; the one with the smallest discounted squared error speaks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Bank {
    levels: Option<[f64; CANDIDATES]>,
    scores: [f64; CANDIDATES],
    best: usize,
}

impl Ema {
    /// An average with the given smoothing factor, 0 < `alpha` ≤ 1; 1 is the last value.
    ///
    /// # Errors
    /// [`Error::Setting`] if `alpha` is outside that range.
    pub fn new(alpha: f64) -> Result<Self, Error> {
        Self::try_from(State::Fixed { alpha, level: None })
    }

    /// An average with the `alpha` in 0.1, 0.2, .. 1.0 whose one-step forecasts of `series` have
    /// the smallest squared error; the smaller of two that are equal. It starts without a level.
    ///
    /// # Errors
    /// [`Error::TooShort`] if fewer than two values of `series` are finite.
    pub fn tuned(series: &[f64]) -> Result<Self, Error> {
        const NEEDED: usize = 2;
        let got = series.iter().filter(|y| y.is_finite()).count();
        if got < NEEDED {
            return Err(Error::TooShort {
                got,
                needed: NEEDED,
            });
        }
        let mut bank = Bank::new();
        for &y in series {
            bank.observe(y, 1.0);
        }
        let best = (0..CANDIDATES)
            .min_by(|&a, &b| bank.scores[a].total_cmp(&bank.scores[b]))
            .expect("there is at least one candidate");
        Self::new(candidate(best))
    }

    /// An average that uses, at every step, the `alpha` in 0.1, 0.2, .. 1.0 that forecast best
    /// lately. The best factor runs from 0.2 to 1.0 between recorded workers, so no fixed one
    /// serves all of them.
    pub fn adaptive() -> Self {
        Self(State::Adaptive(Bank::new()))
    }

    /// The smoothing factor in use now.
    pub fn alpha(&self) -> f64 {
        match &self.0 {
            State::Fixed { alpha, .. } => *alpha,
            State::Adaptive(bank) => candidate(bank.best),
        }
    }

    fn level(&self) -> Option<f64> {
        match &self.0 {
            State::Fixed { level, .. } => *level,
            State::Adaptive(bank) => bank.levels.map(|levels| levels[bank.best]),
        }
    }
}

impl Forecaster for Ema {
    fn observe(&mut self, y: f64, _inputs: &[f64]) {
        match &mut self.0 {
            State::Adaptive(bank) => bank.observe(y, SCORE_DECAY),
            State::Fixed { alpha, level } => {
                if y.is_finite() {
                    *level = Some(level.map_or(y, |old| smooth(old, y, *alpha)));
                }
            }
        }
    }

    fn forecast(&self, _inputs_now: &[f64], out: &mut [f64]) {
        out.fill(self.level().unwrap_or(f64::NAN));
    }
}

impl Bank {
    fn new() -> Self {
        Self {
            levels: None,
            scores: [0.0; CANDIDATES],
            best: FIRST_CHOICE,
        }
    }

    fn observe(&mut self, y: f64, decay: f64) {
        if !y.is_finite() {
            return;
        }
        let Some(levels) = &mut self.levels else {
            self.levels = Some([y; CANDIDATES]);
            return;
        };
        for (i, (level, score)) in levels.iter_mut().zip(&mut self.scores).enumerate() {
            let miss = y - *level;
            // A miss too large to square is no evidence for or against any factor.
            let worse = decay * *score + miss * miss;
            if worse.is_finite() {
                *score = worse;
            }
            *level = smooth(*level, y, candidate(i));
        }
        for i in 0..CANDIDATES {
            if self.scores[i] < self.scores[self.best] {
                self.best = i;
            }
        }
    }
}

fn candidate(index: usize) -> f64 {
    (index + 1) as f64 / CANDIDATES as f64
}

/// Stays finite for any two finite numbers, and is exactly `y` for alpha = 1.
fn smooth(old: f64, y: f64, alpha: f64) -> f64 {
    ((1.0 - alpha) * old + alpha * y).clamp(f64::MIN, f64::MAX)
}

impl TryFrom<State> for Ema {
    type Error = Error;

    fn try_from(state: State) -> Result<Self, Error> {
        match &state {
            State::Fixed { alpha, level } => {
                let in_range = *alpha > 0.0 && *alpha <= 1.0;
                Error::check("alpha", "above 0 and at most 1", *alpha, in_range)?;
                check_levels(level.as_slice())?;
            }
            State::Adaptive(bank) => {
                Error::check("best", "below 10", bank.best as f64, bank.best < CANDIDATES)?;
                for &score in &bank.scores {
                    let in_range = score >= 0.0 && score.is_finite();
                    Error::check("score", "finite and not negative", score, in_range)?;
                }
                check_levels(bank.levels.as_ref().map_or(&[], |levels| levels))?;
            }
        }
        Ok(Self(state))
    }
}

fn check_levels(levels: &[f64]) -> Result<(), Error> {
    let mut levels = levels.iter();
    levels.try_for_each(|&level| Error::check("level", "finite", level, level.is_finite()))
}

impl From<Ema> for State {
    fn from(ema: Ema) -> Self {
        ema.0
    }
}
