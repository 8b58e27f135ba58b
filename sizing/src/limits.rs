use serde::{Deserialize, Serialize};

use crate::Worker;

/// The batches that a worker may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Smallest batch, in samples. With 0 the worker may sit out; then nothing new is learnt of its
    /// speed, so that it stays out until the others slow down.
    pub min: u32,
    /// Largest batch, in samples, such as a memory ceiling; None if there is none.
    pub max: Option<u32>,
    /// Batches are multiples of this.
    pub grain: u32,
}

impl Default for Limits {
    /// At least 1 sample, any number of them.
    fn default() -> Self {
        Self {
            min: 1,
            max: None,
            grain: 1,
        }
    }
}

impl Limits {
    /// At least 1 sample and at most `max`, such as a memory ceiling.
    pub fn up_to(max: u32) -> Self {
        Self {
            max: Some(max),
            ..Self::default()
        }
    }

    /// The worker with these limits instead of its own.
    pub fn apply<'a>(&self, worker: Worker<'a>) -> Worker<'a> {
        worker
            .at_least(self.min)
            .at_most(self.max.unwrap_or(u32::MAX))
            .grain(self.grain)
    }
}
