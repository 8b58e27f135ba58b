//! One worker's size while a split is being looked for, and how it is counted.

use crate::worker::check_seconds;
use crate::{Error, Limit, Worker};

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
    /// Number of measured points at or before a size close to the end, a guess.
    pub(super) points: u32,
}

impl Slot {
    /// Where the size that was found stands.
    #[inline]
    pub(super) fn limit(&self) -> Limit {
        match (self.below == self.min, self.below == self.max) {
            (true, true) => Limit::Both,
            (true, false) => Limit::Minimum,
            (false, true) => Limit::Maximum,
            (false, false) => Limit::Free,
        }
    }
}

/// How many grains, between the ends of the slot's bracket, the worker finishes by `seconds`; the
/// lower end counts always.
#[inline]
pub(super) fn count(worker: &Worker<'_>, slot: &Slot, seconds: f64) -> u32 {
    let (from, to) = (slot.below, slot.above);
    let (batch, points) = match worker.reach(seconds, slot.points as usize) {
        Some(reach) => (reach.batch, reach.points),
        None => (0.0, 0),
    };
    let guess = worker.grains(batch as u32).clamp(from, to);
    let in_time = |grains| worker.seconds_near(grains, points) <= seconds;
    if guess > from && !in_time(guess) {
        let (fits, too_many) = gallop_down(guess, from, &in_time);
        bisect(fits, too_many, &in_time)
    } else if guess < to && in_time(guess + 1) {
        let (fits, too_many) = gallop_up(guess + 1, to, &in_time);
        bisect(fits, too_many, &in_time)
    } else {
        guess
    }
}

/// A size that is in time, or `from`, and a larger one that is not.
fn gallop_down(late: u32, from: u32, in_time: &impl Fn(u32) -> bool) -> (u32, u32) {
    let (mut fits, mut too_many) = (late - 1, late);
    let mut step = 1;
    while fits > from && !in_time(fits) {
        too_many = fits;
        step *= 2;
        fits = fits.saturating_sub(step).max(from);
    }
    (fits, too_many)
}

/// A size that is in time, and a larger one that is not or is above `to`.
fn gallop_up(early: u32, to: u32, in_time: &impl Fn(u32) -> bool) -> (u32, u32) {
    let beyond = to.saturating_add(1);
    let (mut fits, mut too_many) = (early, early.saturating_add(1));
    let mut step = 1;
    while too_many < beyond && in_time(too_many) {
        fits = too_many;
        step *= 2;
        too_many = too_many.saturating_add(step).min(beyond);
    }
    (fits, too_many)
}

fn bisect(mut fits: u32, mut too_many: u32, in_time: &impl Fn(u32) -> bool) -> u32 {
    while too_many - fits > 1 {
        let middle = fits + (too_many - fits) / 2;
        if in_time(middle) {
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
        .reach(seconds, 0)
        .map(|reach| worker.grains(reach.batch as u32));
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
#[inline(always)]
pub(super) fn checked_seconds(
    worker: &Worker<'_>,
    index: usize,
    grains: u32,
) -> Result<f64, Error> {
    checked_seconds_near(worker, index, grains, 0)
}

/// As [`checked_seconds`], with a guess of how many measured points are at or before that size.
#[inline(always)]
pub(super) fn checked_seconds_near(
    worker: &Worker<'_>,
    index: usize,
    grains: u32,
    points: u32,
) -> Result<f64, Error> {
    let seconds = worker.seconds_near(grains, points as usize);
    if worker.is_custom() {
        check_seconds("time", index as u64, seconds)?;
    }
    Ok(seconds)
}

#[inline(always)]
pub(super) fn check_order(
    worker: &Worker<'_>,
    index: usize,
    ends: [(u32, f64); 2],
) -> Result<(), Error> {
    if ends[1].1 >= ends[0].1 {
        Ok(())
    } else {
        Err(decreasing(worker, index, ends))
    }
}

#[cold]
fn decreasing(worker: &Worker<'_>, index: usize, ends: [(u32, f64); 2]) -> Error {
    let [(smaller, smaller_seconds), (larger, seconds)] = ends;
    Error::Decreasing {
        worker: index as u64,
        batch: larger * worker.grain,
        seconds,
        smaller_batch: smaller * worker.grain,
        smaller_seconds,
    }
}
