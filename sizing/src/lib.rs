#![doc = include_str!("../README.md")]

mod balancer;
mod curve;
pub mod defaults;
mod error;
mod iteration_plan;
mod limits;
mod member;
mod plan;
mod policy;
pub mod replay;
mod report;
mod split;
mod worker;

pub use balancer::Balancer;
pub use curve::{Curve, Hinge, Points};
pub use error::Error;
pub use iteration_plan::{IterationPlan, Share};
pub use limits::Limits;
pub use plan::{Limit, Plan};
pub use policy::Policy;
pub use report::Report;
pub use split::{Splitter, split};
pub use worker::Worker;
