use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::curve::LONGEST_S;
use crate::{Error, Worker};

/// What a worker says at a barrier: its own time of the iteration that just ended, and the driving
/// series measured now, which hold for the iteration to come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The iteration that ended.
    pub iteration: u64,
    /// Samples that the worker really ran in it.
    pub batch: u32,
    /// Own compute, from batch in hand to local gradient ready, in seconds. It never includes
    /// waiting for other workers.
    pub compute_s: f64,
    /// What the worker needed beyond own compute whatever its batch, without waiting, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub communication_s: Option<f64>,
    /// Waiting for the data loader, in seconds. It is kept apart so that a slow input does not look
    /// like a slow worker; sizes do not depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loading_s: Option<f64>,
    /// Driving series by name, measured now. One that is not there is missing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub driving: BTreeMap<String, f64>,
}

impl Report {
    /// A report of `batch` samples done in `compute_s` seconds of own compute, and nothing else.
    pub fn new(iteration: u64, batch: u32, compute_s: f64) -> Self {
        Self {
            iteration,
            batch,
            compute_s,
            communication_s: None,
            loading_s: None,
            driving: BTreeMap::new(),
        }
    }

    /// Speed in the iteration, in samples per second of own compute.
    pub fn speed(&self) -> f64 {
        f64::from(self.batch) / self.compute_s
    }

    pub(crate) fn check(&self, worker: u64) -> Result<(), Error> {
        let refuse = |field: &str, expected, got| {
            let field = field.to_owned();
            Err(Error::Report {
                worker,
                field,
                expected,
                got,
            })
        };
        if self.batch == 0 {
            return refuse("batch", "at least 1", 0.0);
        }
        // The split would refuse the speed, or the batch takes as good as no time.
        if Worker::proportional(self.speed()).range(worker).is_err() {
            return refuse("compute_s", "finite and above 0", self.compute_s);
        }
        let times = [
            ("communication_s", self.communication_s),
            ("loading_s", self.loading_s),
        ];
        for (field, seconds) in times {
            if let Some(got) = seconds
                && !(0.0..=LONGEST_S).contains(&got)
            {
                return refuse(field, "finite and not negative", got);
            }
        }
        for (name, &got) in &self.driving {
            if !got.is_finite() {
                return refuse(name, "finite", got);
            }
        }
        Ok(())
    }
}
