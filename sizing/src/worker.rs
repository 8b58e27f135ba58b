use crate::curve::{LONGEST_S, Reach};
use crate::{Curve, Error, Hinge, Points};

/// One worker of a [`split`](crate::split): how long a batch takes it, and which batches it may get.
///
/// Unless told otherwise a worker takes at least 1 sample, any number at most, in steps of 1, and
/// needs no time to communicate.
#[derive(Debug, Clone, Copy)]
pub struct Worker<'a> {
    pub(crate) shape: Shape<'a>,
    pub(crate) communication_s: f64,
    pub(crate) min: u32,
    pub(crate) max: u32,
    pub(crate) grain: u32,
    pub(crate) previous: Option<u32>,
    park_if_stopped: bool,
}

/// With it the largest batch there is takes [`LONGEST_S`]; in samples per second.
const SLOWEST: f64 = u32::MAX as f64 / LONGEST_S;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape<'a> {
    /// Fixed seconds, then a speed in samples per second.
    Affine(f64, f64),
    Hinge(Hinge),
    Points(&'a Points),
    Custom(&'a dyn Curve),
}

impl<'a> Worker<'a> {
    /// A worker that takes x / `speed` seconds for x samples; `speed` is in samples per second.
    pub fn proportional(speed: f64) -> Self {
        Self::affine(0.0, speed)
    }

    /// A worker that takes `fixed_s` + x / `speed` seconds for x samples.
    pub fn affine(fixed_s: f64, speed: f64) -> Self {
        Self::of_shape(Shape::Affine(fixed_s, speed))
    }

    /// A worker with a two-piece curve.
    pub fn hinge(hinge: Hinge) -> Self {
        Self::of_shape(Shape::Hinge(hinge))
    }

    /// A worker with measured points; it gets at most the last batch measured.
    pub fn points(points: &'a Points) -> Self {
        Self::of_shape(Shape::Points(points))
    }

    /// A worker with a curve of the caller's.
    pub fn curve(curve: &'a dyn Curve) -> Self {
        Self::of_shape(Shape::Custom(curve))
    }

    fn of_shape(shape: Shape<'a>) -> Self {
        Self {
            shape,
            communication_s: 0.0,
            min: 1,
            max: u32::MAX,
            grain: 1,
            previous: None,
            park_if_stopped: false,
        }
    }

    /// Gives the worker at least `batch` samples. With 0 it may sit out: then it takes no time and
    /// does not communicate.
    pub fn at_least(mut self, batch: u32) -> Self {
        self.min = batch;
        self
    }

    /// Gives the worker at most `batch` samples.
    pub fn at_most(mut self, batch: u32) -> Self {
        self.max = batch;
        self
    }

    /// Gives the worker multiples of `grain` samples only; 0 counts as 1.
    pub fn grain(mut self, grain: u32) -> Self {
        self.grain = grain.max(1);
        self
    }

    /// Adds `seconds` that the worker needs beyond its own compute, whatever its batch.
    pub fn communication(mut self, seconds: f64) -> Self {
        // So that no time is ever -0, which bit by bit is not 0.
        self.communication_s = seconds + 0.0;
        self
    }

    /// Names the worker's size in the plan before, so that ties keep it near.
    pub fn previous(mut self, batch: u32) -> Self {
        self.previous = Some(batch);
        self
    }

    /// Lets the worker sit out, whatever its minimum, if its speed is exactly 0, instead of
    /// refusing the split.
    pub fn park_if_stopped(mut self) -> Self {
        self.park_if_stopped = true;
        self
    }

    fn parked(&self) -> bool {
        self.park_if_stopped && matches!(self.shape, Shape::Affine(_, speed) if speed == 0.0)
    }

    /// Checks the numbers and returns the smallest and the largest size, in grains.
    #[inline(always)]
    pub(crate) fn range(&self, worker: u64) -> Result<(u32, u32), Error> {
        let mut max = self.max;
        check_seconds("communication time", worker, self.communication_s)?;
        match self.shape {
            Shape::Affine(fixed_s, speed) => {
                check_seconds("fixed time", worker, fixed_s)?;
                if self.parked() {
                    return Ok((0, 0));
                }
                // So slow that the largest batch would take for ever is as bad as stopped.
                if !(speed.is_finite() && speed >= SLOWEST) {
                    return Err(speed_error(worker, speed));
                }
            }
            Shape::Points(points) => max = max.min(points.last_batch()),
            Shape::Hinge(_) | Shape::Custom(_) => {}
        }
        let range = (self.min.div_ceil(self.grain), self.grains(max));
        if range.0 > range.1 {
            return Err(self.limits_error(worker, max));
        }
        Ok(range)
    }

    #[cold]
    fn limits_error(&self, worker: u64, max: u32) -> Error {
        Error::Limits {
            worker,
            min: self.min,
            max,
            grain: self.grain,
        }
    }

    /// Seconds until the worker reaches the barrier with `grains` grains, communication included.
    #[inline]
    pub(crate) fn seconds(&self, grains: u32) -> f64 {
        self.seconds_near(grains, 0)
    }

    /// As [`seconds`](Self::seconds), with a guess of how many measured points are at or before
    /// that size.
    #[inline]
    pub(crate) fn seconds_near(&self, grains: u32, points: usize) -> f64 {
        if grains == 0 {
            return 0.0;
        }
        let batch = grains * self.grain;
        let compute = match self.shape {
            Shape::Affine(fixed_s, speed) => fixed_s + f64::from(batch) / speed,
            Shape::Hinge(hinge) => hinge.seconds(batch),
            Shape::Points(curve) => curve.seconds_near(batch, points),
            Shape::Custom(curve) => curve.seconds(batch),
        };
        compute + self.communication_s
    }

    /// That many samples in grains, rounded down.
    #[inline]
    pub(crate) fn grains(&self, samples: u32) -> u32 {
        // Grains of one sample are the rule, and a division is slow.
        if self.grain == 1 {
            samples
        } else {
            samples / self.grain
        }
    }

    /// How far the worker gets if it reaches the barrier within `seconds`, with a guess of how many
    /// measured points that is; None if its curve has no inverse.
    #[inline]
    pub(crate) fn reach(&self, seconds: f64, points: usize) -> Option<Reach> {
        let compute = seconds - self.communication_s;
        match self.shape {
            Shape::Affine(fixed_s, speed) => Some(Reach::new((compute - fixed_s) * speed, speed)),
            Shape::Hinge(hinge) => Some(hinge.reach(compute)),
            Shape::Points(curve) => Some(curve.reach(compute, points)),
            Shape::Custom(curve) => curve.batch_within(compute).map(|batch| Reach {
                batch,
                samples_per_s: None,
                points: 0,
            }),
        }
    }

    #[inline]
    pub(crate) fn is_custom(&self) -> bool {
        matches!(self.shape, Shape::Custom(_))
    }
}

#[inline]
pub(crate) fn check_seconds(what: &'static str, worker: u64, got: f64) -> Result<(), Error> {
    if (0.0..=LONGEST_S).contains(&got) {
        Ok(())
    } else {
        Err(seconds_error(what, worker, got))
    }
}

// Errors are built out of line: a loop over thousands of workers has better things to keep close.
#[cold]
fn seconds_error(what: &'static str, worker: u64, got: f64) -> Error {
    Error::Seconds { what, worker, got }
}

#[cold]
fn speed_error(worker: u64, got: f64) -> Error {
    Error::Speed { worker, got }
}
