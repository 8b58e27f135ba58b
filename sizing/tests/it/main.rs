//! What a split promises, checked against the rule that defines it and against exhaustive search.

mod allocation;
mod errors;
mod instances;
mod metamorphic;
mod optimum;
mod rule;
