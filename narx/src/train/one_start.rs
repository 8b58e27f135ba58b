use std::ops::{ControlFlow, Range};

use super::closed_loop::ClosedLoop;
use super::lm::{Ended, Prior, Problem, Step, StopReason, minimise};
use super::open_loop::OpenLoop;
use super::start::{fit_output_layer, nguyen_widrow, stream};
use super::{Epoch, Options};
use crate::config::{Algorithm, Config, Loss};
use crate::frame::{Data, Run};
use crate::network::Network;

/// Which rows are learnt from and which judge.
#[derive(Debug, Clone)]
pub(super) struct Division {
    pub(super) learnt: Vec<Run>,
    pub(super) judged: Vec<Run>,
}

impl Division {
    pub(super) fn new(learnt: Vec<Run>, judged: Vec<Run>) -> Self {
        Self { learnt, judged }
    }

    /// The rows in `block`, counted through all runs, judge; the others are learnt from.
    pub(super) fn around(runs: &[Run], block: Range<usize>) -> Self {
        let (mut learnt, mut judged) = (Vec::new(), Vec::new());
        let mut before = 0;
        for run in runs {
            let rows = run.rows.len();
            let cut = |place: usize| run.rows.start + place.clamp(before, before + rows) - before;
            let inside = cut(block.start)..cut(block.end);
            push(&mut learnt, run, run.rows.start..inside.start);
            push(&mut judged, run, inside.clone());
            push(&mut learnt, run, inside.end..run.rows.end);
            before += rows;
        }
        Self { learnt, judged }
    }

    pub(super) fn learnt_rows(&self) -> usize {
        self.learnt.iter().map(|run| run.rows.len()).sum()
    }

    pub(super) fn judged_rows(&self) -> usize {
        self.judged.iter().map(|run| run.rows.len()).sum()
    }
}

/// Epochs on all rows after those on a part of them: from there on a Gauss–Newton step or two find
/// what the other rows have to say.
const EPOCHS_ON_ALL_ROWS: usize = 3;

/// Rows that most epochs are made on.
fn few_rows(weights: usize) -> usize {
    const PER_WEIGHT: usize = 32;
    const AT_LEAST: usize = 4096;
    AT_LEAST.max(PER_WEIGHT * weights)
}

/// About `rows` rows in blocks that are evenly spread; all of them if there are not many more.
fn thinned(runs: &[Run], rows: usize) -> Vec<Run> {
    const BLOCK: usize = 512;
    let total: usize = runs.iter().map(|run| run.rows.len()).sum();
    if total <= rows + rows / 2 {
        return runs.to_vec();
    }
    let blocks = rows.div_ceil(BLOCK);
    let mut few = Vec::new();
    for block in 0..blocks {
        let start = (total - BLOCK) * block / (blocks - 1);
        few.extend(Division::around(runs, start..start + BLOCK).judged);
    }
    few
}

fn push(runs: &mut Vec<Run>, run: &Run, rows: Range<usize>) {
    if !rows.is_empty() {
        runs.push(Run {
            session: run.session,
            rows,
        });
    }
}

/// Everything that the starts of one division share.
pub(super) struct Job<'a> {
    data: &'a Data<'a>,
    pub(super) division: &'a Division,
    /// The rows of most epochs, evenly spread over those to learn from.
    few: Vec<Run>,
    few_rows: usize,
    fold: usize,
    config: &'a Config,
    options: &'a Options<'a>,
    judge: Judge<'a>,
}

/// A start that has ended.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) network: Network,
    /// Mean loss on the judging rows, or of training if there are none, in scaled units; infinite if
    /// it diverged.
    pub(super) score: f64,
    /// Whether at least its one-step errors are finite.
    pub(super) trained: bool,
    pub(super) epochs: usize,
    pub(super) stopped: StopReason,
    pub(super) effective_weights: f64,
    /// Horizons at which the model ran away and the stage was cut.
    pub(super) cut: Vec<usize>,
}

/// What a stage of training works on.
struct Stage<'a> {
    start: usize,
    horizon: usize,
    problem: &'a dyn Problem,
    judge: &'a dyn Problem,
    prior: Prior,
    max_epochs: usize,
    /// Epochs with this horizon so far.
    before: usize,
}

/// The judging rows as one-step and as free-run problem.
struct Judge<'a> {
    one_step: OpenLoop<'a>,
    free_run: ClosedLoop<'a>,
}

impl<'a> Job<'a> {
    pub(super) fn new(
        data: &'a Data<'a>,
        fold: usize,
        division: &'a Division,
        config: &'a Config,
        options: &'a Options<'a>,
    ) -> Self {
        let rows = if division.judged.is_empty() {
            &division.learnt
        } else {
            &division.judged
        };
        let few_rows = few_rows(data.frame.shape(config.hidden).weights());
        Self {
            data,
            division,
            few: thinned(&division.learnt, few_rows),
            few_rows,
            fold,
            config,
            options,
            judge: Judge {
                one_step: OpenLoop::new(data, rows, options.row_weights),
                free_run: ClosedLoop::new(data, rows, 0, 0),
            },
        }
    }

    /// Trains from the start of the given number.
    pub(super) fn run(&self, start: usize) -> Started {
        let (network, mut best, ended) = self.learn_one_step(start);
        let mut started = Started {
            network,
            score: f64::INFINITY,
            trained: best.weights.is_some(),
            epochs: ended.epochs,
            stopped: ended.reason,
            effective_weights: ended.effective_weights,
            cut: Vec::new(),
        };
        if self.config.training.closed_loop.is_some() {
            best = self.close(start, &mut started, best);
        }
        if let Some(weights) = best.weights {
            started.network.set_weights(&weights);
            started.score = best.score;
        }
        started
    }

    /// Makes one-step errors small: most epochs on a part of the rows, the last ones on all.
    fn learn_one_step(&self, start: usize) -> (Network, Best, Ended) {
        let training = &self.config.training;
        // A linear model is found at once, from all rows.
        let first = match self.data.frame.shape(self.config.hidden).hidden {
            0 => &self.division.learnt,
            _ => &self.few,
        };
        let mut problem = self.one_step(first);
        let mut network = self.first_network(start, &problem);
        problem.bend = self.bend(&problem, &network);
        let mut judge = self.judge.one_step.clone();
        judge.bend = problem.bend;
        let mut open = Stage {
            start,
            horizon: 1,
            problem: &problem,
            judge: &judge,
            prior: self.prior(),
            max_epochs: training.max_epochs,
            before: 0,
        };
        let mut best = Best::default();
        if open.prior == Prior::None && !self.division.judged.is_empty() {
            best.offer(&network, judge.mean(&network));
        }
        let mut ended = self.stage(&open, &mut network, &mut best);
        let mut all = self.one_step(&self.division.learnt);
        let is_part = *first != self.division.learnt && training.closed_loop.is_none();
        if is_part && ended.reason != StopReason::Stopped {
            all.bend = problem.bend;
            open.problem = &all;
            open.max_epochs = training.max_epochs.min(EPOCHS_ON_ALL_ROWS);
            if let Some(weights) = &best.weights {
                network.set_weights(weights);
            }
            if self.division.judged.is_empty() {
                // What so far was the loss of fewer rows.
                best = Best::default();
                best.offer(&network, all.mean(&network));
            }
            open.before = ended.epochs;
            ended = self.stage(&open, &mut network, &mut best);
            ended.epochs += open.before;
        }
        (network, best, ended)
    }

    fn one_step(&self, runs: &[Run]) -> OpenLoop<'a> {
        OpenLoop::new(self.data, runs, self.options.row_weights)
    }

    fn first_network(&self, start: usize, problem: &OpenLoop<'_>) -> Network {
        let frame = self.data.frame;
        let shape = frame.shape(self.config.hidden);
        let mut random = stream(self.config.training.seed, start);
        let weights = nguyen_widrow(shape, &mut random);
        let mut network = Network::new(shape, &weights, &frame.last_values());
        fit_output_layer(problem, &mut network);
        network
    }

    /// Where the loss turns from square to straight.
    fn bend(&self, problem: &OpenLoop<'_>, network: &Network) -> Option<f64> {
        /// Rows that the spread of the errors is estimated from.
        const ROWS: usize = 100_000;
        /// Standard deviation of a normal variable over the median of its absolute value.
        const OF_MEDIAN: f64 = 1.482_602_218_505_602;
        let Loss::Huber { threshold } = self.config.training.loss else {
            return None;
        };
        let mut sizes = problem.sizes_of_errors(network, ROWS);
        let middle = sizes.len() / 2;
        let median = *sizes.select_nth_unstable_by(middle, f64::total_cmp).1;
        let bend = threshold * OF_MEDIAN * median;
        (bend > 0.0 && bend.is_finite()).then_some(bend)
    }

    fn prior(&self) -> Prior {
        match self.config.training.algorithm {
            Algorithm::Lm => Prior::None,
            Algorithm::Bayes => Prior::Evidence,
        }
    }

    /// Goes on with multi-step errors; returns the best weights by the free run over the judging
    /// rows.
    fn close(&self, start: usize, started: &mut Started, open: Best) -> Best {
        let closed = self.config.training.closed_loop.as_ref();
        let closed = closed.expect("only called with closed-loop settings");
        if let Some(weights) = &open.weights {
            started.network.set_weights(weights);
        }
        let mut best = Best::default();
        best.offer(&started.network, self.judge.free_run.mean(&started.network));
        for &horizon in &closed.horizons {
            if started.stopped == StopReason::Stopped {
                break;
            }
            let problem = ClosedLoop::new(self.data, &self.few, horizon, self.few_rows);
            if problem.is_empty() {
                continue;
            }
            if problem.objective(&started.network).is_none()
                && let Some(weights) = &best.weights
            {
                started.network.set_weights(weights);
            }
            let stage = Stage {
                start,
                horizon,
                problem: &problem,
                judge: &self.judge.free_run,
                prior: Prior::Evidence,
                max_epochs: closed.max_epochs,
                before: 0,
            };
            let ended = self.stage(&stage, &mut started.network, &mut best);
            started.epochs += ended.epochs;
            started.stopped = ended.reason;
            if ended.reason == StopReason::Diverged {
                started.cut.push(horizon);
            } else {
                started.effective_weights = ended.effective_weights;
            }
        }
        best
    }

    fn stage(&self, stage: &Stage<'_>, network: &mut Network, best: &mut Best) -> Ended {
        let training = &self.config.training;
        let early_stop = !self.division.judged.is_empty() && stage.prior != Prior::Evidence;
        let mut failures = 0;
        let mut after = |network: &Network, step: &Step| {
            let judged = if self.division.judged.is_empty() {
                Some(step.mean_loss)
            } else {
                stage.judge.mean(network)
            };
            // Bayesian regularisation ends where the evidence says; its last weights count, those
            // excepted that run away.
            if stage.prior == Prior::Evidence && judged.is_some() {
                *best = Best::default();
            }
            if best.offer(network, judged) {
                failures = 0;
            } else {
                failures += 1;
            }
            if let Some(on_epoch) = self.options.on_epoch {
                let epoch = self.epoch(stage, step, judged);
                if on_epoch(&epoch).is_break() {
                    return ControlFlow::Break(StopReason::Stopped);
                }
            }
            if early_stop && failures >= training.max_failures {
                return ControlFlow::Break(StopReason::ValidationRose);
            }
            ControlFlow::Continue(())
        };
        let ended = minimise(
            stage.problem,
            network,
            stage.prior,
            stage.max_epochs,
            &mut after,
        );
        if best.weights.is_none() {
            best.offer(network, stage.judge.mean(network));
        }
        ended
    }

    fn epoch(&self, stage: &Stage<'_>, step: &Step, judged: Option<f64>) -> Epoch {
        let validated = !self.division.judged.is_empty();
        Epoch {
            start: stage.start,
            fold: self.fold,
            horizon: stage.horizon,
            epoch: stage.before + step.epoch,
            train_rmse: step.mean_loss.sqrt(),
            validation_rmse: judged.filter(|_| validated).map(f64::sqrt),
            mu: step.mu,
            gradient: step.gradient,
            effective_weights: step.effective_weights,
        }
    }
}

/// The best weights so far.
#[derive(Debug, Default)]
struct Best {
    weights: Option<Vec<f64>>,
    score: f64,
}

impl Best {
    /// Takes the weights if their score is better than the best so far.
    fn offer(&mut self, network: &Network, score: Option<f64>) -> bool {
        let Some(score) = score.filter(|score| score.is_finite()) else {
            return false;
        };
        let better = self.weights.is_none() || score < self.score;
        if better {
            self.weights = Some(network.weights().to_vec());
            self.score = score;
        }
        better
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(session: usize, rows: Range<usize>) -> Run {
        Run { session, rows }
    }

    #[test]
    fn a_block_is_cut_out_of_the_runs_that_it_spans() {
        let runs = [run(0, 10..20), run(0, 25..30), run(1, 3..9)];
        let of = |block| {
            let division = Division::around(&runs, block);
            assert_eq!(division.learnt_rows() + division.judged_rows(), 21);
            (division.learnt, division.judged)
        };
        let (learnt, judged) = of(4..12);
        assert_eq!(learnt, [run(0, 10..14), run(0, 27..30), run(1, 3..9)]);
        assert_eq!(judged, [run(0, 14..20), run(0, 25..27)]);
        assert_eq!(of(15..21), (runs[..2].to_vec(), runs[2..].to_vec()));
        assert_eq!(of(3..3).0.len(), 4);
        assert_eq!(of(0..21), (vec![], runs.to_vec()));
    }

    #[test]
    fn thinned_rows_are_spread_from_the_first_to_the_last() {
        let runs = [run(0, 5..20_000), run(1, 0..300), run(2, 0..30_000)];
        let few = thinned(&runs, 4096);
        assert_eq!(few.iter().map(|run| run.rows.len()).sum::<usize>(), 4096);
        assert_eq!(few[0], run(0, 5..517));
        assert_eq!(few.last().unwrap().rows.end, 30_000);
        for (n, a) in few.iter().enumerate() {
            let overlaps = |b: &Run| {
                a.session == b.session && a.rows.start < b.rows.end && b.rows.start < a.rows.end
            };
            assert!(!few[n + 1..].iter().any(overlaps));
        }
        assert_eq!(thinned(&runs[1..2], 4096), runs[1..2]);
        assert_eq!(thinned(&[run(0, 0..6_144)], 4096), [run(0, 0..6_144)]);
    }
}
