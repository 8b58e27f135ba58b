use serde::{Deserialize, Serialize};

use crate::Limit;

/// The plan of one iteration of a job: who gets how many samples. Once issued it never changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IterationPlan {
    pub(crate) iteration: u64,
    pub(crate) global_batch: u32,
    pub(crate) shares: Vec<Share>,
}

/// What one worker gets in one iteration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Share {
    /// The worker.
    pub worker: u64,
    /// Its batch, in samples; 0 means that it sits out.
    pub batch: u32,
    /// Its predicted seconds until the barrier, if its speed was forecast.
    pub predicted_s: Option<f64>,
    /// Whether its batch is held by one of its limits.
    pub limit: Limit,
}

impl IterationPlan {
    /// The iteration it is for.
    pub fn iteration(&self) -> u64 {
        self.iteration
    }

    /// Samples of the iteration over all workers; the batches add up to it exactly.
    pub fn global_batch(&self) -> u32 {
        self.global_batch
    }

    /// Every worker's part, in the order in which they joined.
    pub fn shares(&self) -> &[Share] {
        &self.shares
    }

    /// The part of one worker; None if it is not in this plan. Takes time in proportion to the
    /// number of workers.
    pub fn share(&self, worker: u64) -> Option<&Share> {
        self.shares.iter().find(|share| share.worker == worker)
    }

    /// Gradient weight of a part of this plan: batch over global batch, correctly rounded.
    pub fn weight(&self, share: &Share) -> f64 {
        f64::from(share.batch) / f64::from(self.global_batch)
    }

    /// Predicted seconds of the iteration; None if the speed of some worker was not forecast.
    pub fn iteration_s(&self) -> Option<f64> {
        let mut times = self.shares.iter().map(|share| share.predicted_s);
        times.try_fold(0.0, |slowest, time| Some(f64::max(slowest, time?)))
    }
}
