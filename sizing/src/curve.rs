use std::fmt::Debug;

use crate::Error;

/// The longest time that counts as one, in seconds: sums and products of a few stay finite.
pub(crate) const LONGEST_S: f64 = 1e290;

/// Seconds of own compute against the batch, of one worker.
///
/// A curve must not decrease: a larger batch never takes less time. [`split`](crate::split)
/// checks that, and that times are finite and not negative, at the batches it asks for.
pub trait Curve: Debug + Send + Sync {
    /// Seconds that a batch of `batch` ≥ 1 samples takes.
    fn seconds(&self, batch: u32) -> f64;

    /// The largest batch, as a real number, that is done within `seconds`; None where the curve
    /// has no inverse to offer. It speeds the split up and gives the plan its lower bound; sizes
    /// do not depend on it. `seconds` may be negative or very large.
    fn batch_within(&self, seconds: f64) -> Option<f64> {
        let _ = seconds;
        None
    }
}

/// The two-piece GPU curve: max(floor, slope · x + offset) seconds for a batch of x.
///
/// Below the saturation point a step takes the constant floor time, above it the time is linear
/// (the profile-based policy of LB-BSP's first version, arXiv 1806.02508v1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hinge {
    floor_s: f64,
    slope_s: f64,
    offset_s: f64,
}

impl Hinge {
    /// A hinge of `floor_s` seconds, `slope_s` seconds a sample and `offset_s` seconds, which may
    /// be negative.
    ///
    /// # Errors
    /// [`Error::CurvePoint`] if a number is no number or beyond ±1e290 (2.3e280 for the slope), or
    /// the floor or the slope is negative: a negative slope would make the curve decrease.
    pub fn new(floor_s: f64, slope_s: f64, offset_s: f64) -> Result<Self, Error> {
        // With it the largest batch there is takes the longest time.
        const STEEPEST_S: f64 = LONGEST_S / u32::MAX as f64;
        let checks = [
            ("floor", floor_s, 0.0, LONGEST_S, "between 0 and 1e290"),
            ("slope", slope_s, 0.0, STEEPEST_S, "between 0 and 2.3e280"),
            (
                "offset",
                offset_s,
                -LONGEST_S,
                LONGEST_S,
                "between -1e290 and 1e290",
            ),
        ];
        for (at, (what, got, least, most, expected)) in checks.into_iter().enumerate() {
            if !(least..=most).contains(&got) {
                return Err(Error::CurvePoint {
                    what,
                    at,
                    expected,
                    got,
                });
            }
        }
        // A line that does not rise is a floor too.
        let flat = if slope_s == 0.0 { offset_s } else { 0.0 };
        Ok(Self {
            floor_s: floor_s.max(flat),
            slope_s,
            offset_s,
        })
    }

    /// The batch at which the linear part leaves the floor, in samples; infinite for a slope of 0.
    pub fn saturation_point(&self) -> f64 {
        self.reach(self.floor_s).batch.max(0.0)
    }

    pub(crate) fn seconds(&self, batch: u32) -> f64 {
        self.floor_s
            .max(self.slope_s * f64::from(batch) + self.offset_s)
    }

    pub(crate) fn reach(&self, seconds: f64) -> Reach {
        if seconds < self.floor_s {
            Reach::new(0.0, 0.0)
        } else if self.slope_s > 0.0 {
            Reach::new((seconds - self.offset_s) / self.slope_s, 1.0 / self.slope_s)
        } else {
            Reach::new(f64::INFINITY, 0.0)
        }
    }
}

impl Curve for Hinge {
    fn seconds(&self, batch: u32) -> f64 {
        self.seconds(batch)
    }

    fn batch_within(&self, seconds: f64) -> Option<f64> {
        Some(self.reach(seconds).batch)
    }
}

/// Measured points (batch, seconds) that do not decrease, with straight lines between them.
///
/// Below the first point the time is that of the first. A worker with such a curve never gets more
/// than the last batch measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Points(Vec<(u32, f64)>);

/// How far a worker gets within some time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach {
    /// The largest batch that is done, as a real number.
    pub(crate) batch: f64,
    /// Samples a second by which it grows with the time; None if that is not known.
    pub(crate) samples_per_s: Option<f64>,
    /// Number of measured points at or before it.
    pub(crate) points: usize,
}

impl Reach {
    pub(crate) fn new(batch: f64, samples_per_s: f64) -> Self {
        Self {
            batch,
            samples_per_s: Some(samples_per_s),
            points: 0,
        }
    }
}

impl Points {
    /// A curve through `points`, each a batch in samples and its time in seconds.
    ///
    /// # Errors
    /// [`Error::NoPoints`] for an empty slice; [`Error::CurvePoint`] with the position where the
    /// batches do not rise, start below 1, or the times fall, are no numbers or beyond 1e290 s.
    pub fn new(points: &[(u32, f64)]) -> Result<Self, Error> {
        let mut last = (0, 0.0);
        for (at, &(batch, seconds)) in points.iter().enumerate() {
            if batch <= last.0 {
                return Err(Error::CurvePoint {
                    what: "batch",
                    at,
                    expected: "above the one before and at least 1",
                    got: f64::from(batch),
                });
            }
            if !(seconds >= last.1 && seconds <= LONGEST_S) {
                return Err(Error::CurvePoint {
                    what: "time",
                    at,
                    expected: "at most 1e290 and not below the one before",
                    got: seconds,
                });
            }
            last = (batch, seconds);
        }
        if points.is_empty() {
            return Err(Error::NoPoints);
        }
        Ok(Self(points.to_vec()))
    }

    /// The last batch measured.
    pub fn last_batch(&self) -> u32 {
        self.0.last().expect("a curve has at least one point").0
    }

    pub(crate) fn seconds(&self, batch: u32) -> f64 {
        let before = self.0.partition_point(|&(x, _)| x <= batch);
        self.after(before, batch)
    }

    /// As [`seconds`](Self::seconds), trying first whether `guess` points are at or before `batch`.
    pub(crate) fn seconds_near(&self, batch: u32, guess: usize) -> f64 {
        let is_before = |at: usize| self.0.get(at).is_none_or(|&(x, _)| batch < x);
        if guess > 0 && self.0[guess - 1].0 <= batch && is_before(guess) {
            return self.after(guess, batch);
        }
        self.seconds(batch)
    }

    /// The time of a batch that has exactly `before` points at or before it.
    fn after(&self, before: usize, batch: u32) -> f64 {
        let Some(&(x1, y1)) = self.0.get(before) else {
            return self.0[before - 1].1;
        };
        let Some(&(x0, y0)) = self.0[..before].last() else {
            return y1;
        };
        (y0 + (y1 - y0) * (f64::from(batch - x0) / f64::from(x1 - x0))).min(y1)
    }

    /// How far `seconds` reach, trying first whether `guess` points are at or before that.
    pub(crate) fn reach(&self, seconds: f64, guess: usize) -> Reach {
        let is_before = |at: usize| self.0.get(at).is_none_or(|&(_, s)| seconds < s);
        let points = if guess > 0 && self.0[guess - 1].1 <= seconds && is_before(guess) {
            guess
        } else {
            self.0.partition_point(|&(_, s)| s <= seconds)
        };
        let Some(&(x0, y0)) = self.0[..points].last() else {
            return Reach::new(0.0, 0.0);
        };
        let Some(&(x1, y1)) = self.0.get(points) else {
            return Reach {
                points,
                ..Reach::new(f64::from(x0), 0.0)
            };
        };
        let samples_per_s = f64::from(x1 - x0) / (y1 - y0);
        Reach {
            batch: f64::from(x0) + samples_per_s * (seconds - y0),
            samples_per_s: Some(samples_per_s),
            points,
        }
    }
}

impl Curve for Points {
    /// Seconds of a batch; beyond the last one measured, the time of that.
    fn seconds(&self, batch: u32) -> f64 {
        self.seconds(batch)
    }

    fn batch_within(&self, seconds: f64) -> Option<f64> {
        Some(self.reach(seconds, 0).batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hinge_is_its_formula_and_saturates_where_its_line_leaves_the_floor() {
        let hinge = Hinge::new(0.5, 0.25, -1.0).unwrap();
        let times = [1, 6, 7, 10].map(|batch| Curve::seconds(&hinge, batch));
        assert_eq!(times, [0.5, 0.5, 0.75, 1.5]);
        assert_eq!(hinge.saturation_point(), 6.0);
        assert_eq!(hinge.batch_within(1.5), Some(10.0));
        assert_eq!(Hinge::new(0.5, 0.0, 2.0).unwrap().seconds(3), 2.0);
        let flat = Hinge::new(0.5, 0.0, 0.0).unwrap();
        assert_eq!(flat.saturation_point(), f64::INFINITY);
    }

    #[test]
    fn measured_points_are_joined_by_straight_lines() {
        let points = Points::new(&[(2, 1.0), (4, 2.0), (8, 2.0), (10, 6.0)]).unwrap();
        let times = [1, 2, 3, 4, 6, 8, 9, 10].map(|batch| Curve::seconds(&points, batch));
        assert_eq!(times, [1.0, 1.0, 1.5, 2.0, 2.0, 2.0, 4.0, 6.0]);
        let batches = [0.5, 1.0, 1.5, 2.0, 4.0, 9.0].map(|s| points.batch_within(s).unwrap());
        assert_eq!(batches, [0.0, 2.0, 3.0, 8.0, 9.0, 10.0]);
    }
}
