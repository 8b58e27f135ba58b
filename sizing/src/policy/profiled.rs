use gpu_profile::Profile;

use crate::{Error, Points};

/// The latency curve of a profiled device, as the split takes it.
///
/// It goes through the profile's knots and so agrees with
/// [`Profile::seconds`](gpu_profile::Profile::seconds) to the last bit. The memory ceiling is a
/// limit of the worker, not of the curve:
/// [`Profile::largest_batch`](gpu_profile::Profile::largest_batch).
impl TryFrom<&Profile> for Points {
    type Error = Error;

    fn try_from(profile: &Profile) -> Result<Self, Error> {
        Points::new(profile.knots())
    }
}

#[cfg(test)]
mod tests {
    use gpu_profile::{DeviceInfo, Point};

    use super::*;
    use crate::{Worker, split};

    #[test]
    fn a_profile_and_its_curve_agree_to_the_last_bit() {
        // The dip at 24 is pooled with its neighbour.
        let measured = [(4, 0.0123), (16, 0.0301), (24, 0.0287), (100, 0.2011)];
        let points = measured.map(|(batch, median_s)| Point::new(batch, median_s));
        let device = DeviceInfo::new("virtual", "formula");
        let profile = Profile::new(device, points.to_vec(), None).unwrap();
        let curve = Points::try_from(&profile).unwrap();
        for batch in 1..=profile.largest_batch() {
            let plan = split(batch, &[Worker::points(&curve)]).unwrap();
            assert_eq!(plan.iteration_s(), profile.seconds(batch).unwrap());
        }
        assert!(profile.seconds(profile.largest_batch() + 1).is_err());
        assert!(split(profile.largest_batch() + 1, &[Worker::points(&curve)]).is_err());
    }
}
