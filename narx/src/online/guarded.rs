use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::config::OnlineConfig;
use super::corrected::Corrected;
use super::mixture::{MEMBERS, Mixture};
use super::single::Online;
use super::smoother::Smoother;
use crate::{Error, Forecaster, LastValue};

/// A forecast that [`Guarded`] mixes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Member {
    /// The last value.
    LastValue,
    /// A moving average whose smoothing factor adapts.
    Average,
    /// A linear model trained by recursive least squares (ARX).
    Linear,
    /// [`Online`].
    Online,
    /// [`Corrected`].
    Corrected,
}

impl Member {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::LastValue => "last value",
            Self::Average => "average",
            Self::Linear => "linear",
            Self::Online => "online",
            Self::Corrected => "corrected",
        }
    }

    /// All of them, in the order of [`Guarded::weights`].
    pub const ALL: [Self; MEMBERS] = [
        Self::LastValue,
        Self::Average,
        Self::Linear,
        Self::Online,
        Self::Corrected,
    ];
}

impl std::fmt::Display for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// A network that goes on learning, held by simple rules: never much worse than the best of them.
///
/// It mixes the last value, an adaptive moving average, recursive least squares, [`Online`] and
/// [`Corrected`], each by its recent squared errors (AdaHedge with discounted losses). Let ℓ be a
/// squared error, with forecasts cut to the range of the values before; where the largest of a step
/// exceeds 10⁴ times the running mean loss, all of that step are scaled down by the same factor. Let
/// s(t) be the difference between the largest and the smallest ℓ of the members at step t; β = 0.995
/// the discount, π the member's share at the start (0.02 for the last value, 0.38 for the average, 0.2
/// for the others). Then for every series, every member and every T
///
/// Σₜ βᵀ⁻ᵗ (ℓ(mixture) − ℓ(member)) ≤ (1 + 2.5 ln 1/π) · (½ √(0.4 Σₜ β²⁽ᵀ⁻ᵗ⁾ s(t)²) + maxₜ βᵀ⁻ᵗ s(t)).
///
/// This is AdaHedge (de Rooij et al. 2014) on the losses β⁻ᵗ ℓ with the learning rate η = 0.4 / Δ, Δ the
/// mixability gap so far, and a prior: the mix losses add up to at most ℓ(member) + ln(1/π) / η, the
/// gaps to Δ; by Hoeffding's bound a gap is at most η s²/8, and at most s, so that
/// Δ² ≤ ¼ · 0.4 Σ s² + Δ max s. The square is convex, so the mixture loses at most the weighted mean.
///
/// A step takes about 10 µs and does not allocate, nor does a forecast of up to 8 steps.
///
/// # Example
/// ```
/// use narx::{Forecaster, Guarded};
/// let mut guarded = Guarded::new(1)?; // one input: the load when a step begins
/// let mut speeds = [0.0; 3];
/// for t in 0..300 {
///     let load = f64::from(t % 4);
///     guarded.forecast(&[load], &mut speeds); // of this step and two more at this load
///     guarded.observe(200.0 - 30.0 * load, &[load]);
/// }
/// assert!((speeds[0] - 110.0).abs() < 2.0);
/// # Ok::<(), narx::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct Guarded(State);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    last: LastValue,
    average: Smoother,
    linear: Online,
    online: Online,
    corrected: Corrected,
    mixture: Mixture,
}

impl Guarded {
    /// A forecaster with so many inputs that has seen nothing yet.
    ///
    /// # Errors
    /// [`Error::Setting`] if there are more than 64 inputs.
    pub fn new(inputs: usize) -> Result<Self, Error> {
        const MOST: usize = 64;
        Error::check("inputs", "at most 64", inputs as f64, inputs <= MOST)?;
        Self::with(&OnlineConfig::new(inputs))
    }

    /// The same with an [`Online`] of these settings; the other members have the same lags, seed
    /// and way to take jumps.
    ///
    /// # Errors
    /// As [`Online::new`].
    pub fn with(config: &OnlineConfig) -> Result<Self, Error> {
        Self::around(Online::new(config)?)
    }

    /// The same with an [`Online`] that has learnt already.
    ///
    /// # Errors
    /// As [`Online::new`].
    pub fn around(online: Online) -> Result<Self, Error> {
        let config = online.config();
        let linear = OnlineConfig {
            output_lags: config.output_lags.clone(),
            inputs: config.inputs.clone(),
            jumps: config.jumps,
            // All weights of a linear model go into the same unit.
            covariance: config.covariance,
            ..OnlineConfig::linear(0)
        };
        Ok(Self(State {
            last: LastValue::new(),
            average: Smoother::new(config.jumps),
            linear: Online::new(&linear)?,
            corrected: Corrected::with_jumps(config.inputs.len(), config.seed, config.jumps)?,
            online,
            mixture: Mixture::new(),
        }))
    }

    /// How much each of [`Member::ALL`] counts; they add up to 1.
    pub fn weights(&self) -> [f64; MEMBERS] {
        self.0.mixture.weights()
    }

    /// Number of inputs that it reads.
    pub fn inputs(&self) -> usize {
        self.0.corrected.inputs()
    }

    /// Its [`Online`].
    pub fn online(&self) -> &Online {
        &self.0.online
    }

    /// Its [`Corrected`].
    pub fn corrected(&self) -> &Corrected {
        &self.0.corrected
    }

    /// What one of the members forecasts, see [`Forecaster::forecast`].
    pub fn forecast_of(&self, member: Member, inputs_now: &[f64], out: &mut [f64]) {
        match member {
            Member::LastValue => self.0.last.forecast(inputs_now, out),
            Member::Average => {
                let average = &self.0.average;
                let level = average.level().map(|level| average.blend(level));
                out.fill(level.unwrap_or(f64::NAN));
            }
            Member::Linear => self.0.linear.forecast(inputs_now, out),
            Member::Online => self.0.online.forecast(inputs_now, out),
            Member::Corrected => self.0.corrected.forecast(inputs_now, out),
        }
    }
}

impl Default for Guarded {
    /// One without inputs.
    fn default() -> Self {
        Self::new(0).expect("no inputs are few enough")
    }
}

impl Forecaster for Guarded {
    fn observe(&mut self, y: f64, inputs: &[f64]) {
        if y.is_finite() {
            let forecasts = Member::ALL.map(|member| {
                let mut forecast = [f64::NAN];
                self.forecast_of(member, inputs, &mut forecast);
                forecast[0]
            });
            self.0.mixture.observe(y, &forecasts);
        }
        self.0.last.observe(y, inputs);
        self.0.average.observe(y);
        self.0.linear.observe(y, inputs);
        self.0.online.observe(y, inputs);
        self.0.corrected.observe(y, inputs);
    }

    fn forecast(&self, inputs_now: &[f64], out: &mut [f64]) {
        let mixture = &self.0.mixture;
        let mut of_member: SmallVec<[f64; 8]> = SmallVec::from_elem(0.0, out.len());
        out.fill(f64::NAN);
        let mut total = 0.0;
        for (member, weight) in Member::ALL.into_iter().zip(mixture.weights()) {
            self.forecast_of(member, inputs_now, &mut of_member);
            if weight == 0.0 || of_member.iter().any(|forecast| forecast.is_nan()) {
                continue; // It has no say, or no forecast yet.
            }
            total += weight;
            let share = weight / total;
            for (mean, forecast) in out.iter_mut().zip(&of_member) {
                let forecast = mixture.clipped(*forecast);
                // A running mean: the sum of large forecasts could overflow.
                *mean = match mean.is_nan() {
                    true => forecast,
                    false => (1.0 - share) * *mean + share * forecast,
                };
            }
        }
    }
}

impl TryFrom<State> for Guarded {
    type Error = Error;

    fn try_from(state: State) -> Result<Self, Error> {
        state.average.check(state.online.config().jumps)?;
        state.mixture.check()?;
        let (online, linear) = (state.online.config(), state.linear.config());
        let alike = (&online.output_lags, &online.inputs) == (&linear.output_lags, &linear.inputs);
        let inputs = online.inputs.len();
        let alike = alike && state.corrected.inputs() == inputs;
        let expected = "the same for all members";
        Error::check("inputs", expected, inputs as f64, alike)?;
        Ok(Self(state))
    }
}

impl From<Guarded> for State {
    fn from(guarded: Guarded) -> Self {
        guarded.0
    }
}
