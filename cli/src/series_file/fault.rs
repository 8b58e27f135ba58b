use crate::log_file;

/// What is wrong in a log.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Table(#[from] log_file::Fault),
    #[error(
        "line {line}, column `{column}`: `{got}` is not a time, which is a number or a date such as `2013-07-01 00:05:00`"
    )]
    NotATime {
        line: usize,
        column: String,
        got: String,
    },
    #[error(
        "line {line}, column `{column}`: the time `{got}` is before that of line {before}, but the rows of a session must be in the order of time{}",
        session(*.apart)
    )]
    Decreasing {
        line: usize,
        column: String,
        got: String,
        /// The line of the session's row before.
        before: usize,
        /// Whether a column tells sessions apart.
        apart: bool,
    },
}

fn session(apart: bool) -> &'static str {
    if apart {
        ""
    } else {
        "; if the file holds several sessions, `--session` names the column that tells them apart"
    }
}
