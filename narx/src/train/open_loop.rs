use rayon::prelude::*;

use super::gram::Gram;
use super::lm::{Linearised, Problem};
use crate::frame::{Data, Run};
use crate::network::{Lanes, Network, Scratch};

/// Rows that are worked on at a time.
const BLOCK: usize = 32;

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
            self.visit(network, part, &mut |block| {
                for n in 0..block.rows {
                    if place % every == 0 {
                        let outputs = block.outputs();
                        sizes.extend((0..outputs).map(|o| block.error(n * outputs + o).abs()));
                    }
                    place += 1;
                }
            });
        }
        sizes
    }

    /// Calls `with` for block after block of rows, with their forecasts computed.
    fn visit(&self, network: &Network, part: &[Run], with: &mut dyn FnMut(&Block<'_>)) {
        let mut scratch = network.room();
        let mut block = Block::new(self);
        for run in part {
            for start in run.rows.clone().step_by(BLOCK) {
                block.load(run.session, start..(start + BLOCK).min(run.rows.end));
                block.forecast(network, &mut scratch);
                with(&block);
            }
        }
    }

    fn linearised_part(&self, network: &Network, part: &[Run]) -> Linearised {
        let mut gram = Gram::new(network.weights().len());
        let stride = Gram::stride_of(network.weights().len());
        let mut jacobian = vec![0.0; BLOCK * self.data.frame.outputs * stride];
        let mut scratch = Scratch::of(network);
        let mut block = Block::new(self);
        let mut objective = 0.0;
        for run in part {
            for start in run.rows.clone().step_by(BLOCK) {
                block.load(run.session, start..(start + BLOCK).min(run.rows.end));
                let errors = block.rows * block.outputs();
                let jacobian = &mut jacobian[..errors * stride];
                block.linearise(network, &mut scratch, jacobian, stride);
                objective += block.weigh(jacobian, stride, network.weights().len());
                gram.add(jacobian);
            }
        }
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
            self.visit(network, part, &mut |block| objective += block.objective());
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
    let most = rows.div_ceil(count).next_multiple_of(BLOCK);
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
struct Block<'a> {
    problem: &'a OpenLoop<'a>,
    rows: usize,
    session: usize,
    start: usize,
    regressors: Vec<f64>,
    targets: Vec<f64>,
    forecasts: Vec<f64>,
}

impl<'a> Block<'a> {
    fn new(problem: &'a OpenLoop<'a>) -> Self {
        let errors = BLOCK * problem.data.frame.outputs;
        Self {
            problem,
            rows: 0,
            session: 0,
            start: 0,
            regressors: Vec::with_capacity(BLOCK * problem.data.frame.terms.len()),
            targets: vec![0.0; errors],
            forecasts: vec![0.0; errors],
        }
    }

    fn outputs(&self) -> usize {
        self.problem.data.frame.outputs
    }

    fn load(&mut self, session: usize, rows: std::ops::Range<usize>) {
        let (data, outputs) = (self.problem.data, self.outputs());
        (self.session, self.start, self.rows) = (session, rows.start, rows.len());
        for o in 0..outputs {
            let scaler = &data.frame.columns[o].scaler;
            let column = &data.sessions[session][o][rows.clone()];
            for (n, &value) in column.iter().enumerate() {
                self.targets[n * outputs + o] = scaler.scale(value);
            }
        }
        data.regressors(session, rows, &mut self.regressors);
    }

    fn forecast(&mut self, network: &Network, scratch: &mut [Lanes]) {
        let (width, outputs) = (network.shape().regressors, self.outputs());
        for n in 0..self.rows {
            let x = &self.regressors[n * width..(n + 1) * width];
            let out = &mut self.forecasts[n * outputs..(n + 1) * outputs];
            network.outputs(x, scratch, out);
        }
    }

    fn linearise(
        &mut self,
        network: &Network,
        scratch: &mut Scratch,
        jacobian: &mut [f64],
        stride: usize,
    ) {
        let errors = self.rows * self.outputs();
        let forecasts = &mut self.forecasts[..errors];
        network.linearise(&self.regressors, scratch, forecasts, jacobian, stride);
    }

    fn error(&self, place: usize) -> f64 {
        self.targets[place] - self.forecasts[place]
    }

    fn row_weight(&self, place: usize) -> f64 {
        let row = self.start + place / self.outputs();
        let weights = self.problem.weights;
        weights.map_or(1.0, |weights| weights[self.session][row])
    }

    fn objective(&self) -> f64 {
        let errors = 0..self.rows * self.outputs();
        let loss = |place| self.row_weight(place) * self.loss(self.error(place));
        errors.map(loss).sum()
    }

    /// The square of an error; beyond the bend the tangent line there.
    fn loss(&self, error: f64) -> f64 {
        match self.problem.bend {
            Some(bend) if error.abs() > bend => bend * (2.0 * error.abs() - bend),
            _ => error * error,
        }
    }

    /// Puts the errors beside the derivatives, both weighted so that their products are those of
    /// the loss. Returns the sum of the losses.
    fn weigh(&self, jacobian: &mut [f64], stride: usize, weights: usize) -> f64 {
        let mut objective = 0.0;
        let plain = self.problem.weights.is_none() && self.problem.bend.is_none();
        for (place, row) in jacobian.chunks_exact_mut(stride).enumerate() {
            let error = self.error(place);
            row[weights] = error;
            if plain {
                objective += error * error;
                continue;
            }
            let row_weight = self.row_weight(place);
            objective += row_weight * self.loss(error);
            let bent = match self.problem.bend {
                Some(bend) if error.abs() > bend => bend / error.abs(),
                _ => 1.0,
            };
            let factor = (row_weight * bent).sqrt();
            for value in &mut row[..=weights] {
                *value *= factor;
            }
        }
        objective
    }
}
