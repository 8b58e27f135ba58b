use clap::CommandFactory;
use clap_complete::Shell;

use crate::error::Error;
use crate::files;

/// Print the completions of a shell
///
/// Where the script belongs depends on the shell; `source lbbsp.bash` tries it out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lbbsp completions bash > lbbsp.bash
  lbbsp completions zsh > _lbbsp")]
pub(crate) struct Args {
    /// Which shell
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::Cli::command(), "lbbsp", &mut script);
    files::print(&String::from_utf8_lossy(&script))
}
