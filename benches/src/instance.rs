use sizing::{Points, Worker};

use crate::Random;

/// Samples a worker has on average.
const SHARE: u32 = 256;

/// Batches that a measured curve has points at.
const POINTS: i32 = 20;

/// The largest batch measured.
const LAST_BATCH: f64 = 8192.0;

/// Samples up to which a measured curve is flat. The slowest worker of many gets about 34.
const FLOOR: f64 = 16.0;
const LONG_FLOOR: f64 = 48.0;

/// A global batch and workers of unequal speed to split it over.
#[derive(Debug, Clone)]
pub struct Instance {
    /// Samples of an iteration, 256 a worker.
    pub global_batch: u32,
    /// Samples per second of each worker, from 200 to 5,000.
    pub speeds: Vec<f64>,
    /// Size of each worker in the plan before, when its speed was up to 10 % different.
    pub previous: Vec<u32>,
    points: Vec<Points>,
    points_with_long_floor: Vec<Points>,
}

impl Instance {
    /// The instance of `workers` workers that belongs to a seed.
    pub fn new(workers: u32, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let speeds: Vec<f64> = (0..workers)
            .map(|_| 1000.0 * random.log_uniform(0.2, 5.0))
            .collect();
        let mean = speeds.iter().sum::<f64>() / speeds.len() as f64;
        let previous = speeds
            .iter()
            .map(|speed| (f64::from(SHARE) * speed / mean * random.uniform(0.9, 1.1)) as u32)
            .collect();
        let curves = |floor| {
            speeds
                .iter()
                .map(move |&speed| curve(speed, floor))
                .collect()
        };
        let (points, points_with_long_floor) = (curves(FLOOR), curves(LONG_FLOOR));
        Self {
            global_batch: SHARE * workers,
            speeds,
            previous,
            points,
            points_with_long_floor,
        }
    }

    /// The workers, with times proportional to the batch.
    pub fn proportional(&self) -> Vec<Worker<'static>> {
        let workers = self.speeds.iter().zip(&self.previous);
        workers
            .map(|(&speed, &previous)| Worker::proportional(speed).previous(previous))
            .collect()
    }

    /// The workers, with measured curves of 20 points that all rise where the split ends.
    pub fn measured(&self) -> Vec<Worker<'_>> {
        self.workers(&self.points)
    }

    /// The workers, with measured curves so flat at first that with many workers the floor of the
    /// slowest is the time of the iteration and the others have time to spare.
    pub fn held_up_by_a_floor(&self) -> Vec<Worker<'_>> {
        self.workers(&self.points_with_long_floor)
    }

    fn workers<'a>(&'a self, points: &'a [Points]) -> Vec<Worker<'a>> {
        let workers = points.iter().zip(&self.previous);
        workers
            .map(|(points, &previous)| Worker::points(points).previous(previous))
            .collect()
    }
}

/// Points at batches of equal ratio: the time of `floor` samples up to there, then a little more
/// than linear.
fn curve(speed: f64, floor: f64) -> Points {
    let ratio = LAST_BATCH.powf(1.0 / f64::from(POINTS - 1));
    let points: Vec<(u32, f64)> = (0..POINTS)
        .map(|at| {
            let batch = ratio.powi(at).round();
            let work = f64::max(floor, batch + batch * batch / 65_536.0);
            (batch as u32, work / speed)
        })
        .collect();
    Points::new(&points).expect("the batches rise and the times do not fall")
}
