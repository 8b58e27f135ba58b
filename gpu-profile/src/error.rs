/// Why a profile could not be made or read, or could not answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not JSON, or a key is missing or holds the wrong kind of value.
    #[error("line {line}, column {column}: {message}")]
    Json {
        /// Line of the problem, counted from 1.
        line: usize,
        /// Column of the problem in bytes, counted from 1; 0 stands for the start of the line.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// The profile is written in a schema this version cannot read.
    #[error("profile schema {found} is not supported, only {supported} is")]
    Schema {
        /// The major version the profile states.
        found: u64,
        /// The major version this crate reads and writes.
        supported: u64,
    },
    /// A profile without a single measured point.
    #[error("a profile needs at least one measured point")]
    NoPoints,
    /// A batch of no samples was measured or asked for.
    #[error("a batch must have at least 1 sample")]
    EmptyBatch,
    /// Two points measure the same batch.
    #[error("batch {batch} was measured twice")]
    DuplicateBatch {
        /// The repeated batch, in samples.
        batch: u32,
    },
    /// A point claims to rest on no timings at all.
    #[error("the point of batch {batch} must rest on at least 1 timing, `n` is 0")]
    NoTimings {
        /// The batch of the point, in samples.
        batch: u32,
    },
    /// A time is NaN, infinite, zero or negative.
    #[error("`{key}` of batch {batch} must be finite and above 0 s, got {seconds}")]
    Time {
        /// The key of the time within the point.
        key: &'static str,
        /// The batch of the point, in samples.
        batch: u32,
        /// The refused time in seconds.
        seconds: f64,
    },
    /// A batch of the ceiling contradicts the rest of the profile.
    #[error("ceiling `{key}` must be {expected}, got {got}")]
    Ceiling {
        /// The key within the ceiling.
        key: &'static str,
        /// What it must be.
        expected: &'static str,
        /// The refused batch, in samples.
        got: u32,
    },
    /// The tolerance of the ceiling is no usable number.
    #[error("`tolerance` of the ceiling must be finite and not negative, got {got:?}")]
    Tolerance {
        /// The tolerance, as a part of the ceiling.
        got: f64,
    },
    /// A batch beyond the last measured one, where the profile does not guess.
    #[error("batch {batch} is beyond the last measured batch {last_measured}")]
    BeyondMeasured {
        /// The batch asked for, in samples.
        batch: u32,
        /// The largest measured batch, in samples.
        last_measured: u32,
    },
}

impl From<serde_json::Error> for Error {
    fn from(cause: serde_json::Error) -> Self {
        let (line, column) = (cause.line(), cause.column());
        let text = cause.to_string();
        let place = format!(" at line {line} column {column}");
        let message = text.strip_suffix(&place).unwrap_or(&text).to_owned();
        Self::Json {
            line,
            column,
            message,
        }
    }
}
