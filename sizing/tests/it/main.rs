//! What a split promises, checked against the rule that defines it and against exhaustive search.

mod allocation;
mod balancer;
mod errors;
mod instances;
mod metamorphic;
mod optimum;
mod replay;
mod rule;
