//! The command-line tool `lbbsp`.

fn main() -> cli::ExitCode {
    cli::run(std::env::args_os())
}
