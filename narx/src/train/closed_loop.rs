use rayon::prelude::*;

use super::gram::Gram;
use super::lm::{Linearised, Problem};
use crate::frame::{Data, Run};
use crate::network::{Network, Scratch};
use crate::roll::Roll;

/// Steps whose derivatives are kept before they are summed.
const BLOCK: usize = 32;

/// Multi-step errors: from each start on the model runs on its own forecasts (parallel), and the
/// derivatives are carried from step to step (forward sensitivities).
pub(crate) struct ClosedLoop<'a> {
    data: &'a Data<'a>,
    /// In at most 16 parts that do not depend on the number of threads.
    parts: Vec<Vec<Run>>,
    errors: f64,
}

const PARTS: usize = 16;

impl<'a> ClosedLoop<'a> {
    /// Rolls of `horizon` steps; 0 is one roll to the end of each run. Each is begun halfway through
    /// the one before if that makes no more than `most` steps, else where the one before ends.
    pub(crate) fn new(data: &'a Data<'a>, runs: &[Run], horizon: usize, most: usize) -> Self {
        let rows: usize = runs.iter().map(|run| run.rows.len()).sum();
        let overlapping = 2 * rows <= most;
        let mut rolls = Vec::new();
        for run in runs {
            let whole = horizon == 0 || horizon >= run.rows.len();
            let steps = if whole { run.rows.len() } else { horizon };
            let every = if whole || !overlapping {
                steps
            } else {
                steps.div_ceil(2)
            };
            for start in run.rows.clone().step_by(every.max(1)) {
                if start + steps > run.rows.end {
                    break;
                }
                rolls.push(Run {
                    session: run.session,
                    rows: start..start + steps,
                });
            }
        }
        let errors: usize = rolls.iter().map(|roll| roll.rows.len()).sum();
        let most = rolls.len().div_ceil(PARTS).max(1);
        Self {
            data,
            parts: rolls.chunks(most).map(<[Run]>::to_vec).collect(),
            errors: (errors * data.frame.outputs) as f64,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    fn linearised_part(&self, network: &Network, part: &[Run]) -> Option<Linearised> {
        let mut tangent = Tangent::new(self.data, network);
        for run in part {
            tangent.follow(run)?;
        }
        Some(Linearised {
            gram: tangent.gram,
            objective: tangent.objective,
        })
    }

    fn objective_of_part(&self, network: &Network, part: &[Run]) -> Option<f64> {
        let mut roll = Roll::new(self.data);
        let mut scratch = network.room();
        let mut forecasts = vec![0.0; self.data.frame.outputs];
        let mut objective = 0.0;
        for run in part {
            roll.begin(run.session, run.rows.start);
            for row in run.rows.clone() {
                if !roll.step(network, &mut scratch, &mut forecasts) {
                    return None;
                }
                for (o, forecast) in forecasts.iter().enumerate() {
                    let error = self.data.value(run.session, o, row, 0) - forecast;
                    objective += error * error;
                }
            }
        }
        Some(objective)
    }
}

impl Problem for ClosedLoop<'_> {
    fn errors(&self) -> f64 {
        self.errors
    }

    fn linearise(&self, network: &Network) -> Option<Linearised> {
        let of_part = |part: &Vec<Run>| self.linearised_part(network, part);
        let parts: Vec<Option<Linearised>> = self.parts.par_iter().map(of_part).collect();
        let mut sum: Option<Linearised> = None;
        for part in parts {
            let part = part?;
            sum = Some(match sum {
                None => part,
                Some(mut sum) => {
                    sum.gram.merge(&part.gram);
                    sum.objective += part.objective;
                    sum
                }
            });
        }
        sum.filter(|sum| sum.objective.is_finite())
    }

    fn objective(&self, network: &Network) -> Option<f64> {
        let of_part = |part: &Vec<Run>| self.objective_of_part(network, part);
        let parts: Vec<Option<f64>> = self.parts.par_iter().map(of_part).collect();
        let sum: f64 = parts.into_iter().sum::<Option<f64>>()?;
        sum.is_finite().then_some(sum)
    }
}

/// A roll together with the derivatives of its forecasts by the weights.
struct Tangent<'a> {
    data: &'a Data<'a>,
    network: &'a Network,
    roll: Roll<'a>,
    gram: Gram,
    objective: f64,
    scratch: Scratch,
    forecasts: Vec<f64>,
    slopes: Vec<f64>,
    /// Rows (derivatives, error) of the last `reach` steps and of those not summed yet.
    rows: Vec<f64>,
    stride: usize,
}

impl<'a> Tangent<'a> {
    fn new(data: &'a Data<'a>, network: &'a Network) -> Self {
        let weights = network.weights().len();
        Self {
            data,
            network,
            roll: Roll::new(data),
            gram: Gram::new(weights),
            objective: 0.0,
            scratch: Scratch::of(network),
            forecasts: vec![0.0; data.frame.outputs],
            slopes: vec![0.0; data.frame.terms.len()],
            rows: Vec::new(),
            stride: Gram::stride_of(weights),
        }
    }

    /// Runs through the rows of a roll; None if it runs away.
    fn follow(&mut self, run: &Run) -> Option<()> {
        self.roll.begin(run.session, run.rows.start);
        // The measured outputs do not depend on the weights.
        let before = self.roll.reach() * self.data.frame.outputs * self.stride;
        self.rows.clear();
        self.rows.resize(before, 0.0);
        for row in run.rows.clone() {
            self.step(run.session, row)?;
            if self.rows.len() - before >= BLOCK * self.data.frame.outputs * self.stride {
                self.sum(before);
            }
        }
        self.sum(before);
        Some(())
    }

    fn step(&mut self, session: usize, row: usize) -> Option<()> {
        let outputs = self.data.frame.outputs;
        let old = self.rows.len();
        self.rows.resize(old + outputs * self.stride, 0.0);
        let (past, new) = self.rows.split_at_mut(old);
        let regressors = self.roll.regressors();
        let stride = self.stride;
        self.network.linearise(
            regressors,
            &mut self.scratch,
            &mut self.forecasts,
            new,
            stride,
        );
        let weights = self.network.weights().len();
        for (o, new) in new.chunks_exact_mut(stride).enumerate() {
            self.network.gradient(o, &self.scratch, &mut self.slopes);
            for (term, &slope) in self.data.frame.terms.iter().zip(&self.slopes) {
                if term.column < outputs {
                    let steps = past.len() / (outputs * stride);
                    let place = ((steps - term.lag) * outputs + term.column) * stride;
                    add_scaled(&mut new[..weights], slope, &past[place..place + weights]);
                }
            }
            let error = self.data.value(session, o, row, 0) - self.forecasts[o];
            new[weights] = error;
            self.objective += error * error;
        }
        self.roll.push(&self.forecasts).then_some(())
    }

    /// Adds the steps that follow the first `before` values to the normal equations and keeps only
    /// as many of them as the next steps need.
    fn sum(&mut self, before: usize) {
        self.gram.add(&self.rows[before..]);
        let kept = self.rows.len() - before;
        self.rows.copy_within(kept.., 0);
        self.rows.truncate(before);
    }
}

fn add_scaled(to: &mut [f64], factor: f64, values: &[f64]) {
    for (to, value) in to.iter_mut().zip(values) {
        *to += factor * value;
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;
    use crate::config::{Config, Input, Skip};
    use crate::frame::Frame;
    use crate::{Part, Series, Session};

    /// (f(w + h) − f(w − h)) / 2h with h = 1e-5: its own error is about 1e-10 of the values.
    const H: f64 = 1e-5;
    const OF_DIFFERENCES: f64 = 1e-6;

    fn wave(rows: usize, step: usize) -> Vec<f64> {
        let value = |t: usize| ((t * step) % 23) as f64 / 11.0 - 1.0;
        (0..rows).map(value).collect()
    }

    /// Two outputs that are forecast from each other, in sessions of 50 and 40 rows.
    fn series() -> Series {
        let session = |rows| {
            let outputs = vec![wave(rows, 5), wave(rows, 7)];
            Session::new(outputs, vec![wave(rows, 3)]).unwrap()
        };
        let series = Series::new(["a", "b"], ["u"]).unwrap();
        series.with(session(50)).unwrap().with(session(40)).unwrap()
    }

    fn frame(series: &Series, skip: Skip) -> Frame {
        let config = Config {
            output_lags: vec![1, 3],
            inputs: vec![Input::new("u", [0, 2])],
            skip,
            ..Config::default()
        };
        Frame::fitted(series, &series.all(), &config).unwrap()
    }

    fn network(frame: &Frame, hidden: usize) -> Network {
        let shape = frame.shape(hidden);
        let weight = |i: usize| ((i * 29 + 7) % 31) as f64 / 60.0 - 0.25;
        let weights: Vec<f64> = (0..shape.weights()).map(weight).collect();
        Network::new(shape, &weights, &frame.last_values())
    }

    fn moved(network: &Network, weight: usize, by: f64) -> Network {
        let mut weights = network.weights().to_vec();
        weights[weight] += by;
        let mut network = network.clone();
        network.set_weights(&weights);
        network
    }

    /// All errors, roll by roll.
    fn errors(problem: &ClosedLoop<'_>, network: &Network) -> Vec<f64> {
        let (data, mut errors) = (problem.data, Vec::new());
        let outputs = data.frame.outputs;
        let mut forecasts = vec![0.0; outputs];
        for run in problem.parts.iter().flatten() {
            let mut roll = Roll::new(data);
            roll.begin(run.session, run.rows.start);
            for row in run.rows.clone() {
                assert!(roll.step(network, &mut network.room(), &mut forecasts));
                let of_row = (0..outputs).map(|o| data.value(run.session, o, row, 0));
                errors.extend(of_row.zip(&forecasts).map(|(truth, it)| truth - it));
            }
        }
        errors
    }

    #[test]
    fn normal_equations_agree_with_finite_differences() {
        let series = series();
        for skip in [Skip::None, Skip::Linear, Skip::LastValue] {
            let frame = frame(&series, skip);
            let data = frame.bind(&series).unwrap();
            let runs = data.complete_runs(&series.all(), None);
            let network = network(&frame, 3);
            for (horizon, most) in [(1, 0), (4, 0), (4, 1_000), (0, 0)] {
                let problem = ClosedLoop::new(&data, &runs, horizon, most);
                let at = problem.linearise(&network).unwrap();
                let here = errors(&problem, &network);
                assert_eq!(here.len() as f64, problem.errors());
                let objective = problem.objective(&network).unwrap();
                let squares: f64 = here.iter().map(|e| e * e).sum();
                approx::assert_relative_eq!(objective, squares, max_relative = 1e-12);
                approx::assert_relative_eq!(at.objective, squares, max_relative = 1e-12);

                let weights = network.weights().len();
                let mut jacobian = DMatrix::zeros(here.len(), weights);
                for w in 0..weights {
                    let ahead = errors(&problem, &moved(&network, w, H));
                    let behind = errors(&problem, &moved(&network, w, -H));
                    for (n, (a, b)) in ahead.iter().zip(&behind).enumerate() {
                        jacobian[(n, w)] = (b - a) / (2.0 * H);
                    }
                }
                let gradient = jacobian.transpose() * nalgebra::DVector::from_vec(here);
                let scale = squares.max(1.0);
                approx::assert_relative_eq!(
                    nalgebra::DVector::from_vec(at.gram.gradient()),
                    gradient,
                    epsilon = OF_DIFFERENCES * scale
                );
                let expected = jacobian.transpose() * &jacobian;
                let scale = expected.amax();
                approx::assert_relative_eq!(
                    at.gram.products(),
                    expected,
                    epsilon = OF_DIFFERENCES * scale
                );
            }
        }
    }

    #[test]
    fn one_step_rolls_are_the_one_step_errors() {
        let series = series();
        let frame = frame(&series, Skip::Linear);
        let data = frame.bind(&series).unwrap();
        let runs = data.complete_runs(&series.all(), None);
        let network = network(&frame, 2);
        let open = crate::train::open_loop::OpenLoop::new(&data, &runs, None);
        let closed = ClosedLoop::new(&data, &runs, 1, 0);
        assert_eq!(open.errors(), closed.errors());
        let (open, closed) = (open.linearise(&network), closed.linearise(&network));
        let (open, closed) = (open.unwrap(), closed.unwrap());
        approx::assert_relative_eq!(open.objective, closed.objective, max_relative = 1e-12);
        approx::assert_relative_eq!(
            nalgebra::DVector::from_vec(open.gram.gradient()),
            nalgebra::DVector::from_vec(closed.gram.gradient()),
            epsilon = 1e-10
        );
    }

    #[test]
    fn rolls_cover_every_run_and_never_leave_it() {
        let series = series();
        let frame = frame(&series, Skip::Linear);
        let data = frame.bind(&series).unwrap();
        let mut part = series.all();
        let rolls = |part: &Part, horizon, most| -> Vec<std::ops::Range<usize>> {
            let runs = data.complete_runs(part, None);
            let problem = ClosedLoop::new(&data, &runs, horizon, most);
            problem
                .parts
                .concat()
                .into_iter()
                .map(|run| run.rows)
                .collect()
        };
        // The longest lag is 3.
        assert_eq!(rolls(&part, 0, 0), [3..50, 3..40]);
        assert_eq!(rolls(&part, 47, 0), [3..50, 3..40]);
        assert_eq!(rolls(&part, usize::MAX, 1_000), [3..50, 3..40]);
        part = Part::new(vec![10..22, 0..0]);
        assert_eq!(rolls(&part, 5, 0), [10..15, 15..20]);
        assert_eq!(rolls(&part, 5, 24), [10..15, 13..18, 16..21]);
        assert!(ClosedLoop::new(&data, &[], 5, 0).is_empty());
    }

    #[test]
    fn a_roll_that_runs_away_has_no_objective() {
        let series = series();
        let frame = frame(&series, Skip::Linear);
        let data = frame.bind(&series).unwrap();
        let runs = data.complete_runs(&series.all(), None);
        let network = network(&frame, 2);
        let bias = network.places().output_bias;
        let problem = ClosedLoop::new(&data, &runs, 0, 0);
        for by in [1e3, f64::NAN, f64::INFINITY] {
            let wild = moved(&network, bias, by);
            assert!(problem.linearise(&wild).is_none());
            assert!(problem.objective(&wild).is_none());
        }
    }
}
