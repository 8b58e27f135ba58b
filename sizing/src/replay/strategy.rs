use narx::{AnyForecaster, Forecaster};

use super::run::Job;
use super::trace::{Ahead, Trace};
use crate::{Balancer, Error, Plan, Policy, Report, Splitter, Worker};

/// How the batches of a replay are chosen.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Strategy<F = AnyForecaster> {
    /// By a balancer that gets the workers' reports and nothing else.
    Online(Policy<F>),
    /// For the speeds that the workers truly have when the iteration starts, taken to last: what a
    /// perfect forecast of that one moment is worth. Where speeds change much within an iteration,
    /// a forecast of their mean can be worth more.
    Informed,
    /// For the speeds that the workers will have: the earliest end of every iteration.
    Oracle,
}

/// What a strategy may look at while it chooses. The two kinds have different types, so that one
/// that must not know the future cannot get at it.
pub(super) enum Chooser<F> {
    Blind(Blind<F>),
    Clairvoyant(Clairvoyant),
}

/// Knows reports.
pub(super) struct Blind<F>(Balancer<F>);

impl<F: Forecaster + Clone> Blind<F> {
    pub(super) fn report(&mut self, worker: u64, report: Report) -> Result<(), Error> {
        self.0.report(worker, report)
    }

    pub(super) fn choose(&mut self, iteration: u64, sizes: &mut Vec<u32>) -> Result<(), Error> {
        let plan = self.0.plan(iteration)?;
        sizes.clear();
        sizes.extend(plan.shares().iter().map(|share| share.batch));
        Ok(())
    }
}

/// Knows the traces.
pub(super) struct Clairvoyant {
    looks_ahead: bool,
    splitter: Splitter,
    plan: Plan,
}

impl Clairvoyant {
    /// Chooses for an iteration whose compute starts at `start_s`.
    pub(super) fn choose(
        &mut self,
        job: &Job,
        traces: &[Trace],
        start_s: f64,
        sizes: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let aheads: Vec<Ahead<'_>> = traces.iter().map(|trace| trace.from(start_s)).collect();
        let workers: Vec<Worker<'_>> = (0..traces.len())
            .map(|i| {
                let worker = if self.looks_ahead {
                    Worker::curve(&aheads[i])
                } else {
                    // The smallest speed that is one stands for a worker that does not move now.
                    Worker::proportional(traces[i].speed_at(start_s).max(SLOWEST))
                };
                let worker = job.limits_of(i).apply(worker);
                let worker = worker.communication(job.communication_s_of(i));
                match sizes.get(i) {
                    Some(&size) => worker.previous(size),
                    None => worker,
                }
            })
            .collect();
        self.splitter
            .split_into(job.global_batch, &workers, &mut self.plan)?;
        sizes.clear();
        sizes.extend(self.plan.sizes());
        Ok(())
    }
}

/// In samples per second.
const SLOWEST: f64 = 1e-100;

impl<F: Forecaster + Clone> Strategy<F> {
    pub(super) fn chooser(&self, job: &Job, workers: usize) -> Result<Chooser<F>, Error> {
        let policy = match self {
            Self::Online(policy) => policy,
            Self::Informed | Self::Oracle => {
                return Ok(Chooser::Clairvoyant(Clairvoyant {
                    looks_ahead: matches!(self, Self::Oracle),
                    splitter: Splitter::new(),
                    plan: Plan::default(),
                }));
            }
        };
        let mut balancer = Balancer::new(job.global_batch, policy.clone())?;
        for i in 0..workers {
            balancer.join(i as u64, job.limits_of(i))?;
        }
        Ok(Chooser::Blind(Blind(balancer)))
    }

    /// Whether choosing takes the job's planning time.
    pub(super) fn plans(&self) -> bool {
        !matches!(self, Self::Online(Policy::Equal))
    }
}
