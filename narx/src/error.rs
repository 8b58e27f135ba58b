/// Why a forecaster could not be built.
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
}
