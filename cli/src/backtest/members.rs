use lbbsp::narx::Member;

use super::outcome::Outcome;
use crate::online::Learners;
use crate::series_file::Log;

/// How much each member of `guarded` counted, in the session with most rows scored.
#[derive(Debug)]
pub(crate) struct Members {
    pub(crate) session: usize,
    /// For each row of the session what its forecast was made with, in the order of [`Member::ALL`].
    pub(crate) weights: Vec<[f64; Member::ALL.len()]>,
    /// The first row that may be scored.
    pub(crate) first_scored: usize,
}

impl Members {
    /// Lets the learners run through that session once more.
    pub(super) fn of(mut learners: Learners, log: &Log, outcome: &Outcome) -> Self {
        let forecasts = &outcome.model().forecasts;
        let scored = |session: &usize| {
            let rows = forecasts[*session].iter();
            rows.filter(|forecast| forecast.is_finite()).count()
        };
        // Of several the first, where `max_by_key` takes the last.
        let session = (0..forecasts.len()).rev().max_by_key(scored).unwrap_or(0);
        let mut weights = Vec::new();
        learners.run(&log.series, session, |guarded| {
            weights.push(guarded.weights());
        });
        let first_scored = weights.len() - forecasts[session].len();
        Self {
            session,
            weights,
            first_scored,
        }
    }
}
