//! The bound that fractions of samples would reach.

use super::Splitter;
use super::slot::checked_seconds;
use crate::curve::LONGEST_S;
use crate::{Error, Worker};

impl Splitter {
    /// The smallest time by which fractions of samples would be done, as far as doubles tell, never
    /// above it; None if some curve has no inverse.
    pub(super) fn continuous(
        &self,
        global_batch: u32,
        workers: &[Worker<'_>],
    ) -> Result<Option<f64>, Error> {
        let whole = f64::from(global_batch);
        let share = global_batch / workers.len() as u32;
        let (mut rate, mut earliest_s) = (0.0, 0.0_f64);
        for (index, (slot, worker)) in self.slots.iter().zip(workers).enumerate() {
            let grains = (share / worker.grain).clamp(slot.min, slot.above);
            let seconds = checked_seconds(worker, index, grains)?;
            if seconds > 0.0 {
                rate += f64::from(grains * worker.grain) / seconds;
            }
            earliest_s = earliest_s.max(checked_seconds(worker, index, slot.min)?);
        }
        let excess = |seconds: f64| -> Option<f64> {
            let mut sum = 0.0;
            for (slot, worker) in self.slots.iter().zip(workers) {
                let grain = f64::from(worker.grain);
                let (min, max) = (f64::from(slot.min) * grain, f64::from(slot.above) * grain);
                let batch = worker.batch_within(seconds)?;
                // Written so that no number at all counts as the minimum.
                sum += if batch > min { batch.min(max) } else { min };
            }
            Some(sum - whole)
        };
        let start_s = if rate > 0.0 { whole / rate } else { earliest_s };
        let root = last_not_above_zero(excess, start_s.min(LONGEST_S));
        Ok(root.map(|seconds| seconds.max(earliest_s)))
    }
}

/// The largest point found at which a function that does not decrease is not above zero, to the
/// last bits of a double, looking first near `start` > 0; None where the function is undefined.
fn last_not_above_zero(f: impl Fn(f64) -> Option<f64>, start: f64) -> Option<f64> {
    const STEPS: usize = 200;
    let (mut low, mut low_f) = (0.0, f(0.0)?);
    let (mut high, mut high_f) = (start, f(start)?);
    if low_f >= 0.0 {
        return Some(0.0);
    }
    let mut reach = (high * 1e-9).max(f64::MIN_POSITIVE);
    while high_f < 0.0 {
        if high >= LONGEST_S {
            return Some(high);
        }
        (low, low_f) = (high, high_f);
        high += reach;
        reach *= 8.0;
        high_f = f(high)?;
    }
    if high_f == 0.0 {
        return Some(high);
    }
    // Regula falsi; when one end stays put twice its value is halved (Illinois), and now and then
    // the bracket is halved instead, so that no shape of `f` makes it slow.
    let mut moved_low = None;
    for step in 1..STEPS {
        let falsi = low - low_f * ((high - low) / (high_f - low_f));
        let middle = if step % 8 > 0 && falsi > low && falsi < high {
            falsi
        } else {
            low + (high - low) / 2.0
        };
        if !(middle > low && middle < high) || low_f == 0.0 {
            break;
        }
        let middle_f = f(middle)?;
        let moves_low = middle_f <= 0.0;
        let again = moved_low == Some(moves_low);
        if moves_low {
            (low, low_f) = (middle, middle_f);
            high_f /= if again { 2.0 } else { 1.0 };
        } else {
            (high, high_f) = (middle, middle_f);
            low_f /= if again { 2.0 } else { 1.0 };
        }
        moved_low = Some(moves_low);
    }
    Some(low)
}
