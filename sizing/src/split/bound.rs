//! What fractions of samples would reach: the plan's lower bound, and where to look for it.

use super::Splitter;
use super::slot::checked_seconds;
use crate::curve::LONGEST_S;
use crate::{Error, Worker};

/// The time by which fractions of samples would just cover the batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Continuous {
    pub(super) seconds: f64,
    /// Samples a second by which the total grows there; None if that is not known.
    pub(super) samples_per_s: Option<f64>,
    /// Workers that are at no limit there.
    pub(super) free: u32,
}

/// What is done by some time.
#[derive(Debug, Clone, Copy)]
struct Done {
    /// Samples beyond the global batch.
    excess: f64,
    samples_per_s: Option<f64>,
    free: u32,
}

/// Samples by which rounding may shift a total, as a part of the global batch.
const ROUNDING: f64 = 1e-13;

impl Splitter {
    /// Finds that time; None if some curve has no inverse. Where the total jumps over the batch,
    /// the time is the last double before the jump.
    pub(super) fn continuous(
        &self,
        global_batch: u32,
        workers: &[Worker<'_>],
    ) -> Result<Option<Continuous>, Error> {
        let start_s = self.first_guess(global_batch, workers)?;
        Ok(self.root(f64::from(global_batch), workers, start_s))
    }

    /// When the batch would be done at the speeds that everybody has with an equal share.
    fn first_guess(&self, global_batch: u32, workers: &[Worker<'_>]) -> Result<f64, Error> {
        let share = global_batch / workers.len() as u32;
        let mut samples_per_s = 0.0;
        for (index, (slot, worker)) in self.slots.iter().zip(workers).enumerate() {
            let grains = worker.grains(share).clamp(slot.min, slot.above);
            let seconds = checked_seconds(worker, index, grains)?;
            if seconds > 0.0 {
                samples_per_s += f64::from(grains * worker.grain) / seconds;
            }
        }
        let guess_s = f64::from(global_batch) / samples_per_s;
        Ok(guess_s.clamp(f64::MIN_POSITIVE, LONGEST_S))
    }

    /// Newton's method, kept inside a bracket that is halved when the method is slow.
    fn root(&self, whole: f64, workers: &[Worker<'_>], start_s: f64) -> Option<Continuous> {
        const STEPS: u32 = 200;
        let (mut low_s, mut low, mut high_s, mut high) = (0.0, -whole, f64::INFINITY, whole);
        let (mut now_s, mut widest) = (start_s, f64::INFINITY);
        let mut found = self.done_by(whole, workers, now_s)?;
        for step in 0..STEPS {
            if found.excess.abs() <= ROUNDING * whole {
                break;
            }
            if found.excess < 0.0 {
                (low_s, low) = (now_s, found.excess);
            } else {
                (high_s, high) = (now_s, found.excess);
            }
            let newton_s = found
                .samples_per_s
                .filter(|&rate| rate > 0.0)
                .map(|rate| now_s - found.excess / rate);
            let falsi_s = low_s - low * ((high_s - low_s) / (high - low));
            let inside = |seconds: &f64| low_s < *seconds && *seconds < high_s;
            let slow = step % 3 == 2 && high_s - low_s > widest / 2.0;
            if step % 3 == 2 {
                widest = high_s - low_s;
            }
            let halfway_s = if high_s.is_finite() {
                low_s + (high_s - low_s) / 2.0
            } else {
                low_s * 4.0
            };
            now_s = [newton_s, Some(falsi_s)]
                .into_iter()
                .flatten()
                .find(|seconds| !slow && inside(seconds))
                .unwrap_or(halfway_s);
            if !inside(&now_s) || now_s > LONGEST_S {
                now_s = low_s;
                break;
            }
            found = self.done_by(whole, workers, now_s)?;
        }
        Some(Continuous {
            seconds: now_s,
            samples_per_s: found.samples_per_s,
            free: found.free,
        })
    }

    fn done_by(&self, whole: f64, workers: &[Worker<'_>], seconds: f64) -> Option<Done> {
        let (mut sum, mut samples_per_s, mut free) = (0.0, Some(0.0), 0);
        for (slot, worker) in self.slots.iter().zip(workers) {
            let grain = f64::from(worker.grain);
            let (min, max) = (f64::from(slot.min) * grain, f64::from(slot.above) * grain);
            let reach = worker.reach(seconds)?;
            // Written so that no number at all counts as the minimum.
            if reach.batch > min && reach.batch < max {
                sum += reach.batch;
                free += 1;
                samples_per_s = samples_per_s.zip(reach.samples_per_s).map(|(a, b)| a + b);
            } else {
                sum += if reach.batch >= max { max } else { min };
            }
        }
        Some(Done {
            excess: sum - whole,
            samples_per_s,
            free,
        })
    }
}
