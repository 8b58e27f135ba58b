use serde::{Deserialize, Serialize};

use super::history::Term;
use crate::Error;

/// Most weights of a full covariance: an update takes a few microseconds for 100 of them, and grows
/// with their square.
pub(super) const MOST_WEIGHTS: usize = 300;

/// Most hidden units.
pub(super) const MOST_HIDDEN: usize = 64;

/// Most inputs, and most regressors.
pub(super) const MOST_INPUTS: usize = 1000;

/// Longest lag, as every step moves the history on.
pub(super) const LONGEST_LAG: usize = 1000;

/// What an [`Online`](crate::Online) network looks like and how fast it learns. One default serves
/// every series.
///
/// # Example
/// ```
/// use narx::OnlineConfig;
/// let config = OnlineConfig { hidden: 5, ..OnlineConfig::new(2) };
/// assert_eq!(config.inputs, [[0, 1], [0, 1]]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnlineConfig {
    /// Lags d ≥ 1 of the series itself, increasing.
    pub output_lags: Vec<usize>,
    /// Per input its lags d ≥ 0, increasing; lag 0 is what is known when the step begins.
    pub inputs: Vec<Vec<usize>>,
    /// Hidden tanh units, at most 64; 0 makes a linear model, trained by recursive least squares.
    pub hidden: usize,
    /// Which pairs of weights have a covariance.
    pub covariance: Covariance,
    /// The share of the start's uncertainty about the weights that comes back at each step: how
    /// fast old rows are forgotten. From 0 (never) to below 1.
    pub forgetting: f64,
    /// How jumps are taken.
    pub jumps: Jumps,
    /// Where the random numbers of the first weights start.
    pub seed: u64,
}

impl OnlineConfig {
    /// Ten hidden units, the last two values of the series, and of each of `inputs` inputs the
    /// present and the last value. With many inputs there are fewer hidden units, so that there
    /// are at most 300 weights.
    pub fn new(inputs: usize) -> Self {
        const HIDDEN: usize = 10;
        // One too many is refused later.
        let inputs = inputs.min(MOST_INPUTS + 1);
        let regressors = 2 + 2 * inputs;
        let most = MOST_WEIGHTS.saturating_sub(regressors + 1) / (regressors + 2);
        Self {
            output_lags: vec![1, 2],
            inputs: vec![vec![0, 1]; inputs],
            hidden: HIDDEN.min(most),
            covariance: Covariance::Full,
            forgetting: 3e-5,
            jumps: Jumps::default(),
            seed: 0,
        }
    }

    /// A linear model (ARX) of the same lags: the filter is then recursive least squares.
    pub fn linear(inputs: usize) -> Self {
        Self {
            hidden: 0,
            forgetting: 1e-4,
            ..Self::new(inputs)
        }
    }

    /// How many values of the past and present a forecast is made from.
    pub(super) fn regressors(&self) -> usize {
        self.output_lags.len() + self.inputs.iter().map(Vec::len).sum::<usize>()
    }

    /// The regressors: those of steps that have passed first.
    pub(super) fn terms(&self) -> impl Iterator<Item = Term> {
        let columns = std::iter::once(&self.output_lags).chain(&self.inputs);
        let all = columns
            .enumerate()
            .flat_map(|(column, lags)| lags.iter().map(move |&lag| Term { column, lag }));
        let now = all.clone().filter(|term| term.lag == 0);
        all.filter(|term| term.lag > 0).chain(now)
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        increasing("output_lags", &self.output_lags, 1)?;
        for lags in &self.inputs {
            increasing("inputs", lags, 0)?;
        }
        if self.regressors() == 0 {
            return Err(Error::NoRegressors);
        }
        for (name, got) in [
            ("inputs", self.inputs.len()),
            ("regressors", self.regressors()),
        ] {
            Error::check(name, "at most 1000", got as f64, got <= MOST_INPUTS)?;
        }
        let hidden = self.hidden as f64;
        Error::check("hidden", "at most 64", hidden, self.hidden <= MOST_HIDDEN)?;
        let in_range = (0.0..1.0).contains(&self.forgetting);
        let expected = "at least 0 and below 1";
        Error::check("forgetting", expected, self.forgetting, in_range)?;
        self.jumps.check()
    }
}

fn increasing(of: &str, lags: &[usize], least: usize) -> Result<(), Error> {
    let of = || of.to_owned();
    let too_small = lags.first().filter(|&&lag| lag < least);
    let not_increasing = lags.windows(2).find(|pair| pair[0] >= pair[1]);
    let not_increasing = not_increasing.map(|pair| &pair[1]);
    if let Some(&lag) = too_small.or(not_increasing) {
        let of = of();
        return Err(Error::Lags { of, least, lag });
    }
    match lags.last() {
        Some(&lag) => Error::check("lag", "at most 1000", lag as f64, lag <= LONGEST_LAG),
        None => Ok(()),
    }
}

/// Which pairs of weights an extended Kalman filter keeps a covariance of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Covariance {
    /// All of them: n (n + 1) / 2 numbers for n weights, at most 300.
    Full,
    /// Those into the same unit (node-decoupled filter, Puskorius and Feldkamp 1991): a tenth of
    /// the memory and time, nearly as accurate.
    Nodes,
}

/// How a forecaster takes a value that is far from everything it expected.
///
/// The first such value is held back: nothing is learnt from it, and the next forecast moves
/// towards it by the share of earlier jumps that turned out to last. If the next value is as far
/// away, the level has shifted: the forecaster moves with it at once. Otherwise the held value was
/// a spike, and is forgotten. The price is one step of delay where a calm series shifts for the
/// first time. Where more than 2 % of the values are that far away, they are part of the series, and
/// taken as they come.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jumps {
    /// How many times the running root mean square of the forecast's errors a jump must exceed.
    /// Lower holds back smaller jumps, `f64::MAX` none.
    pub threshold: f64,
    /// The share of jumps that is thought to last before any was seen, from 0 to 1: the next
    /// forecast moves by it, so a first spike does harm by it, and a first shift is followed by it.
    pub expected: f64,
}

impl Default for Jumps {
    fn default() -> Self {
        Self {
            threshold: 20.0,
            expected: 0.04,
        }
    }
}

impl Jumps {
    pub(super) fn check(&self) -> Result<(), Error> {
        let in_range = self.threshold > 0.0 && self.threshold.is_finite();
        let expected = "positive and finite";
        Error::check("threshold", expected, self.threshold, in_range)?;
        let in_range = (0.0..=1.0).contains(&self.expected);
        Error::check("expected", "from 0 to 1", self.expected, in_range)
    }
}
