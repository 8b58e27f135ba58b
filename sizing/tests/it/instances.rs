//! Random workers, as data that both the library and the checks can read.

use proptest::prelude::*;
use sizing::{Curve, Hinge, Points, Worker};

/// A worker's curve and limits.
#[derive(Debug, Clone)]
pub(crate) struct Instance {
    pub(crate) shape: Shape,
    pub(crate) communication_s: f64,
    pub(crate) min: u32,
    pub(crate) max: u32,
    pub(crate) grain: u32,
    pub(crate) previous: Option<u32>,
}

#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Proportional(f64),
    Affine(f64, f64),
    /// Floor, slope and offset.
    Hinge(f64, f64, f64),
    /// The points, and the curve through them.
    Points(Vec<(u32, f64)>, Points),
    Stairs(Stairs),
}

/// A caller's curve that rises by `step_s` every `width` samples; with or without an inverse.
#[derive(Debug, Clone)]
pub(crate) struct Stairs {
    pub(crate) width: u32,
    pub(crate) step_s: f64,
    pub(crate) has_inverse: bool,
}

impl Curve for Stairs {
    fn seconds(&self, batch: u32) -> f64 {
        f64::from(batch.div_ceil(self.width)) * self.step_s
    }

    fn batch_within(&self, seconds: f64) -> Option<f64> {
        let whole = (seconds / self.step_s).floor() * f64::from(self.width);
        self.has_inverse.then_some(whole)
    }
}

impl Instance {
    pub(crate) fn worker(&self) -> Worker<'_> {
        let worker = match &self.shape {
            Shape::Proportional(speed) => Worker::proportional(*speed),
            Shape::Affine(fixed_s, speed) => Worker::affine(*fixed_s, *speed),
            Shape::Hinge(floor_s, slope_s, offset_s) => {
                Worker::hinge(Hinge::new(*floor_s, *slope_s, *offset_s).expect("numbers in range"))
            }
            Shape::Points(_, curve) => Worker::points(curve),
            Shape::Stairs(stairs) => Worker::curve(stairs),
        };
        let worker = worker
            .at_least(self.min)
            .at_most(self.max)
            .grain(self.grain)
            .communication(self.communication_s);
        match self.previous {
            Some(batch) => worker.previous(batch),
            None => worker,
        }
    }

    /// Smallest and largest size, in samples, as the limits and the grain allow.
    pub(crate) fn range(&self) -> (u32, u32) {
        let min = self.min.div_ceil(self.grain) * self.grain;
        let mut max = self.max;
        if let Shape::Points(points, _) = &self.shape {
            max = max.min(points[points.len() - 1].0);
        }
        (min, max / self.grain * self.grain)
    }

    /// The time to the barrier, written out once more.
    pub(crate) fn seconds(&self, batch: u32) -> f64 {
        if batch == 0 {
            return 0.0;
        }
        let one = [self.worker().at_least(batch).at_most(batch).grain(1)];
        let plan = sizing::split(batch, &one).expect("a batch within the limits");
        let x = f64::from(batch);
        let compute = match &self.shape {
            Shape::Proportional(speed) => x / speed,
            Shape::Affine(fixed_s, speed) => fixed_s + x / speed,
            Shape::Hinge(floor_s, slope_s, offset_s) => floor_s.max(slope_s * x + offset_s),
            Shape::Points(points, _) => on_the_line(points, batch),
            Shape::Stairs(stairs) => stairs.seconds(batch),
        };
        assert_eq!(plan.times_s()[0], compute + self.communication_s);
        plan.times_s()[0]
    }
}

/// The time of a batch on the straight line between its neighbours.
fn on_the_line(points: &[(u32, f64)], batch: u32) -> f64 {
    let Some(at) = points.iter().position(|&(x, _)| batch <= x) else {
        panic!("no more than the last batch")
    };
    let (x1, y1) = points[at];
    if at == 0 || batch == x1 {
        return y1;
    }
    let (x0, y0) = points[at - 1];
    (y0 + (y1 - y0) * (f64::from(batch - x0) / f64::from(x1 - x0))).min(y1)
}

pub(crate) fn workers(instances: &[Instance]) -> Vec<Worker<'_>> {
    instances.iter().map(Instance::worker).collect()
}

/// Few distinct values, so that ties happen.
fn speed() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => (1..6u32).prop_map(f64::from),
        1 => 0.3..9.0f64,
        1 => (1..4u32).prop_map(|x| 0.1 * f64::from(x)),
    ]
}

fn seconds() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => Just(0.0),
        2 => (1..4u32).prop_map(|x| f64::from(x) * 0.5),
        1 => 0.0..3.0f64,
    ]
}

fn points() -> impl Strategy<Value = Shape> {
    let rise = prop_oneof![2 => Just(0.0), 2 => (1..4u32).prop_map(f64::from), 1 => 0.0..2.0f64];
    prop::collection::vec((1..6u32, rise), 1..6).prop_map(|steps| {
        let (mut batch, mut seconds) = (0, 0.0);
        let points: Vec<(u32, f64)> = steps
            .into_iter()
            .map(|(wider, longer)| {
                batch += wider;
                seconds += longer;
                (batch, seconds)
            })
            .collect();
        let curve = Points::new(&points).expect("points that rise");
        Shape::Points(points, curve)
    })
}

fn shape() -> impl Strategy<Value = Shape> {
    let hinge = (0..4u32, 0..4u32, -4..4i32).prop_map(|(floor, slope, offset)| {
        Shape::Hinge(f64::from(floor), f64::from(slope) * 0.5, f64::from(offset))
    });
    let stairs = (1..5u32, 0..4u32, any::<bool>()).prop_map(|(width, step, has_inverse)| Stairs {
        width,
        step_s: f64::from(step) * 0.5,
        has_inverse: has_inverse && step > 0,
    });
    prop_oneof![
        3 => speed().prop_map(Shape::Proportional),
        2 => (seconds(), speed()).prop_map(|(a, v)| Shape::Affine(a, v)),
        2 => hinge,
        2 => points(),
        2 => stairs.prop_map(Shape::Stairs),
    ]
}

/// A worker with the given grain; its limits may leave it no size at all.
pub(crate) fn instance(grain: impl Strategy<Value = u32>) -> impl Strategy<Value = Instance> {
    (
        shape(),
        seconds(),
        0..4u32,
        prop_oneof![2 => 3..12u32, 1 => Just(u32::MAX)],
        grain,
        prop::option::of(0..12u32),
    )
        .prop_map(
            |(shape, communication_s, min, max, grain, previous)| Instance {
                shape,
                communication_s,
                min,
                max,
                grain,
                previous,
            },
        )
}

/// Workers of one grain.
pub(crate) fn one_grain(most: usize) -> impl Strategy<Value = Vec<Instance>> {
    (1..4u32).prop_flat_map(move |grain| prop::collection::vec(instance(Just(grain)), 1..=most))
}
