use lbbsp::narx::{self, Interval, Part};

use super::contender::Contender;
use super::intervals::{self, MISSING};
use super::outcome::Trial;
use crate::error::Error;

/// What one contender said of the rows to score.
pub(super) struct Tested {
    pub(super) forecasts: Vec<Vec<f64>>,
    pub(super) truth: Vec<Vec<f64>>,
    /// Empty if there are to be none.
    pub(super) intervals: Vec<Vec<Interval>>,
}

impl Tested {
    pub(super) fn of(trial: &Trial<'_>, contender: &Contender) -> Result<Self, Error> {
        let series = &trial.log.series;
        let tested = |part: &Part| {
            let tested = contender.backtest(series, part, trial.horizon);
            tested.map_err(|cause| match cause {
                narx::Error::TooFewRows { .. } => Error::NothingScored {
                    name: contender.name.clone(),
                },
                cause => Error::narx(cause),
            })
        };
        let Some(coverage) = trial.intervals else {
            let test = tested(trial.scored)?;
            return Ok(Self {
                forecasts: test.forecasts,
                truth: test.truth,
                intervals: Vec::new(),
            });
        };
        // Intervals learn from the first row on.
        let test = tested(&series.all())?;
        let intervals = intervals::around(&test, coverage).map_err(Error::narx)?;
        Ok(Self {
            forecasts: of_part(&test.forecasts, trial.scored),
            truth: of_part(&test.truth, trial.scored),
            intervals: of_part(&intervals, trial.scored),
        })
    }

    /// Takes the rows out that are not kept.
    pub(super) fn leave_out(&mut self, kept: &[Vec<bool>]) {
        leave_out(&mut self.forecasts, kept, f64::NAN);
        leave_out(&mut self.intervals, kept, MISSING);
    }
}

/// The rows with a value and a forecast of each contender.
pub(super) fn common(tests: &[Tested]) -> Vec<Vec<bool>> {
    let truth = tests.first().map_or(&[][..], |test| test.truth.as_slice());
    let is_kept = |session: usize, row: usize, truth: f64| {
        let forecasts = tests.iter().map(|test| test.forecasts[session][row]);
        truth.is_finite() && forecasts.into_iter().all(f64::is_finite)
    };
    let of_session = |(session, truth): (usize, &Vec<f64>)| {
        let rows = truth.iter().enumerate();
        rows.map(|(row, truth)| is_kept(session, row, *truth))
            .collect()
    };
    truth.iter().enumerate().map(of_session).collect()
}

fn of_part<T: Clone>(all: &[Vec<T>], part: &Part) -> Vec<Vec<T>> {
    let sessions = all.iter().zip(part.ranges());
    let rows = sessions.map(|(values, rows)| values[rows.clone()].to_vec());
    rows.collect()
}

fn leave_out<T: Copy>(values: &mut [Vec<T>], kept: &[Vec<bool>], missing: T) {
    let rows = values.iter_mut().flatten().zip(kept.iter().flatten());
    for (value, _) in rows.filter(|(_, kept)| !**kept) {
        *value = missing;
    }
}
