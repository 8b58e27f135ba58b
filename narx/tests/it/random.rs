//! Random numbers of the tests.

/// Numbers from 0 to 1, the same on every run (xorshift64).
pub(crate) struct Uniform(pub(crate) u64);

impl Uniform {
    pub(crate) fn next(&mut self) -> f64 {
        for (left, by) in [(true, 13), (false, 7), (true, 17)] {
            self.0 ^= if left { self.0 << by } else { self.0 >> by };
        }
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A standard normal number (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.next()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.next()).cos()
    }

    /// A number of Student's distribution with 2 degrees of freedom, whose variance is infinite.
    pub(crate) fn heavy(&mut self) -> f64 {
        self.normal() / (-(1.0 - self.next()).ln()).sqrt()
    }
}
