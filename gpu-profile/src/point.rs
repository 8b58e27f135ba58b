use serde::{Deserialize, Serialize};

use crate::Error;

/// What was measured of one batch. Times are seconds of one step, finite and positive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Point {
    /// The batch in samples, at least 1.
    pub batch: u32,
    /// How many timings the point rests on, at least 1; its weight in the latency curve.
    #[serde(default = "one")]
    pub n: u32,
    /// Median device time.
    pub median_s: f64,
    /// Lower and upper end of the 95 % confidence interval of the median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci95_s: Option<[f64; 2]>,
    /// Shortest device time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_s: Option<f64>,
    /// Device time that nine in ten steps stay within.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90_s: Option<f64>,
    /// Median wall-clock time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_median_s: Option<f64>,
    /// Median CPU time of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_median_s: Option<f64>,
    /// Most device memory in use at any moment, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    /// Whether the device lowered its clocks meanwhile; `None` if nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled: Option<bool>,
    /// Why no further timings were taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
}

impl Point {
    /// One timing of `median_s` seconds for a step on `batch` samples.
    pub fn new(batch: u32, median_s: f64) -> Self {
        Self {
            batch,
            n: one(),
            median_s,
            ci95_s: None,
            min_s: None,
            p90_s: None,
            wall_median_s: None,
            cpu_median_s: None,
            peak_bytes: None,
            throttled: None,
            stop_reason: None,
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let batch = self.batch;
        if batch == 0 {
            return Err(Error::EmptyBatch);
        }
        if self.n == 0 {
            return Err(Error::NoTimings { batch });
        }
        for (key, time) in self.times() {
            if let Some(seconds) = time.filter(|s| !s.is_finite() || *s <= 0.0) {
                return Err(Error::Time {
                    key,
                    batch,
                    seconds,
                });
            }
        }
        Ok(())
    }

    fn times(&self) -> [(&'static str, Option<f64>); 7] {
        [
            ("median_s", Some(self.median_s)),
            ("ci95_s", self.ci95_s.map(|[low, _]| low)),
            ("ci95_s", self.ci95_s.map(|[_, high]| high)),
            ("min_s", self.min_s),
            ("p90_s", self.p90_s),
            ("wall_median_s", self.wall_median_s),
            ("cpu_median_s", self.cpu_median_s),
        ]
    }
}

fn one() -> u32 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_needs_samples_and_timings() {
        assert_eq!(Point::new(0, 0.1).check(), Err(Error::EmptyBatch));
        let mut untimed = Point::new(4, 0.1);
        untimed.n = 0;
        assert_eq!(untimed.check(), Err(Error::NoTimings { batch: 4 }));
    }

    #[test]
    fn every_time_must_be_finite_and_positive() {
        type Set = fn(&mut Point, f64);
        let times: [(&str, Set); 7] = [
            ("median_s", |point, s| point.median_s = s),
            ("ci95_s", |point, s| point.ci95_s = Some([s, 1.0])),
            ("ci95_s", |point, s| point.ci95_s = Some([1.0, s])),
            ("min_s", |point, s| point.min_s = Some(s)),
            ("p90_s", |point, s| point.p90_s = Some(s)),
            ("wall_median_s", |point, s| point.wall_median_s = Some(s)),
            ("cpu_median_s", |point, s| point.cpu_median_s = Some(s)),
        ];
        for (name, set) in times {
            let mut point = Point::new(4, 0.1);
            for seconds in [0.0, -0.1, f64::NAN, f64::INFINITY] {
                set(&mut point, seconds);
                let refused = point.check();
                assert!(matches!(refused, Err(Error::Time { key, batch: 4, .. }) if key == name));
            }
            set(&mut point, f64::from_bits(1));
            assert_eq!(point.check(), Ok(()));
        }
    }
}
