use serde::{Deserialize, Serialize};

use crate::Error;

/// How large a batch fits into the memory of the device. Batches are in samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ceiling {
    /// The largest batch that was seen to run, at least 1.
    pub max_verified: u32,
    /// The smallest batch that was seen to fail, above `max_verified` and every measured batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failing: Option<u32>,
    /// How it failed, such as `oom`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Memory that a trial was allowed, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_bytes: Option<u64>,
    /// The largest batch advised for long runs, from 1 to `max_verified`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safe: Option<u32>,
    /// How far the true ceiling may be above `max_verified`, as a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
}

impl Ceiling {
    /// A ceiling of which only the largest batch that ran is known.
    pub fn new(max_verified: u32) -> Self {
        Self {
            max_verified,
            first_failing: None,
            cause: None,
            limit_bytes: None,
            safe: None,
            tolerance: None,
        }
    }

    /// `last_measured` is the largest batch that ran when its time was taken.
    pub(crate) fn check(&self, last_measured: u32) -> Result<(), Error> {
        let max_verified = self.max_verified;
        if max_verified == 0 {
            return Err(Error::Ceiling {
                key: "max_verified",
                expected: "at least 1",
                got: 0,
            });
        }
        if let Some(got) = self.safe.filter(|s| !(1..=max_verified).contains(s)) {
            return Err(Error::Ceiling {
                key: "safe",
                expected: "from 1 to `max_verified`",
                got,
            });
        }
        if let Some(got) = self.tolerance.filter(|t| !(0.0..f64::INFINITY).contains(t)) {
            return Err(Error::Tolerance { got });
        }
        let ran = max_verified.max(last_measured);
        if let Some(got) = self.first_failing.filter(|&failing| failing <= ran) {
            return Err(Error::Ceiling {
                key: "first_failing",
                expected: "above `max_verified` and every measured batch",
                got,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ceiling_must_agree_with_itself_and_what_ran() {
        let refused = |max_verified, safe, first_failing| {
            let ceiling = Ceiling {
                safe,
                first_failing,
                ..Ceiling::new(max_verified)
            };
            match ceiling.check(64) {
                Err(Error::Ceiling { key, got, .. }) => Some((key, got)),
                _ => None,
            }
        };
        let wide = Ceiling {
            tolerance: Some(-0.01),
            ..Ceiling::new(64)
        };
        assert_eq!(wide.check(64), Err(Error::Tolerance { got: -0.01 }));
        assert_eq!(refused(0, None, None), Some(("max_verified", 0)));
        assert_eq!(refused(64, Some(0), None), Some(("safe", 0)));
        assert_eq!(refused(64, Some(65), None), Some(("safe", 65)));
        assert_eq!(refused(80, None, Some(80)), Some(("first_failing", 80)));
        assert_eq!(refused(32, None, Some(64)), Some(("first_failing", 64)));
        assert_eq!(refused(32, Some(32), Some(65)), None);
        assert_eq!(refused(u32::MAX, Some(u32::MAX), None), None);
    }
}
