//! Tells how good a forecast is and which lags a model should look at.

mod backtest;
mod lags;
mod moments;
mod normal_equations;
mod regressor;
mod residuals;
mod rows;
mod scores;

pub use backtest::{Backtest, backtest};
pub use lags::{LagStep, SuggestedLags, suggest_lags};
pub use residuals::{Correlogram, LjungBox, Residuals};
pub use scores::{Scores, naive_mae};
