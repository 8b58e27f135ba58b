use serde::{Deserialize, Serialize};

use crate::latency::LatencyCurve;
use crate::schema::{self, Schema};
use crate::{Ceiling, Error, Point};

/// What one device was measured to do: the time of a step against the batch, and what fits.
///
/// The points are sorted by batch, no batch is there twice, and every time is finite and positive.
/// Reading through serde makes the same checks as [`new`](Self::new).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Document", into = "Document")]
pub struct Profile {
    device: DeviceInfo,
    points: Vec<Point>,
    ceiling: Option<Ceiling>,
    latency: LatencyCurve,
}

impl Profile {
    /// Makes a profile from measured points, given in any order.
    ///
    /// A point above [`max_verified`](Ceiling::max_verified) is accepted: timing a few steps proves
    /// less than verifying does. A point at or above [`first_failing`](Ceiling::first_failing) is
    /// not, since one of the two must be wrong.
    ///
    /// # Errors
    /// [`Error::NoPoints`] without points; [`Error::EmptyBatch`], [`Error::NoTimings`],
    /// [`Error::Time`] and [`Error::DuplicateBatch`] for points that cannot have been measured;
    /// [`Error::Ceiling`] if the ceiling contradicts itself or the points.
    pub fn new(
        device: DeviceInfo,
        mut points: Vec<Point>,
        ceiling: Option<Ceiling>,
    ) -> Result<Self, Error> {
        points.iter().try_for_each(Point::check)?;
        points.sort_by_key(|point| point.batch);
        if let Some(pair) = points
            .windows(2)
            .find(|pair| pair[0].batch == pair[1].batch)
        {
            let batch = pair[0].batch;
            return Err(Error::DuplicateBatch { batch });
        }
        let last_measured = points.last().ok_or(Error::NoPoints)?.batch;
        if let Some(ceiling) = &ceiling {
            ceiling.check(last_measured)?;
        }
        let latency = LatencyCurve::fit(&points);
        Ok(Self {
            device,
            points,
            ceiling,
            latency,
        })
    }

    /// Reads a profile from JSON. A UTF-8 byte order mark in front is skipped, unknown keys are
    /// ignored.
    ///
    /// # Errors
    /// [`Error::Schema`] for an unsupported `schema`, whatever else is wrong, if the text is JSON up
    /// to there; [`Error::Json`] if the text is not JSON of the right shape; else as [`new`](Self::new).
    pub fn from_json(json: &[u8]) -> Result<Self, Error> {
        let json = json.strip_prefix("\u{feff}".as_bytes()).unwrap_or(json);
        schema::check(json)?;
        serde_json::from_slice::<Document>(json)?.try_into()
    }

    /// Writes the profile as indented JSON with keys in fixed order and a newline at the end.
    ///
    /// [`from_json`](Self::from_json) reads back an equal profile, every number to the last bit.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self)
            .expect("plain structs with finite numbers are always JSON");
        json.push('\n');
        json
    }

    /// The device that was measured.
    pub fn device(&self) -> &DeviceInfo {
        &self.device
    }

    /// The measured points, by increasing batch.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The memory ceiling, if it is known.
    pub fn ceiling(&self) -> Option<&Ceiling> {
        self.ceiling.as_ref()
    }

    /// The corners of the latency curve: one `(batch in samples, seconds)` per measured batch, by
    /// strictly increasing batch, with seconds that never decrease.
    ///
    /// More samples cannot take less time, so where a measured median lies below an earlier one,
    /// the two are noise around a common level. The knots are the non-decreasing sequence with the
    /// least squared distance to the medians, each weighted by its [`n`](Point::n), found by
    /// pooling adjacent violators (Ayer, Brunk, Ewing, Reid and Silverman, "An empirical
    /// distribution function for sampling with incomplete information", 1955). Medians that never
    /// fall are kept as they are.
    pub fn knots(&self) -> &[(u32, f64)] {
        self.latency.knots()
    }

    /// Seconds of one step on `batch` samples: exact at the [`knots`](Self::knots), on the straight
    /// line between them, never less for a larger batch.
    ///
    /// Below the first measured batch the time of that batch is returned, an upper estimate. The
    /// ceiling plays no part here; [`largest_batch`](Self::largest_batch) says what may be used.
    /// Cost: O(log n) for n points.
    ///
    /// # Errors
    /// [`Error::EmptyBatch`] for 0, [`Error::BeyondMeasured`] above the last measured batch.
    pub fn seconds(&self, batch: u32) -> Result<f64, Error> {
        self.latency.seconds(batch)
    }

    /// The largest batch, in samples, that may be used and whose time is known.
    ///
    /// It is the last measured batch or, if that is smaller, the ceiling's
    /// [`safe`](Ceiling::safe) batch, or [`max_verified`](Ceiling::max_verified) where no safe one
    /// is given.
    pub fn largest_batch(&self) -> u32 {
        let last_measured = self.latency.last_batch();
        self.ceiling.as_ref().map_or(last_measured, |ceiling| {
            last_measured.min(ceiling.safe.unwrap_or(ceiling.max_verified))
        })
    }
}

/// Which device was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// What drives the device, such as `cuda` or `cpu`.
    pub kind: String,
    /// The model name.
    pub name: String,
    /// Identifies the one physical device; devices of the same name can differ in speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Compute capability, such as `9.0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cc: Option<String>,
    /// Number of streaming multiprocessors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sms: Option<u32>,
    /// Memory of the device in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
    /// Memory that was free before the first trial, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_bytes_at_start: Option<u64>,
    /// Version of the driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// How the clocks were governed, such as `default` or `locked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_policy: Option<String>,
    /// True if others used the device meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contended: Option<bool>,
}

impl DeviceInfo {
    /// A device of which only kind and model name are known.
    pub fn new(kind: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            name: name.into(),
            uuid: None,
            cc: None,
            sms: None,
            total_bytes: None,
            free_bytes_at_start: None,
            driver: None,
            clock_policy: None,
            contended: None,
        }
    }
}

/// A profile as it is written, before its checks.
#[derive(Serialize, Deserialize)]
struct Document {
    schema: Schema,
    device: DeviceInfo,
    points: Vec<Point>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ceiling: Option<Ceiling>,
}

impl TryFrom<Document> for Profile {
    type Error = Error;

    fn try_from(document: Document) -> Result<Self, Error> {
        Self::new(document.device, document.points, document.ceiling)
    }
}

impl From<Profile> for Document {
    fn from(profile: Profile) -> Self {
        Self {
            schema: Schema,
            device: profile.device,
            points: profile.points,
            ceiling: profile.ceiling,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(points: &[Point], ceiling: Option<Ceiling>) -> Result<Profile, Error> {
        Profile::new(DeviceInfo::new("cuda", "A100"), points.to_vec(), ceiling)
    }

    #[test]
    fn points_are_sorted_and_never_repeated() {
        let sorted = profile(&[Point::new(8, 0.2), Point::new(1, 0.1)], None).unwrap();
        assert_eq!(sorted.knots(), [(1, 0.1), (8, 0.2)]);
        let twice = [Point::new(8, 0.2), Point::new(1, 0.1), Point::new(8, 0.3)];
        let error = profile(&twice, None).unwrap_err();
        assert_eq!(error, Error::DuplicateBatch { batch: 8 });
    }

    #[test]
    fn no_points_are_no_profile() {
        assert_eq!(profile(&[], None), Err(Error::NoPoints));
    }

    #[test]
    fn a_measured_batch_cannot_be_one_that_fails() {
        let measured = [Point::new(64, 0.1)];
        let failing = |batch| Ceiling {
            first_failing: Some(batch),
            ..Ceiling::new(32)
        };
        let refused = profile(&measured, Some(failing(64))).unwrap_err();
        assert!(matches!(
            refused,
            Error::Ceiling {
                key: "first_failing",
                got: 64,
                ..
            }
        ));
        assert!(profile(&measured, Some(failing(65))).is_ok());
    }

    #[test]
    fn largest_batch_is_measured_and_allowed() {
        let largest = |ceiling| {
            let points = [Point::new(8, 0.1), Point::new(64, 0.2)];
            profile(&points, ceiling).unwrap().largest_batch()
        };
        let safe = |safe| Ceiling {
            safe: Some(safe),
            ..Ceiling::new(100)
        };
        assert_eq!(largest(None), 64);
        assert_eq!(largest(Some(Ceiling::new(100))), 64);
        assert_eq!(largest(Some(Ceiling::new(50))), 50);
        assert_eq!(largest(Some(safe(40))), 40);
        assert_eq!(largest(Some(safe(90))), 64);
    }
}
