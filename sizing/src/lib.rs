#![doc = include_str!("../README.md")]

mod curve;
mod error;
mod grains;
mod plan;
mod split;
mod ties;
mod worker;

pub use curve::{Curve, Hinge, Points};
pub use error::Error;
pub use plan::{Limit, Plan};
pub use split::{Splitter, split};
pub use worker::Worker;
