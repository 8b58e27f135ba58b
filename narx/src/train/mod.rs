//! From a data set to the weights of a model.

mod closed_loop;
mod factor;
mod gram;
mod lm;
mod one_start;
mod open_loop;
mod report;
mod start;

use std::ops::ControlFlow;

use nalgebra::Cholesky;
use rayon::prelude::*;

use crate::config::{Config, Training, Validation};
use crate::frame::{Data, Frame, Run};
use crate::model::Narx;
use crate::network::Network;
use crate::{Error, Part, Series};
use lm::Problem;
pub use lm::StopReason;
use one_start::{Division, Job, Started};
use open_loop::OpenLoop;
pub use report::{Report, StartReport};
pub(crate) use start::uniform;

/// Trains a model on all rows of a data set.
///
/// The same data, configuration and seed give the same model, bit for bit, whatever the number of
/// threads.
///
/// # Errors
/// Those of [`train_with`].
///
/// # Example
/// ```
/// use narx::{Config, Input, Series, Session, train};
///
/// let u: Vec<f64> = (0..200).map(|t| f64::from(t * t % 17) / 17.0).collect();
/// let mut y = vec![0.0];
/// for t in 1..200 {
///     y.push(0.5 * y[t - 1] + u[t]);
/// }
/// let series = Series::new(["speed"], ["cpu"])?.with(Session::of(y, vec![u])?)?;
/// let config = Config {
///     output_lags: vec![1],
///     inputs: vec![Input::new("cpu", [0])],
///     hidden: 3,
///     ..Config::default()
/// };
/// let (model, report) = train(&series, &config)?;
/// assert!(report.rmse() < 1e-3);
/// # Ok::<(), narx::Error>(())
/// ```
pub fn train(series: &Series, config: &Config) -> Result<(Narx, Report), Error> {
    train_with(series, &series.all(), config, &Options::default())
}

/// Trains a model on the rows of `part`. Rows before a range serve as its history.
///
/// # Errors
/// [`Error::Setting`], [`Error::Lags`] and others of the configuration, [`Error::MissingSeries`] if
/// the data set lacks an input, [`Error::Part`] and [`Error::RowWeights`] if the part or the weights
/// do not fit it, [`Error::TooShort`] if an output has no value, [`Error::TooFewRows`] if too few rows
/// are complete, [`Error::Diverged`] if no start led to finite errors.
pub fn train_with(
    series: &Series,
    part: &Part,
    config: &Config,
    options: &Options<'_>,
) -> Result<(Narx, Report), Error> {
    config.check()?;
    part.check(series)?;
    options.check(series)?;
    let frame = Frame::fitted(series, part, config)?;
    let data = frame.bind(series)?;
    let weights = frame.shape(config.hidden).weights();
    if weights > MOST_WEIGHTS {
        return Err(Error::Setting {
            name: "hidden",
            expected: "so few that there are at most 4000 weights, lags and outputs counted in",
            got: config.hidden as f64,
        });
    }
    let runs = data.complete_runs(part, options.row_weights);
    let divisions = divisions(&runs, &config.training)?;
    let jobs: Vec<Job<'_>> = divisions
        .iter()
        .enumerate()
        .map(|(fold, division)| Job::new(&data, fold, division, config, options))
        .collect();
    // One job a start and division; their order is that of the results.
    let rows = runs.iter().map(|run| run.rows.len()).sum();
    let starts = config.training.starts_for(rows);
    let count = starts * jobs.len();
    let started: Vec<Started> = (0..count)
        .into_par_iter()
        .map(|index| jobs[index % jobs.len()].run(index / jobs.len()))
        .collect();
    let chosen = Chosen::of(
        &started,
        jobs.len(),
        config.training.average.unwrap_or(starts),
    )?;
    let network = Network::average(&chosen.networks);
    let report = Report::of(&data, &runs, &jobs, &started, &chosen, &network);
    let model = Narx::trained(frame.clone(), network, config, series, part, &report);
    Ok((model, report))
}

/// Told every epoch, from several threads at a time; a [`ControlFlow::Break`] ends the start.
pub type OnEpoch<'a> = dyn Fn(&Epoch) -> ControlFlow<()> + Sync + 'a;

/// Most weights of one start: the normal equations of 4,000 weights are 128 MB, times the parts
/// that they are summed in.
const MOST_WEIGHTS: usize = 4000;

/// What a training can be given besides its configuration.
#[derive(Default)]
pub struct Options<'a> {
    /// How much each row counts, ≥ 0, per session and row; 1 each without. Counts in the one-step
    /// errors, not in those of closed-loop training. A row of weight 0 is left out of both, but is
    /// still the history of those after it.
    pub row_weights: Option<&'a [Vec<f64>]>,
    /// Called after every epoch of every start. A start that it ends keeps its best weights so far.
    pub on_epoch: Option<&'a OnEpoch<'a>>,
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("row_weights", &self.row_weights.map(<[Vec<f64>]>::len))
            .field("on_epoch", &self.on_epoch.is_some())
            .finish()
    }
}

impl Options<'_> {
    fn check(&self, series: &Series) -> Result<(), Error> {
        let Some(weights) = self.row_weights else {
            return Ok(());
        };
        let sessions = series.sessions();
        let fits = weights.len() == sessions.len()
            && weights
                .iter()
                .zip(sessions)
                .all(|(w, s)| w.len() == s.len());
        if !fits {
            return Err(Error::RowWeights { got: f64::NAN });
        }
        let mut all = weights.iter().flatten();
        match all.find(|&&weight| !(weight.is_finite() && weight >= 0.0)) {
            Some(&got) => Err(Error::RowWeights { got }),
            None => Ok(()),
        }
    }
}

/// How far a start has come.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Epoch {
    /// Which start, from 0.
    pub start: usize,
    /// Which fold of the cross-validation, from 0; 0 without.
    pub fold: usize,
    /// Steps that the model runs on its own forecasts; 1 is one-step training, 0 means to the end.
    pub horizon: usize,
    /// Epochs of this start and horizon so far.
    pub epoch: usize,
    /// Root mean squared training error in scaled units, of the loss.
    pub train_rmse: f64,
    /// The same on the validation rows, if there are any.
    pub validation_rmse: Option<f64>,
    /// Damping µ of the Levenberg–Marquardt step.
    pub mu: f64,
    /// Norm of the gradient.
    pub gradient: f64,
    /// Effective number of weights γ; all of them without Bayesian regularisation.
    pub effective_weights: f64,
}

/// The starts that make the model.
struct Chosen {
    /// Places of the starts, the best first.
    starts: Vec<usize>,
    networks: Vec<Network>,
}

impl Chosen {
    /// The `count` starts with the smallest scores; the earlier one of two that are equal. Starts
    /// whose free run ran away are taken only if all did, and of the others those that had the
    /// fewest stages cut: their scores are of longer runs.
    fn of(started: &[Started], folds: usize, count: usize) -> Result<Self, Error> {
        let of_start: Vec<&[Started]> = started.chunks(folds).collect();
        let score = |start: &usize| of_start[*start].iter().map(|fold| fold.score).sum::<f64>();
        let is_trained = |start: &usize| of_start[*start].iter().all(|fold| fold.trained);
        let mut starts: Vec<usize> = (0..of_start.len()).filter(is_trained).collect();
        if starts.iter().any(|start| score(start).is_finite()) {
            starts.retain(|start| score(start).is_finite());
        }
        let cuts = |start: &usize| {
            of_start[*start]
                .iter()
                .map(|fold| fold.cut.len())
                .sum::<usize>()
        };
        let fewest = starts.iter().map(cuts).min();
        starts.retain(|start| Some(cuts(start)) == fewest);
        starts.sort_by(|a, b| score(a).total_cmp(&score(b)));
        starts.truncate(count);
        if starts.is_empty() {
            return Err(Error::Diverged);
        }
        let networks = starts.iter().flat_map(|&start| of_start[start]);
        Ok(Self {
            networks: networks.map(|fold| fold.network.clone()).collect(),
            starts,
        })
    }
}

/// Fewest rows that are learnt from.
const FEWEST_ROWS: usize = 2;

/// The rows to learn from and those that judge, once per fold.
fn divisions(runs: &[Run], training: &Training) -> Result<Vec<Division>, Error> {
    let rows: usize = runs.iter().map(|run| run.rows.len()).sum();
    let too_few = |needed| Error::TooFewRows { got: rows, needed };
    let divisions: Vec<Division> = match training.validation {
        Validation::None => vec![Division::new(runs.to_vec(), Vec::new())],
        Validation::Tail { share } => vec![tails(runs, share)],
        Validation::Folds { folds } if folds > rows => return Err(too_few(folds.max(3))),
        Validation::Folds { folds } => {
            let bound = |fold: usize| rows * fold / folds;
            let blocks = (0..folds).map(|fold| bound(fold)..bound(fold + 1));
            blocks.map(|block| Division::around(runs, block)).collect()
        }
    };
    let validated = training.validation != Validation::None;
    let is_enough = |division: &Division| {
        division.learnt_rows() >= FEWEST_ROWS && (!validated || !division.judged.is_empty())
    };
    if divisions.iter().all(is_enough) {
        return Ok(divisions);
    }
    Err(too_few(match training.validation {
        Validation::None => FEWEST_ROWS,
        Validation::Tail { share } => {
            let is_enough = |rows| (FEWEST_ROWS..rows).contains(&learnt_of(rows, share));
            let about = (1.5 / (1.0 - share)).max(0.5 / share) as usize;
            let near = about.saturating_sub(2)..about.saturating_add(3);
            near.into_iter()
                .find(|&rows| is_enough(rows))
                .unwrap_or(about)
        }
        // Of three rows in two folds, one fold learns from a single row.
        Validation::Folds { folds } => folds.max(if folds == 2 { 4 } else { 3 }),
    }))
}

/// How many of the first `rows` rows are learnt from when a `share` of each session judges.
fn learnt_of(rows: usize, share: f64) -> usize {
    (rows as f64 * (1.0 - share)).round() as usize
}

/// The last rows of each session judge; what rounding leaves over is carried to the next session.
fn tails(runs: &[Run], share: f64) -> Division {
    let mut tails = Division::new(Vec::new(), Vec::new());
    let mut before = 0;
    for runs in runs.chunk_by(|a, b| a.session == b.session) {
        let rows: usize = runs.iter().map(|run| run.rows.len()).sum();
        let learnt = learnt_of(before + rows, share) - learnt_of(before, share);
        let of_session = Division::around(runs, learnt..rows);
        tails.learnt.extend(of_session.learnt);
        tails.judged.extend(of_session.judged);
        before += rows;
    }
    tails
}

/// Smallest share of a sum of squares that is more than the rounding of the sum.
const RANK: f64 = 1e-12;

/// σ²(JᵀJ)⁻¹ of the one-step errors on the given rows.
pub(crate) fn covariance(
    data: &Data<'_>,
    runs: &[Run],
    network: &Network,
) -> Option<Vec<Vec<f64>>> {
    let problem = OpenLoop::new(data, runs, None);
    let at = problem.linearise(network)?;
    let weights = network.weights().len();
    let free = problem.errors() - weights as f64;
    let factor = Cholesky::new(at.gram.products()).filter(|_| free > 0.0)?;
    // A pivot is what a weight's derivatives have that no other weight's have.
    let determines = |i: usize| {
        let row = factor.l_dirty().row(i);
        row[i].powi(2) > RANK * row.columns_range(..i + 1).norm_squared()
    };
    if !(0..weights).all(determines) {
        return None;
    }
    let inverse = factor.inverse();
    let variance = at.objective / free;
    let row = |i| (0..weights).map(|j| variance * inverse[(i, j)]).collect();
    Some((0..weights).map(row).collect())
}
