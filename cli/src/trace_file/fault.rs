use lbbsp::sizing;

use crate::log_file;

/// What is wrong in a trace.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Table(#[from] log_file::Fault),
    #[error("line {line}, column `{column}`: the value must be {expected}, got {got}")]
    Value {
        line: usize,
        column: String,
        expected: &'static str,
        got: f64,
    },
    #[error("{0}")]
    Trace(sizing::Error),
}
