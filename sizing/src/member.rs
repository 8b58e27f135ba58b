use std::collections::{BTreeMap, VecDeque};

use narx::{Ema, Forecaster};
use serde::{Deserialize, Serialize};

use crate::curve::LONGEST_S;
use crate::{Error, Limits, Policy, Report, Worker, defaults};

/// How many iterations without a report are kept in mind, and how far ahead forecasts are asked for.
pub(crate) const MOST_UNREPORTED: u32 = 1000;

/// What a balancer knows of one worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Member<F> {
    pub(crate) worker: u64,
    pub(crate) limits: Limits,
    /// None under a policy that forecasts nothing.
    pub(crate) forecaster: Option<F>,
    communication: Ema,
    /// Iteration of the last report accepted.
    last_report: Option<u64>,
    /// Iterations in which the worker has had work since then, the newest ones.
    pub(crate) unreported: VecDeque<u64>,
    /// The newest of those that are not listed any more.
    forgotten: Option<u64>,
    /// Driving series of the last report: they hold for the iteration after it.
    driving: BTreeMap<String, f64>,
    /// Size in the newest plan.
    pub(crate) previous: Option<u32>,
}

impl<F: Forecaster + Clone> Member<F> {
    /// A worker of which nothing is known yet.
    pub(crate) fn new(worker: u64, limits: Limits, policy: &Policy<F>) -> Self {
        Self {
            worker,
            limits,
            forecaster: match policy {
                Policy::Equal => None,
                Policy::Predictive { forecaster, .. } => Some(forecaster.clone()),
            },
            communication: Ema::new(defaults::EMA_ALPHA).expect("the default alpha is in range"),
            last_report: None,
            unreported: VecDeque::new(),
            forgotten: None,
            driving: BTreeMap::new(),
            previous: None,
        }
    }

    /// Checks that some size is within the limits.
    pub(crate) fn check_limits(worker: u64, limits: &Limits) -> Result<(), Error> {
        limits.apply(Worker::proportional(1.0)).range(worker)?;
        Ok(())
    }

    pub(crate) fn accept(&mut self, report: Report, policy: &Policy<F>) -> Result<(), Error> {
        if let Some(last) = self.last_report
            && report.iteration <= last
        {
            return Err(Error::Stale {
                worker: self.worker,
                iteration: report.iteration,
                last,
            });
        }
        let forgotten = self
            .forgotten
            .is_some_and(|newest| report.iteration <= newest);
        if !forgotten && !self.unreported.contains(&report.iteration) {
            return Err(Error::NoPart {
                worker: self.worker,
                iteration: report.iteration,
            });
        }
        report.check(self.worker)?;
        let mut inputs = Vec::new();
        if let (Policy::Predictive { inputs: names, .. }, Some(forecaster)) =
            (policy, &mut self.forecaster)
        {
            while let Some(&iteration) = self.unreported.front()
                && iteration < report.iteration
            {
                inputs_into(&mut inputs, names, &self.driving);
                forecaster.observe(f64::NAN, &inputs);
                self.driving.clear();
                self.unreported.pop_front();
            }
            inputs_into(&mut inputs, names, &self.driving);
            forecaster.observe(report.speed(), &inputs);
        }
        self.unreported
            .retain(|&iteration| iteration > report.iteration);
        if let Some(seconds) = report.communication_s {
            self.communication.observe(seconds, &[]);
        }
        self.last_report = Some(report.iteration);
        self.driving = report.driving;
        Ok(())
    }

    /// Speed in the coming iteration, in samples per second; None if it is not known.
    pub(crate) fn speed(
        &self,
        policy: &Policy<F>,
        missing_limit: u32,
        horizon: &mut Vec<f64>,
        inputs: &mut Vec<f64>,
    ) -> Option<f64> {
        let (Policy::Predictive { inputs: names, .. }, Some(forecaster)) =
            (policy, &self.forecaster)
        else {
            return None;
        };
        let missing = self.unreported.len();
        if self.last_report.is_none() || missing >= missing_limit as usize {
            return None;
        }
        inputs_into(inputs, names, &self.driving);
        horizon.clear();
        horizon.resize(missing + 1, f64::NAN);
        forecaster.forecast(inputs, horizon);
        let speed = horizon[missing];
        Worker::proportional(speed).range(self.worker).ok()?;
        Some(speed)
    }

    /// Communication time in the coming iteration, in seconds; None if it is not known.
    pub(crate) fn communication_s(&self) -> Option<f64> {
        let mut out = [0.0];
        self.communication.forecast(&[], &mut out);
        (0.0..=LONGEST_S).contains(&out[0]).then_some(out[0])
    }

    /// Whether the iterations noted are such that the plans up to `newest` can have left them.
    pub(crate) fn fits(&self, newest: Option<u64>) -> bool {
        let listed = || self.unreported.iter().copied();
        let rises = listed().zip(listed().skip(1)).all(|(a, b)| a < b);
        let past = [self.last_report, self.forgotten];
        let noted = past.into_iter().flatten().chain(listed());
        rises
            && self.unreported.len() <= MOST_UNREPORTED as usize
            && noted.max() <= newest
            && past.into_iter().flatten().max()
                < self.unreported.front().copied().or(Some(u64::MAX))
    }

    /// Notes the size in the plan of `iteration` that has just been issued.
    pub(crate) fn issue(&mut self, iteration: u64, size: u32) {
        self.previous = Some(size);
        if size > 0 {
            self.unreported.push_back(iteration);
        }
        // More than these change nothing: the worker has long been unknown.
        if self.unreported.len() > MOST_UNREPORTED as usize {
            self.forgotten = self.unreported.pop_front();
            self.driving.clear();
        }
    }
}

fn inputs_into(inputs: &mut Vec<f64>, names: &[String], driving: &BTreeMap<String, f64>) {
    inputs.clear();
    let value = |name| driving.get(name).copied().unwrap_or(f64::NAN);
    inputs.extend(names.iter().map(value));
}
