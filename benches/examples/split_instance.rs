//! Splits an instance read as JSON from the standard input again and again, and writes the plan
//! and the time a split takes as JSON to the standard output.
//!
//! ```text
//! echo '{"global_batch": 32, "workers": [{"speed": 300, "comm_s": 0.01}, {"speed": 100, "max": 6}]}' |
//!     cargo run --release -p benches --example split_instance
//! ```

use std::error::Error;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sizing::{Plan, Splitter, Worker};

/// How long to go on, and with how many splits at least.
const BUDGET: Duration = Duration::from_millis(500);
const LEAST_RUNS: usize = 11;

#[derive(Deserialize)]
struct Instance {
    global_batch: u32,
    workers: Vec<Limits>,
}

#[derive(Deserialize)]
struct Limits {
    speed: f64,
    min: Option<u32>,
    max: Option<u32>,
    #[serde(default)]
    comm_s: f64,
}

#[derive(Serialize)]
struct Answer<'a> {
    sizes: &'a [u32],
    iteration_s: f64,
    lower_bound_s: Option<f64>,
    median_us: f64,
    min_us: f64,
    runs: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let instance: Instance = serde_json::from_reader(std::io::stdin().lock())?;
    let workers: Vec<Worker<'_>> = instance.workers.iter().map(worker).collect();
    let mut plan = Plan::default();
    let times = measure(instance.global_batch, &workers, &mut plan)?;
    let answer = Answer {
        sizes: plan.sizes(),
        iteration_s: plan.iteration_s(),
        lower_bound_s: plan.lower_bound_s(),
        median_us: microseconds(times[times.len() / 2]),
        min_us: microseconds(times[0]),
        runs: times.len(),
    };
    println!("{}", serde_json::to_string(&answer)?);
    Ok(())
}

fn worker(limits: &Limits) -> Worker<'static> {
    Worker::proportional(limits.speed)
        .communication(limits.comm_s)
        .at_least(limits.min.unwrap_or(1))
        .at_most(limits.max.unwrap_or(u32::MAX))
}

/// The times of the splits after the first, the shortest first.
fn measure(
    global_batch: u32,
    workers: &[Worker<'_>],
    plan: &mut Plan,
) -> Result<Vec<Duration>, sizing::Error> {
    let mut splitter = Splitter::new();
    splitter.split_into(global_batch, workers, plan)?;
    let mut times = Vec::new();
    let start = Instant::now();
    while start.elapsed() < BUDGET || times.len() < LEAST_RUNS {
        let before = Instant::now();
        splitter.split_into(global_batch, std::hint::black_box(workers), plan)?;
        times.push(before.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

fn microseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1000.0
}
