//! Forecasters that go on learning: every observed step changes the weights.

mod config;
mod corrected;
mod full;
mod gate;
mod guarded;
mod history;
mod learner;
mod mixture;
mod nodes;
mod select;
mod single;
mod smoother;
mod track;
mod vectorised;

pub use config::{Covariance, Jumps, OnlineConfig};
pub use corrected::Corrected;
pub use guarded::{Guarded, Member};
pub use single::Online;
