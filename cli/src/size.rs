use std::path::PathBuf;

use lbbsp::prelude::{Plan, Points, Profile, Worker, split};

use crate::error::Error;
use crate::worker_lists::{WorkerLists, one_each, seconds, speed};
use crate::{files, json, table, worker_names};

/// Split a global batch so that all workers finish together
///
/// A worker is described by its speed, or by the profile of its device. Lists are in the order of
/// the workers; the result adds up to the global batch exactly.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lbbsp size --global-batch 256 --speeds 120,60,30
  lbbsp size --global-batch 256 --speeds 120,60,30 --grain 8 --max 160,none,none
  lbbsp size --global-batch 256 --speeds 120,60 --fixed 0.01 --comm 0.2,0.3 --json
  lbbsp size --global-batch 96 --profiles a.json,b.json --min 8")]
pub(crate) struct Args {
    /// Samples of one iteration over all workers
    #[arg(long, value_name = "SAMPLES", value_parser = clap::value_parser!(u32).range(1..))]
    global_batch: u32,
    #[command(flatten)]
    source: Source,
    /// Time that a step takes beside its samples, in seconds; one value or one a worker
    #[arg(long, value_delimiter = ',', value_name = "SECONDS", allow_hyphen_values = true, value_parser = seconds,
        default_value = "0", conflicts_with = "profiles")]
    fixed: Vec<f64>,
    /// Let workers of speed 0 sit out instead of refusing them
    #[arg(long, conflicts_with = "profiles")]
    park_stopped: bool,
    /// Sizes of the plan before, which ties keep near; one value or one a worker
    #[arg(long, value_delimiter = ',', value_name = "SAMPLES")]
    previous: Vec<u32>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = "One value, or a list with one a worker")]
    lists: WorkerLists,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Source {
    /// Speed of each worker, in samples per second
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, value_parser = speed)]
    speeds: Vec<f64>,
    /// Profile of each worker's device, a JSON file
    #[arg(long, value_delimiter = ',', value_name = "FILES")]
    profiles: Vec<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let (plan, workers) = if args.source.profiles.is_empty() {
        by_speed(args)?
    } else {
        by_profile(args)?
    };
    files::print(&if args.json {
        json::of_plan(&plan, &workers)
    } else {
        table::of_plan(&plan, &workers)
    })
}

fn by_speed(args: &Args) -> Result<(Plan, Vec<String>), Error> {
    let speeds = &args.source.speeds;
    let fixed_s = one_each("--fixed", &args.fixed, speeds.len())?;
    let worker = |(i, &speed): (usize, &f64)| {
        let worker = Worker::affine(fixed_s[i], speed);
        if args.park_stopped {
            worker.park_if_stopped()
        } else {
            worker
        }
    };
    let workers = speeds.iter().enumerate().map(worker).collect();
    let names = (0..speeds.len()).map(|i| i.to_string()).collect();
    planned(args, workers, names, &vec![u32::MAX; speeds.len()])
}

fn by_profile(args: &Args) -> Result<(Plan, Vec<String>), Error> {
    let paths = &args.source.profiles;
    let (mut curves, mut largest) = (Vec::new(), Vec::new());
    for path in paths {
        let failed = || path.clone();
        let profile = Profile::from_json(&files::read(path)?).map_err(|cause| Error::Profile {
            path: failed(),
            cause,
        })?;
        curves.push(Points::try_from(&profile).map_err(|cause| Error::Curve {
            path: failed(),
            cause,
        })?);
        largest.push(profile.largest_batch());
    }
    let workers = curves.iter().map(Worker::points).collect();
    planned(args, workers, worker_names::of_files(paths), &largest)
}

/// The plan for workers that are complete but for what the lists say.
fn planned(
    args: &Args,
    mut workers: Vec<Worker<'_>>,
    names: Vec<String>,
    largest: &[u32],
) -> Result<(Plan, Vec<String>), Error> {
    let limits = args.lists.limits(workers.len())?;
    let communication_s = args.lists.communication_s(workers.len())?;
    for (i, worker) in workers.iter_mut().enumerate() {
        let max = limits[i].max.unwrap_or(u32::MAX).min(largest[i]);
        *worker = limits[i].apply(*worker).at_most(max);
        *worker = worker.communication(communication_s[i]);
    }
    if !args.previous.is_empty() {
        let previous = one_each("--previous", &args.previous, workers.len())?;
        for (worker, &batch) in workers.iter_mut().zip(&previous) {
            *worker = worker.previous(batch);
        }
    }
    let plan = split(args.global_batch, &workers);
    let plan = plan.map_err(|cause| Error::sizing(cause, &names))?;
    Ok((plan, names))
}
