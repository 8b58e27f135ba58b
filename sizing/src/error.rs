/// Why there is no plan, or why a call changed nothing.
///
/// A worker of a [`split`](crate::split) is named by its place in the slice, the first being 0; a
/// worker of a [`Balancer`](crate::Balancer) by the number it joined with.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nobody to give the batch to.
    #[error("there are no workers to split the global batch over")]
    NoWorkers,
    /// The global batch is zero.
    #[error("the global batch is 0, at least 1 sample is needed")]
    EmptyGlobalBatch,
    /// The workers together cannot hold the global batch.
    #[error(
        "global batch {global_batch} is {over_by} above what the workers can hold together, {capacity}"
    )]
    OverCapacity {
        /// What was asked for, in samples.
        global_batch: u32,
        /// Largest total that fits, in samples.
        capacity: u64,
        /// The difference, in samples.
        over_by: u64,
    },
    /// The workers' minimum batches add up to more than the global batch.
    #[error(
        "global batch {global_batch} is below what the workers take at least together, {minimum}"
    )]
    UnderMinimum {
        /// What was asked for, in samples.
        global_batch: u32,
        /// Smallest total that fits, in samples.
        minimum: u64,
    },
    /// No batches of the required grains add up to the global batch.
    #[error(
        "global batch {global_batch} cannot be made of batches that are multiples of {grains}; the nearest totals that can: {}",
        nearest(*.below, *.above)
    )]
    Indivisible {
        /// What was asked for, in samples.
        global_batch: u32,
        /// The grains in use, such as `8` or `6, 8`.
        grains: String,
        /// Nearest total below that fits, if there is one.
        below: Option<u64>,
        /// Nearest total above that fits, if there is one.
        above: Option<u64>,
    },
    /// Workers with different grains need a larger table than is allowed.
    #[error(
        "grains {grains} need a table of {cells} cells, at most {limit} are allowed; use grains with a larger common divisor or a smaller global batch"
    )]
    GrainTable {
        /// The grains in use.
        grains: String,
        /// Cells that this instance needs.
        cells: u64,
        /// Cells that are allowed.
        limit: u64,
    },
    /// A worker's speed is no usable number: below 4.3e-281 samples per second the largest batch
    /// would take longer than any time there is.
    #[error(
        "speed of worker {worker} must be finite and above 0 (4.3e-281 at least), got {got:?} samples/s"
    )]
    Speed {
        /// Which worker.
        worker: u64,
        /// The speed, in samples per second.
        got: f64,
    },
    /// A time that belongs to a worker is no usable number.
    #[error("{what} of worker {worker} must be between 0 and 1e290 s, got {got:?} s")]
    Seconds {
        /// Which time.
        what: &'static str,
        /// Which worker.
        worker: u64,
        /// The time, in seconds.
        got: f64,
    },
    /// The planning time of a replayed job is no usable number.
    #[error("planning time must be between 0 and 1e290 s, got {got:?} s")]
    Planning {
        /// The time, in seconds.
        got: f64,
    },
    /// No multiple of the worker's grain lies between its minimum and its maximum.
    #[error(
        "worker {worker} can take no batch: no multiple of {grain} lies between {min} and {max}"
    )]
    Limits {
        /// Which worker.
        worker: u64,
        /// Smallest batch allowed.
        min: u32,
        /// Largest batch allowed.
        max: u32,
        /// What a batch must be a multiple of.
        grain: u32,
    },
    /// A caller's curve gave a larger batch a smaller time.
    #[error(
        "the curve of worker {worker} decreases: {seconds:?} s at batch {batch}, against {smaller_seconds:?} s at batch {smaller_batch}"
    )]
    Decreasing {
        /// Which worker.
        worker: u64,
        /// The batch with the smaller time.
        batch: u32,
        /// Its time in seconds.
        seconds: f64,
        /// The smaller batch.
        smaller_batch: u32,
        /// Its time in seconds.
        smaller_seconds: f64,
    },
    /// A curve could not be built from these numbers.
    #[error("{what} at position {at} must be {expected}, got {got:?}")]
    CurvePoint {
        /// Which number.
        what: &'static str,
        /// Its place in the input, the first being 0.
        at: usize,
        /// What it must be.
        expected: &'static str,
        /// What it was.
        got: f64,
    },
    /// A curve of measured points has none.
    #[error("a curve needs at least one measured point")]
    NoPoints,
    /// A worker joined that is there already.
    #[error("worker {worker} has joined already")]
    AlreadyJoined {
        /// Which worker.
        worker: u64,
    },
    /// A worker that has not joined, or has left, was named.
    #[error("worker {worker} is not one of the job's workers")]
    UnknownWorker {
        /// Which worker.
        worker: u64,
    },
    /// A report is not newer than the worker's last one.
    #[error(
        "worker {worker} reports iteration {iteration}, but has reported iteration {last} already"
    )]
    Stale {
        /// Which worker.
        worker: u64,
        /// Iteration of the report.
        iteration: u64,
        /// Iteration of the last report accepted.
        last: u64,
    },
    /// A report is about an iteration in which the worker was given nothing to do.
    #[error(
        "worker {worker} reports iteration {iteration}, but no plan gave it a batch in that iteration"
    )]
    NoPart {
        /// Which worker.
        worker: u64,
        /// Iteration of the report.
        iteration: u64,
    },
    /// A number in a report is not usable.
    #[error("`{field}` in the report of worker {worker} must be {expected}, got {got:?}")]
    Report {
        /// Which worker.
        worker: u64,
        /// Which number; a driving series by its own name.
        field: String,
        /// What it must be.
        expected: &'static str,
        /// What it was.
        got: f64,
    },
    /// A plan was asked for that is kept no longer, or was passed over.
    #[error(
        "there is no plan of iteration {iteration}: those kept run from {oldest} to {newest}, and new ones come after these"
    )]
    PlanNotKept {
        /// Iteration asked for.
        iteration: u64,
        /// Oldest iteration whose plan is kept.
        oldest: u64,
        /// Newest iteration with a plan.
        newest: u64,
    },
    /// A snapshot does not describe a balancer.
    #[error("the snapshot is not one of a balancer: {what}")]
    Snapshot {
        /// What does not fit.
        what: &'static str,
    },
    /// A trace has no rows.
    #[error("a trace needs at least one row")]
    NoRows,
    /// A number in a trace is not usable.
    #[error("`{column}` in row {row} of the trace must be {expected}, got {got:?}")]
    Trace {
        /// Which column.
        column: String,
        /// Which row, the first being 0.
        row: usize,
        /// What it must be.
        expected: &'static str,
        /// What it was.
        got: f64,
    },
    /// Columns or lists that belong together differ in length.
    #[error("{what} has {got} entries, {expected} are needed")]
    Length {
        /// Which list.
        what: String,
        /// Entries needed.
        expected: usize,
        /// Entries there are.
        got: usize,
    },
    /// A recorded worker never finishes its batch.
    #[error(
        "worker {worker} never finishes iteration {iteration}: its trace stays at speed 0 or as good as 0"
    )]
    NeverFinishes {
        /// Which worker.
        worker: u64,
        /// In which iteration.
        iteration: usize,
    },
    /// A trace ended before one iteration was through.
    #[error("the trace of worker {worker} ends within the first iteration")]
    TraceTooShort {
        /// Which worker.
        worker: u64,
    },
}

fn nearest(below: Option<u64>, above: Option<u64>) -> String {
    match (below, above) {
        (Some(below), Some(above)) => format!("{below} and {above}"),
        (Some(only), None) | (None, Some(only)) => only.to_string(),
        (None, None) => "none".to_owned(),
    }
}
