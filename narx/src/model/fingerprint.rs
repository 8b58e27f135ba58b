use std::collections::{BTreeMap, BTreeSet, HashSet};
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
    /// SHA-256 of the values of the model's series in these rows, row by row.
    pub sha256: String,
}

/// What `part` of a data set looks like to a model.
pub(super) fn of(frame: &Frame, series: &Series, part: &Part) -> Vec<TrainedRows> {
    let data = frame.bind(series).expect("it was trained on this data set");
    let sessions = part.ranges().iter().enumerate();
    let of_session = |(session, rows): (usize, &Range<usize>)| TrainedRows {
        start: rows.start,
        end: rows.end,
        sha256: Prefixes::new(&data, session, rows.start).sha256(rows.end),
    };
    sessions
        .filter(|(_, rows)| !rows.is_empty())
        .map(of_session)
        .collect()
}

/// The rows of a data set that are among those trained on.
pub(super) fn seen(frame: &Frame, trained: &[TrainedRows], series: &Series) -> Result<Part, Error> {
    let data = frame.bind(series)?;
    let mut ends_of_start: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for rows in trained {
        ends_of_start
            .entry(rows.start)
            .or_default()
            .insert(rows.end);
    }
    let known: HashSet<(usize, usize, &str)> = trained
        .iter()
        .map(|rows| (rows.start, rows.end, rows.sha256.as_str()))
        .collect();
    // The longest range that fits, so that a log that has grown shows all of it.
    let of_session = |session: usize| {
        let mut longest = 0..0;
        for (&start, ends) in &ends_of_start {
            let mut prefixes = Prefixes::new(&data, session, start);
            for &end in ends.range(start..=data.len(session).max(start)) {
                if end > data.len(session) {
                    break;
                }
                let sha256 = prefixes.sha256(end);
                if end - start > longest.len() && known.contains(&(start, end, sha256.as_str())) {
                    longest = start..end;
                }
            }
        }
        longest
    };
    Ok(Part::new(
        (0..data.sessions.len()).map(of_session).collect(),
    ))
}

/// Hashes of the rows of a session from one row on to others, each further than the one before.
struct Prefixes<'a> {
    columns: &'a [&'a [f64]],
    row: usize,
    hash: Sha256,
}

impl<'a> Prefixes<'a> {
    fn new(data: &'a Data<'_>, session: usize, start: usize) -> Self {
        Self {
            columns: &data.sessions[session],
            row: start,
            hash: Sha256::new(),
        }
    }

    fn sha256(&mut self, end: usize) -> String {
        const ROWS: usize = 512;
        let mut bytes = Vec::new();
        while self.row < end {
            let rows = self.row..end.min(self.row + ROWS);
            self.row = rows.end;
            bytes.clear();
            for row in rows {
                for column in self.columns {
                    let value = column[row];
                    // Every missing value is the same.
                    let value = if value.is_finite() { value } else { f64::NAN };
                    bytes.extend_from_slice(&value.to_bits().to_le_bytes());
                }
            }
            self.hash.update(&bytes);
        }
        hex(&self.hash.clone().finalize())
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
