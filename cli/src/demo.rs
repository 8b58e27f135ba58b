use std::path::PathBuf;

use lbbsp::sizing::replay::Job;

use crate::error::Error;
use crate::replay::{Choice, Outcome};
use crate::trace_file::{self, Columns};
use crate::{files, json, picture, table};

const GLOBAL_BATCH: u32 = 2048;

const POLICIES: [&str; 6] = ["equal", "last", "ema", "ema-adaptive", "informed", "oracle"];

const INTRODUCTION: &str = "\
Four recorded workers under CPU contention share every iteration; its end waits for the slowest.
The same recordings are replayed with equal batches, with batches sized by LB-BSP, and by an oracle.

";

/// Replay four recorded workers under every policy, with pictures
///
/// Needs no input: the recordings are part of the program. Writes demo.json (the form of
/// `lbbsp replay --json`), sizes.svg and waiting.svg. The same each time.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lbbsp demo
  lbbsp demo --out pictures --json")]
pub(crate) struct Args {
    /// Folder to write into
    #[arg(long, value_name = "DIR", default_value = "lbbsp-demo")]
    out: PathBuf,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    files::make_folder(&args.out)?;
    let outcome = replayed()?;
    let json = json::of_replay(&outcome);
    let json_path = args.out.join("demo.json");
    files::write(&json_path, &json)?;
    let pictures = picture::write(&outcome, &args.out)?;
    if args.json {
        return files::print(&json);
    }
    let table = table::of_replay(&outcome);
    let json_path = json_path.display();
    files::print(&format!(
        "{INTRODUCTION}{table}\nwrote {json_path}, {pictures}\n"
    ))
}

fn replayed() -> Result<Outcome, Error> {
    let mut workers = Vec::new();
    for recorded in fixtures::WORKER_TRACES {
        let read = trace_file::parse(recorded.name, recorded.csv.as_bytes(), &Columns::default())?;
        let trace = read.into_iter().map(|(_, trace)| trace);
        workers.extend(trace.map(|trace| (recorded.name.to_owned(), trace)));
    }
    let policies = POLICIES.map(|name| {
        let choice: Result<Choice, _> = name.parse();
        choice.expect("the names are those of policies")
    });
    Outcome::of(workers, &Job::new(GLOBAL_BATCH), &policies)
}
