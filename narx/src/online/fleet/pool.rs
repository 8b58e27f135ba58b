use super::lines::LANES;
use super::plan::Plan;

/// Steps that a worker must have learnt from before others may start with its weights.
pub(super) const MATURE: f64 = 100.0;

/// Workers that the pool is a mean of, so that it follows the fleet.
const MOST: f64 = 256.0;

/// The share of the first variances that a newcomer starts with. Of 1, 0.3,
/// 0.1 and 0.03, tried on three recorded jobs of ten workers, the last two were the best; the larger
/// one learns faster where workers differ more.
const UNKNOWN: f64 = 0.1;

/// Mean weights of the workers that have learnt for a while. All began with the same hidden units, and
/// all weights are for regressors and targets of the size 1, so that their mean makes sense.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pool {
    pub(super) mean: Vec<f64>,
    /// How many times a worker was taken in, at most [`MOST`].
    pub(super) taken: f64,
}

impl Pool {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            mean: vec![0.0; plan.design.places.end],
            taken: 0.0,
        }
    }

    /// Takes in a worker's weights, if it has learnt for a while.
    pub(super) fn take(&mut self, plan: &Plan, record: &[[f64; LANES]], lane: usize) {
        if plan.design.steps(record, lane) < MATURE {
            return;
        }
        self.taken = (self.taken + 1.0).min(MOST);
        for (mean, weight) in self.mean.iter_mut().zip(record) {
            *mean += (weight[lane] - *mean) / self.taken;
        }
    }

    /// What a newcomer knows at first, if there is anything to know.
    pub(super) fn start(&self, plan: &Plan) -> Option<Vec<f64>> {
        (self.taken > 0.0).then(|| plan.design.record_with(&self.mean, UNKNOWN))
    }

    pub(super) fn is_sound(&self) -> bool {
        (0.0..=MOST).contains(&self.taken) && self.mean.iter().all(|mean| mean.is_finite())
    }
}
