//! Says how far off a forecast may be.

mod adaptive;
mod candidate;
mod interval;
mod scores;
mod split;

pub use adaptive::AdaptiveConformal;
pub use interval::{Interval, interval_score};
pub use scores::IntervalScores;
pub use split::SplitConformal;
