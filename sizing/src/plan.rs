use serde::{Deserialize, Serialize};

/// Sizes, gradient weights and predicted times of one iteration.
///
/// Workers are in the order in which they were given to [`split`](crate::split).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    pub(crate) global_batch: u32,
    pub(crate) sizes: Vec<u32>,
    pub(crate) times_s: Vec<f64>,
    pub(crate) limits: Vec<Limit>,
    pub(crate) binding: usize,
    pub(crate) lower_bound_s: Option<f64>,
}

/// Whether a worker's size is held by one of its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The size could go either way.
    Free,
    /// The size is the smallest that the worker may get.
    Minimum,
    /// The size is the largest that the worker may get.
    Maximum,
    /// The worker may get this size only.
    Both,
}

impl Plan {
    /// Samples of the iteration over all workers; the sizes add up to it exactly.
    pub fn global_batch(&self) -> u32 {
        self.global_batch
    }

    /// Batch of each worker, in samples. 0 means that the worker sits out.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Gradient weight of each worker, x/X correctly rounded.
    ///
    /// Equal sizes have equal weights, and the sum is within n · 2⁻⁵³ of 1. The exact weights are
    /// the integers [`sizes`](Self::sizes) over [`global_batch`](Self::global_batch).
    pub fn weights(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        let whole = f64::from(self.global_batch);
        self.sizes.iter().map(move |&size| f64::from(size) / whole)
    }

    /// Predicted seconds of each worker until it reaches the barrier: own compute plus
    /// communication, 0 for one that sits out.
    pub fn times_s(&self) -> &[f64] {
        &self.times_s
    }

    /// Predicted seconds of the iteration: the time of the slowest worker.
    pub fn iteration_s(&self) -> f64 {
        self.times_s.get(self.binding).copied().unwrap_or(0.0)
    }

    /// The worker that sets the pace; of several, the first.
    pub fn binding(&self) -> usize {
        self.binding
    }

    /// What no plan could beat even with fractions of samples, in seconds, within all limits but
    /// the grain. None if some curve has no inverse.
    pub fn lower_bound_s(&self) -> Option<f64> {
        self.lower_bound_s
    }

    /// Whether each worker sits at a limit of its own.
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }
}
