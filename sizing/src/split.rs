use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::curve::LONGEST_S;
use crate::grains::{self, Class, GrainTable};
use crate::ties::{self, Tie};
use crate::{Error, Limit, Plan, Worker};

/// Splits a global batch so that the slowest worker finishes as early as possible.
///
/// `global_batch` is in samples. The sizes add up to it exactly, respect every worker's limits and
/// grain, and minimise max(own compute + communication) over the workers, for any curves that do
/// not decrease; where the curves rise strictly, the sorted times are also the smallest possible,
/// the slowest first.
///
/// The plan is what this rule makes: everybody starts at its minimum; the next grain goes to the
/// worker whose time after taking it is smallest; of several to the one with the larger present
/// time, then to the one furthest below its previous size (below X/n if it has none), then to the
/// first. With different grains that rule would miss the optimum; there the optimum is found with
/// a subset-sum table instead, and of several optimal plans one near the previous sizes is taken.
///
/// Cost: O(n log n) for n workers, plus for a curve without an inverse a search in each.
///
/// # Errors
/// [`Error::EmptyGlobalBatch`], [`Error::NoWorkers`]; [`Error::Speed`], [`Error::Seconds`],
/// [`Error::Limits`] and [`Error::Decreasing`] name the worker at fault;
/// [`Error::OverCapacity`], [`Error::UnderMinimum`], [`Error::Indivisible`] and
/// [`Error::GrainTable`] say which totals would fit.
///
/// # Example
/// ```
/// use sizing::{split, Worker};
/// let workers = [Worker::proportional(300.0).at_most(64), Worker::proportional(100.0).at_most(64)];
/// assert_eq!(split(32, &workers)?.sizes(), [24, 8]);
/// # Ok::<(), sizing::Error>(())
/// ```
pub fn split(global_batch: u32, workers: &[Worker<'_>]) -> Result<Plan, Error> {
    let mut plan = Plan::default();
    Splitter::new().split_into(global_batch, workers, &mut plan)?;
    Ok(plan)
}

/// The memory that [`split`] works in, for callers who split again and again: with workers of one
/// grain, a call on no more workers than before does not allocate.
#[derive(Debug, Clone, Default)]
pub struct Splitter {
    slots: Vec<Slot>,
    heap: Vec<Next>,
    ties: Vec<Tie>,
    table: GrainTable,
}

/// What is known of one worker's size while the split is being looked for, in grains.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) min: u32,
    pub(crate) max: u32,
    /// Size at a time that is too early for the whole batch, and its seconds.
    pub(crate) below: u32,
    below_s: f64,
    /// Size at a time that is late enough.
    pub(crate) above: u32,
    above_s: f64,
    /// Size at the time looked at last.
    pub(crate) probe: u32,
    probe_s: f64,
}

impl Splitter {
    /// Memory that grows with its first use.
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`split`], into a plan that is there already; after an error the plan is as it was.
    ///
    /// # Errors
    /// As [`split`].
    pub fn split_into(
        &mut self,
        global_batch: u32,
        workers: &[Worker<'_>],
        plan: &mut Plan,
    ) -> Result<(), Error> {
        if global_batch == 0 {
            return Err(Error::EmptyGlobalBatch);
        }
        if workers.is_empty() {
            return Err(Error::NoWorkers);
        }
        let (minimum, capacity) = self.measure(workers)?;
        let asked = u64::from(global_batch);
        if asked > capacity {
            return Err(Error::OverCapacity {
                global_batch,
                capacity,
                over_by: asked - capacity,
            });
        }
        if asked < minimum {
            return Err(Error::UnderMinimum {
                global_batch,
                minimum,
            });
        }
        let grain = workers[0].grain;
        let lower_bound_s = if workers.iter().all(|worker| worker.grain == grain) {
            if !asked.is_multiple_of(u64::from(grain)) {
                return Err(indivisible(global_batch, grain, minimum, capacity));
            }
            self.split_one_grain(global_batch, workers, grain)?
        } else {
            self.narrow_ceilings(global_batch - minimum as u32, workers);
            let bound = self.continuous(global_batch, workers)?;
            self.split_grains(global_batch, workers, minimum)?;
            bound
        };
        self.write(global_batch, workers, lower_bound_s, plan)
    }

    /// Checks every worker and returns the smallest and the largest total, in samples.
    fn measure(&mut self, workers: &[Worker<'_>]) -> Result<(u64, u64), Error> {
        self.slots.clear();
        self.heap.clear();
        self.heap.reserve(workers.len());
        self.ties.clear();
        self.ties.reserve(workers.len());
        let (mut minimum, mut capacity) = (0, 0);
        for (index, worker) in workers.iter().enumerate() {
            let (min, max) = worker.range(index as u64)?;
            minimum += u64::from(min) * u64::from(worker.grain);
            capacity += u64::from(max) * u64::from(worker.grain);
            self.slots.push(Slot {
                min,
                max,
                below: min,
                below_s: 0.0,
                above: max,
                above_s: 0.0,
                probe: min,
                probe_s: 0.0,
            });
        }
        Ok((minimum, capacity))
    }

    /// Nobody can get more than its minimum and all that is left after the minima.
    fn narrow_ceilings(&mut self, spare: u32, workers: &[Worker<'_>]) {
        for (slot, worker) in self.slots.iter_mut().zip(workers) {
            slot.above = slot
                .above
                .min(slot.min.saturating_add(spare / worker.grain));
        }
    }

    /// Leaves the sizes in `below` and returns the continuous lower bound.
    fn split_one_grain(
        &mut self,
        global_batch: u32,
        workers: &[Worker<'_>],
        grain: u32,
    ) -> Result<Option<f64>, Error> {
        let wanted = global_batch / grain;
        let minimum: u32 = self.slots.iter().map(|slot| slot.min).sum();
        self.narrow_ceilings((wanted - minimum) * grain, workers);
        let guess_s = self.continuous(global_batch, workers)?;
        let latest_s = self.latest_s(workers)?;
        let level = Level {
            workers,
            global_batch,
            wanted,
        };
        let left = self.search(&level, guess_s, latest_s)?;
        self.hand_out(&level, left)?;
        Ok(guess_s)
    }

    /// The time at which everybody would be done with the largest size it could get, in seconds.
    fn latest_s(&mut self, workers: &[Worker<'_>]) -> Result<f64, Error> {
        let mut latest_s = 0.0_f64;
        for (index, (slot, worker)) in self.slots.iter_mut().zip(workers).enumerate() {
            if worker.is_custom() {
                slot.below_s = checked_seconds(worker, index, slot.min)?;
                slot.above_s = checked_seconds(worker, index, slot.above)?;
                let ends = [(slot.min, slot.below_s), (slot.above, slot.above_s)];
                check_order(worker, index, ends)?;
            }
            latest_s = latest_s.max(worker.seconds(slot.above));
        }
        Ok(latest_s)
    }

    /// Raises everybody to the highest water level that the batch covers, as far as one pass over
    /// the workers a step can tell, and returns how many grains are left. They all go to workers
    /// below their `above`, and either there are no more than workers or all of them take the
    /// worker that gets them to one and the same time.
    fn search(
        &mut self,
        level: &Level<'_>,
        guess_s: Option<f64>,
        latest_s: f64,
    ) -> Result<Left, Error> {
        let (mut left, mut over) = self.distance(level);
        if over == 0 {
            self.slots
                .iter_mut()
                .for_each(|slot| slot.below = slot.above);
            return Ok(Left::Few(0));
        }
        // Times are not negative, so their bits are in the order of their values; -1 is before 0.
        let (mut early, mut late) = (-1_i64, latest_s.to_bits() as i64);
        for step in 0.. {
            if left as usize <= level.workers.len() {
                return Ok(Left::Few(left));
            }
            if late - early <= 1 {
                return Ok(Left::Tied(left));
            }
            let middle = early + (late - early) / 2;
            let bits = match (step, guess_s) {
                (0, Some(guess_s)) => guess_s.to_bits() as i64,
                (1, Some(guess_s)) => guess_s.to_bits() as i64 + 1,
                (s, _) if s % 2 == 0 || early < 0 => middle,
                _ => {
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

    /// How far the lower ends of the brackets fall short of what is wanted, and the upper ends
    /// exceed it, in grains.
    fn distance(&self, level: &Level<'_>) -> (u32, u64) {
        let below: u64 = self.slots.iter().map(|slot| u64::from(slot.below)).sum();
        let above: u64 = self.slots.iter().map(|slot| u64::from(slot.above)).sum();
        let wanted = u64::from(level.wanted);
        ((wanted - below) as u32, above - wanted)
    }

    fn keep_below(&mut self) {
        for slot in &mut self.slots {
            (slot.below, slot.below_s) = (slot.probe, slot.probe_s);
        }
    }

    fn keep_above(&mut self) {
        for slot in &mut self.slots {
            (slot.above, slot.above_s) = (slot.probe, slot.probe_s);
        }
    }

    /// Counts, into `probe`, the grains that everybody finishes by `seconds`; returns their sum.
    fn probe(&mut self, workers: &[Worker<'_>], seconds: f64) -> Result<u64, Error> {
        let mut sum = 0;
        for (index, (slot, worker)) in self.slots.iter_mut().zip(workers).enumerate() {
            if worker.is_custom() {
                (slot.probe, slot.probe_s) = count_checked(worker, index, slot, seconds)?;
            } else {
                slot.probe = count(worker, seconds, slot.below, slot.above);
            }
            sum += u64::from(slot.probe);
        }
        Ok(sum)
    }

    /// Gives the grains that are left to those who are due.
    fn hand_out(&mut self, level: &Level<'_>, left: Left) -> Result<(), Error> {
        match left {
            Left::Few(0) => Ok(()),
            Left::Few(left) => self.hand_out_by_rule(level, left),
            Left::Tied(left) => {
                self.hand_out_tied(level, left);
                Ok(())
            }
        }
    }

    /// The rule itself, grain by grain, from a state that it passes through.
    fn hand_out_by_rule(&mut self, level: &Level<'_>, left: u32) -> Result<(), Error> {
        let mut next = std::mem::take(&mut self.heap);
        next.clear();
        for (index, slot) in self.slots.iter().enumerate() {
            if slot.below < slot.above {
                next.push(level.next(index, slot)?);
            }
        }
        let mut heap = BinaryHeap::from(next);
        for _ in 0..left {
            let mut first = heap.peek_mut().expect("the capacity covers the batch");
            let slot = &mut self.slots[first.index as usize];
            slot.below += 1;
            if slot.below < slot.above {
                *first = level.next(first.index as usize, slot)?;
            } else {
                std::collections::binary_heap::PeekMut::pop(first);
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

    /// The smallest time by which fractions of samples would be done, as far as doubles tell, never
    /// above it; None if some curve has no inverse.
    fn continuous(&self, global_batch: u32, workers: &[Worker<'_>]) -> Result<Option<f64>, Error> {
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

    /// Leaves the sizes of workers with different grains in `below`.
    fn split_grains(
        &mut self,
        global_batch: u32,
        workers: &[Worker<'_>],
        minimum: u64,
    ) -> Result<(), Error> {
        let spare = u64::from(global_batch) - minimum;
        let mut classes = classes(workers);
        self.measure_rooms(workers, &mut classes, |slot| slot.max);
        let reach = spare + u64::from(classes[0].grain);
        self.table.fill(&classes, reach)?;
        if !self.table.reaches(classes.len(), spare) {
            let reaches = |total: &u64| self.table.reaches(classes.len(), *total);
            return Err(Error::Indivisible {
                global_batch,
                grains: grains::names(&classes),
                below: (0..spare)
                    .rev()
                    .find(reaches)
                    .map(|extra| minimum + extra)
                    .filter(|&total| total > 0),
                above: (spare..=reach).find(reaches).map(|extra| minimum + extra),
            });
        }
        self.search_grains(workers, &mut classes, spare)?;
        self.measure_rooms(workers, &mut classes, |slot| slot.above);
        self.table.fill(&classes, spare)?;
        let wanted: Vec<u64> = classes
            .iter()
            .map(|class| self.wanted_grains(global_batch, workers, class.grain))
            .collect();
        let chosen = self.table.choose(&classes, &wanted, spare);
        for (class, extra) in classes.iter().zip(chosen) {
            self.split_class(workers, class.grain, extra as u32)?;
        }
        Ok(())
    }

    /// Narrows `above` to what everybody finishes by the earliest time at which the classes can
    /// make up the batch.
    fn search_grains(
        &mut self,
        workers: &[Worker<'_>],
        classes: &mut [Class],
        spare: u64,
    ) -> Result<(), Error> {
        let latest_s = self.latest_s(workers)?;
        let (mut early, mut late) = (-1_i64, latest_s.to_bits() as i64);
        while late - early > 1 {
            let bits = early + (late - early) / 2;
            self.probe(workers, f64::from_bits(bits as u64))?;
            self.measure_rooms(workers, classes, |slot| slot.probe);
            self.table.fill(classes, spare)?;
            if self.table.reaches(classes.len(), spare) {
                late = bits;
                self.keep_above();
            } else {
                early = bits;
                self.keep_below();
            }
            // Nothing changes between two times at which somebody finishes a grain.
            let mut next_s = latest_s;
            for (index, (slot, worker)) in self.slots.iter().zip(workers).enumerate() {
                if slot.below < slot.above {
                    next_s = next_s.min(checked_seconds(worker, index, slot.below + 1)?);
                }
            }
            early = early.max(next_s.to_bits() as i64 - 1);
        }
        Ok(())
    }

    fn measure_rooms(
        &self,
        workers: &[Worker<'_>],
        classes: &mut [Class],
        top: impl Fn(&Slot) -> u32,
    ) {
        for class in classes {
            let slots = self.slots.iter().zip(workers);
            class.room = slots
                .filter(|(_, worker)| worker.grain == class.grain)
                .map(|(slot, _)| u64::from(top(slot) - slot.min))
                .sum();
        }
    }

    /// The grains beyond their minima that the workers of a class had in the plan before.
    fn wanted_grains(&self, global_batch: u32, workers: &[Worker<'_>], grain: u32) -> u64 {
        let equal = global_batch / workers.len() as u32;
        let slots = self.slots.iter().zip(workers);
        slots
            .filter(|(_, worker)| worker.grain == grain)
            .map(|(slot, worker)| {
                let previous = worker.previous.unwrap_or(equal) / grain;
                u64::from(previous.saturating_sub(slot.min))
            })
            .sum()
    }

    /// Splits what a class has got among its workers, as if they were alone.
    fn split_class(&mut self, workers: &[Worker<'_>], grain: u32, extra: u32) -> Result<(), Error> {
        let members: Vec<usize> = (0..workers.len())
            .filter(|&index| workers[index].grain == grain)
            .collect();
        let class: Vec<Worker<'_>> = members.iter().map(|&index| workers[index]).collect();
        let minimum: u32 = members.iter().map(|&index| self.slots[index].min).sum();
        let total = (minimum + extra) * grain;
        let sizes = if total == 0 {
            vec![0; class.len()]
        } else {
            split(total, &class)?.sizes
        };
        for (index, size) in members.into_iter().zip(sizes) {
            self.slots[index].below = size / grain;
        }
        Ok(())
    }

    fn write(
        &mut self,
        global_batch: u32,
        workers: &[Worker<'_>],
        lower_bound_s: Option<f64>,
        plan: &mut Plan,
    ) -> Result<(), Error> {
        for (index, (slot, worker)) in self.slots.iter_mut().zip(workers).enumerate() {
            slot.probe_s = checked_seconds(worker, index, slot.below)?;
        }
        plan.global_batch = global_batch;
        plan.sizes.clear();
        plan.times_s.clear();
        plan.limits.clear();
        plan.binding = 0;
        for (index, (slot, worker)) in self.slots.iter().zip(workers).enumerate() {
            plan.sizes.push(slot.below * worker.grain);
            plan.times_s.push(slot.probe_s);
            plan.limits
                .push(match (slot.below == slot.min, slot.below == slot.max) {
                    (true, true) => Limit::Both,
                    (true, false) => Limit::Minimum,
                    (false, true) => Limit::Maximum,
                    (false, false) => Limit::Free,
                });
            if slot.probe_s > plan.times_s[plan.binding] {
                plan.binding = index;
            }
        }
        // Rounding may lift the bound a last bit above a plan that meets it.
        plan.lower_bound_s = lower_bound_s.map(|bound| bound.min(plan.iteration_s()));
        Ok(())
    }
}

/// The grains in use, largest first.
fn classes(workers: &[Worker<'_>]) -> Vec<Class> {
    let mut grains: Vec<u32> = workers.iter().map(|worker| worker.grain).collect();
    grains.sort_unstable_by(|a, b| b.cmp(a));
    grains.dedup();
    let class = |grain| Class { grain, room: 0 };
    grains.into_iter().map(class).collect()
}

fn indivisible(global_batch: u32, grain: u32, minimum: u64, capacity: u64) -> Error {
    let (asked, step) = (u64::from(global_batch), u64::from(grain));
    let below = asked / step * step;
    Error::Indivisible {
        global_batch,
        grains: grain.to_string(),
        below: (below >= minimum.max(1)).then_some(below),
        above: (below + step <= capacity).then_some(below + step),
    }
}

/// What is left to give when the search has come as far as it can.
#[derive(Debug, Clone, Copy)]
enum Left {
    /// No more grains than there are workers.
    Few(u32),
    /// Any number, and every grain that can be given next leads to the same time.
    Tied(u32),
}

/// The instance while one grain is handed out after the other.
struct Level<'a> {
    workers: &'a [Worker<'a>],
    global_batch: u32,
    wanted: u32,
}

impl Level<'_> {
    fn next(&self, index: usize, slot: &Slot) -> Result<Next, Error> {
        let worker = &self.workers[index];
        let present_s = worker.seconds(slot.below);
        let after_s = checked_seconds(worker, index, slot.below + 1)?;
        if after_s < present_s {
            let ends = [(slot.below, present_s), (slot.below + 1, after_s)];
            check_order(worker, index, ends)?;
        }
        Ok(Next {
            after_s,
            present_s,
            deficit: self.deficit(index, slot.below),
            index: index as u32,
        })
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
struct Next {
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

/// How many grains, from `from` to `to`, the worker finishes by `seconds`; `from` counts always.
#[inline]
pub(crate) fn count(worker: &Worker<'_>, seconds: f64, from: u32, to: u32) -> u32 {
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
fn count_checked(
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
fn checked_seconds(worker: &Worker<'_>, index: usize, grains: u32) -> Result<f64, Error> {
    let seconds = worker.seconds(grains);
    if worker.is_custom() {
        crate::worker::check_seconds("time", index as u64, seconds)?;
    }
    Ok(seconds)
}

fn check_order(worker: &Worker<'_>, index: usize, ends: [(u32, f64); 2]) -> Result<(), Error> {
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
