//! What balancing would have gained on recorded workers.

mod run;
mod strategy;
mod summary;
mod trace;

pub use run::{Iteration, Job, Run, replay};
pub use strategy::Strategy;
pub use summary::{Comparison, Summary, compare};
pub use trace::{AtEnd, Trace};
