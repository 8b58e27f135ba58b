use std::ops::Range;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::frame::{Data, Frame};
use crate::{Error, Part, Series};

/// Rows of a session that a model was trained on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TrainedRows {
    /// The first row.
    pub start: usize,
    /// The row after the last one.
    pub end: usize,
    /// SHA-256 of the values of the model's series in these rows.
    pub sha256: String,
}

/// What `part` of a data set looks like to a model.
pub(super) fn of(frame: &Frame, series: &Series, part: &Part) -> Vec<TrainedRows> {
    let data = frame.bind(series).expect("it was trained on this data set");
    let sessions = part.ranges().iter().enumerate();
    let of_session = |(session, rows): (usize, &Range<usize>)| TrainedRows {
        start: rows.start,
        end: rows.end,
        sha256: hash(&data, session, rows),
    };
    sessions
        .filter(|(_, rows)| !rows.is_empty())
        .map(of_session)
        .collect()
}

/// The rows of a data set that are among those trained on.
pub(super) fn seen(frame: &Frame, trained: &[TrainedRows], series: &Series) -> Result<Part, Error> {
    let data = frame.bind(series)?;
    let mut ranges: Vec<Range<usize>> = trained.iter().map(|rows| rows.start..rows.end).collect();
    ranges.sort_by_key(|rows| (rows.start, rows.end));
    ranges.dedup();
    let of_session = |session: usize| {
        let fits = |rows: &&Range<usize>| {
            let fits = rows.start <= rows.end && rows.end <= data.len(session);
            fits && {
                let hash = hash(&data, session, rows);
                let same = |it: &TrainedRows| (it.start, it.end) == (rows.start, rows.end);
                trained.iter().any(|it| same(it) && it.sha256 == hash)
            }
        };
        ranges.iter().rev().find(fits).cloned().unwrap_or(0..0)
    };
    Ok(Part::new(
        (0..data.sessions.len()).map(of_session).collect(),
    ))
}

fn hash(data: &Data<'_>, session: usize, rows: &Range<usize>) -> String {
    let mut hash = Sha256::new();
    let mut bytes = Vec::new();
    for column in &data.sessions[session] {
        for values in column[rows.clone()].chunks(512) {
            bytes.clear();
            for &value in values {
                // Every missing value is the same.
                let value = if value.is_finite() { value } else { f64::NAN };
                bytes.extend_from_slice(&value.to_bits().to_le_bytes());
            }
            hash.update(&bytes);
        }
    }
    hex(&hash.finalize())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
