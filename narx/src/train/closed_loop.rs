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
