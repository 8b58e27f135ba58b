use serde::Serialize;

use super::outcome::Trial;
use crate::table::counted;

/// Sessions that are listed one by one.
const MOST_LISTED: usize = 8;

/// A log that is read otherwise than for the training looks like another one.
pub(super) const NONE_SEEN: &str = "none of the rows that the model was trained on were found in these logs (`--session` and `--time` must be those of the training), so all are scored";

/// A state does not know which rows it has seen.
const RESUMED: &str = "all rows are scored; they should be those that follow the ones that the state has gone through";

/// Which rows were learnt from and which are scored.
#[derive(Debug, Serialize)]
pub(crate) struct Split {
    /// In a sentence.
    says: &'static str,
    /// Whether rows that were learnt from are scored too.
    allow_seen: bool,
    trained_rows: usize,
    scored_rows: usize,
    /// Rows to score without a value, or without a forecast of each model.
    left_out_rows: usize,
    sessions: Vec<SessionSplit>,
}

/// Lines are those of the file, the first and the last one.
#[derive(Debug, Serialize)]
struct SessionSplit {
    name: String,
    trained_lines: Option<[usize; 2]>,
    trained_rows: usize,
    scored_lines: Option<[usize; 2]>,
    scored_rows: usize,
    left_out_rows: usize,
}

impl Split {
    /// `kept` says for each row to score whether it is.
    pub(super) fn of(trial: &Trial<'_>, kept: &[Vec<bool>]) -> Self {
        let (log, allow_seen) = (trial.log, trial.allow_seen);
        let session = |index: usize| {
            let (trained, scored) = (
                &trial.trained.ranges()[index],
                &trial.scored.ranges()[index],
            );
            let lines = |rows: &std::ops::Range<usize>| {
                let lines = &log.lines[index][rows.clone()];
                Some([*lines.first()?, *lines.last()?])
            };
            let count = kept[index].iter().filter(|&&kept| kept).count();
            SessionSplit {
                name: log.names[index].clone(),
                trained_lines: lines(trained),
                trained_rows: log.recorded(index, trained.clone()),
                scored_lines: lines(scored),
                scored_rows: count,
                left_out_rows: log.recorded(index, scored.clone()) - count,
            }
        };
        let sessions: Vec<SessionSplit> = (0..log.names.len()).map(session).collect();
        let sum = |of: fn(&SessionSplit) -> usize| sessions.iter().map(of).sum();
        let trained_rows = sum(|session| session.trained_rows);
        Self {
            says: match (allow_seen, trained_rows) {
                _ if trial.resumed => RESUMED,
                (_, 0) => NONE_SEEN,
                (true, _) => {
                    "all rows are scored, those trained on too: the errors say little about new rows"
                }
                (false, _) => "scored are the rows that follow those trained on",
            },
            allow_seen,
            trained_rows,
            scored_rows: sum(|session| session.scored_rows),
            left_out_rows: sum(|session| session.left_out_rows),
            sessions,
        }
    }

    pub(super) fn in_words(&self) -> String {
        let mut lines = vec![format!("{}:", self.says)];
        let listed = self.sessions.iter().take(MOST_LISTED);
        lines.extend(listed.map(SessionSplit::in_words));
        if self.sessions.len() > MOST_LISTED {
            let all = self.sessions.len();
            lines.push(format!("  .. {all} sessions in all"));
        }
        if self.sessions.len() > 1 {
            lines.push(format!(
                "  together {} trained on, {} scored",
                counted(self.trained_rows, "row"),
                self.scored_rows
            ));
        }
        if self.left_out_rows > 0 {
            lines.push(format!(
                "  {} left out for all models: no value, or not a forecast of each",
                counted(self.left_out_rows, "row")
            ));
        }
        lines.join("\n")
    }
}

impl SessionSplit {
    fn in_words(&self) -> String {
        let part = |what: &str, lines: Option<[usize; 2]>, rows: usize| match lines {
            None => format!("none {what}"),
            Some([first, last]) => {
                format!("lines {first} to {last} {what} ({})", counted(rows, "row"))
            }
        };
        let trained = part("trained on", self.trained_lines, self.trained_rows);
        let scored = part("scored", self.scored_lines, self.scored_rows);
        format!("  {}: {trained}, {scored}", self.name)
    }
}
