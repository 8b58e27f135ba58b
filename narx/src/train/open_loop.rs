use std::ops::Range;

use rayon::prelude::*;

use super::gram::Gram;
use super::lm::{Linearised, Problem};
use crate::frame::{Data, Run};
use crate::network::{Block, Network, ROWS, Strip};

/// Rows are summed in at most this many parts, in parallel; the parts do not depend on the number
/// of threads, so neither do the sums.
const PARTS: usize = 16;
const LEAST_ROWS_OF_A_PART: usize = 4096;

/// One-step errors: every forecast is made from the measured past (series-parallel).
pub(crate) struct OpenLoop<'a> {
    data: &'a Data<'a>,
    parts: Vec<Vec<Run>>,
    /// Per session and row; all 1 without.
    weights: Option<&'a [Vec<f64>]>,
    errors: f64,
    /// Beyond it an error counts linearly, in scaled units.
    pub(crate) bend: Option<f64>,
}

impl<'a> OpenLoop<'a> {
    pub(crate) fn new(data: &'a Data<'a>, runs: &[Run], weights: Option<&'a [Vec<f64>]>) -> Self {
        let of_run = |run: &Run| match weights {
            None => run.rows.len() as f64,
            Some(weights) => weights[run.session][run.rows.clone()].iter().sum(),
        };
        let rows: f64 = runs.iter().map(of_run).sum();
        Self {
            data,
            parts: parts(runs),
            weights,
            errors: rows * data.frame.outputs as f64,
            bend: None,
        }
    }

    /// The absolute errors of at most `most` rows, evenly spread.
    pub(crate) fn sizes_of_errors(&self, network: &Network, most: usize) -> Vec<f64> {
        let rows: usize = self.parts.iter().flatten().map(|run| run.rows.len()).sum();
        let every = rows.div_ceil(most).max(1);
        let (mut place, mut sizes) = (0, Vec::new());
        for part in &self.parts {
            self.visit(network, part, &mut |piece| {
                for row in 0..piece.rows.len() {
                    if place % every == 0 {
                        let outputs = 0..self.data.frame.outputs;
                        sizes.extend(outputs.map(|o| piece.error(o, row).abs()));
                    }
                    place += 1;
                }
            });
        }
        sizes
    }

    /// Calls `with` for piece after piece of the rows, with their forecasts computed.
    fn visit(&self, network: &Network, part: &[Run], with: &mut dyn FnMut(&mut Piece<'_>)) {
        let mut piece = Piece::new(self);
        for run in part {
            for start in run.rows.clone().step_by(ROWS) {
                piece.load(run.session, start..(start + ROWS).min(run.rows.end));
                piece.block.forecast(network);
                with(&mut piece);
            }
        }
    }

    fn linearised_part(&self, network: &Network, part: &[Run]) -> Linearised {
        let weights = network.weights().len();
        let stride = Gram::stride_of(weights);
        let mut gram = Gram::new(weights);
        let mut jacobian = vec![0.0; ROWS * stride];
        let mut objective = 0.0;
        self.visit(network, part, &mut |piece| {
            let jacobian = &mut jacobian[..piece.rows.len() * stride];
            for o in 0..self.data.frame.outputs {
                piece.block.linearise(network, o, jacobian, stride);
                objective += piece.weigh(o, jacobian, stride, weights);
                gram.add(jacobian);
            }
        });
        Linearised { gram, objective }
    }
}

impl Problem for OpenLoop<'_> {
    fn errors(&self) -> f64 {
        self.errors
    }

    fn linearise(&self, network: &Network) -> Option<Linearised> {
        let of_part = |part: &Vec<Run>| self.linearised_part(network, part);
        let parts: Vec<Linearised> = self.parts.par_iter().map(of_part).collect();
        let sum = parts.into_iter().reduce(|mut sum, part| {
            sum.gram.merge(&part.gram);
            sum.objective += part.objective;
            sum
        })?;
        sum.objective.is_finite().then_some(sum)
    }

    fn objective(&self, network: &Network) -> Option<f64> {
        let of_part = |part: &Vec<Run>| {
            let mut objective = 0.0;
            self.visit(network, part, &mut |piece| objective += piece.objective());
            objective
        };
        let parts: Vec<f64> = self.parts.par_iter().map(of_part).collect();
        let sum: f64 = parts.iter().sum();
        sum.is_finite().then_some(sum)
    }
}

/// Cuts runs into parts of about the same number of rows.
fn parts(runs: &[Run]) -> Vec<Vec<Run>> {
    let rows: usize = runs.iter().map(|run| run.rows.len()).sum();
    let count = (rows / LEAST_ROWS_OF_A_PART).clamp(1, PARTS);
    let most = rows.div_ceil(count).next_multiple_of(ROWS);
    let mut parts = vec![Vec::new()];
    let mut room = most;
    for run in runs {
        let mut rows = run.rows.clone();
        while !rows.is_empty() {
            if room == 0 {
                parts.push(Vec::new());
                room = most;
            }
            let taken = rows.len().min(room);
            let piece = rows.start..rows.start + taken;
            rows.start += taken;
            room -= taken;
            let part = parts.last_mut().expect("there is always a part");
            part.push(Run {
                session: run.session,
                rows: piece,
            });
        }
    }
    parts
}

/// A few neighbouring rows: regressors, targets, forecasts.
struct Piece<'a> {
    problem: &'a OpenLoop<'a>,
    session: usize,
    rows: Range<usize>,
    block: Block,
    /// Per output.
    targets: Vec<Strip>,
}

impl<'a> Piece<'a> {
    fn new(problem: &'a OpenLoop<'a>) -> Self {
        let frame = problem.data.frame;
        Self {
            problem,
            session: 0,
            rows: 0..0,
            block: Block::new(frame.terms.len(), frame.outputs),
            targets: vec![[0.0; ROWS]; frame.outputs],
        }
    }

    fn load(&mut self, session: usize, rows: Range<usize>) {
        let data = self.problem.data;
        for (o, targets) in self.targets.iter_mut().enumerate() {
            let scaler = &data.frame.columns[o].scaler;
            let column = &data.sessions[session][o][rows.clone()];
            for (target, &value) in targets.iter_mut().zip(column) {
                *target = scaler.scale(value);
            }
        }
        data.regressors(session, rows.clone(), &mut self.block.regressors);
        (self.session, self.rows) = (session, rows);
    }

    fn error(&self, o: usize, row: usize) -> f64 {
        self.targets[o][row] - self.block.outputs[o][row]
    }

    fn row_weight(&self, row: usize) -> f64 {
        let weights = self.problem.weights;
        weights.map_or(1.0, |weights| weights[self.session][self.rows.start + row])
    }

    fn objective(&self) -> f64 {
        let mut objective = 0.0;
        for o in 0..self.targets.len() {
            for row in 0..self.rows.len() {
                objective += self.row_weight(row) * self.loss(self.error(o, row));
            }
        }
        objective
    }

    /// The square of an error; beyond the bend the tangent line there.
    fn loss(&self, error: f64) -> f64 {
        match self.problem.bend {
            Some(bend) if error.abs() > bend => bend * (2.0 * error.abs() - bend),
            _ => error * error,
        }
    }

    /// Puts the errors of an output beside its derivatives, both weighted so that their products
    /// are those of the loss. Returns the sum of the losses.
    fn weigh(&self, o: usize, jacobian: &mut [f64], stride: usize, weights: usize) -> f64 {
        let mut objective = 0.0;
        let plain = self.problem.weights.is_none() && self.problem.bend.is_none();
        for (row, derivatives) in jacobian.chunks_exact_mut(stride).enumerate() {
            let error = self.error(o, row);
            derivatives[weights] = error;
            if plain {
                objective += error * error;
                continue;
            }
            let row_weight = self.row_weight(row);
            objective += row_weight * self.loss(error);
            let bent = match self.problem.bend {
                Some(bend) if error.abs() > bend => bend / error.abs(),
                _ => 1.0,
            };
            let factor = (row_weight * bent).sqrt();
            for value in &mut derivatives[..=weights] {
                *value *= factor;
            }
        }
        objective
    }
}
