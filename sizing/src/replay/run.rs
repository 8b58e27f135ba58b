use narx::Forecaster;

use super::strategy::{Chooser, Strategy};
use super::trace::{NEVER_S, Trace};
use crate::curve::LONGEST_S;
use crate::{Curve, Error, Limits, Report};

/// The job that recorded workers are to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Samples of every iteration over all workers.
    pub global_batch: u32,
    /// Limits of each worker, or one entry for all of them.
    pub limits: Vec<Limits>,
    /// Communication time of each worker in seconds, or one entry for all of them.
    pub communication_s: Vec<f64>,
    /// Seconds that choosing the sizes adds to every iteration; equal batches need none.
    pub planning_s: f64,
    /// How many iterations [`compare`](super::compare) runs, 0 counting as 1; None for as many as
    /// equal batches need to see the longest trace once, but at most
    /// [`MOST_ITERATIONS`](crate::defaults::MOST_ITERATIONS).
    pub iterations: Option<usize>,
}

impl Job {
    /// A job without limits, communication or planning time.
    pub fn new(global_batch: u32) -> Self {
        Self {
            global_batch,
            limits: vec![Limits::default()],
            communication_s: vec![0.0],
            planning_s: 0.0,
            iterations: None,
        }
    }

    pub(super) fn limits_of(&self, worker: usize) -> Limits {
        self.limits[worker.min(self.limits.len() - 1)]
    }

    pub(super) fn communication_s_of(&self, worker: usize) -> f64 {
        self.communication_s[worker.min(self.communication_s.len() - 1)]
    }

    /// Own compute and communication of each worker; nothing for one that sits out.
    fn times_s(&self, computes_s: &[f64], sizes: &[u32]) -> Vec<f64> {
        let workers = computes_s.iter().zip(sizes).enumerate();
        workers
            .map(|(i, (compute_s, &size))| match size {
                0 => 0.0,
                _ => compute_s + self.communication_s_of(i),
            })
            .collect()
    }

    pub(super) fn check(&self, workers: usize) -> Result<(), Error> {
        if workers == 0 {
            return Err(Error::NoWorkers);
        }
        let lists = [
            ("limits", self.limits.len()),
            ("communication times", self.communication_s.len()),
        ];
        for (what, got) in lists {
            if got != 1 && got != workers {
                return Err(Error::Length {
                    what: format!("the list of {what}"),
                    expected: workers,
                    got,
                });
            }
        }
        for worker in 0..workers {
            let seconds = self.communication_s_of(worker);
            crate::worker::check_seconds("communication time", worker as u64, seconds)?;
        }
        if !(0.0..=LONGEST_S).contains(&self.planning_s) {
            let got = self.planning_s;
            return Err(Error::Planning { got });
        }
        Ok(())
    }
}

/// One iteration of a replay.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Iteration {
    /// When it began, in seconds since the start of the traces.
    pub start_s: f64,
    /// From its beginning to its barrier, in seconds, planning included.
    pub duration_s: f64,
    /// Batch of each worker, in samples.
    pub sizes: Vec<u32>,
    /// Own compute and communication of each worker, in seconds.
    pub times_s: Vec<f64>,
}

/// A replayed job, iteration by iteration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// The iterations in their order.
    pub iterations: Vec<Iteration>,
}

/// Runs a job on recorded workers, the i-th trace being worker i.
///
/// Every iteration starts for all workers at once, after `job.planning_s` of planning. A worker is
/// done when the integral of its recorded speed has reached its batch, so that a change of speed
/// in mid-iteration has its true effect, and its communication time has passed. The slowest ends
/// the iteration. The run ends when `more`, which is asked before every iteration with what has
/// been run, says no; or with the last iteration that a trace that stops can complete.
///
/// # Errors
/// Those of [`split`](crate::split) if the job does not fit the workers; [`Error::Length`],
/// [`Error::Seconds`] and [`Error::Planning`] for a job whose numbers do not fit;
/// [`Error::NeverFinishes`]; [`Error::TraceTooShort`].
pub fn replay<F: Forecaster + Clone>(
    traces: &[Trace],
    job: &Job,
    strategy: &Strategy<F>,
    more: &mut dyn FnMut(&Run) -> bool,
) -> Result<Run, Error> {
    job.check(traces.len())?;
    let mut chooser = strategy.chooser(job, traces.len())?;
    let planning_s = if strategy.plans() {
        job.planning_s
    } else {
        0.0
    };
    let mut run = Run::default();
    let (mut now_s, mut sizes) = (0.0, Vec::new());
    while more(&run) {
        let number = run.iterations.len();
        let start_s = now_s + planning_s;
        match &mut chooser {
            Chooser::Blind(blind) => blind.choose(number as u64, &mut sizes)?,
            Chooser::Clairvoyant(seer) => seer.choose(job, traces, start_s, &mut sizes)?,
        }
        let Some(computes_s) = compute(traces, start_s, &sizes, number)? else {
            break;
        };
        let times_s = job.times_s(&computes_s, &sizes);
        let slowest_s = times_s.iter().copied().fold(0.0, f64::max);
        run.iterations.push(Iteration {
            start_s: now_s,
            duration_s: planning_s + slowest_s,
            sizes: sizes.clone(),
            times_s,
        });
        now_s = start_s + slowest_s;
        if let Chooser::Blind(blind) = &mut chooser {
            for (i, trace) in traces.iter().enumerate().filter(|&(i, _)| sizes[i] > 0) {
                let report = Report {
                    communication_s: Some(job.communication_s_of(i)),
                    driving: trace.driving_at(now_s),
                    ..Report::new(number as u64, sizes[i], computes_s[i])
                };
                blind.report(i as u64, report)?;
            }
        }
    }
    Ok(run)
}

/// Own compute of each worker in an iteration, in seconds; None if a trace ends within it.
fn compute(
    traces: &[Trace],
    start_s: f64,
    sizes: &[u32],
    number: usize,
) -> Result<Option<Vec<f64>>, Error> {
    let mut computes_s = Vec::with_capacity(traces.len());
    for (i, (trace, &size)) in traces.iter().zip(sizes).enumerate() {
        let compute_s = if size > 0 {
            trace.from(start_s).seconds(size)
        } else {
            0.0
        };
        let worker = i as u64;
        if trace.is_over(start_s + compute_s) {
            return if number == 0 {
                Err(Error::TraceTooShort { worker })
            } else {
                Ok(None)
            };
        }
        if compute_s >= NEVER_S {
            return Err(Error::NeverFinishes {
                worker,
                iteration: number,
            });
        }
        computes_s.push(compute_s);
    }
    Ok(Some(computes_s))
}
