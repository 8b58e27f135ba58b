use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::config::{Covariance, OnlineConfig};
use super::learner::{Design, Room, View, Warm};
use super::track::Track;
use crate::config::Skip;
use crate::{Error, Forecaster, Narx};

/// Room for as many regressors as a forecast handles without allocating.
pub(super) type Few = SmallVec<[f64; 64]>;

/// A small NARX network that an extended Kalman filter trains on every step (Singhal and Wu 1989,
/// "Training multilayer perceptrons with the extended Kalman algorithm"; Puskorius and Feldkamp
/// 1994, "Neurocontrol of nonlinear dynamical systems with Kalman filter trained recurrent
/// networks").
///
/// It needs no training data: at first it forecasts the last value, and what it learns is the change
/// from it. There is nothing to tune: the scales of the series, the noise and with it the speed of
/// learning are estimated as it goes. Errors of more than four standard deviations teach no more
/// than one of four, jumps are taken as [`Jumps`](crate::Jumps) says. Where an input leaves the
/// range that it was in, the forecast goes back to the last value. Without hidden units
/// ([`OnlineConfig::linear`]) it is recursive least squares.
///
/// A missing input counts as its mean, a missing value as what was forecast for it. A step takes a
/// few microseconds and does not allocate (up to 64 regressors).
///
/// # Example
/// ```
/// use narx::{Forecaster, Online, OnlineConfig};
/// let mut online = Online::new(&OnlineConfig::new(1))?;
/// let (mut last, mut forecast) = (0.0, [0.0]);
/// for t in 0..500 {
///     let load = f64::from(t * t % 7); // known when the step begins
///     online.forecast(&[load], &mut forecast);
///     last = 100.0 / (1.0 + load);
///     online.observe(last, &[load]);
/// }
/// assert!((forecast[0] - last).abs() < 5.0);
/// # Ok::<(), narx::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct Online {
    config: OnlineConfig,
    design: Design,
    track: Track,
    /// What it has learnt, see [`Design`].
    record: Vec<[f64; 1]>,
    room: Room<1>,
    raw: Vec<[f64; 1]>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    config: OnlineConfig,
    warm: Option<Warm>,
    track: Track,
    record: Vec<f64>,
}

impl Online {
    /// A forecaster that has seen nothing yet.
    ///
    /// # Errors
    /// [`Error::Setting`] if a setting is outside its range or there are more than 300 weights with
    /// a full covariance, [`Error::Lags`] and [`Error::NoRegressors`] if the lags are wrong.
    pub fn new(config: &OnlineConfig) -> Result<Self, Error> {
        let design = Design::new(config)?;
        let record = design.record(config.seed);
        let track = Track::new(config);
        Ok(Self::of(config.clone(), design, track, &record))
    }

    /// A forecaster that begins with the network of a model, and with its scales. Its inputs are
    /// those that the model uses, in the order of [`Narx::inputs`].
    ///
    /// # Errors
    /// As [`new`](Self::new): more than 64 hidden units, over all starts that were averaged, or more
    /// than 300 weights are too many. [`Error::SeveralOutputs`] if the model has more than one.
    pub fn warm(model: &Narx, covariance: Covariance) -> Result<Self, Error> {
        let (frame, network) = model.parts();
        if frame.outputs != 1 {
            return Err(Error::SeveralOutputs { got: frame.outputs });
        }
        let (output, inputs) = (&frame.columns[0], &frame.columns[1..]);
        let config = OnlineConfig {
            output_lags: output.lags.clone(),
            inputs: inputs.iter().map(|input| input.lags.clone()).collect(),
            hidden: network.shape().hidden,
            covariance,
            ..OnlineConfig::new(0)
        };
        let noise = model.report().rmse() / output.scaler.unit();
        let noise = (noise * noise).clamp(1e-12, 1.0);
        let warm = Warm {
            log: output.scaler.is_log(),
            fixed_origin: frame.skip != Skip::LastValue,
            noise,
        };
        let design = Design::new(&config)?.warmed(Some(warm))?;
        let scalers = config.terms().map(|term| frame.columns[term.column].scaler);
        let record = design.record_of(network, scalers, output.scaler, noise);
        let track = Track::new(&config);
        Ok(Self::of(config, design, track, &record))
    }

    fn of(config: OnlineConfig, design: Design, track: Track, record: &[f64]) -> Self {
        Self {
            room: Room::new(&design.shape),
            raw: vec![[0.0]; design.shape.regressors],
            record: record.iter().map(|&number| [number]).collect(),
            config,
            design,
            track,
        }
    }

    /// The settings.
    pub fn config(&self) -> &OnlineConfig {
        &self.config
    }

    /// Number of weights.
    pub fn weights(&self) -> usize {
        self.design.shape.weights()
    }

    /// The standard deviation of the error of the next forecast that the filter expects: the noise
    /// that it found in the series, and what is not known of the weights. In the unit of the series
    /// (of its logarithms, if it began with a model of these); NaN before the first value.
    /// It allocates.
    pub fn deviation(&self, inputs_now: &[f64]) -> f64 {
        if self.track.last().is_none() {
            return f64::NAN;
        }
        let mut raw: Few = SmallVec::from_elem(0.0, self.design.shape.regressors);
        self.track.regressors(inputs_now, &[], &mut raw);
        let spread = self.design.spread(&self.record, raw.as_chunks().0);
        let variance = self.design.noise(&self.record) + spread;
        variance.min(f64::MAX).sqrt()
    }

    /// What follows the value `last`, as the network forecasts it from the regressors `raw`.
    fn after(&self, last: f64, raw: &[f64], view: &mut View<1>) -> f64 {
        let start = self.design.origin(&self.record, last) - last;
        let raw = raw.as_chunks().0;
        let [change] = self.design.forecast(&self.record, raw, &[start], view);
        finite(last + change)
    }

    /// Looks at the coming step, which is then learnt from; returns its forecast.
    fn look(&mut self, inputs: &[f64]) -> f64 {
        let Some(last) = self.track.last() else {
            return f64::NAN;
        };
        let raw = self.raw.as_flattened_mut();
        self.track.regressors(inputs, &[], raw);
        let start = self.design.origin(&self.record, last) - last;
        let view = &mut self.room.view;
        let [change] = self
            .design
            .forecast(&self.record, &self.raw, &[start], view);
        finite(last + change)
    }

    /// What the network works in.
    fn unit(&self, y: f64) -> f64 {
        // A logarithm that there is not is missing.
        if self.design.is_log() { y.ln() } else { y }
    }

    fn value(&self, unit: f64) -> f64 {
        finite(if self.design.is_log() {
            unit.exp()
        } else {
            unit
        })
    }
}

/// The nearest finite number; NaN stays.
pub(super) fn finite(value: f64) -> f64 {
    value.clamp(f64::MIN, f64::MAX)
}

impl Forecaster for Online {
    fn observe(&mut self, y: f64, inputs: &[f64]) {
        let y = self.unit(y);
        let forecast = self.look(inputs);
        let judged = self.track.judge(y, forecast);
        if let Some(shift) = judged.shift {
            self.design.shift_output(&mut self.record, 0, shift);
            self.look(inputs);
        }
        let value = judged.taken.then_some(y);
        if let (Some(y), Some(last)) = (value, self.track.last()) {
            let target = [y - self.design.origin(&self.record, last)];
            self.design
                .learn(&mut self.record, &self.raw, &target, &mut self.room);
        }
        self.track.push(value, forecast, inputs);
    }

    fn forecast(&self, inputs_now: &[f64], out: &mut [f64]) {
        let Some(mut last) = self.track.last() else {
            return out.fill(f64::NAN);
        };
        let mut raw: Few = SmallVec::from_elem(0.0, self.design.shape.regressors);
        let mut view = View::new(&self.design.shape);
        for step in 0..out.len() {
            let (past, rest) = out.split_at_mut(step);
            self.track.regressors(inputs_now, past, &mut raw);
            last = self.after(last, &raw, &mut view);
            rest[0] = last;
        }
        for forecast in out {
            *forecast = self.value(self.track.blend(*forecast));
        }
    }
}

impl PartialEq for Online {
    fn eq(&self, other: &Self) -> bool {
        self.config == other.config
            && self.design == other.design
            && self.track == other.track
            && self.record == other.record
    }
}

impl TryFrom<State> for Online {
    type Error = Error;

    fn try_from(state: State) -> Result<Self, Error> {
        let design = Design::new(&state.config)?.warmed(state.warm)?;
        state.track.check(&state.config)?;
        design.check(&state.record)?;
        Ok(Self::of(state.config, design, state.track, &state.record))
    }
}

impl From<Online> for State {
    fn from(online: Online) -> Self {
        Self {
            record: online.record.into_flattened(),
            warm: online.design.warm(),
            config: online.config,
            track: online.track,
        }
    }
}
