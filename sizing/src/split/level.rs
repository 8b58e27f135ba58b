//! Workers of one grain: the water level that the batch covers, and who gets the last grains.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::Splitter;
use super::bound::Continuous;
use super::slot::{Slot, check_order, checked_seconds, checked_seconds_near, count, count_checked};
use super::ties::{self, Tie};
use crate::curve::LONGEST_S;
use crate::{Error, Worker};

impl Splitter {
    /// Raises everybody to the highest water level that the batch covers, as far as one pass over
    /// the workers a step can tell, and returns what is left. It all goes to workers below their
    /// `above`.
    pub(super) fn search(
        &mut self,
        level: &Level<'_>,
        continuous: Option<Continuous>,
    ) -> Result<Left, Error> {
        let (mut left, mut over) = self.distance(level);
        if over == 0 {
            for slot in &mut self.slots {
                slot.below = slot.above;
            }
            return Ok(Left::Few(0));
        }
        self.check_ends(level.workers)?;
        // With a guess to start from any end will do.
        let latest_s = match continuous {
            Some(_) => LATEST_S,
            None => self.latest_s(level.workers),
        };
        // Times are not negative, so their bits are in the order of their values; -1 is before 0.
        let (mut early, mut late) = (-1_i64, latest_s.to_bits() as i64);
        let guesses = continuous.map(|continuous| level.guesses(continuous));
        for step in 0.. {
            if left as usize <= level.workers.len() {
                return Ok(Left::Few(left));
            }
            if late - early <= 1 {
                return Ok(Left::Tied(left));
            }
            let bits = match guesses.as_ref().and_then(|guesses| guesses.get(step)) {
                Some(guess_s) => guess_s.to_bits() as i64,
                None if step % 2 == 0 || early < 0 => early + (late - early) / 2,
                None => {
                    let (from_s, to_s) =
                        (f64::from_bits(early as u64), f64::from_bits(late as u64));
                    let part = f64::from(left) / (f64::from(left) + over as f64);
                    (from_s + (to_s - from_s) * part).to_bits() as i64
                }
            };
            let bits = bits.clamp(early + 1, late - 1);
            let counted = self.probe(level.workers, f64::from_bits(bits as u64))?;
            if counted <= u64::from(level.wanted) {
                (early, left) = (bits, level.wanted - counted as u32);
                self.keep_below();
            } else {
                (late, over) = (bits, counted - u64::from(level.wanted));
                self.keep_above();
            }
        }
        unreachable!("the bracket shrinks at every step")
    }

    /// Notes, and checks, the times at both ends of callers' curves.
    pub(super) fn check_ends(&mut self, workers: &[Worker<'_>]) -> Result<(), Error> {
        for (index, (slot, worker)) in self.slots.iter_mut().zip(workers).enumerate() {
            if worker.is_custom() {
                slot.below_s = checked_seconds(worker, index, slot.min)?;
                slot.above_s = checked_seconds(worker, index, slot.above)?;
                let ends = [(slot.min, slot.below_s), (slot.above, slot.above_s)];
                check_order(worker, index, ends)?;
            }
        }
        Ok(())
    }

    /// When everybody is done with the largest size it could get, in seconds.
    pub(super) fn latest_s(&self, workers: &[Worker<'_>]) -> f64 {
        let slots = self.slots.iter().zip(workers);
        let times_s = slots.map(|(slot, worker)| worker.seconds(slot.above));
        times_s.fold(0.0, f64::max)
    }

    /// How far the lower ends of the brackets fall short of what is wanted, and the upper ends
    /// exceed it, in grains.
    fn distance(&self, level: &Level<'_>) -> (u32, u64) {
        let below: u64 = self.slots.iter().map(|slot| u64::from(slot.below)).sum();
        let above: u64 = self.slots.iter().map(|slot| u64::from(slot.above)).sum();
        let wanted = u64::from(level.wanted);
        ((wanted - below) as u32, above - wanted)
    }

    pub(super) fn keep_below(&mut self) {
        for slot in &mut self.slots {
            (slot.below, slot.below_s) = (slot.probe, slot.probe_s);
        }
    }

    pub(super) fn keep_above(&mut self) {
        for slot in &mut self.slots {
            (slot.above, slot.above_s) = (slot.probe, slot.probe_s);
        }
    }

    /// Counts, into `probe`, the grains that everybody finishes by `seconds`; returns their sum.
    pub(super) fn probe(&mut self, workers: &[Worker<'_>], seconds: f64) -> Result<u64, Error> {
        let mut sum = 0;
        for (index, (slot, worker)) in self.slots.iter_mut().zip(workers).enumerate() {
            if worker.is_custom() {
                (slot.probe, slot.probe_s) = count_checked(worker, index, slot, seconds)?;
            } else {
                slot.probe = count(worker, slot, seconds);
            }
            sum += u64::from(slot.probe);
        }
        Ok(sum)
    }

    /// Gives the grains that are left to those who are due.
    pub(super) fn hand_out(
        &mut self,
        level: &Level<'_>,
        left: Left,
        continuous: Option<Continuous>,
    ) -> Result<(), Error> {
        match left {
            Left::Few(0) => Ok(()),
            Left::Few(left) => self.hand_out_by_rule(level, left, continuous),
            Left::Tied(left) => {
                self.hand_out_tied(level, left);
                Ok(())
            }
        }
    }

    /// The rule itself, grain by grain, from a state that it passes through.
    fn hand_out_by_rule(
        &mut self,
        level: &Level<'_>,
        left: u32,
        continuous: Option<Continuous>,
    ) -> Result<(), Error> {
        let mut next = std::mem::take(&mut self.heap);
        let soon_s = continuous.and_then(|continuous| level.soon_s(continuous));
        // Whoever would finish a grain by then is a candidate, if there are candidates enough.
        for until_s in [soon_s.unwrap_or(LATEST_S), LATEST_S] {
            next.clear();
            for (index, slot) in self.slots.iter().enumerate() {
                if slot.below < slot.above {
                    next.extend(level.next(index, slot, until_s)?);
                }
            }
            if next.len() >= left as usize {
                break;
            }
        }
        let mut heap = BinaryHeap::from(next);
        for _ in 0..left {
            let mut first = heap.peek_mut().expect("the capacity covers the batch");
            let slot = &mut self.slots[first.index as usize];
            slot.below += 1;
            let again = if slot.below < slot.above {
                level.next(first.index as usize, slot, LATEST_S)?
            } else {
                None
            };
            match again {
                Some(again) => *first = again,
                None => drop(PeekMut::pop(first)),
            }
        }
        self.heap = heap.into_vec();
        Ok(())
    }

    /// The rule where every grain that can be given next leads to the same time.
    fn hand_out_tied(&mut self, level: &Level<'_>, left: u32) {
        self.ties.clear();
        for (index, slot) in self.slots.iter().enumerate() {
            if slot.below < slot.above {
                let worker = &level.workers[index];
                let present_s = worker.seconds(slot.below);
                self.ties.push(Tie {
                    present_s,
                    reached: present_s == worker.seconds(slot.below + 1),
                    deficit: level.deficit(index, slot.below),
                    room: slot.above - slot.below,
                    index: index as u32,
                    given: 0,
                });
            }
        }
        ties::hand_out(&mut self.ties, left, level.deficit_per_grain());
        for tie in &self.ties {
            self.slots[tie.index as usize].below += tie.given;
        }
    }
}

/// What is left to give when the search has come as far as it can.
#[derive(Debug, Clone, Copy)]
pub(super) enum Left {
    /// No more grains than there are workers.
    Few(u32),
    /// Any number, and every grain that can be given next leads to the same time.
    Tied(u32),
}

/// The instance while one grain is handed out after the other.
pub(super) struct Level<'a> {
    pub(super) workers: &'a [Worker<'a>],
    pub(super) global_batch: u32,
    pub(super) wanted: u32,
}

/// Later than any time there is, in seconds.
const LATEST_S: f64 = 4.0 * LONGEST_S;

impl Level<'_> {
    /// Where to look for the water level. Whole grains lag half a grain a worker behind the
    /// continuous total, so the first guess is as much later, less what chance may add to them; the
    /// second is surely early enough; and where flat curves tie, the third is the next double.
    fn guesses(&self, continuous: Continuous) -> [f64; 3] {
        let chance = f64::from(continuous.free).sqrt();
        let lag = (f64::from(continuous.free) / 2.0 - chance).max(0.0);
        let early_s = continuous.seconds;
        let later_s = early_s + self.time_of(lag, continuous).unwrap_or(0.0);
        [later_s, early_s, early_s.next_up()]
    }

    /// A time by which the last few grains will be given.
    fn soon_s(&self, continuous: Continuous) -> Option<f64> {
        let chance = f64::from(continuous.free).sqrt();
        let lag = f64::from(continuous.free) / 2.0 + chance;
        Some(continuous.seconds + self.time_of(lag, continuous)?)
    }

    /// Seconds in which the continuous total grows by so many grains.
    fn time_of(&self, grains: f64, continuous: Continuous) -> Option<f64> {
        let samples = grains * f64::from(self.workers[0].grain);
        let seconds = samples / continuous.samples_per_s?;
        seconds.is_finite().then_some(seconds)
    }

    /// The worker's next grain; None if it would take longer than `until_s`.
    #[inline(always)]
    fn next(&self, index: usize, slot: &Slot, until_s: f64) -> Result<Option<Next>, Error> {
        let worker = &self.workers[index];
        let after_s = checked_seconds_near(worker, index, slot.below + 1, slot.points)?;
        if after_s > until_s {
            return Ok(None);
        }
        let present_s = worker.seconds_near(slot.below, slot.points as usize);
        let ends = [(slot.below, present_s), (slot.below + 1, after_s)];
        check_order(worker, index, ends)?;
        Ok(Some(Next {
            after_s,
            present_s,
            deficit: self.deficit(index, slot.below),
            index: index as u32,
        }))
    }

    /// How far the worker is below its previous size, times n so that X/n is a whole number.
    fn deficit(&self, index: usize, grains: u32) -> i64 {
        let worker = &self.workers[index];
        let n = self.workers.len() as i64;
        let size = i64::from(grains * worker.grain);
        worker
            .previous
            .map_or(i64::from(self.global_batch), |size| n * i64::from(size))
            - n * size
    }

    fn deficit_per_grain(&self) -> i64 {
        self.workers.len() as i64 * i64::from(self.workers[0].grain)
    }
}

/// The next grain that a worker could get; the greatest is the one that is due.
#[derive(Debug, Clone, Copy)]
pub(super) struct Next {
    after_s: f64,
    present_s: f64,
    deficit: i64,
    index: u32,
}

impl Ord for Next {
    fn cmp(&self, other: &Self) -> Ordering {
        // Times are finite, not negative and never -0, so their order is total.
        other
            .after_s
            .total_cmp(&self.after_s)
            .then_with(|| self.present_s.total_cmp(&other.present_s))
            .then_with(|| self.deficit.cmp(&other.deficit))
            .then_with(|| other.index.cmp(&self.index))
    }
}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Next {}
