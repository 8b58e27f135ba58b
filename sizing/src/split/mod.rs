use crate::{Error, Plan, Worker};

mod bound;
mod grain_table;
mod level;
mod mixed;
mod slot;
mod ties;

use bound::Continuous;
use grain_table::GrainTable;
use level::{Level, Next};
use slot::{Slot, checked_seconds_near};
use ties::Tie;

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
/// Cost: O(n log n) for n workers, plus for a curve without an inverse a search in each. With
/// different grains, a table of up to 10⁷ cells is filled up to about 100 times.
///
/// # Errors
/// [`Error::EmptyGlobalBatch`], [`Error::NoWorkers`]; [`Error::Speed`], [`Error::Seconds`],
/// [`Error::Limits`] and [`Error::Decreasing`] name the worker at fault;
/// [`Error::OverCapacity`], [`Error::UnderMinimum`] and [`Error::Indivisible`] say which totals
/// would fit; [`Error::GrainTable`] if different grains need too large a table.
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
/// grain, a call on no more workers than before, after one that succeeded, does not allocate.
#[derive(Debug, Clone, Default)]
pub struct Splitter {
    slots: Vec<Slot>,
    heap: Vec<Next>,
    ties: Vec<Tie>,
    table: GrainTable,
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
        let one_grain = workers.iter().all(|worker| worker.grain == grain);
        if one_grain && !asked.is_multiple_of(u64::from(grain)) {
            return Err(indivisible(global_batch, grain, minimum, capacity));
        }
        self.narrow_ceilings(global_batch - minimum as u32, workers);
        let continuous = self.continuous(global_batch, workers)?;
        if one_grain {
            self.split_one_grain(global_batch, workers, continuous)?;
        } else {
            self.split_grains(global_batch, workers, minimum)?;
        }
        self.write(global_batch, workers, continuous, plan)
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
                points: 0,
            });
        }
        Ok((minimum, capacity))
    }

    /// Nobody can get more than its minimum and all that is left after the minima.
    fn narrow_ceilings(&mut self, spare: u32, workers: &[Worker<'_>]) {
        for (slot, worker) in self.slots.iter_mut().zip(workers) {
            slot.above = slot
                .above
                .min(slot.min.saturating_add(worker.grains(spare)));
        }
    }

    /// Leaves the sizes of workers with one grain in `below`.
    fn split_one_grain(
        &mut self,
        global_batch: u32,
        workers: &[Worker<'_>],
        continuous: Option<Continuous>,
    ) -> Result<(), Error> {
        let level = Level {
            workers,
            global_batch,
            wanted: global_batch / workers[0].grain,
        };
        let left = self.search(&level, continuous)?;
        self.hand_out(&level, left, continuous)
    }

    fn write(
        &mut self,
        global_batch: u32,
        workers: &[Worker<'_>],
        continuous: Option<Continuous>,
        plan: &mut Plan,
    ) -> Result<(), Error> {
        let mut earliest_s = 0.0_f64;
        for (index, (slot, worker)) in self.slots.iter_mut().zip(workers).enumerate() {
            slot.probe_s = checked_seconds_near(worker, index, slot.below, slot.points)?;
            earliest_s = earliest_s.max(checked_seconds_near(worker, index, slot.min, 1)?);
        }
        let slots = self.slots.iter();
        plan.global_batch = global_batch;
        plan.sizes.clear();
        let sizes = slots.clone().zip(workers);
        plan.sizes
            .extend(sizes.map(|(slot, worker)| slot.below * worker.grain));
        plan.limits.clear();
        plan.limits.extend(slots.clone().map(Slot::limit));
        plan.times_s.clear();
        plan.times_s.extend(slots.map(|slot| slot.probe_s));
        let slowest_s = plan.times_s.iter().copied().fold(0.0, f64::max);
        let binding = plan.times_s.iter().position(|&time_s| time_s == slowest_s);
        plan.binding = binding.expect("one of the times is the largest");
        // Rounding may lift the bound a last bit above a plan that meets it.
        let bound_s = continuous.map(|continuous| continuous.seconds.max(earliest_s));
        plan.lower_bound_s = bound_s.map(|bound_s| bound_s.min(plan.iteration_s()));
        Ok(())
    }
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
