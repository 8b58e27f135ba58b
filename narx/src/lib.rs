#![doc = include_str!("../README.md")]

mod ema;
mod error;
mod forecaster;
mod last_value;

pub use ema::Ema;
pub use error::Error;
pub use forecaster::{AnyForecaster, Forecaster};
pub use last_value::LastValue;
