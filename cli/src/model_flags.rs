use clap::ValueEnum;
use lbbsp::narx::{Algorithm, Config, Loss, Scaling, Series, Skip, Target, Training, Validation};

use crate::error::Error;
use crate::lags::{self, ColumnLags};

/// What a model looks like and how it is trained.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "The model and its training")]
pub(crate) struct ModelFlags {
    /// Lags by column, such as speed=1..4,cpu=0+1+24: `..` includes both ends, `none` takes a column
    /// out; lag 0 of an input means that it is known when the row begins, so columns measured during
    /// the row need lags from 1 [default: 1..2 for a target, 0..1 for an input]
    #[arg(long, value_name = "COLUMN=LAGS", value_delimiter = ',')]
    lags: Vec<ColumnLags>,
    /// How the weights are found [default: lm, with --closed-loop bayes]
    #[arg(long, value_enum)]
    algorithm: Option<TrainedBy>,
    /// Go on to train on the model's own forecasts, for forecasts of many steps
    #[arg(long)]
    closed_loop: bool,
    /// Hidden units; 0 makes a linear model
    #[arg(long, value_name = "NUMBER", default_value_t = Config::default().hidden)]
    hidden: usize,
    /// Where the random numbers start
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Independent starts [default: 6, fewer from 5000 rows on]
    #[arg(long, value_name = "NUMBER")]
    starts: Option<usize>,
    /// How many of the best starts make the model [default: all]
    #[arg(long, value_name = "NUMBER")]
    average: Option<usize>,
    /// How values are brought to the size of 1
    #[arg(long, value_enum, default_value = "standard")]
    scaling: Scaled,
    /// Direct connections past the hidden units
    #[arg(long, value_enum, default_value = "linear")]
    skip: Direct,
    /// Forecast the logarithm: for positive targets whose errors grow with their size
    #[arg(long)]
    log_target: bool,
    /// Count errors beyond so many standard deviations less than squared; 1.345 is usual
    #[arg(long, value_name = "DEVIATIONS", allow_hyphen_values = true)]
    huber: Option<f64>,
    /// Last part of the rows to train on that says when to stop; 0 learns from all of them
    /// [default: 0.15, with bayes or --closed-loop 0]
    #[arg(
        long,
        value_name = "SHARE",
        conflicts_with = "folds",
        allow_hyphen_values = true
    )]
    validation: Option<f64>,
    /// Cross-validate with so many blocks instead
    #[arg(long, value_name = "NUMBER")]
    folds: Option<usize>,
    /// Most epochs of a start
    #[arg(long, value_name = "NUMBER", default_value_t = Training::default().max_epochs)]
    max_epochs: usize,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum TrainedBy {
    /// Levenberg-Marquardt, stopped by the validation rows
    Lm,
    /// Levenberg-Marquardt with Bayesian regularisation
    Bayes,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Scaled {
    /// Mean 0, standard deviation 1
    Standard,
    /// -1 to 1
    MinMax,
    /// Median 0, half the interquartile range 1
    Robust,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Direct {
    /// A weight from each lagged value to each target
    Linear,
    /// The last value is added, so that the change is forecast
    LastValue,
    None,
}

impl ModelFlags {
    /// The configuration for a data set of these names.
    pub(crate) fn config(&self, series: &Series) -> Result<Config, Error> {
        let (output_lags, inputs) = lags::of_series(series, &self.lags)?;
        Ok(Config {
            output_lags,
            inputs,
            hidden: self.hidden,
            skip: match self.skip {
                Direct::Linear => Skip::Linear,
                Direct::LastValue => Skip::LastValue,
                Direct::None => Skip::None,
            },
            scaling: match self.scaling {
                Scaled::Standard => Scaling::Standard,
                Scaled::MinMax => Scaling::MinMax,
                Scaled::Robust => Scaling::Robust,
            },
            target: if self.log_target {
                Target::Log
            } else {
                Target::Value
            },
            training: self.training(),
        })
    }

    fn training(&self) -> Training {
        let usual = match (self.closed_loop, self.algorithm) {
            (true, _) => Training::closed_loop(),
            (false, Some(TrainedBy::Bayes)) => bayes(),
            (false, _) => Training::default(),
        };
        let tail = |share| match share {
            0.0 => Validation::None,
            share => Validation::Tail { share },
        };
        let folds = self.folds.map(|folds| Validation::Folds { folds });
        Training {
            algorithm: match self.algorithm {
                None => usual.algorithm,
                Some(TrainedBy::Lm) => Algorithm::Lm,
                Some(TrainedBy::Bayes) => Algorithm::Bayes,
            },
            loss: match self.huber {
                None => Loss::Squares,
                Some(threshold) => Loss::Huber { threshold },
            },
            validation: folds
                .or(self.validation.map(tail))
                .unwrap_or(usual.validation),
            max_epochs: self.max_epochs,
            starts: self.starts,
            average: self.average,
            seed: self.seed,
            ..usual
        }
    }
}

/// Bayesian regularisation needs no rows that say when to stop, so it learns from all.
pub(crate) fn bayes() -> Training {
    Training {
        algorithm: Algorithm::Bayes,
        validation: Validation::None,
        ..Training::default()
    }
}
