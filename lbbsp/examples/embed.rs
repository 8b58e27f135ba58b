//! A scheduler's loop: workers join, report, fall silent and leave; the global batch stays.

use lbbsp::prelude::*;
use lbbsp::sizing::Error;

/// Stands for the real worker: runs a batch and returns its own compute time in seconds.
fn run(worker: u64, iteration: u64, batch: u32) -> f64 {
    let slowed = worker == 1 && iteration >= 10;
    f64::from(batch) / if slowed { 400.0 } else { 1000.0 }
}

/// Runs the job and returns the plan after its last iteration.
pub(crate) fn job() -> Result<IterationPlan, Error> {
    let mut balancer = Balancer::new(1024, Policy::default())?;
    balancer.join(0, Limits::up_to(400))?;
    balancer.join(1, Limits::default())?;
    balancer.join(2, Limits::default())?;
    for iteration in 0..30 {
        if iteration == 20 {
            balancer.leave(2)?;
            balancer.join(3, Limits::default())?;
        }
        for share in balancer.plan(iteration)?.clone().shares() {
            let compute_s = run(share.worker, iteration, share.batch);
            let report = Report::new(iteration, share.batch, compute_s);
            // Worker 3 never reports: it keeps an equal share.
            if share.worker != 3 {
                balancer.report(share.worker, report)?;
            }
        }
    }
    balancer.plan(30).cloned()
}

pub(crate) fn main() -> Result<(), Error> {
    let plan = job()?;
    for share in plan.shares() {
        let weight = plan.weight(share);
        println!("{}: {} samples, {weight:.3}", share.worker, share.batch);
    }
    Ok(())
}
