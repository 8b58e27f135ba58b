use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::config::{Covariance, Jumps};
use super::history::{History, Term};
use super::learner::{Design, Room, View};
use super::select::{self, Selection};
use super::single::{Few, finite};
use super::smoother::Smoother;
use crate::config::Skip;
use crate::network::Shape;
use crate::{Error, Forecaster};

/// Lags of the deviations from the average.
const LAGS: usize = 3;

/// Hidden units.
const HIDDEN: usize = 8;

const FORGETTING: f64 = 3e-5;

/// What is left of the gain's sums after a step.
const GAIN_DECAY: f64 = 0.99;

/// An adaptive moving average, and a small network that forecasts how far the next value will be
/// from it.
///
/// The network starts at no correction at all, and its forecasts count by what following them would
/// have gained lately, from nothing to all of it. For a series of positive values it forecasts the
/// logarithm of the ratio to the average. It is made from the last three deviations and from up to
/// four inputs at the start of the step; of more inputs those are in use whose values tell most of
/// the deviation that follows, which changes as the series does.
///
/// The network is trained like that of [`Online`](crate::Online).
///
/// # Example
/// ```
/// use narx::{Corrected, Forecaster};
/// let mut corrected = Corrected::new(1, 0)?;
/// let (mut y, mut forecast) = (0.0, [0.0]);
/// for t in 0..500 {
///     let running = f64::from(t * t % 5); // processes that run when the step begins
///     corrected.forecast(&[running], &mut forecast);
///     y = 100.0 / (1.0 + running);
///     corrected.observe(y, &[running]);
/// }
/// assert!((forecast[0] / y - 1.0).abs() < 0.1);
/// # Ok::<(), narx::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct Corrected {
    state: State,
    design: Design,
    room: Room<1>,
    raw: Vec<[f64; 1]>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    inputs: usize,
    seed: u64,
    jumps: Jumps,
    average: Smoother,
    selection: Selection,
    history: History,
    /// No value was below or equal to 0 so far.
    positive: bool,
    record: Vec<[f64; 1]>,
    /// Discounted sums of correction · deviation and correction².
    gained: f64,
    corrected: f64,
}

impl Corrected {
    /// A forecaster with so many inputs, the weights of whose network start at `seed`.
    ///
    /// # Errors
    /// [`Error::Setting`] if there are more than 1000 inputs.
    pub fn new(inputs: usize, seed: u64) -> Result<Self, Error> {
        Self::with_jumps(inputs, seed, Jumps::default())
    }

    /// The same with jumps taken differently.
    ///
    /// # Errors
    /// [`Error::Setting`] if a setting is outside its range.
    pub fn with_jumps(inputs: usize, seed: u64, jumps: Jumps) -> Result<Self, Error> {
        const MOST: usize = 1000;
        Error::check("inputs", "at most 1000", inputs as f64, inputs <= MOST)?;
        jumps.check()?;
        Ok(Self::of(State {
            inputs,
            seed,
            jumps,
            average: Smoother::new(jumps),
            selection: Selection::new(inputs),
            history: History::new(1, LAGS),
            positive: true,
            record: first_record(&design(inputs), seed),
            gained: 0.0,
            corrected: 0.0,
        }))
    }

    fn of(state: State) -> Self {
        let design = design(state.inputs);
        Self {
            room: Room::new(&design.shape),
            raw: vec![[0.0]; design.shape.regressors],
            design,
            state,
        }
    }

    /// Number of inputs that it chooses from.
    pub fn inputs(&self) -> usize {
        self.state.inputs
    }

    /// Places of the inputs in use.
    pub fn inputs_in_use(&self) -> &[usize] {
        self.state.selection.chosen()
    }

    /// How much the network's correction counts, from 0 to 1: by how much the deviations were
    /// multiples of it lately.
    pub fn gain(&self) -> f64 {
        match self.state.corrected > 0.0 {
            true => (self.state.gained / self.state.corrected).clamp(0.0, 1.0),
            false => 0.0,
        }
    }

    /// The correction that the network forecasts.
    fn correction(&self, raw: &[f64], view: &mut View<1>) -> f64 {
        let raw = raw.as_chunks().0;
        self.design.forecast(&self.state.record, raw, &[0.0], view)[0]
    }
}

impl State {
    /// What the network works in: logarithms, where all values are positive.
    fn unit(&self, y: f64) -> f64 {
        if self.positive { y.ln() } else { y }
    }

    fn value(&self, unit: f64) -> f64 {
        finite(if self.positive { unit.exp() } else { unit })
    }

    /// The regressors of the step that follows `past` forecasts.
    fn regressors(&self, level: f64, inputs: &[f64], past: &[f64], raw: &mut [f64]) {
        let (deviations, rest) = raw.split_at_mut(LAGS);
        let (of_level, chosen) = rest.split_at_mut(1);
        of_level[0] = level;
        for (step, deviation) in deviations.iter_mut().enumerate() {
            let lag = step + 1;
            let y = match past.len().checked_sub(lag) {
                Some(step) => past[step],
                None => self.history.at(Term {
                    column: 0,
                    lag: lag - past.len(),
                }),
            };
            *deviation = self.unit(y) - level;
        }
        for (raw, &input) in chosen.iter_mut().zip(self.selection.chosen()) {
            *raw = inputs.get(input).copied().unwrap_or(f64::NAN);
        }
    }
}

fn design(inputs: usize) -> Design {
    let shape = Shape {
        regressors: LAGS + 1 + inputs.min(select::MOST),
        hidden: HIDDEN,
        outputs: 1,
        skip: Skip::Linear,
    };
    // The deviations are relative to a level that moves: their scale does not shift with it.
    Design::of(shape, 0, Covariance::Full, FORGETTING)
}

fn first_record(design: &Design, seed: u64) -> Vec<[f64; 1]> {
    let record = design.record(seed);
    record.into_iter().map(|number| [number]).collect()
}

impl Forecaster for Corrected {
    fn observe(&mut self, y: f64, inputs: &[f64]) {
        let mut forecast = [0.0];
        self.forecast(inputs, &mut forecast);
        let held = self.state.average.held();
        let before = self.state.average.level();
        if let Some((shift, first)) = self.state.average.observe(y) {
            self.state.history.shift(shift, first);
        }
        let taken = y.is_finite() && self.state.average.held().is_none();
        if self.state.positive && taken && (y <= 0.0 || !self.state.average.is_positive()) {
            self.state.positive = false;
            self.state.record = first_record(&self.design, self.state.seed);
            (self.state.gained, self.state.corrected) = (0.0, 0.0);
        }
        if let (Some(before), true, None) = (before, taken, held) {
            self.learn(y, before, inputs);
        }
        let value = if taken { y } else { forecast[0] };
        self.state.history.push(value, &[]);
    }

    fn forecast(&self, inputs_now: &[f64], out: &mut [f64]) {
        let Some(level) = self.state.average.level() else {
            return out.fill(f64::NAN);
        };
        let (level, gain) = (self.state.unit(level), self.gain());
        let mut raw: Few = SmallVec::from_elem(0.0, self.design.shape.regressors);
        let mut view = View::new(&self.design.shape);
        for step in 0..out.len() {
            let (past, rest) = out.split_at_mut(step);
            self.state.regressors(level, inputs_now, past, &mut raw);
            let correction = self.correction(&raw, &mut view);
            rest[0] = self.state.value(level + gain * correction);
        }
        for forecast in out {
            *forecast = self.state.average.blend(*forecast);
        }
    }
}

impl Corrected {
    /// Learns from a value that followed the average `before`.
    fn learn(&mut self, y: f64, before: f64, inputs: &[f64]) {
        let state = &mut self.state;
        let level = state.unit(before);
        let target = state.unit(y) - level;
        state.regressors(level, inputs, &[], self.raw.as_flattened_mut());
        let view = &mut self.room.view;
        let [correction] = self.design.forecast(&state.record, &self.raw, &[0.0], view);
        let gained = GAIN_DECAY * state.gained + correction * target;
        let corrected = GAIN_DECAY * state.corrected + correction * correction;
        if gained.is_finite() && corrected.is_finite() {
            (state.gained, state.corrected) = (gained, corrected);
        }
        self.design
            .learn(&mut state.record, &self.raw, &[target], &mut self.room);
        if let Some(change) = state.selection.observe(inputs, target) {
            let regressor = LAGS + 1 + change.place;
            self.design
                .forget(&mut state.record, regressor, change.scale);
        }
    }
}

impl PartialEq for Corrected {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

impl TryFrom<State> for Corrected {
    type Error = Error;

    fn try_from(state: State) -> Result<Self, Error> {
        let fresh = Self::with_jumps(state.inputs, state.seed, state.jumps)?;
        state.average.check(state.jumps)?;
        let level = state.average.level().unwrap_or(1.0);
        let in_range = !state.positive || state.average.is_positive();
        Error::check("level", "positive", level, in_range)?;
        state.selection.check(state.inputs)?;
        state.history.check(&fresh.state.history)?;
        fresh.design.check(state.record.as_flattened())?;
        for sum in [state.gained, state.corrected] {
            Error::check("gain", "finite", sum, sum.is_finite())?;
        }
        Ok(Self::of(state))
    }
}

impl From<Corrected> for State {
    fn from(corrected: Corrected) -> Self {
        corrected.state
    }
}
