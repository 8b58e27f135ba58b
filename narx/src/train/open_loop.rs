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
#[derive(Clone)]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Input};
    use crate::frame::Frame;
    use crate::{Series, Session};

    fn series() -> Series {
        let wave = |step: usize| {
            let value = |t: usize| ((t * step) % 23) as f64 / 11.0 - 1.0;
            (0..90).map(value).collect::<Vec<f64>>()
        };
        let session = Session::new(vec![wave(5), wave(7)], vec![wave(3)]).unwrap();
        Series::new(["a", "b"], ["u"])
            .unwrap()
            .with(session)
            .unwrap()
    }

    /// (f(w + h) − f(w − h)) / 2h is −2 times what stands for the errors in the normal equations.
    #[test]
    fn the_gradient_agrees_with_finite_differences_for_every_loss_and_weighting() {
        const H: f64 = 1e-5;
        let series = series();
        let config = Config {
            output_lags: vec![1, 3],
            inputs: vec![Input::new("u", [0, 2])],
            ..Config::default()
        };
        let frame = Frame::fitted(&series, &series.all(), &config).unwrap();
        let data = frame.bind(&series).unwrap();
        let runs = data.complete_runs(&series.all(), None);
        let shape = frame.shape(3);
        let weights: Vec<f64> = (0..shape.weights())
            .map(|i| ((i * 29 + 7) % 31) as f64 / 30.0 - 0.5)
            .collect();
        let network = |weights: &[f64]| Network::new(shape, weights, &frame.last_values());
        let rows = vec![(0..90).map(|t| f64::from(t % 4) / 2.0).collect()];
        for row_weights in [None, Some(rows.as_slice())] {
            for bend in [None, Some(0.4)] {
                let mut problem = OpenLoop::new(&data, &runs, row_weights);
                problem.bend = bend;
                let at = problem.linearise(&network(&weights)).unwrap();
                let objective = problem.objective(&network(&weights)).unwrap();
                approx::assert_relative_eq!(at.objective, objective, max_relative = 1e-12);
                let gradient = at.gram.gradient();
                for w in 0..weights.len() {
                    let moved = |by: f64| {
                        let mut weights = weights.clone();
                        weights[w] += by;
                        problem.objective(&network(&weights)).unwrap()
                    };
                    let slope = (moved(H) - moved(-H)) / (2.0 * H);
                    // An error at the bend has no second derivative: the difference is of order H.
                    approx::assert_abs_diff_eq!(gradient[w], -slope / 2.0, epsilon = 1e-3);
                }
                assert!(gradient.iter().any(|slope| slope.abs() > 1.0));
            }
        }
    }

    #[test]
    fn parts_hold_every_row_once_and_none_is_empty() {
        for lengths in [
            vec![],
            vec![1],
            vec![9_000],
            vec![5, 40_000, 1, 200_000],
            vec![33; 900],
        ] {
            let runs: Vec<Run> = lengths
                .iter()
                .enumerate()
                .map(|(session, &rows)| Run {
                    session,
                    rows: 7..7 + rows,
                })
                .collect();
            let parts = parts(&runs);
            assert!(parts.len() <= PARTS);
            assert!(lengths.is_empty() || parts.iter().all(|part| !part.is_empty()));
            let mut joined: Vec<Run> = Vec::new();
            for piece in parts.concat() {
                match joined.last_mut() {
                    Some(last) if last.session == piece.session => {
                        assert_eq!(last.rows.end, piece.rows.start);
                        last.rows.end = piece.rows.end;
                    }
                    _ => joined.push(piece),
                }
            }
            assert_eq!(joined, runs);
        }
    }
}
