use clap::ValueEnum;
use lbbsp::narx::{
    self, Backtest, Config, Corrected, Ema, Forecaster, Guarded, LastValue, Narx, Online, Part,
    Series, backtest,
};

use crate::error::Error;
use crate::online::{self, Learners};
use crate::series_file::Log;
use crate::train;

/// What the mixture of online forecasters is called.
pub(super) const GUARDED: &str = "guarded";

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
    /// Names of the inputs that it is given, in their order.
    inputs: Vec<String>,
}

#[derive(Debug)]
enum Rule {
    Last,
    Ema(Ema),
    EmaAdaptive,
    Model(Box<Narx>),
    Guarded(Box<Guarded>),
    Online(Box<Online>),
    Corrected(Box<Corrected>),
}

impl Contender {
    pub(crate) fn model(name: &str, model: Narx) -> Self {
        let inputs = model.inputs().map(|(name, _)| name.to_owned()).collect();
        Self {
            name: name.to_owned(),
            rule: Rule::Model(Box::new(model)),
            inputs,
        }
    }

    /// `guarded`, and the two of its members that are networks.
    pub(crate) fn learners(learners: &Learners) -> [Self; 3] {
        let guarded = &learners.guarded;
        let (online, corrected) = (guarded.online(), guarded.corrected());
        let rules = [
            (GUARDED, Rule::Guarded(Box::new(guarded.clone()))),
            ("online", Rule::Online(Box::new(online.clone()))),
            ("corrected", Rule::Corrected(Box::new(corrected.clone()))),
        ];
        rules.map(|(name, rule)| Self {
            name: name.to_owned(),
            rule,
            inputs: learners.inputs.clone(),
        })
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
            Ok(Self::model(name, trained.model))
        };
        let rule = match baseline {
            Baseline::Last => Rule::Last,
            Baseline::EmaAdaptive => Rule::EmaAdaptive,
            Baseline::Ema => Rule::Ema(tuned(&log.series, trained)?),
            Baseline::Arx => return linear(config),
            Baseline::Ar => {
                return linear(&Config {
                    inputs: Vec::new(),
                    ..config.clone()
                });
            }
        };
        Ok(Self {
            name: name.to_owned(),
            rule,
            inputs: Vec::new(),
        })
    }

    /// Its forecasts of the first output.
    pub(super) fn backtest(
        &self,
        series: &Series,
        scored: &Part,
        horizon: usize,
    ) -> Result<Backtest, narx::Error> {
        let inputs = online::places(series, &self.inputs);
        let run = Run {
            series,
            scored,
            inputs: &inputs,
            horizon,
        };
        match &self.rule {
            Rule::Last => run.of(&LastValue::new()),
            Rule::Ema(ema) => run.of(ema),
            Rule::EmaAdaptive => run.of(&Ema::adaptive()),
            Rule::Model(model) => run.of(&model.predictor()?),
            Rule::Guarded(guarded) => run.of(&**guarded),
            Rule::Online(online) => run.of(&**online),
            Rule::Corrected(corrected) => run.of(&**corrected),
        }
    }
}

struct Run<'a> {
    series: &'a Series,
    scored: &'a Part,
    inputs: &'a [usize],
    horizon: usize,
}

impl Run<'_> {
    /// Each session begins with a copy.
    fn of(&self, start: &(impl Forecaster + Clone)) -> Result<Backtest, narx::Error> {
        let fresh = |_| start.clone();
        backtest(
            self.series,
            self.scored,
            0,
            self.inputs,
            self.horizon,
            fresh,
        )
    }
}

/// The average whose smoothing factor is the best one on the rows trained on, session after session.
fn tuned(series: &Series, trained: &Part) -> Result<Ema, Error> {
    let sessions = series.sessions().iter().zip(trained.ranges());
    let rows = sessions.map(|(session, rows)| &session.output(0)[rows.clone()]);
    Ema::tuned(&rows.collect::<Vec<_>>().concat()).map_err(Error::narx)
}
