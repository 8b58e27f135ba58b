use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use super::candidate::Candidate;
use super::interval::Interval;
use crate::Error;

/// The newest error's weight in each running scale. How long a spell of large errors lasts differs
/// from series to series, from two steps to hundreds.
const WEIGHTS: [f64; 6] = [0.003, 0.01, 0.03, 0.1, 0.3, 0.6];

/// How much the logarithm of the width changes for each miss too many. Higher holds the coverage
/// of 150 steps closer, but widens and narrows for no reason: 0.1 missed the 2 % around 90 %
/// about three times as often, 0.2 costs another 1 % of interval score.
const GAIN: f64 = 0.15;

/// The share of old misses that is forgotten a step, so that a spell that no width could have
/// helped is not paid for ever after.
const FORGOTTEN: f64 = 0.005;

/// From this many misses too many on, the series has changed, and the width grows by leaps: this
/// share of the square of what is above.
const ALARM: f64 = 4.0;
const LEAP: f64 = 0.3;

/// Bounds of the misses too many. A series that is forecast exactly for a while, then not, must
/// not have saved up hundreds of misses.
const MOST_SAVED: f64 = -20.0;
const MOST_OWED: f64 = 20.0;

/// An error counts as at most this many times the largest running scale, so that one reading of
/// 1e300 does not widen the intervals for thousands of steps. Rare jumps of a hundredfold are real.
const LARGEST_ERROR: f64 = 100.0;

/// Intervals around the forecasts of a stream that hold the share `coverage` of the true values,
/// however the series changes, without a setting to tune.
///
/// Half the width is exp(m + feedback). m is the mean of ln(scale · multiplier) over six running
/// means of the absolute error, from short to long memory, each with its own multiplier; the ones
/// with the smallest recent interval scores count most. The feedback is what holds the coverage:
/// it grows with the misses there were beyond the share allowed (adaptive conformal inference,
/// Gibbs and Candès 2021, equation 2, with a memory that fades; in the terms of conformal PID
/// control, Angelopoulos, Candès and Tibshirani 2023, it is the quantile tracking and the error
/// integration, and m is the scorecasting). The intervals are symmetric about the forecast.
///
/// Everything takes constant time and no memory beyond the value itself. An interval of a finite
/// forecast is finite, holds the forecast, and has a positive width. As long as each of n values
/// was forecast exactly, also for n = 0, half the width is |forecast| / (n + 1).
///
/// For forecasts of several steps ahead keep one for each horizon, and hand each value in with the
/// forecast and interval that were made for it, see [`observe_issued`](Self::observe_issued).
///
/// # Example
/// ```
/// use narx::{AdaptiveConformal, Ema, Forecaster};
/// let (mut rule, mut conformal) = (Ema::adaptive(), AdaptiveConformal::new(0.9)?);
/// let (mut held, mut forecast) = (0, [f64::NAN]);
/// for t in 0..1000 {
///     let y = 100.0 + f64::from(t * t % 37); // in use: a measured speed
///     held += u32::from(conformal.interval(forecast[0]).contains(y));
///     conformal.observe(y, forecast[0]);
///     rule.observe(y, &[]);
///     rule.forecast(&[], &mut forecast);
/// }
/// assert!((890..=910).contains(&held), "{held} of 1000");
/// # Ok::<(), narx::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct AdaptiveConformal(State);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct State {
    coverage: f64,
    seen: u64,
    /// Misses beyond the share allowed, the old ones fading.
    owed: f64,
    /// Running means of the absolute error; all 0 until the first error that is not 0.
    scales: [f64; WEIGHTS.len()],
    running: [Candidate; WEIGHTS.len()],
    outside: Candidate,
}

impl AdaptiveConformal {
    /// Intervals that are to hold the share `coverage` of the values, from 0.5 to 0.999.
    ///
    /// # Errors
    /// [`Error::Setting`] if `coverage` is outside that range.
    pub fn new(coverage: f64) -> Result<Self, Error> {
        check_coverage(coverage)?;
        // Until more is known the errors are taken as normal.
        let deviations = Normal::standard().inverse_cdf(0.5 + 0.5 * coverage);
        let deviations_a_mean_error = (0.5 * std::f64::consts::PI).sqrt();
        Self::try_from(State {
            coverage,
            seen: 0,
            owed: 0.0,
            scales: [0.0; WEIGHTS.len()],
            running: [Candidate::new(deviations * deviations_a_mean_error); WEIGHTS.len()],
            outside: Candidate::new(deviations),
        })
    }

    /// The share of values that the intervals are to hold.
    pub fn coverage(&self) -> f64 {
        self.0.coverage
    }

    /// Where the value with this forecast is expected. Missing if the forecast is.
    pub fn interval(&self, forecast: f64) -> Interval {
        self.interval_with_sd(forecast, f64::NAN)
    }

    /// The same where something else, such as a Kalman filter, foresees how large the error will
    /// be: `sd`, in any unit that does not change.
    ///
    /// It is one more scale beside the running ones, with its own multiplier, and counts as much
    /// as it turned out to be worth. One that is not a positive number is as good as none.
    pub fn interval_with_sd(&self, forecast: f64, sd: f64) -> Interval {
        if !forecast.is_finite() {
            return Interval::MISSING;
        }
        let half = match self.0.log_half(sd) {
            Some(log_half) => (log_half + self.0.feedback()).exp(),
            None => forecast.abs() / (self.0.seen as f64 + 1.0),
        };
        // A half width below the last digit of the forecast would leave nothing.
        let interval = Interval::around(forecast, half);
        Interval {
            low: interval.low.min(forecast.next_down()).max(f64::MIN),
            high: interval.high.max(forecast.next_up()).min(f64::MAX),
        }
    }

    /// Takes in the value that came true and its forecast. If either is missing, nothing changes.
    pub fn observe(&mut self, y: f64, forecast: f64) {
        self.observe_with_sd(y, forecast, f64::NAN);
    }

    /// The same for a forecast whose interval was made with `sd`.
    pub fn observe_with_sd(&mut self, y: f64, forecast: f64, sd: f64) {
        self.observe_issued(y, forecast, sd, self.interval_with_sd(forecast, sd));
    }

    /// The same for a forecast of several steps ahead, whose interval, `issued`, was made when
    /// less was known. `sd` is NaN if there was none.
    pub fn observe_issued(&mut self, y: f64, forecast: f64, sd: f64, issued: Interval) {
        if y.is_finite() && forecast.is_finite() && issued.is_known() {
            self.0.count(issued.contains(y));
            self.0.learn(y, forecast, sd);
        }
    }
}

impl State {
    /// The logarithm of half the width before the feedback; none if there is no scale yet.
    fn log_half(&self, sd: f64) -> Option<f64> {
        let candidates = self.running.iter().zip(self.scales);
        let candidates = candidates.chain([(&self.outside, sd)]);
        let usable = candidates.filter(|(_, scale)| is_scale(*scale));
        // One that has not been tried says nothing, as long as another one was.
        let tried = usable.clone().any(|(candidate, _)| candidate.is_tried());
        let usable = usable.filter(|(candidate, _)| candidate.is_tried() || !tried);
        let losses = usable.clone().map(|(candidate, _)| candidate.loss());
        let least = losses.reduce(f64::min)?;
        let (mut sum, mut weights) = (0.0, 0.0);
        for (candidate, scale) in usable {
            let weight = candidate.weight(least);
            sum += weight * candidate.log_half(scale);
            weights += weight;
        }
        Some(sum / weights)
    }

    fn feedback(&self) -> f64 {
        let alarm = (self.owed - ALARM).max(0.0);
        GAIN * self.owed + LEAP * alarm * alarm
    }

    fn missed(&self) -> f64 {
        1.0 - self.coverage
    }

    fn count(&mut self, held: bool) {
        let excess = f64::from(u8::from(!held)) - self.missed();
        let owed = (1.0 - FORGOTTEN) * self.owed + excess;
        self.owed = owed.clamp(MOST_SAVED, MOST_OWED);
    }

    fn learn(&mut self, y: f64, forecast: f64, sd: f64) {
        let largest = self.scales.iter().copied().fold(0.0, f64::max);
        let error = tamed_error(y, forecast, largest);
        let missed = self.missed();
        self.seen = self.seen.saturating_add(1);
        if is_scale(sd) {
            self.outside.learn(error, sd, missed);
        }
        let started = largest > 0.0 || error > 0.0;
        for ((scale, candidate), weight) in
            self.scales.iter_mut().zip(&mut self.running).zip(WEIGHTS)
        {
            if largest > 0.0 {
                candidate.learn(error, *scale, missed);
            }
            *scale += weight.max(1.0 / self.seen as f64) * (error - *scale);
            if started {
                *scale = scale.max(f64::MIN_POSITIVE);
            }
        }
    }
}

/// The absolute error, unless it is both far above every scale and above what value and forecast
/// have in common: then the larger of these two.
fn tamed_error(y: f64, forecast: f64, largest_scale: f64) -> f64 {
    let error = (y - forecast).abs().min(f64::MAX);
    if largest_scale == 0.0 {
        return error;
    }
    let common = y.abs().min(forecast.abs());
    error.min(common.max(LARGEST_ERROR * largest_scale))
}

fn is_scale(scale: f64) -> bool {
    scale > 0.0 && scale.is_finite()
}

fn check_coverage(coverage: f64) -> Result<(), Error> {
    let in_range = (0.5..=0.999).contains(&coverage);
    Error::check("coverage", "from 0.5 to 0.999", coverage, in_range)
}

impl TryFrom<State> for AdaptiveConformal {
    type Error = Error;

    fn try_from(state: State) -> Result<Self, Error> {
        check_coverage(state.coverage)?;
        let in_range = (MOST_SAVED..=MOST_OWED).contains(&state.owed);
        Error::check("owed", "from -20 to 20", state.owed, in_range)?;
        let nothing = state.scales.iter().all(|scale| *scale == 0.0);
        for &scale in &state.scales {
            let in_range = nothing || (is_scale(scale) && state.seen > 0);
            let expected = "positive and finite, or 0 like all others";
            Error::check("scale", expected, scale, in_range)?;
        }
        state.running.iter().try_for_each(Candidate::check)?;
        state.outside.check()?;
        Ok(Self(state))
    }
}

impl From<AdaptiveConformal> for State {
    fn from(conformal: AdaptiveConformal) -> Self {
        conformal.0
    }
}
