use clap::ValueEnum;
use lbbsp::narx::{self, Backtest, Config, Ema, LastValue, Narx, Part, Series, backtest};

use crate::error::Error;
use crate::series_file::Log;
use crate::train;

/// A simple rule that a model must beat to be of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Baseline {
    /// The last value
    Last,
    /// An exponential moving average, its smoothing factor the best one on the rows trained on
    Ema,
    /// One whose smoothing factor follows its errors
    EmaAdaptive,
    /// A linear model of the target's past, trained on the same rows with the same lags
    Ar,
    /// The same of target and inputs
    Arx,
}

impl Baseline {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Last => "last",
            Self::Ema => "ema",
            Self::EmaAdaptive => "ema-adaptive",
            Self::Ar => "ar",
            Self::Arx => "arx",
        }
    }

    /// Whether it needs rows to learn from.
    pub(crate) fn learns(self) -> bool {
        matches!(self, Self::Ema | Self::Ar | Self::Arx)
    }

    /// Those that make sense beside a model of this configuration.
    pub(crate) fn usual(config: &Config) -> Vec<Self> {
        let makes_sense = |baseline: &Self| match baseline {
            Self::Ar => !config.output_lags.is_empty(),
            Self::Arx => !config.inputs.is_empty(),
            _ => true,
        };
        let all = Self::value_variants().iter().copied();
        all.filter(makes_sense).collect()
    }
}

/// Something that forecasts, under a name.
#[derive(Debug)]
pub(crate) struct Contender {
    pub(crate) name: String,
    rule: Rule,
}

#[derive(Debug)]
enum Rule {
    Last,
    Ema(Ema),
    EmaAdaptive,
    Model(Box<Narx>),
}

impl Contender {
    pub(crate) fn model(name: &str, model: Narx) -> Self {
        Self {
            name: name.to_owned(),
            rule: Rule::Model(Box::new(model)),
        }
    }

    /// A rule as it is after the rows in `trained`, beside a model of this configuration.
    pub(crate) fn baseline(
        baseline: Baseline,
        log: &Log,
        trained: &Part,
        config: &Config,
    ) -> Result<Self, Error> {
        let name = baseline.name();
        let linear = |config: &Config| {
            let trained = train::train(log, trained, &config.linear(), name)?;
            Ok(Rule::Model(Box::new(trained.model)))
        };
        let rule = match baseline {
            Baseline::Last => Rule::Last,
            Baseline::EmaAdaptive => Rule::EmaAdaptive,
            Baseline::Ema => Rule::Ema(tuned(&log.series, trained)?),
            Baseline::Arx => linear(config)?,
            Baseline::Ar => linear(&Config {
                inputs: Vec::new(),
                ..config.clone()
            })?,
        };
        let name = name.to_owned();
        Ok(Self { name, rule })
    }

    /// Its forecasts of the first output.
    pub(super) fn backtest(
        &self,
        series: &Series,
        scored: &Part,
        horizon: usize,
    ) -> Result<Backtest, narx::Error> {
        match &self.rule {
            Rule::Last => backtest(series, scored, 0, &[], horizon, |_| LastValue::new()),
            Rule::Ema(ema) => backtest(series, scored, 0, &[], horizon, |_| ema.clone()),
            Rule::EmaAdaptive => backtest(series, scored, 0, &[], horizon, |_| Ema::adaptive()),
            Rule::Model(model) => {
                let predictor = model.predictor()?;
                let place = |name| series.inputs().iter().position(|input| input == name);
                let inputs = model.inputs().map(|(name, _)| place(name));
                let inputs: Option<Vec<usize>> = inputs.collect();
                let inputs = inputs.expect("the columns of every model were read");
                backtest(series, scored, 0, &inputs, horizon, |_| predictor.clone())
            }
        }
    }
}

/// The average whose smoothing factor is the best one on the rows trained on, session after session.
fn tuned(series: &Series, trained: &Part) -> Result<Ema, Error> {
    let sessions = series.sessions().iter().zip(trained.ranges());
    let rows = sessions.map(|(session, rows)| &session.output(0)[rows.clone()]);
    Ema::tuned(&rows.collect::<Vec<_>>().concat()).map_err(Error::narx)
}
