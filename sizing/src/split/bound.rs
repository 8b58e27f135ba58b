//! What fractions of samples would reach: the plan's lower bound, and where to look for it.

use super::Splitter;
use super::slot::{Slot, checked_seconds};
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
        &mut self,
        global_batch: u32,
        workers: &[Worker<'_>],
    ) -> Result<Option<Continuous>, Error> {
        let start_s = self.first_guess(global_batch, workers)?;
        Ok(self.root(f64::from(global_batch), workers, start_s))
    }

    /// When the batch would be done at the speeds that everybody has with an equal share.
    fn first_guess(&self, global_batch: u32, workers: &[Worker<'_>]) -> Result<f64, Error> {
        let share = (global_batch / workers.len() as u32).max(1);
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

    /// Newton's method, or the secant's where slopes are not known, kept inside a bracket that is
    /// halved when the method is slow.
    fn root(&mut self, whole: f64, workers: &[Worker<'_>], start_s: f64) -> Option<Continuous> {
        // Three times the bits of a double.
        const STEPS: u32 = 192;
        let (mut low_s, mut high_s) = (0.0_f64, 2.0 * LONGEST_S);
        let (mut now_s, mut widest) = (start_s, u64::MAX);
        let mut found = self.done_by(whole, workers, now_s)?;
        // At time 0 nothing is done.
        let (mut before_s, mut before) = (0.0, -whole);
        for step in 0..STEPS {
            if found.excess.abs() <= ROUNDING * whole {
                break;
            }
            if found.excess < 0.0 {
                low_s = now_s;
            } else {
                high_s = now_s;
            }
            let secant = (found.excess - before) / (now_s - before_s);
            let slope = found.samples_per_s.filter(|&slope| slope > 0.0);
            let next_s = now_s - found.excess / slope.unwrap_or(secant);
            (before_s, before) = (now_s, found.excess);
            let inside = |seconds: f64| low_s < seconds && seconds < high_s;
            // Measured and halved in bits: that halves the exponent while the ends are far apart.
            let (low_bits, high_bits) = (low_s.to_bits(), high_s.to_bits());
            let halfway_s = f64::from_bits(u64::midpoint(low_bits, high_bits));
            let slow = step % 3 == 2 && high_bits - low_bits > widest / 2;
            if step % 3 == 2 {
                widest = high_bits - low_bits;
            }
            now_s = if inside(next_s) && !slow {
                next_s
            } else {
                halfway_s
            };
            if !inside(now_s) {
                break;
            }
            found = self.done_by(whole, workers, now_s)?;
        }
        let converged = found.excess.abs() <= ROUNDING * whole;
        if converged && found.free == 0 {
            // Everybody is at a limit, and has been for some time.
            now_s = self.last_arrival_s(workers, now_s);
        }
        Some(Continuous {
            seconds: if converged { now_s } else { low_s },
            samples_per_s: found.samples_per_s,
            free: found.free,
        })
    }

    /// When the last of those who are at their maximum by `seconds` got there.
    fn last_arrival_s(&self, workers: &[Worker<'_>], seconds: f64) -> f64 {
        let has_arrived = |slot: &Slot, worker: &Worker<'_>| {
            let max = f64::from(slot.above) * f64::from(worker.grain);
            slot.above > slot.min
                && worker
                    .reach(seconds, slot.points as usize)
                    .is_some_and(|reach| reach.batch >= max)
        };
        let slots = self.slots.iter().zip(workers);
        slots
            .filter(|(slot, worker)| has_arrived(slot, worker))
            .map(|(slot, worker)| worker.seconds(slot.above))
            .fold(0.0, f64::max)
    }

    fn done_by(&mut self, whole: f64, workers: &[Worker<'_>], seconds: f64) -> Option<Done> {
        let (mut sum, mut samples_per_s, mut free) = (0.0, Some(0.0), 0);
        for (slot, worker) in self.slots.iter_mut().zip(workers) {
            let grain = f64::from(worker.grain);
            let (min, max) = (f64::from(slot.min) * grain, f64::from(slot.above) * grain);
            let reach = worker.reach(seconds, slot.points as usize)?;
            slot.points = reach.points as u32;
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
