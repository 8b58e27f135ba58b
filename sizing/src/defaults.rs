//! Every default of this crate, in one place.

/// Smoothing factor of the exponential moving average of a worker's communication.
pub const EMA_ALPHA: f64 = 0.3;

/// Seed of everything random.
pub const SEED: u64 = 0;

/// After so many iterations without a report a worker counts as unknown.
pub const MISSING_LIMIT: u32 = 3;

/// How many plans a balancer keeps, the newest ones.
pub const PLANS_KEPT: usize = 8;

/// Columns of a trace whose value in the row in progress is known when the row begins.
pub const KNOWN_BEFORE: [&str; 1] = ["running_before"];

/// How many iterations a replay runs at most unless it is told how many.
pub const MOST_ITERATIONS: usize = 100_000;
