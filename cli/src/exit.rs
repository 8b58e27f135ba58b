use std::process::Termination;

use lbbsp::{narx, sizing};

use crate::error::Error;

/// What the tool ends with: the one table of the whole project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitCode {
    /// The work is done.
    Done,
    /// A comparison found a regression.
    Regression,
    /// The command line is wrong.
    Usage,
    /// A file or a device is not usable.
    Input,
    /// No sizes meet the limits, or even a batch of 1 does not fit.
    Infeasible,
    /// A computation did not converge.
    NotConverged,
}

impl ExitCode {
    const ALL: [Self; 6] = [
        Self::Done,
        Self::Regression,
        Self::Usage,
        Self::Input,
        Self::Infeasible,
        Self::NotConverged,
    ];

    /// The number that the process ends with.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Regression => 1,
            Self::Usage => 2,
            Self::Input => 3,
            Self::Infeasible => 4,
            Self::NotConverged => 5,
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Regression => "regression found",
            Self::Usage => "wrong usage",
            Self::Input => "bad input or device, or output that cannot be written",
            Self::Infeasible => "infeasible: no sizes meet the limits, or batch 1 does not fit",
            Self::NotConverged => "not converged",
        }
    }
}

impl Termination for ExitCode {
    fn report(self) -> std::process::ExitCode {
        self.code().into()
    }
}

/// The table as a help text.
pub(crate) fn listing() -> String {
    let line = |code: ExitCode| format!("\n  {}  {}", code.code(), code.meaning());
    let lines: String = ExitCode::ALL.into_iter().map(line).collect();
    format!("Exit codes:{lines}")
}

impl From<&Error> for ExitCode {
    fn from(error: &Error) -> Self {
        match error {
            Error::ListLength { .. }
            | Error::NoSeries { .. }
            | Error::NoTarget
            | Error::ColumnTwice { .. }
            | Error::OverLog { .. }
            | Error::SameFile { .. }
            | Error::LagsOfUnknown { .. }
            | Error::LagsTwice { .. }
            | Error::LagsDiffer { .. }
            | Error::LagZero { .. }
            | Error::NoFuture { .. }
            | Error::FlagsOnline { .. }
            | Error::SeveralSessions { .. }
            | Error::NoTraining { .. }
            | Error::Twice { .. } => Self::Usage,
            Error::Sizing { cause, .. } => of_sizing(cause),
            Error::Training { cause, .. } | Error::Forecast { cause, .. } | Error::Narx(cause) => {
                of_narx(cause)
            }
            Error::Read { .. }
            | Error::Directory { .. }
            | Error::Write { .. }
            | Error::Stdout(_)
            | Error::Table { .. }
            | Error::Log { .. }
            | Error::Profile { .. }
            | Error::Curve { .. }
            | Error::Model { .. }
            | Error::ModelOnline { .. }
            | Error::NotAModel { .. }
            | Error::State { .. }
            | Error::AllSeen { .. }
            | Error::NothingToLearnFrom { .. }
            | Error::NothingScored { .. }
            | Error::NothingInCommon
            | Error::FutureRows { .. }
            | Error::Picture { .. } => Self::Input,
        }
    }
}

fn of_sizing(cause: &sizing::Error) -> ExitCode {
    use sizing::Error as E;
    match cause {
        E::OverCapacity { .. }
        | E::UnderMinimum { .. }
        | E::Indivisible { .. }
        | E::GrainTable { .. }
        | E::Limits { .. } => ExitCode::Infeasible,
        E::NoWorkers
        | E::EmptyGlobalBatch
        | E::Speed { .. }
        | E::Seconds { .. }
        | E::Planning { .. }
        | E::Length { .. } => ExitCode::Usage,
        _ => ExitCode::Input,
    }
}

fn of_narx(cause: &narx::Error) -> ExitCode {
    use narx::Error as E;
    match cause {
        E::Setting { .. }
        | E::NoRegressors
        | E::Lags { .. }
        | E::LastValueLag
        | E::NoOutput
        | E::DuplicateName { .. } => ExitCode::Usage,
        E::Diverged | E::RanAway { .. } => ExitCode::NotConverged,
        _ => ExitCode::Input,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_training_that_diverged_did_not_converge() {
        let training = |cause| Error::Training {
            what: "the model".to_owned(),
            cause,
            rows: 1,
            part: 1,
            longest_lag: 1,
        };
        let code = |cause| ExitCode::from(&training(cause));
        assert_eq!(code(narx::Error::Diverged), ExitCode::NotConverged);
        assert_eq!(code(narx::Error::NoRegressors), ExitCode::Usage);
        let too_few = narx::Error::TooFewRows { got: 0, needed: 2 };
        assert_eq!(code(too_few), ExitCode::Input);
    }

    #[test]
    fn the_readme_has_the_same_table() {
        let readme = include_str!("../README.md");
        for code in ExitCode::ALL {
            let row = format!("| {} | {} |", code.code(), code.meaning());
            assert!(readme.contains(&row), "{row}");
        }
    }
}
