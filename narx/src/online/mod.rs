//! Forecasters that go on learning: every observed step changes the weights.

mod config;
mod corrected;
mod fleet;
mod full;
mod gate;
mod guarded;
mod history;
mod lanes;
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
pub use fleet::{Fleet, WorkerId};
pub use guarded::{Guarded, Member};
pub use single::Online;
