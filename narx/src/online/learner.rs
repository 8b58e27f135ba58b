//! The network of an online forecaster and the filter that trains it: one step of many workers side
//! by side, or of one.
//!
//! Everything a worker has learnt is one record of numbers. `[f64; L]` holds the same number of L
//! workers: a fleet steps eight at a time, a single forecaster one, through the same sums in the
//! same order, so both agree to the last bit.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::config::{Covariance, MOST_WEIGHTS, OnlineConfig};
use super::gate::Shift;
use super::lanes::{fused, times};
use super::vectorised::vectorised;
use super::{full, nodes};
use crate::Error;
use crate::config::Skip;
use crate::network::{Network, Places, Shape, tanh};
use crate::scale::Scaler;
use crate::train::uniform;

/// Scaled regressors are cut at this many standard deviations: the box that the network knows.
const BOX: f64 = 4.0;

/// From so many on the forecast goes back to the last value.
const GUARD: f64 = 8.0;

/// Steps from whose values the first scales are made, before which nothing is learnt.
const WARM_UP: f64 = 10.0;

/// The newest step's weight in a scale does not fall below this.
const LEAST_WEIGHT: f64 = 1e-4;

/// A value counts as at most this many standard deviations from the mean in the scales.
const LARGEST: f64 = 100.0;

/// A spread below this share of a value's own size is rounding, not information.
const NEARLY_CONSTANT: f64 = 1e-9;

/// The newest error's weight in the running variance of the noise.
const NOISE_WEIGHT: f64 = 0.03;

/// The noise that is assumed at first, and its least share of what an error tells of it, both
/// relative to the mean square of the targets and of the error.
const FIRST_NOISE: f64 = 0.9;
const LEAST_NOISE: f64 = 0.05;

/// The noise is at least this share of the variance that the weights bring into a forecast: one
/// step never determines the weights to more than four digits, which rounding could not bear.
const LEAST_RATIO: f64 = 1e-4;

/// An innovation beyond this many standard deviations teaches no more than one of that size
/// (Huber 1964).
const HUBER: f64 = 4.0;

/// Range of the first weights into the hidden units, for regressors of the size 1.
const FIRST_HIDDEN: f64 = 0.7;

/// Hidden units of several workers that are summed at a time.
const TILE: usize = 5;

/// Variance of every weight at the start, for targets and regressors of the size 1.
const PRIOR: f64 = 0.1;

/// Most numbers that a worker may have learnt, 1.6 MB: a damaged file cannot ask for more memory.
const MOST_NUMBERS: usize = 200_000;

/// Largest weight of a state that is read.
const LARGEST_WEIGHT: f64 = 1e100;

/// What the learners of one kind have in common.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Design {
    pub(super) shape: Shape,
    pub(super) places: Places,
    pub(super) covariance: Covariance,
    /// What is left of a covariance after a step.
    keep: f64,
    /// The variance of a weight that nothing is known of.
    prior: f64,
    /// How many of the regressors, the first ones, are past values of the series.
    output_lags: usize,
    /// Of a model that was trained before; None without.
    warm: Option<Warm>,
    /// Where the parts of a record start.
    pub(super) at: Parts,
}

/// What a network brings along that was trained before: its scales, which stay, are in the record.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Warm {
    /// It forecasts logarithms.
    pub(super) log: bool,
    /// Its output is added to a fixed origin, not to the last value.
    pub(super) fixed_origin: bool,
    /// Variance of its noise for targets of the size 1: by so much less is unknown of its weights.
    pub(super) noise: f64,
}

/// A record: weights, per regressor its mean, variance and 1 / standard deviation (0 until it
/// varies), four numbers, and the covariance of the weights: what a forecast reads lies together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Parts {
    mean: usize,
    variance: usize,
    factor: usize,
    /// Steps in the scales.
    steps: usize,
    /// Mean square of the targets.
    square: usize,
    /// Variance of the noise, in the unit of the targets.
    noise: usize,
    /// What the output is added to, if it is not the last value.
    origin: usize,
    covariance: usize,
    pub(super) end: usize,
}

impl Design {
    /// # Errors
    /// As [`OnlineConfig::check`], and [`Error::Setting`] if there are too many weights.
    pub(super) fn new(config: &OnlineConfig) -> Result<Self, Error> {
        config.check()?;
        let shape = Shape {
            regressors: config.regressors(),
            hidden: config.hidden,
            outputs: 1,
            skip: Skip::Linear,
        };
        let weights = shape.weights();
        if config.covariance == Covariance::Full {
            let expected = "at most 300 with a full covariance";
            let in_range = weights <= MOST_WEIGHTS;
            Error::check("weights", expected, weights as f64, in_range)?;
        }
        let lags = config.output_lags.len();
        let design = Self::of(shape, lags, config.covariance, config.forgetting);
        let numbers = design.at.end;
        let expected = "at most 200000";
        Error::check(
            "numbers of a worker",
            expected,
            numbers as f64,
            numbers <= MOST_NUMBERS,
        )?;
        Ok(design)
    }

    pub(super) fn of(
        shape: Shape,
        output_lags: usize,
        covariance: Covariance,
        forgetting: f64,
    ) -> Self {
        let places = shape.places();
        let covariances = match covariance {
            Covariance::Full => full::size(places.end),
            Covariance::Nodes => nodes::size_of(&shape),
        };
        let mean = places.end;
        let variance = mean + shape.regressors;
        let factor = variance + shape.regressors;
        let steps = factor + shape.regressors;
        let covariance_at = steps + 4;
        let at = Parts {
            mean,
            variance,
            factor,
            steps,
            square: steps + 1,
            noise: steps + 2,
            origin: steps + 3,
            covariance: covariance_at,
            end: covariance_at + covariances,
        };
        Self {
            shape,
            places,
            covariance,
            keep: 1.0 - forgetting,
            prior: PRIOR,
            output_lags,
            warm: None,
            at,
        }
    }

    /// The same for a network that was trained before.
    ///
    /// # Errors
    /// [`Error::Setting`] if its noise is none.
    pub(super) fn warmed(mut self, warm: Option<Warm>) -> Result<Self, Error> {
        if let Some(warm) = warm {
            let in_range = warm.noise > 0.0 && warm.noise.is_finite();
            Error::check("noise", "positive", warm.noise, in_range)?;
            self.prior *= warm.noise;
        }
        self.warm = warm;
        Ok(self)
    }

    /// What a worker knows at first of a network that was trained before: `scalers` are those of the
    /// regressors, `output` the one of the series.
    pub(super) fn record_of(
        &self,
        network: &Network,
        scalers: impl Iterator<Item = Scaler>,
        output: Scaler,
        noise: f64,
    ) -> Vec<f64> {
        let mut record = vec![0.0; self.at.end];
        let (from, to) = (network.places(), &self.places);
        record[..to.direct].copy_from_slice(&network.weights()[..from.direct]);
        let direct = &network.weights()[from.direct..from.output_bias];
        record[to.direct..][..direct.len()].copy_from_slice(direct);
        record[to.output_bias] = network.weights()[from.output_bias];
        self.set_covariance(&mut record, self.prior);
        for (k, scaler) in scalers.enumerate() {
            let spread = scaler.spread();
            record[self.at.mean + k] = scaler.shift();
            record[self.at.variance + k] = (spread * spread).min(f64::MAX);
            record[self.at.factor + k] = 1.0 / spread;
        }
        record[self.at.steps] = WARM_UP;
        record[self.at.square] = (output.spread() * output.spread()).min(f64::MAX);
        record[self.at.noise] = (noise * record[self.at.square]).min(f64::MAX);
        record[self.at.origin] = output.shift();
        record
    }

    /// What the network's output is added to after the value `last`.
    #[inline]
    pub(super) fn origin(&self, record: &[[f64; 1]], last: f64) -> f64 {
        match self.warm {
            Some(Warm {
                fixed_origin: true, ..
            }) => record[self.at.origin][0],
            _ => last,
        }
    }

    /// What a worker knows at first: random weights into the hidden units, and 0 after them, so that
    /// its first forecast is that nothing changes.
    pub(super) fn record(&self, seed: u64) -> Vec<f64> {
        let mut record = vec![0.0; self.at.end];
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let incoming = FIRST_HIDDEN * (3.0 / self.shape.regressors as f64).sqrt();
        for weight in &mut record[..self.places.hidden_bias] {
            *weight = incoming * uniform(&mut random);
        }
        for bias in &mut record[self.places.hidden_bias..self.places.output] {
            *bias = FIRST_HIDDEN * uniform(&mut random);
        }
        self.set_covariance(&mut record, self.prior);
        record
    }

    /// The same with weights that others have learnt, of whose variances this share is left.
    pub(super) fn record_with(&self, weights: &[f64], share: f64) -> Vec<f64> {
        let mut record = vec![0.0; self.at.end];
        record[..self.places.end].copy_from_slice(weights);
        self.set_covariance(&mut record, share * self.prior);
        record
    }

    /// Steps that a worker has learnt from.
    pub(super) fn steps<const L: usize>(&self, record: &[[f64; L]], lane: usize) -> f64 {
        record[self.at.steps][lane]
    }

    fn set_covariance(&self, record: &mut [f64], variance: f64) {
        let covariance = &mut record[self.at.covariance..];
        match self.covariance {
            Covariance::Full => full::set(covariance, self.places.end, variance),
            Covariance::Nodes => nodes::set(covariance, &self.shape, variance),
        }
    }

    /// The change that is forecast from the regressors `raw`, of which NaN is missing: `start` plus
    /// the network's output, which fades outside the box of the regressors.
    pub(super) fn forecast<const L: usize>(
        &self,
        record: &[[f64; L]],
        raw: &[[f64; L]],
        start: &[f64; L],
        view: &mut View<L>,
    ) -> [f64; L] {
        forecast_vectorised(self, record, raw, start, view)
    }

    /// Numbers that [`prepare`](Self::prepare) writes, with so many regressors of the past.
    pub(super) fn ahead(&self, past: usize) -> usize {
        past + self.shape.hidden + 2
    }

    /// Does what a forecast of the next step takes that does not depend on the inputs at its start:
    /// scales the regressors of the past, the first ones, and weighs them.
    pub(super) fn prepare<const L: usize>(
        &self,
        record: &[[f64; L]],
        past: &[[f64; L]],
        ahead: &mut [[f64; L]],
    ) {
        prepare_vectorised(self, record, past, ahead);
    }

    /// The rest of such a forecast, see [`forecast`](Self::forecast); `now` are the other regressors.
    pub(super) fn resume<const L: usize>(
        &self,
        record: &[[f64; L]],
        ahead: &[[f64; L]],
        now: &[[f64; L]],
        view: &mut View<L>,
    ) -> [f64; L] {
        resume_vectorised(self, record, ahead, now, view)
    }

    /// The variance that the weights bring into the forecast from the regressors `raw`.
    pub(super) fn spread(&self, record: &[[f64; 1]], raw: &[[f64; 1]]) -> f64 {
        let mut room = Room::new(&self.shape);
        spread_vectorised(self, record, raw, &mut room)[0] * record[self.at.square][0]
    }

    /// Learns that the regressors `raw`, for which the room has the last forecast, were followed by
    /// the changes `target`. NaN teaches nothing,
    /// nor does a step whose past values are not all known.
    pub(super) fn learn<const L: usize>(
        &self,
        record: &mut [[f64; L]],
        raw: &[[f64; L]],
        target: &[f64; L],
        room: &mut Room<L>,
    ) {
        learn_vectorised(self, record, raw, target, room);
    }

    /// Refuses a record that no steps lead to.
    pub(super) fn check(&self, record: &[f64]) -> Result<(), Error> {
        if record.len() != self.at.end {
            return Err(Error::Count {
                what: "numbers in a record",
                expected: self.at.end,
                got: record.len(),
            });
        }
        for &number in record {
            Error::check("record", "finite", number, number.is_finite())?;
        }
        for &number in &record[self.at.variance..self.at.origin] {
            Error::check("record", "not negative", number, number >= 0.0)?;
        }
        for &weight in &record[..self.at.mean] {
            let in_range = weight.abs() <= LARGEST_WEIGHT;
            Error::check("weight", "at most 1e100", weight, in_range)?;
        }
        let covariance = &record[self.at.covariance..];
        let positive = match self.covariance {
            Covariance::Full => full::is_positive(covariance, self.places.end),
            Covariance::Nodes => nodes::is_positive(covariance, &self.shape),
        };
        Error::check("covariance", "positive definite", 0.0, positive)
    }

    /// Variance of the noise in the targets.
    pub(super) fn noise(&self, record: &[[f64; 1]]) -> f64 {
        record[self.at.noise][0]
    }

    pub(super) fn warm(&self) -> Option<Warm> {
        self.warm
    }

    pub(super) fn is_log(&self) -> bool {
        self.warm.is_some_and(|warm| warm.log)
    }

    /// Moves the scales of the series itself along with its level.
    pub(super) fn shift_output<const L: usize>(
        &self,
        record: &mut [[f64; L]],
        lane: usize,
        shift: Shift,
    ) {
        let (factor, at) = (shift.factor(), &self.at);
        for k in 0..self.output_lags {
            let mut scale = Scale {
                mean: shift.apply(record[at.mean + k][lane]),
                variance: record[at.variance + k][lane],
            };
            scale.variance = larger(scale.variance, factor);
            record[at.mean + k][lane] = scale.mean;
            record[at.variance + k][lane] = scale.variance;
            record[at.factor + k][lane] = scale.factor();
        }
        for number in [at.square, at.noise] {
            record[number][lane] = larger(record[number][lane], factor);
        }
        record[at.origin][lane] = shift.apply(record[at.origin][lane]);
    }

    /// Forgets what was learnt of a regressor, and takes this as its scale.
    pub(super) fn forget(&self, record: &mut [[f64; 1]], regressor: usize, scale: Scale) {
        let record = record.as_flattened_mut();
        let covariance = &mut record[self.at.covariance..];
        let hidden = self.shape.hidden;
        let incoming = (0..hidden).map(|unit| regressor * hidden + unit);
        for weight in incoming.chain([self.places.direct + regressor]) {
            full::forget(covariance, self.places.end, weight, self.prior);
        }
        record[regressor * hidden..][..hidden].fill(0.0);
        record[self.places.direct + regressor] = 0.0;
        record[self.at.mean + regressor] = scale.mean;
        record[self.at.variance + regressor] = scale.variance;
        record[self.at.factor + regressor] = scale.factor();
    }
}

/// A variance after the values have become `factor` times larger.
fn larger(variance: f64, factor: f64) -> f64 {
    (variance * factor * factor).min(f64::MAX)
}

/// Mean and variance of a regressor so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Scale {
    pub(super) mean: f64,
    pub(super) variance: f64,
}

impl Scale {
    /// Takes in a value that has the share `weight`; one that is missing changes nothing.
    #[inline(always)]
    pub(super) fn take(&mut self, value: f64, weight: f64) {
        let known = value.is_finite();
        let off = value - self.mean;
        let within = cut(off, LARGEST * self.variance.sqrt());
        let off = if self.variance > 0.0 { within } else { off };
        let mean = cut(self.mean + weight * off, f64::MAX);
        let variance = (1.0 - weight) * (self.variance + weight * off * off);
        let variance = if variance < f64::MAX {
            variance
        } else {
            f64::MAX
        };
        self.mean = if known { mean } else { self.mean };
        self.variance = if known { variance } else { self.variance };
    }

    /// 1 / standard deviation; 0 until it varies.
    #[inline(always)]
    pub(super) fn factor(&self) -> f64 {
        let deviation = self.variance.sqrt();
        let factor = 1.0 / deviation;
        let varies = deviation > NEARLY_CONSTANT * self.mean.abs();
        if varies { factor } else { 0.0 }
    }
}

/// The nearest number of at most this size. Unlike `clamp` it has no case that panics, which would
/// keep a loop over lanes from becoming vector code.
#[inline(always)]
fn cut(value: f64, most: f64) -> f64 {
    let value = if value < -most { -most } else { value };
    if value > most { most } else { value }
}

/// The network at work on a step.
#[derive(Debug, Clone)]
pub(super) struct View<const L: usize> {
    /// The scaled regressors.
    x: SmallVec<[[f64; L]; 24]>,
    /// Values of the hidden units.
    units: SmallVec<[[f64; L]; 16]>,
    output: [f64; L],
}

impl<const L: usize> View<L> {
    pub(super) fn new(shape: &Shape) -> Self {
        Self {
            x: SmallVec::from_elem([0.0; L], shape.regressors),
            units: SmallVec::from_elem([0.0; L], shape.hidden),
            output: [0.0; L],
        }
    }
}

/// Intermediate values of a step, kept so that no step allocates.
#[derive(Debug, Clone)]
pub(super) struct Room<const L: usize> {
    pub(super) view: View<L>,
    /// The derivatives of the forecast by the weights, filled up with zeros.
    gradient: Vec<[f64; L]>,
    /// The covariance times the gradient.
    products: Vec<[f64; L]>,
    /// The same in other units.
    scaled: Vec<[f64; L]>,
}

impl<const L: usize> Room<L> {
    pub(super) fn new(shape: &Shape) -> Self {
        let weights = full::padded(shape.weights());
        Self {
            view: View::new(shape),
            gradient: vec![[0.0; L]; weights],
            products: vec![[0.0; L]; weights],
            scaled: vec![[0.0; L]; weights],
        }
    }
}

/// What a step of the filter does to the covariance P and the weights w, given Pg:
/// P ← keep · (P − shrink · Pg (Pg)ᵀ) + restore · prior, w ← w + gain · Pg.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<const L: usize> {
    gain: [f64; L],
    pub(super) shrink: [f64; L],
    pub(super) keep: [f64; L],
    pub(super) restore: [f64; L],
}

impl<const L: usize> Step<L> {
    /// Changes nothing.
    const IDLE: Self = Self {
        gain: [0.0; L],
        shrink: [0.0; L],
        keep: [1.0; L],
        restore: [0.0; L],
    };
}

vectorised! {
    fn forecast_vectorised = forecast(design: &Design, record: &[[f64; L]], raw: &[[f64; L]], start: &[f64; L], view: &mut View<L>) -> [f64; L]
}

#[inline(always)]
fn forecast<const L: usize>(
    design: &Design,
    record: &[[f64; L]],
    raw: &[[f64; L]],
    start: &[f64; L],
    view: &mut View<L>,
) -> [f64; L] {
    let outside = look(design, record, raw, view);
    fade(start, &view.output, &gain(design, record), &outside)
}

/// What the network's output is multiplied by: the size of the targets. Weights that others have learnt
/// count by how far the scales are known.
#[inline(always)]
fn gain<const L: usize>(design: &Design, record: &[[f64; L]]) -> [f64; L] {
    let (square, steps) = (&record[design.at.square], &record[design.at.steps]);
    let mut gain = [0.0; L];
    for l in 0..L {
        gain[l] = square[l].sqrt() * (steps[l] / WARM_UP).min(1.0);
    }
    gain
}

/// The change that is forecast, from the network's output.
#[inline(always)]
fn fade<const L: usize>(
    start: &[f64; L],
    network: &[f64; L],
    gain: &[f64; L],
    outside: &[f64; L],
) -> [f64; L] {
    let mut change = [0.0; L];
    for l in 0..L {
        change[l] = (start[l] + network[l] * gain[l]) / (1.0 + outside[l] / BOX);
    }
    change
}

/// Runs the network; returns the largest distance of a regressor from the box.
#[inline(always)]
fn look<const L: usize>(
    design: &Design,
    record: &[[f64; L]],
    raw: &[[f64; L]],
    view: &mut View<L>,
) -> [f64; L] {
    let (x, units) = (
        &mut view.x[..design.shape.regressors],
        &mut view.units[..design.shape.hidden],
    );
    let outside = scale(design, record, 0, raw, x, [0.0; L]);
    units.copy_from_slice(&record[design.places.hidden_bias..design.places.output]);
    weigh(design, record, 0, x, units);
    view.output = respond(design, record, x, units);
    outside
}

vectorised! {
    fn prepare_vectorised = prepare(design: &Design, record: &[[f64; L]], past: &[[f64; L]], ahead: &mut [[f64; L]])
}

#[inline(always)]
fn prepare<const L: usize>(
    design: &Design,
    record: &[[f64; L]],
    past: &[[f64; L]],
    ahead: &mut [[f64; L]],
) {
    let (x, rest) = ahead.split_at_mut(past.len());
    let (units, rest) = rest.split_at_mut(design.shape.hidden);
    rest[0] = scale(design, record, 0, past, x, [0.0; L]);
    rest[1] = gain(design, record);
    units.copy_from_slice(&record[design.places.hidden_bias..design.places.output]);
    weigh(design, record, 0, x, units);
}

vectorised! {
    fn resume_vectorised = resume(design: &Design, record: &[[f64; L]], ahead: &[[f64; L]], now: &[[f64; L]], view: &mut View<L>) -> [f64; L]
}

#[inline(always)]
fn resume<const L: usize>(
    design: &Design,
    record: &[[f64; L]],
    ahead: &[[f64; L]],
    now: &[[f64; L]],
    view: &mut View<L>,
) -> [f64; L] {
    let (regressors, hidden) = (design.shape.regressors, design.shape.hidden);
    let past = regressors - now.len();
    let (x, units) = (&mut view.x[..regressors], &mut view.units[..hidden]);
    x[..past].copy_from_slice(&ahead[..past]);
    units.copy_from_slice(&ahead[past..][..hidden]);
    let (outside, gain) = (ahead[past + hidden], &ahead[past + hidden + 1]);
    let outside = scale(design, record, past, now, &mut x[past..], outside);
    weigh(design, record, past, &x[past..], units);
    view.output = respond(design, record, x, units);
    fade(&[0.0; L], &view.output, gain, &outside)
}

/// Scales the regressors from the one at place `from` on, cut at the box; returns the largest distance
/// from it, or `outside` if that is larger.
#[inline(always)]
fn scale<const L: usize>(
    design: &Design,
    record: &[[f64; L]],
    from: usize,
    raw: &[[f64; L]],
    x: &mut [[f64; L]],
    mut outside: [f64; L],
) -> [f64; L] {
    let means = &record[design.at.mean + from..design.at.variance];
    let factors = &record[design.at.factor + from..design.at.steps];
    for (((x, raw), mean), factor) in x.iter_mut().zip(raw).zip(means).zip(factors) {
        for l in 0..L {
            let value = (raw[l] - mean[l]) * factor[l];
            let value = if value.is_nan() { 0.0 } else { value };
            let cut = value.clamp(-BOX, BOX);
            let beyond = value.abs() - GUARD;
            outside[l] = if beyond > outside[l] {
                beyond
            } else {
                outside[l]
            };
            x[l] = cut;
        }
    }
    outside
}

/// Adds the weighted regressors from the one at place `from` on to the sums of the hidden units.
#[inline(always)]
fn weigh<const L: usize>(
    design: &Design,
    record: &[[f64; L]],
    from: usize,
    x: &[[f64; L]],
    units: &mut [[f64; L]],
) {
    let hidden = design.shape.hidden;
    let weights = &record[from * hidden..];
    if L == 1 {
        for (k, x) in x.iter().enumerate() {
            let weights = &weights[k * hidden..][..hidden];
            for (unit, weight) in units.iter_mut().zip(weights) {
                for l in 0..L {
                    unit[l] = weight[l].mul_add(x[l], unit[l]);
                }
            }
        }
        return;
    }
    // The same sums, a few at a time in registers.
    let (tiles, rest) = units.as_chunks_mut::<TILE>();
    let first = tiles.len() * TILE;
    for (t, tile) in tiles.iter_mut().enumerate() {
        accumulate(weights, hidden, t * TILE, x, tile);
    }
    for (u, unit) in rest.iter_mut().enumerate() {
        accumulate(weights, hidden, first + u, x, std::array::from_mut(unit));
    }
}

/// The network's output from the sums of its hidden units, which become their values.
#[inline(always)]
fn respond<const L: usize>(
    design: &Design,
    record: &[[f64; L]],
    x: &[[f64; L]],
    units: &mut [[f64; L]],
) -> [f64; L] {
    let places = &design.places;
    for unit in units.as_flattened_mut() {
        *unit = tanh(*unit);
    }
    let mut output = record[places.output_bias];
    let outgoing = &record[places.output..places.output_bias];
    for (weight, value) in outgoing.iter().zip(units.iter().chain(x)) {
        output = fused(weight, value, &output);
    }
    output
}

/// Adds the weighted regressors to the sums of U units, the first of which is `first`.
#[inline(always)]
fn accumulate<const L: usize, const U: usize>(
    record: &[[f64; L]],
    hidden: usize,
    first: usize,
    x: &[[f64; L]],
    units: &mut [[f64; L]; U],
) {
    let mut sums = *units;
    for (weights, x) in record.chunks_exact(hidden).zip(x) {
        if let Some(weights) = weights[first..].first_chunk::<U>() {
            for u in 0..U {
                sums[u] = fused(&weights[u], x, &sums[u]);
            }
        }
    }
    *units = sums;
}

vectorised! {
    fn spread_vectorised = spread(design: &Design, record: &[[f64; L]], raw: &[[f64; L]], room: &mut Room<L>) -> [f64; L]
}

#[inline(always)]
fn spread<const L: usize>(
    design: &Design,
    record: &[[f64; L]],
    raw: &[[f64; L]],
    room: &mut Room<L>,
) -> [f64; L] {
    look(design, record, raw, &mut room.view);
    differentiate(design, record, room);
    let covariance = &record[design.at.covariance..];
    multiply(design, covariance, room)
}

vectorised! {
    fn learn_vectorised = learn(design: &Design, record: &mut [[f64; L]], raw: &[[f64; L]], target: &[f64; L], room: &mut Room<L>)
}

#[inline(always)]
fn learn<const L: usize>(
    design: &Design,
    record: &mut [[f64; L]],
    raw: &[[f64; L]],
    target: &[f64; L],
    room: &mut Room<L>,
) {
    let mut target = *target;
    for y in &raw[..design.output_lags] {
        for l in 0..L {
            // Before the history is complete there is nothing to learn.
            target[l] = if y[l].is_nan() { f64::NAN } else { target[l] };
        }
    }
    let output = room.view.output;
    differentiate(design, record, room);
    let at = &design.at;
    let (front, covariance) = record.split_at_mut(at.covariance);
    let (weights, rest) = front.split_at_mut(at.mean);
    let spread = multiply(design, covariance, room);
    let products = &room.products;
    let mut step = Step::IDLE;
    let steps = rest[at.steps - at.mean];
    let square = rest[at.square - at.mean];
    let noise = &mut rest[at.noise - at.mean];
    for l in 0..L {
        let scales = Scales {
            ready: steps[l] >= WARM_UP,
            square: square[l],
            noise: noise[l],
        };
        noise[l] = scales.step(design, target[l], output[l], spread[l], &mut step, l);
    }
    match design.covariance {
        Covariance::Full => {
            let scaled = room.scaled.as_flattened_mut();
            let factor = (step.keep[0] * step.shrink[0]).sqrt();
            for (scaled, product) in scaled.iter_mut().zip(products.as_flattened()) {
                *scaled = factor * product;
            }
            let covariance = covariance.as_flattened_mut();
            let restored = step.restore[0] * design.prior;
            full::update(covariance, weights.len(), scaled, step.keep[0], restored);
        }
        Covariance::Nodes => {
            let products = &products[..design.places.end];
            nodes::update(&design.shape, covariance, products, design.prior, &step);
        }
    }
    for (weight, product) in weights.iter_mut().zip(products) {
        *weight = fused(&step.gain, product, weight);
    }
    if design.warm.is_none() {
        rescale(design, record, raw, &target);
    }
}

/// The covariance P times the gradient g, into the room; returns gᵀPg.
#[inline(always)]
fn multiply<const L: usize>(
    design: &Design,
    covariance: &[[f64; L]],
    room: &mut Room<L>,
) -> [f64; L] {
    let (gradient, products) = (&room.gradient, &mut room.products);
    let weights = design.places.end;
    match design.covariance {
        Covariance::Full => {
            let products = products.as_flattened_mut();
            [full::multiply(covariance.as_flattened(), gradient.as_flattened(), products); L]
        }
        Covariance::Nodes => {
            let (gradient, products) = (&gradient[..weights], &mut products[..weights]);
            nodes::multiply(&design.shape, covariance, gradient, products)
        }
    }
}

/// The derivatives of the output by the weights, in the order of [`Places`].
#[inline(always)]
fn differentiate<const L: usize>(design: &Design, record: &[[f64; L]], room: &mut Room<L>) {
    let (hidden, places) = (design.shape.hidden, &design.places);
    let outgoing = &record[places.output..places.direct];
    let (incoming, rest) = room.gradient.split_at_mut(places.hidden_bias);
    let (slopes, rest) = rest.split_at_mut(hidden);
    for ((slope, unit), weight) in slopes.iter_mut().zip(&room.view.units).zip(outgoing) {
        for l in 0..L {
            slope[l] = weight[l] * (1.0 - unit[l] * unit[l]);
        }
    }
    for (k, x) in room.view.x[..design.shape.regressors].iter().enumerate() {
        for (derivative, slope) in incoming[k * hidden..][..hidden].iter_mut().zip(&*slopes) {
            *derivative = times(slope, x);
        }
    }
    rest[..hidden].copy_from_slice(&room.view.units[..hidden]);
    rest[hidden..][..design.shape.regressors]
        .copy_from_slice(&room.view.x[..design.shape.regressors]);
    rest[hidden + design.shape.regressors] = [1.0; L];
}

/// What one worker's innovations are measured by.
struct Scales {
    ready: bool,
    /// Mean square of the targets.
    square: f64,
    noise: f64,
}

impl Scales {
    /// Sets lane `l` of the step and returns the new noise.
    #[inline(always)]
    fn step<const L: usize>(
        &self,
        design: &Design,
        target: f64,
        output: f64,
        spread: f64,
        step: &mut Step<L>,
        l: usize,
    ) -> f64 {
        let innovation = target / self.square.sqrt() - output;
        let learns = self.ready && innovation.is_finite();
        let relative = self.noise / self.square;
        let noise = if self.noise > 0.0 {
            relative
        } else {
            FIRST_NOISE
        };
        let noise = noise.max(LEAST_RATIO * spread);
        let deviation = (noise + spread).sqrt();
        let beyond = (innovation.abs() / (HUBER * deviation)).max(1.0);
        let shrink = 1.0 / (noise * beyond * beyond + spread);
        step.shrink[l] = if learns { shrink } else { 0.0 };
        step.gain[l] = if learns { shrink * innovation } else { 0.0 };
        step.keep[l] = if learns { design.keep } else { 1.0 };
        step.restore[l] = if learns { 1.0 - design.keep } else { 0.0 };
        let size = innovation.abs().min(LARGEST * deviation);
        let told = (size * size - spread).max(LEAST_NOISE * size * size);
        let told = (noise + NOISE_WEIGHT * (told - noise)).min(LARGEST * LARGEST);
        let told = (told * self.square).min(f64::MAX);
        if learns { told } else { self.noise }
    }
}

/// Takes the regressors and the target of a step into the scales, where there is a target.
#[inline(always)]
fn rescale<const L: usize>(
    design: &Design,
    record: &mut [[f64; L]],
    raw: &[[f64; L]],
    target: &[f64; L],
) {
    let at = &design.at;
    let (scales, rest) = record[at.mean..].split_at_mut(at.steps - at.mean);
    let [steps, square, ..] = rest else { return };
    let mut weight = [0.0; L];
    for l in 0..L {
        let known = target[l].is_finite();
        let next = steps[l] + 1.0;
        steps[l] = if known { next } else { steps[l] };
        weight[l] = (1.0 / steps[l]).max(LEAST_WEIGHT);
    }
    let (means, rest) = scales.split_at_mut(at.variance - at.mean);
    let (variances, factors) = rest.split_at_mut(at.factor - at.variance);
    let scales = means.iter_mut().zip(variances).zip(factors);
    for (((mean, variance), factor), raw) in scales.zip(raw) {
        for l in 0..L {
            let known = target[l].is_finite();
            let mut scale = Scale {
                mean: mean[l],
                variance: variance[l],
            };
            scale.take(if known { raw[l] } else { f64::NAN }, weight[l]);
            let next = scale.factor();
            mean[l] = scale.mean;
            variance[l] = scale.variance;
            factor[l] = if known { next } else { factor[l] };
        }
    }
    for l in 0..L {
        let known = target[l].is_finite();
        let of_target = target[l] * target[l];
        let within = of_target.min(LARGEST * LARGEST * square[l]);
        let of_target = if square[l] > 0.0 { within } else { of_target };
        let next = square[l] + weight[l] * (of_target.min(f64::MAX) - square[l]);
        square[l] = if known { next } else { square[l] };
    }
}
