#![doc = include_str!("../README.md")]

pub use gpu_profile;
pub use narx;
pub use sizing;

/// What most programs need, under one name.
pub mod prelude {
    pub use gpu_profile::Profile;
    pub use narx::{
        AnyForecaster, Corrected, Ema, Forecaster, Guarded, LastValue, Narx, Online, OnlineConfig,
        Predictor,
    };
    pub use sizing::{
        Balancer, Curve, Hinge, IterationPlan, Limit, Limits, Plan, Points, Policy, Report, Share,
        Splitter, Worker, split,
    };
}

/// The example of the repository's front page, so that it is tested.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct FrontPage;
