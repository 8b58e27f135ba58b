//! Workers of different grains: the earliest time at which their batches can add up.

use super::grain_table::{self, Class};
use super::slot::{Slot, checked_seconds};
use super::{Splitter, split};
use crate::{Error, Worker};

impl Splitter {
    /// Leaves the sizes of workers with different grains in `below`.
    pub(super) fn split_grains(
        &mut self,
        global_batch: u32,
        workers: &[Worker<'_>],
        minimum: u64,
    ) -> Result<(), Error> {
        let spare = u64::from(global_batch) - minimum;
        let mut classes = self.classes(workers);
        let Some(&Class { grain, .. }) = classes.first() else {
            // Nobody can take more than its minimum, and so that is what was asked for.
            return Ok(());
        };
        self.measure_rooms(workers, &mut classes, |slot| slot.max);
        self.table.fill(&classes, spare)?;
        if !self.table.reaches(classes.len(), spare) {
            let reach = spare + u64::from(grain);
            self.table.fill(&classes, reach)?;
            let reaches = |total: &u64| self.table.reaches(classes.len(), *total);
            return Err(Error::Indivisible {
                global_batch,
                grains: grain_table::names(&classes),
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
        self.check_ends(workers)?;
        let latest_s = self.latest_s(workers);
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

    /// The grains of those who have a choice, largest first.
    fn classes(&self, workers: &[Worker<'_>]) -> Vec<Class> {
        let slots = self.slots.iter().zip(workers);
        let free = slots.filter(|(slot, _)| slot.max > slot.min);
        let mut grains: Vec<u32> = free.map(|(_, worker)| worker.grain).collect();
        grains.sort_unstable_by(|a, b| b.cmp(a));
        grains.dedup();
        let class = |grain| Class { grain, room: 0 };
        grains.into_iter().map(class).collect()
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
}
