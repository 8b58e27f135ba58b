use narx::Forecaster;
use serde::{Deserialize, Serialize};

use super::run::{Job, Run, replay};
use super::strategy::Strategy;
use super::trace::Trace;
use crate::{Error, Policy, defaults};

/// Below this share of the time of equal batches the oracle's gain is too small to take shares of.
const LEAST_GAIN: f64 = 0.01;

/// How a strategy did, beside equal batches and the oracle on the same iterations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// Name of the strategy.
    pub name: String,
    /// Iterations that were run.
    pub iterations: usize,
    /// Mean seconds of an iteration.
    pub mean_iteration_s: f64,
    /// Median seconds of an iteration: the smallest that half of them do not exceed.
    pub median_iteration_s: f64,
    /// Seconds that 95 % of the iterations do not exceed.
    pub p95_iteration_s: f64,
    /// Share of the workers' time that is spent waiting, for the slowest or for the plan; a worker
    /// that sits out waits.
    pub waiting_share: f64,
    /// How many times as fast as equal batches.
    pub speedup: f64,
    /// Time saved against equal batches, in percent.
    pub time_saved_pct: f64,
    /// Time saved as a share of what the oracle saves; None where that is less than 1 %.
    pub oracle_share: Option<f64>,
    /// Iterations whose sizes differ from those of the one before.
    pub size_changes: usize,
}

/// Strategies on the same workers and the same number of iterations.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// One entry a strategy, in the order asked for.
    pub summaries: Vec<Summary>,
    /// What each of them did.
    pub runs: Vec<Run>,
}

/// Replays a job under several strategies, each with its name, and compares them.
///
/// Equal batches and the oracle are run too, whether asked for or not. If a trace stops, all are
/// judged by the iterations that all of them completed. `progress` is told what part of the work
/// is done, from 0 to 1.
///
/// # Errors
/// As [`replay`].
pub fn compare<F: Forecaster + Clone + PartialEq>(
    traces: &[Trace],
    job: &Job,
    strategies: &[(String, Strategy<F>)],
    progress: &mut dyn FnMut(f64),
) -> Result<Comparison, Error> {
    let references = [Strategy::Online(Policy::Equal), Strategy::Oracle];
    let mut distinct: Vec<&Strategy<F>> = references.iter().collect();
    let mut places = Vec::with_capacity(strategies.len());
    for (_, strategy) in strategies {
        let place = distinct.iter().position(|&other| other == strategy);
        places.push(place.unwrap_or(distinct.len()));
        if place.is_none() {
            distinct.push(strategy);
        }
    }
    let longest_s = traces.iter().map(Trace::length_s).fold(0.0, f64::max);
    let mut iterations = job.iterations.map(|iterations| iterations.max(1));
    let mut runs: Vec<Run> = Vec::new();
    for strategy in &distinct {
        let before = runs.len() as f64;
        let run = replay(traces, job, strategy, &mut |run| {
            let (done, enough) = match iterations {
                Some(iterations) => (
                    run.iterations.len() as f64 / iterations as f64,
                    run.iterations.len() >= iterations,
                ),
                None => (
                    now_s(run) / longest_s,
                    now_s(run) >= longest_s || run.iterations.len() >= defaults::MOST_ITERATIONS,
                ),
            };
            progress((before + done.min(1.0)) / distinct.len() as f64);
            !enough
        })?;
        iterations = iterations.or(Some(run.iterations.len()));
        runs.push(run);
    }
    let shared = runs.iter().map(|run| run.iterations.len()).min();
    for run in &mut runs {
        run.iterations.truncate(shared.unwrap_or(0));
    }
    let summaries: Vec<Summary> = strategies
        .iter()
        .zip(&places)
        .map(|((name, _), &place)| summarise(name, &runs[place], &runs[0], &runs[1]))
        .collect();
    let mut chosen = Vec::with_capacity(places.len());
    // Runs are large: the first strategy to want one takes it.
    while let Some(place) = places.pop() {
        chosen.push(if places.contains(&place) {
            runs[place].clone()
        } else {
            std::mem::take(&mut runs[place])
        });
    }
    chosen.reverse();
    Ok(Comparison {
        summaries,
        runs: chosen,
    })
}

fn now_s(run: &Run) -> f64 {
    let last = run.iterations.last();
    last.map_or(0.0, |last| last.start_s + last.duration_s)
}

fn summarise(name: &str, run: &Run, equal: &Run, oracle: &Run) -> Summary {
    let mut sorted: Vec<f64> = run.iterations.iter().map(|i| i.duration_s).collect();
    sorted.sort_by(f64::total_cmp);
    let (mean_s, equal_s, oracle_s) = (mean_s(run), mean_s(equal), mean_s(oracle));
    let workers = run.iterations.first().map_or(1, |first| first.sizes.len());
    let busy_s: f64 = run.iterations.iter().flat_map(|i| &i.times_s).sum();
    let whole_s: f64 = sorted.iter().sum::<f64>() * workers as f64;
    let pairs = run.iterations.iter().zip(run.iterations.iter().skip(1));
    Summary {
        name: name.to_owned(),
        iterations: sorted.len(),
        mean_iteration_s: mean_s,
        median_iteration_s: quantile(&sorted, 0.5),
        p95_iteration_s: quantile(&sorted, 0.95),
        waiting_share: (1.0 - busy_s / whole_s).max(0.0),
        speedup: equal_s / mean_s,
        time_saved_pct: 100.0 * (1.0 - mean_s / equal_s),
        oracle_share: (equal_s - oracle_s >= LEAST_GAIN * equal_s)
            .then(|| (equal_s - mean_s) / (equal_s - oracle_s)),
        size_changes: pairs.filter(|(a, b)| a.sizes != b.sizes).count(),
    }
}

fn mean_s(run: &Run) -> f64 {
    let sum: f64 = run.iterations.iter().map(|i| i.duration_s).sum();
    sum / run.iterations.len() as f64
}

/// The smallest value that a share `part` of the sorted values do not exceed.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted
        .get(rank.saturating_sub(1))
        .copied()
        .unwrap_or(f64::NAN)
}
