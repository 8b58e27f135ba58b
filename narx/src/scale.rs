use serde::{Deserialize, Serialize};

use crate::config::{Scaling, Target};

/// A change of units that brings values to the size of 1: (value − shift) / spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scaler {
    shift: f64,
    spread: f64,
    /// 1 / spread.
    factor: f64,
    /// Whether the logarithm of the value is scaled.
    log: bool,
}

/// A spread below this share of the values' own size is rounding, not information.
const NEARLY_CONSTANT: f64 = 1e-9;

impl Scaler {
    /// The scaler of the finite ones of `values`; None if there is no finite value or they are
    /// (nearly) all the same.
    pub(crate) fn fitted(
        kind: Scaling,
        target: Target,
        values: impl Iterator<Item = f64> + Clone,
    ) -> Option<Self> {
        let log = target == Target::Log;
        let values = values
            .map(move |value| if log { logarithm(value) } else { value })
            .filter(|value| value.is_finite());
        let (low, high) = range(values.clone())?;
        let size = low.abs().max(high.abs());
        if high - low <= NEARLY_CONSTANT * size {
            return None;
        }
        let (middle, half_range) = ((low / 2.0 + high / 2.0), (high / 2.0 - low / 2.0));
        let (shift, spread) = match kind {
            Scaling::MinMax => (middle, half_range),
            Scaling::Standard => moments(values, middle, half_range),
            Scaling::Robust => quartiles(values.collect()),
        };
        // More than half of the values are equal: their quartiles say nothing.
        let spread = if spread > NEARLY_CONSTANT * size {
            spread
        } else {
            half_range
        };
        let factor = 1.0 / spread;
        (factor.is_finite() && factor > 0.0).then_some(Self {
            shift,
            spread,
            factor,
            log,
        })
    }

    /// A scaler for an output that (nearly) never changes: 0 stands for `value`.
    pub(crate) fn constant(target: Target, value: f64) -> Option<Self> {
        let log = target == Target::Log;
        let shift = if log { logarithm(value) } else { value };
        // No other value of the output is further away than this.
        let spread = (NEARLY_CONSTANT * shift.abs()).max(1.0);
        shift.is_finite().then_some(Self {
            shift,
            spread,
            factor: 1.0 / spread,
            log,
        })
    }

    #[inline(always)]
    pub(crate) fn scale(&self, value: f64) -> f64 {
        let value = if self.log { logarithm(value) } else { value };
        let scaled = (value - self.shift) * self.factor;
        // Missing is NaN from here on.
        if scaled.is_finite() { scaled } else { f64::NAN }
    }

    #[inline(always)]
    pub(crate) fn unscale(&self, scaled: f64) -> f64 {
        let value = scaled * self.spread + self.shift;
        let value = if self.log { value.exp() } else { value };
        value.clamp(-f64::MAX, f64::MAX)
    }

    /// What becomes 0; of the logarithms if these are scaled.
    pub(crate) fn shift(&self) -> f64 {
        self.shift
    }

    /// By how much a value has to change to change by 1.
    pub(crate) fn spread(&self) -> f64 {
        self.spread
    }

    /// Whether logarithms are scaled.
    pub(crate) fn is_log(&self) -> bool {
        self.log
    }

    /// The size of a typical value, in the units of the series.
    pub(crate) fn unit(&self) -> f64 {
        if self.log {
            self.shift.exp().clamp(f64::MIN_POSITIVE, f64::MAX)
        } else {
            self.spread
        }
    }

    /// Whether this came from a file that this crate could have written.
    pub(crate) fn is_sound(&self) -> bool {
        self.shift.is_finite() && self.factor > 0.0 && self.factor == 1.0 / self.spread
    }
}

/// NaN if there is none.
fn logarithm(value: f64) -> f64 {
    if value > 0.0 { value.ln() } else { f64::NAN }
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let wider = |range: Option<(f64, f64)>, value: f64| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    };
    values.fold(None, wider)
}

/// Mean and standard deviation, computed in units of the range so that no square overflows.
fn moments(values: impl Iterator<Item = f64> + Clone, middle: f64, half_range: f64) -> (f64, f64) {
    let unit = |value: f64| (value - middle) / half_range;
    let n = values.clone().count() as f64;
    let mean = values.clone().map(unit).sum::<f64>() / n;
    let variance = values
        .map(|value| (unit(value) - mean).powi(2))
        .sum::<f64>()
        / n;
    (middle + mean * half_range, variance.sqrt() * half_range)
}

/// Median and half the interquartile range.
fn quartiles(mut values: Vec<f64>) -> (f64, f64) {
    let mut at = |share: f64| {
        let place = ((values.len() - 1) as f64 * share).round() as usize;
        *values.select_nth_unstable_by(place, f64::total_cmp).1
    };
    let (low, median, high) = (at(0.25), at(0.5), at(0.75));
    (median, high / 2.0 - low / 2.0)
}
