/// Why a model could not be built, trained, read or used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting is outside its range.
    #[error("`{name}` must be {expected}, got {got}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it was.
        got: f64,
    },
    /// The series is too short to learn from.
    #[error("the series has {got} finite values, at least {needed} are needed")]
    TooShort {
        /// Finite values in the series.
        got: usize,
        /// How many it takes.
        needed: usize,
    },
    /// A data set or session without any output.
    #[error("there is no output: name at least one series to forecast")]
    NoOutput,
    /// Two columns have the same name.
    #[error("the name `{name}` is there twice")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A session has other columns than its data set.
    #[error("the session has {got} {what}, the data set has {expected}")]
    Columns {
        /// Outputs or inputs.
        what: &'static str,
        /// How many the data set has.
        expected: usize,
        /// How many the session has.
        got: usize,
    },
    /// Columns of a session differ in length.
    #[error("column {column} has {got} values, the first one has {expected}")]
    Length {
        /// Place of the column, outputs first, from 0.
        column: usize,
        /// Length of the first column.
        expected: usize,
        /// Its length.
        got: usize,
    },
    /// A part does not fit its data set.
    #[error(
        "the part does not fit session {session}, which has {rows} rows: its range ends at {end}"
    )]
    Part {
        /// Place of the session, from 0.
        session: usize,
        /// Rows of the session.
        rows: usize,
        /// Where the range ends.
        end: usize,
    },
    /// A model without any regressor.
    #[error("there is nothing to forecast from: give output lags or inputs")]
    NoRegressors,
    /// Lags that are not increasing or outside their range.
    #[error("lags of `{of}` must increase from {least} or more to at most 1000000, got {lag}")]
    Lags {
        /// `output_lags` or the name of an input.
        of: String,
        /// The smallest lag allowed.
        least: usize,
        /// The first lag that is wrong.
        lag: usize,
    },
    /// A last-value connection without the last value.
    #[error("a last-value connection needs output lag 1")]
    LastValueLag,
    /// A model needs a series that the data set does not have.
    #[error("there is no {what} `{name}`; the data set has {}", list(.there))]
    MissingSeries {
        /// Output or input.
        what: &'static str,
        /// The name that is needed.
        name: String,
        /// The names that are there.
        there: Vec<String>,
    },
    /// Row weights that do not fit the data set.
    #[error(
        "row weights must be one finite value of at least 0 for each row of each session, got {got}"
    )]
    RowWeights {
        /// The first weight that is wrong; NaN if their number is.
        got: f64,
    },
    /// No start led to a finite error.
    #[error("every start diverged: look for wild values in the series, or try the robust scaling")]
    Diverged,
    /// A live forecast of several outputs.
    #[error("a live forecast is of one output, the model has {got}")]
    SeveralOutputs {
        /// Outputs of the model.
        got: usize,
    },
    /// A forecast reaches beyond the inputs that are known.
    #[error("input `{name}` must be known for {needed} steps ahead, got {got}")]
    FutureInputs {
        /// Name of the input.
        name: String,
        /// Values needed.
        needed: usize,
        /// Values given.
        got: usize,
    },
    /// A forecast from an incomplete history.
    #[error(
        "the {rows} rows before the first step to forecast must be complete, and so must the inputs given"
    )]
    NeedsHistory {
        /// Rows of history that the model reads.
        rows: usize,
    },
    /// The model's own forecasts grew beyond all bounds.
    #[error(
        "the model ran away: at step {step} it forecast more than 20 times the range it was trained on"
    )]
    RanAway {
        /// Which step ahead, from 0.
        step: usize,
    },
    /// A model file that cannot be used.
    #[error("{0}")]
    File(#[from] FileFault),
    /// A fleet with a full covariance.
    #[error("a fleet keeps the covariance of each node: `covariance` must be `nodes`")]
    FleetCovariance,
    /// A worker that has left the fleet, or was never in it.
    #[error("the worker is not in the fleet: it has left, or never joined")]
    NotInFleet,
    /// Two things that belong together differ in number.
    #[error("{got} {what} were given, {expected} are needed")]
    Count {
        /// What was counted.
        what: &'static str,
        /// How many it takes.
        expected: usize,
        /// How many there were.
        got: usize,
    },
    /// Values that must vary do not.
    #[error("all {what} are the same, so nothing can be told from them")]
    Constant {
        /// Which values.
        what: &'static str,
    },
    /// Not enough complete rows to learn from.
    #[error(
        "too few complete rows (those with all their lagged values and outputs): {got}, it takes at least {needed}"
    )]
    TooFewRows {
        /// Complete rows.
        got: usize,
        /// How many it takes.
        needed: usize,
    },
}

impl Error {
    /// [`Error::Setting`] unless `in_range`.
    pub(crate) fn check(
        name: &'static str,
        expected: &'static str,
        got: f64,
        in_range: bool,
    ) -> Result<(), Self> {
        if in_range {
            return Ok(());
        }
        Err(Self::Setting {
            name,
            expected,
            got,
        })
    }
}

/// What is wrong with a model file, or with the snapshot of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileFault {
    /// The text is no JSON, or a field is missing or of another kind.
    #[error("line {line}, column {column}: {message}")]
    NotReadable {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What was expected there.
        message: String,
    },
    /// The text ends too early.
    #[error("the file is cut off at line {line}")]
    CutOff {
        /// Its last line, from 1.
        line: usize,
    },
    /// The file is something else.
    #[error("this is not a model file: its field `format` should be `narx-model`")]
    NotAModel,
    /// The bytes end too early.
    #[error("the file is cut off: it has {got} of {needed} bytes")]
    CutShort {
        /// Bytes that it should have, as far as is known.
        needed: u64,
        /// Bytes that there are.
        got: u64,
    },
    /// The bytes are something else than a fleet.
    #[error("this is not the snapshot of a fleet: it should begin with `narxflt`")]
    NotAFleet,
    /// The file is of another version.
    #[error("the file is of version {got}, version 1 is needed")]
    Version {
        /// Its version; 0 if it has none.
        got: u64,
    },
    /// The checksum is that of another content.
    #[error("the file was changed after it was written: its content does not match its checksum")]
    Edited,
    /// Parts of the file contradict each other.
    #[error("the parts of the file do not fit each other: {what}")]
    Misfit {
        /// Which parts.
        what: &'static str,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
