use serde::{Deserialize, Serialize};

use super::one_start::{Job, Started};
use super::{Chosen, StopReason};
use crate::forecasts::root_mean_square_error;
use crate::frame::{Data, Run};
use crate::network::Network;

/// What came out of a training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Report {
    /// Rows that were complete and could be used.
    pub rows: usize,
    /// Those of them that only judged; the sum over the folds of a cross-validation.
    pub judged_rows: usize,
    /// Weights of the model.
    pub weights: usize,
    /// Root mean squared one-step error of each output on all those rows, in its units.
    pub output_rmse: Vec<f64>,
    /// Inputs that never changed in the rows trained on and are not used.
    pub dropped_inputs: Vec<String>,
    /// Every start, fold by fold.
    pub starts: Vec<StartReport>,
}

/// How one start of a training went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct StartReport {
    /// Which start, from 0.
    pub start: usize,
    /// Which fold of the cross-validation, from 0.
    pub fold: usize,
    /// Whether its network is part of the model.
    pub chosen: bool,
    /// Epochs of all stages.
    pub epochs: usize,
    /// Why the last stage ended.
    pub stopped: StopReason,
    /// Root mean loss (squared error, unless it is another one), in scaled units, on the rows that judge (the free run's with
    /// closed-loop training), or of training without such rows. None if it diverged or ran away.
    pub rmse: Option<f64>,
    /// Effective number of weights γ; all of them without Bayesian regularisation.
    pub effective_weights: f64,
    /// Closed-loop horizons at which the model ran away: those stages were skipped.
    pub cut_horizons: Vec<usize>,
}

impl Report {
    /// Root mean squared one-step error of the first output on the rows trained on.
    pub fn rmse(&self) -> f64 {
        self.output_rmse[0]
    }

    pub(super) fn of(
        data: &Data<'_>,
        runs: &[Run],
        jobs: &[Job<'_>],
        started: &[Started],
        chosen: &Chosen,
        network: &Network,
    ) -> Self {
        let folds = jobs.len();
        let of_start = |(index, it): (usize, &Started)| StartReport {
            start: index / folds,
            fold: index % folds,
            chosen: chosen.starts.contains(&(index / folds)),
            epochs: it.epochs,
            stopped: it.stopped,
            rmse: it.score.is_finite().then(|| it.score.sqrt()),
            effective_weights: it.effective_weights,
            cut_horizons: it.cut.clone(),
        };
        Self {
            rows: runs.iter().map(|run| run.rows.len()).sum(),
            judged_rows: jobs.iter().map(|job| job.division.judged_rows()).sum(),
            weights: network.weights().len(),
            output_rmse: root_mean_square_error(data, runs, network),
            dropped_inputs: data.frame.dropped.clone(),
            starts: started.iter().enumerate().map(of_start).collect(),
        }
    }
}
