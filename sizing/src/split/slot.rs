//! One worker's size while a split is being looked for, and how it is counted.

use crate::worker::check_seconds;
use crate::{Error, Worker};

/// What is known of one worker's size while the split is being looked for, in grains.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) min: u32,
    pub(super) max: u32,
    /// Size at a time that is too early for the whole batch, and its seconds.
    pub(super) below: u32,
    pub(super) below_s: f64,
    /// Size at a time that is late enough.
    pub(super) above: u32,
    pub(super) above_s: f64,
    /// Size at the time looked at last.
    pub(super) probe: u32,
    pub(super) probe_s: f64,
}

/// How many grains, from `from` to `to`, the worker finishes by `seconds`; `from` counts always.
#[inline]
pub(super) fn count(worker: &Worker<'_>, seconds: f64, from: u32, to: u32) -> u32 {
    let guess = worker.batch_within(seconds).unwrap_or(0.0) / f64::from(worker.grain);
    let guess = (guess as u32).clamp(from, to);
    let (mut fits, mut too_many);
    let mut step = 1;
    if guess > from && worker.seconds(guess) > seconds {
        (fits, too_many) = (guess - 1, guess);
        while fits > from && worker.seconds(fits) > seconds {
            too_many = fits;
            step *= 2;
            fits = fits.saturating_sub(step).max(from);
        }
    } else {
        (fits, too_many) = (guess, guess.saturating_add(1));
        while too_many <= to && worker.seconds(too_many) <= seconds {
            fits = too_many;
            step *= 2;
            too_many = too_many.saturating_add(step);
        }
        too_many = too_many.min(to.saturating_add(1));
    }
    while too_many - fits > 1 {
        let middle = fits + (too_many - fits) / 2;
        if worker.seconds(middle) <= seconds {
            fits = middle;
        } else {
            too_many = middle;
        }
    }
    fits
}

/// As [`count`], between the ends of the slot's bracket, for a curve that may break its promise.
pub(super) fn count_checked(
    worker: &Worker<'_>,
    index: usize,
    slot: &Slot,
    seconds: f64,
) -> Result<(u32, f64), Error> {
    let (mut fits, mut fits_s) = (slot.below, slot.below_s);
    let (mut beyond, mut beyond_s) = (slot.above, slot.above_s);
    if beyond_s <= seconds || fits == beyond {
        return Ok((beyond, beyond_s));
    }
    if fits_s > seconds {
        return Ok((fits, fits_s));
    }
    let mut guess = worker
        .batch_within(seconds)
        .map(|batch| (batch / f64::from(worker.grain)) as u32);
    while beyond - fits > 1 {
        // The inverse names the last size that fits; the second probe shows that it is the last.
        let middle = match guess {
            Some(size) if fits < size && size < beyond => size,
            Some(size) if fits == size => size + 1,
            _ => fits + (beyond - fits) / 2,
        };
        if guess.is_some_and(|size| middle > size) {
            guess = None;
        }
        let middle_s = checked_seconds(worker, index, middle)?;
        check_order(worker, index, [(fits, fits_s), (middle, middle_s)])?;
        check_order(worker, index, [(middle, middle_s), (beyond, beyond_s)])?;
        if middle_s <= seconds {
            (fits, fits_s) = (middle, middle_s);
        } else {
            (beyond, beyond_s) = (middle, middle_s);
        }
    }
    Ok((fits, fits_s))
}

/// The worker's time, after a look at what a caller's curve returned.
pub(super) fn checked_seconds(
    worker: &Worker<'_>,
    index: usize,
    grains: u32,
) -> Result<f64, Error> {
    let seconds = worker.seconds(grains);
    if worker.is_custom() {
        check_seconds("time", index as u64, seconds)?;
    }
    Ok(seconds)
}

pub(super) fn check_order(
    worker: &Worker<'_>,
    index: usize,
    ends: [(u32, f64); 2],
) -> Result<(), Error> {
    let [(smaller, smaller_seconds), (larger, seconds)] = ends;
    if seconds >= smaller_seconds {
        return Ok(());
    }
    Err(Error::Decreasing {
        worker: index as u64,
        batch: larger * worker.grain,
        seconds,
        smaller_batch: smaller * worker.grain,
        smaller_seconds,
    })
}
