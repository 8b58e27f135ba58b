#![doc = include_str!("../README.md")]

mod backtest;
mod completions;
mod demo;
mod error;
mod exit;
mod files;
mod forecast;
mod inspect;
mod json;
mod lags;
mod log_file;
mod model_file;
mod model_flags;
mod online;
mod picture;
mod progress;
mod replay;
mod series_file;
mod size;
mod state_file;
mod table;
mod trace_file;
mod train;
mod training;
mod unit;
mod worker_lists;
mod worker_names;

use std::ffi::OsString;
use std::io::Write;

use clap::{Parser, Subcommand};

use error::Error;
pub use exit::ExitCode;

/// Semi-dynamic load balancing for data-parallel training: sizes every worker's batch so that all
/// of them reach the barrier together.
#[derive(Debug, Parser)]
#[command(
    name = "lbbsp",
    version,
    after_help = after_help(),
    arg_required_else_help = true,
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Size(size::Args),
    Replay(replay::Args),
    Train(train::Args),
    Backtest(backtest::Args),
    Forecast(forecast::Args),
    Inspect(inspect::Args),
    Demo(demo::Args),
    Completions(completions::Args),
}

fn after_help() -> String {
    let examples = "Examples:
  lbbsp demo
  lbbsp size --global-batch 256 --speeds 120,60,30
  lbbsp replay bursts.csv quota.csv --global-batch 2048
  lbbsp train bursts.csv --target speed --inputs running_before -o model.json
  lbbsp backtest bursts.csv --model model.json
  lbbsp completions bash > lbbsp.bash";
    format!("{examples}\n\n{}", exit::listing())
}

/// Runs the tool on a command line, the first argument being the name it was called by.
///
/// Results go to standard output, messages to standard error. Nothing ends the process: what it
/// should end with is returned.
///
/// # Example
/// ```
/// let code = cli::run(["lbbsp", "size", "--global-batch", "7", "--speeds", "5,0"].map(Into::into));
/// assert_eq!(code, cli::ExitCode::Usage);
/// ```
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let command = match Cli::try_parse_from(args) {
        Ok(cli) => cli.command,
        Err(stop) => {
            // Nobody is left to be told if this cannot be written.
            let _ = stop.print();
            return if stop.use_stderr() {
                ExitCode::Usage
            } else {
                ExitCode::Done
            };
        }
    };
    let outcome = match &command {
        Command::Size(args) => size::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Train(args) => train::run(args),
        Command::Backtest(args) => backtest::run(args),
        Command::Forecast(args) => forecast::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Completions(args) => completions::run(args),
    };
    match outcome {
        Ok(()) => ExitCode::Done,
        // The reader has seen enough, as in `lbbsp .. | head`.
        Err(Error::Stdout(cause)) if cause.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::Done
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(&error)
        }
    }
}
