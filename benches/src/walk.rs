use sizing::replay::Trace;

use crate::Random;

/// Rows of a made-up trace, and their length in seconds.
const ROWS: usize = 600;
const ROW_S: f64 = 0.1;

/// Workers whose speed wanders: every tenth of a second by a few percent, pulled back to a pace of
/// its own between 300 and 3,000 samples/s, for a minute.
pub fn wandering_workers(workers: usize, seed: u64) -> Vec<Trace> {
    let mut random = Random::new(seed);
    (0..workers)
        .map(|_| wandering_worker(&mut random))
        .collect()
}

fn wandering_worker(random: &mut Random) -> Trace {
    let pace = random.log_uniform(300.0, 3000.0);
    let starts_s: Vec<f64> = (0..ROWS).map(|row| row as f64 * ROW_S).collect();
    let mut speed = pace;
    let speeds: Vec<f64> = (0..ROWS)
        .map(|_| {
            speed *= (pace / speed).powf(0.02) * random.log_uniform(0.93, 1.0 / 0.93);
            speed
        })
        .collect();
    Trace::new(&starts_s, &speeds).expect("the rows rise and the speeds are above 0")
}
