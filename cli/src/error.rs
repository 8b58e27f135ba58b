use std::io;
use std::path::PathBuf;

use lbbsp::{gpu_profile, sizing};

use crate::{series_file, trace_file};

/// Why a command came to no end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("cannot read {}: {cause}", .path.display())]
    Read { path: PathBuf, cause: io::Error },
    #[error("cannot read {}: it is a directory, a file is needed", .path.display())]
    Directory { path: PathBuf },
    #[error("cannot write {}: {cause}", .path.display())]
    Write { path: PathBuf, cause: io::Error },
    #[error("cannot write to standard output: {0}")]
    Stdout(io::Error),
    #[error("cannot draw {}: {cause}", .path.display())]
    Picture { path: PathBuf, cause: String },
    #[error("{file}: {fault}")]
    Table {
        file: String,
        fault: trace_file::Fault,
    },
    #[error("{file}: {fault}")]
    Log {
        file: String,
        fault: series_file::Fault,
    },
    #[error("{}: {cause}", .path.display())]
    Profile {
        path: PathBuf,
        cause: gpu_profile::Error,
    },
    #[error("{}: {cause}", .path.display())]
    Curve { path: PathBuf, cause: sizing::Error },
    #[error(
        "`{flag}` has {got} values, but there are {workers} workers: give one for all, or one each"
    )]
    ListLength {
        flag: &'static str,
        got: usize,
        workers: usize,
    },
    #[error("`--known-before {name}`: that column holds no driving series in {file}")]
    NoSeries { file: String, name: String },
    #[error("`--target` names no column: name at least one to forecast")]
    NoTarget,
    #[error("column `{name}` is named twice in `--target` and `--inputs`")]
    ColumnTwice { name: String },
    #[error("policy `{name}` is named twice")]
    Twice { name: String },
    #[error("{cause}{}", called(.name))]
    Sizing {
        cause: sizing::Error,
        /// What the worker that the cause numbers is called.
        name: Option<String>,
    },
}

fn called(name: &Option<String>) -> String {
    name.as_ref()
        .map_or(String::new(), |name| format!(" (that is `{name}`)"))
}

impl Error {
    /// A cause that numbers workers, where these have names.
    pub(crate) fn sizing(cause: sizing::Error, names: &[String]) -> Self {
        use sizing::Error as E;
        let called = |worker: u64| {
            let name = names.get(usize::try_from(worker).ok()?)?;
            (*name != worker.to_string()).then(|| name.clone())
        };
        let name = match cause {
            E::Limits { worker, .. }
            | E::Speed { worker, .. }
            | E::Seconds { worker, .. }
            | E::Decreasing { worker, .. }
            | E::NeverFinishes { worker, .. }
            | E::TraceTooShort { worker } => called(worker),
            _ => None,
        };
        Self::Sizing { cause, name }
    }
}
