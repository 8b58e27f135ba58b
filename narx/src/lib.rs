#![doc = include_str!("../README.md")]

mod config;
mod ema;
mod error;
mod forecaster;
mod forecasts;
mod frame;
mod intervals;
mod judge;
mod last_value;
mod model;
mod network;
mod online;
mod roll;
mod scale;
mod series;
mod train;

pub use config::{
    Algorithm, ClosedLoop, Config, Input, Loss, Scaling, Skip, Target, Training, Validation,
};
pub use ema::Ema;
pub use error::{Error, FileFault};
pub use forecaster::{AnyForecaster, Forecaster};
pub use forecasts::Forecasts;
pub use intervals::{AdaptiveConformal, Interval, IntervalScores, SplitConformal, interval_score};
pub use judge::{
    Backtest, Correlogram, LagStep, LjungBox, Residuals, Scores, SuggestedLags, backtest,
    naive_mae, suggest_lags,
};
pub use last_value::LastValue;
pub use model::{Narx, Predictor, TrainedRows};
pub use online::{
    Corrected, Covariance, Fleet, Guarded, Jumps, Member, Online, OnlineConfig, WorkerId,
};
pub use series::{Part, Series, Session};
pub use train::{Epoch, OnEpoch, Options, Report, StartReport, StopReason, train, train_with};
