use serde::{Deserialize, Serialize};

use crate::Error;

/// What a NARX model looks like and how it is trained. Every default works.
///
/// # Example
/// ```
/// use narx::{Config, Input};
///
/// let config = Config {
///     output_lags: vec![1, 2],
///     inputs: vec![Input::new("cpu", [0, 1]), Input::new("mem", [0])],
///     ..Config::default()
/// };
/// assert_eq!(config.hidden, 10);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Lags d ≥ 1 of the outputs: ŷ(t) is made from y(t − d). Increasing, not necessarily
    /// consecutive; none makes a finite impulse response model.
    pub output_lags: Vec<usize>,
    /// The inputs used, each with its lags; none makes a purely autoregressive model.
    pub inputs: Vec<Input>,
    /// Hidden tanh units; 0 makes a linear model.
    pub hidden: usize,
    /// Direct connections from the regressors to the outputs.
    pub skip: Skip,
    /// How values are brought to the size of 1 before they enter the network.
    pub scaling: Scaling,
    /// What the network forecasts.
    pub target: Target,
    /// How the weights are found.
    pub training: Training,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            output_lags: vec![1, 2],
            inputs: Vec::new(),
            hidden: 10,
            skip: Skip::Linear,
            scaling: Scaling::Standard,
            target: Target::Value,
            training: Training::default(),
        }
    }
}

/// An input (driving series) and its lags.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Name of the series.
    pub name: String,
    /// Lags d ≥ 0: ŷ(t) is made from u(t − d). Lag 0 is for an input that is known when time t
    /// begins. Increasing, not necessarily consecutive.
    pub lags: Vec<usize>,
}

impl Input {
    /// An input with its lags.
    pub fn new(name: impl Into<String>, lags: impl IntoIterator<Item = usize>) -> Self {
        Self {
            name: name.into(),
            lags: lags.into_iter().collect(),
        }
    }
}

/// Direct connections from the regressors to the outputs, past the hidden layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// None.
    None,
    /// One trained weight from each regressor to each output.
    Linear,
    /// The last value of each output is added to it, so that the hidden units forecast the change.
    /// Needs output lag 1.
    LastValue,
}

/// How a series is scaled; fitted on the training rows only and stored in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scaling {
    /// Smallest and largest training value become −1 and 1.
    MinMax,
    /// Mean 0, standard deviation 1.
    Standard,
    /// Median 0, half the interquartile range 1: a few wild values do not matter.
    Robust,
}

/// What the network forecasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The output itself.
    Value,
    /// Its natural logarithm: for a positive output whose errors grow with its size. A value that
    /// is not positive is taken as missing.
    Log,
}

/// How the weights are found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// What is made small.
    pub loss: Loss,
    /// Most epochs (accepted steps) of one start.
    pub max_epochs: usize,
    /// Which rows judge the weights.
    pub validation: Validation,
    /// Epochs in a row without a better validation error after which a start ends.
    pub max_failures: usize,
    /// Independent starts from other random weights. Without a number it depends on the rows: 6 for
    /// at most 5,000 rows, 1 from 30,000 rows on. Few rows leave weights undetermined, and the mean
    /// of several starts makes up for it.
    pub starts: Option<usize>,
    /// How many of the best starts are averaged into one network, of that many times as many hidden
    /// units (each fold of a cross-validation counts); all of them without a number.
    pub average: Option<usize>,
    /// Training on the model's own past forecasts, after that on the measured past; by Levenberg–
    /// Marquardt with Bayesian regularisation.
    pub closed_loop: Option<ClosedLoop>,
    /// Where the random numbers start.
    pub seed: u64,
}

impl Default for Training {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::Lm,
            loss: Loss::Squares,
            max_epochs: 100,
            validation: Validation::Tail { share: 0.15 },
            max_failures: 6,
            starts: None,
            average: None,
            closed_loop: None,
            seed: 0,
        }
    }
}

/// The training algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Algorithm {
    /// Levenberg–Marquardt with early stopping (Hagan & Menhaj, 1994).
    Lm,
    /// Levenberg–Marquardt with Bayesian regularisation: the weights' share in the objective
    /// follows the evidence (MacKay, 1992; Foresee & Hagan, 1997).
    Bayes,
}

/// What training makes small.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// The sum of squared errors.
    Squares,
    /// Squares up to `threshold` robust standard deviations of the start's errors, linear beyond
    /// (Huber, 1964), so that single wild rows count little. 1.345 is usual.
    Huber {
        /// In standard deviations, estimated by the median of absolute errors.
        threshold: f64,
    },
}

/// Which of the training rows judge the weights instead of being learnt from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Validation {
    /// The last `share` of the rows of each session.
    Tail {
        /// Between 0 and 1, both excluded.
        share: f64,
    },
    /// Blocked cross-validation: the rows are cut into `folds` blocks in time; the start's score is
    /// that of models each trained without one block.
    Folds {
        /// At least 2.
        folds: usize,
    },
    /// None: every row is learnt from, starts are judged by the training objective.
    None,
}

/// Training on the multi-step error: the model is fed its own forecasts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClosedLoop {
    /// Steps that the model runs on its own forecasts, one stage after the other; 0 means to the
    /// end of each run of rows (of many rows, to the end of blocks of 512 of them).
    pub horizons: Vec<usize>,
    /// Most epochs of one stage.
    pub max_epochs: usize,
}

impl Default for ClosedLoop {
    fn default() -> Self {
        Self {
            horizons: vec![5, 20, 80, 0],
            max_epochs: 30,
        }
    }
}

impl Config {
    /// A linear model with the same lags (ARX; AR without inputs), fitted to all rows: by least
    /// squares, unless the loss is another one.
    ///
    /// # Example
    /// ```
    /// use narx::{Config, Series, Session, train};
    ///
    /// let mut y = vec![1.0, 0.8];
    /// for t in 2..50 {
    ///     y.push(1.2 * y[t - 1] - 0.5 * y[t - 2]);
    /// }
    /// let series = Series::new(["y"], [])?.with(Session::of(y, vec![])?)?;
    /// let (model, report) = train(&series, &Config::default().linear())?;
    /// assert!(report.rmse() < 1e-6);
    /// # Ok::<(), narx::Error>(())
    /// ```
    pub fn linear(&self) -> Self {
        Self {
            hidden: 0,
            skip: Skip::Linear,
            training: Training {
                validation: Validation::None,
                starts: Some(1),
                average: None,
                closed_loop: None,
                algorithm: Algorithm::Lm,
                ..self.training.clone()
            },
            ..self.clone()
        }
    }

    /// The longest lag, which is how many rows of history a forecast needs.
    pub fn longest_lag(&self) -> usize {
        let inputs = self.inputs.iter().flat_map(|input| &input.lags);
        self.output_lags
            .iter()
            .chain(inputs)
            .max()
            .copied()
            .unwrap_or(0)
    }

    /// Checks every setting.
    pub(crate) fn check(&self) -> Result<(), Error> {
        increasing("output_lags", &self.output_lags, 1)?;
        for input in &self.inputs {
            increasing(&input.name, &input.lags, 0)?;
        }
        let mut names: Vec<&String> = self.inputs.iter().map(|input| &input.name).collect();
        names.sort();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::DuplicateName {
                name: pair[0].clone(),
            });
        }
        if self.output_lags.is_empty() && self.inputs.iter().all(|input| input.lags.is_empty()) {
            return Err(Error::NoRegressors);
        }
        if self.skip == Skip::LastValue && self.output_lags.first() != Some(&1) {
            return Err(Error::LastValueLag);
        }
        if self.hidden == 0 && self.skip != Skip::Linear {
            return Err(Error::Setting {
                name: "hidden",
                expected: "at least 1 without linear direct connections",
                got: 0.0,
            });
        }
        at_most("hidden", self.hidden)?;
        self.training.check()
    }
}

impl Training {
    /// What free runs need: Bayesian regularisation on all rows, then the multi-step error.
    ///
    /// # Example
    /// ```
    /// use narx::{Config, Training};
    ///
    /// let config = Config { training: Training::closed_loop(), ..Config::default() };
    /// assert_eq!(config.training.closed_loop.unwrap().horizons, [5, 20, 80, 0]);
    /// ```
    pub fn closed_loop() -> Self {
        Self {
            closed_loop: Some(ClosedLoop::default()),
            ..Self::bayes()
        }
    }

    /// Bayesian regularisation, which learns from all rows and needs none to judge.
    pub fn bayes() -> Self {
        Self {
            algorithm: Algorithm::Bayes,
            validation: Validation::None,
            ..Self::default()
        }
    }

    /// The number of starts for that many complete rows: `starts`, or what stands there.
    pub fn starts_for(&self, rows: usize) -> usize {
        const ROWS_IN_ALL: usize = 30_000;
        const MOST: usize = 6;
        self.starts
            .unwrap_or((ROWS_IN_ALL / rows.max(1)).clamp(1, MOST))
    }

    fn check(&self) -> Result<(), Error> {
        at_least("starts", self.starts.unwrap_or(1), 1)?;
        at_most("starts", self.starts.unwrap_or(1))?;
        at_least("average", self.average.unwrap_or(1), 1)?;
        at_least("max_failures", self.max_failures, 1)?;
        if let Validation::Folds { folds } = self.validation {
            at_least("folds", folds, 2)?;
        }
        if let Validation::Tail { share } = self.validation {
            between("validation share", share, 0.0, 1.0)?;
        }
        if let Loss::Huber { threshold } = self.loss {
            between("Huber threshold", threshold, 0.0, f64::INFINITY)?;
        }
        let Some(closed) = &self.closed_loop else {
            return Ok(());
        };
        at_least("closed-loop horizons", closed.horizons.len(), 1)
    }
}

fn at_least(name: &'static str, got: usize, least: usize) -> Result<(), Error> {
    if got >= least {
        return Ok(());
    }
    Err(Error::Setting {
        name,
        expected: if least == 1 {
            "at least 1"
        } else {
            "at least 2"
        },
        got: got as f64,
    })
}

fn at_most(name: &'static str, got: usize) -> Result<(), Error> {
    const MOST: usize = 4096;
    if got <= MOST {
        return Ok(());
    }
    Err(Error::Setting {
        name,
        expected: "at most 4096",
        got: got as f64,
    })
}

fn between(name: &'static str, got: f64, low: f64, high: f64) -> Result<(), Error> {
    if got > low && got < high {
        return Ok(());
    }
    Err(Error::Setting {
        name,
        expected: if high.is_finite() {
            "between 0 and 1"
        } else {
            "positive and finite"
        },
        got,
    })
}

/// Most that a lag may be: far beyond any use, and small enough for the arithmetic on rows.
const LONGEST_LAG: usize = 1_000_000;

fn increasing(name: &str, lags: &[usize], least: usize) -> Result<(), Error> {
    let bad = |lag: usize| Error::Lags {
        of: name.to_owned(),
        least,
        lag,
    };
    if let Some(&first) = lags.first()
        && first < least
    {
        return Err(bad(first));
    }
    if let Some(pair) = lags.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Err(bad(pair[1]));
    }
    match lags.last() {
        Some(&last) if last > LONGEST_LAG => Err(bad(last)),
        _ => Ok(()),
    }
}
