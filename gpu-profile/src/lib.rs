#![doc = include_str!("../README.md")]

mod ceiling;
mod error;
mod latency;
mod point;
mod profile;
mod schema;

pub use ceiling::Ceiling;
pub use error::Error;
pub use point::Point;
pub use profile::{DeviceInfo, Profile};
