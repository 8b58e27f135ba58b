//! Which totals batches of different grains can add up to: a bounded subset sum.

use crate::Error;

/// Cells that the table may have: classes of workers times totals in common divisors of the grains.
const MOST_CELLS: u64 = 10_000_000;

/// The workers of one grain, taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) grain: u32,
    /// How many grains they can take beyond their minima.
    pub(super) room: u64,
}

/// For every number of classes, counted from the first, which totals they reach.
#[derive(Debug, Clone, Default)]
pub(super) struct GrainTable {
    unit: u32,
    columns: usize,
    reached: Vec<bool>,
    used: Vec<u32>,
}

impl GrainTable {
    /// Fills the table for totals up to `most` samples beyond the minima.
    pub(super) fn fill(&mut self, classes: &[Class], most: u64) -> Result<(), Error> {
        self.unit = classes.iter().fold(0, |unit, class| gcd(unit, class.grain));
        let columns = most / u64::from(self.unit) + 1;
        let cells = columns.saturating_mul(classes.len() as u64);
        if cells > MOST_CELLS {
            return Err(Error::GrainTable {
                grains: names(classes),
                cells,
                limit: MOST_CELLS,
            });
        }
        self.columns = columns as usize;
        self.reached.clear();
        let mut before = vec![false; self.columns];
        before[0] = true;
        for class in classes {
            let grain = (class.grain / self.unit) as usize;
            let room = class.room.min(columns) as u32;
            self.used.clear();
            for (total, &reached) in before.iter().enumerate() {
                // The fewest grains of this class with which the total is reached.
                let used = if reached {
                    0
                } else if total >= grain {
                    self.used[total - grain].saturating_add(1)
                } else {
                    u32::MAX
                };
                self.used.push(if used <= room { used } else { u32::MAX });
            }
            before.clear();
            before.extend(self.used.iter().map(|&used| used != u32::MAX));
            self.reached.extend(&before);
        }
        Ok(())
    }

    /// Whether the first `classes` classes reach exactly `total` samples.
    pub(super) fn reaches(&self, classes: usize, total: u64) -> bool {
        if classes == 0 || !total.is_multiple_of(u64::from(self.unit)) {
            return total == 0;
        }
        let column = (total / u64::from(self.unit)) as usize;
        column < self.columns && self.reached[(classes - 1) * self.columns + column]
    }

    /// Grains of each class that make `total` exactly: from the last class to the second, as near
    /// to `wanted` as the classes before it can make up for.
    pub(super) fn choose(&self, classes: &[Class], wanted: &[u64], total: u64) -> Vec<u64> {
        let mut left = total;
        let mut chosen = vec![0; classes.len()];
        for (index, class) in classes.iter().enumerate().rev() {
            let grain = u64::from(class.grain);
            let most = class.room.min(left / grain);
            let fits = |&grains: &u64| self.reaches(index, left - grains * grain);
            let start = wanted[index].min(most);
            let nearest = (0..=most)
                .flat_map(|away| [start.checked_sub(away), start.checked_add(away)])
                .flatten()
                .filter(|&grains| grains <= most)
                .find(fits);
            chosen[index] = nearest.expect("the table says that the total is reached");
            left -= chosen[index] * grain;
        }
        chosen
    }
}

/// The grains, for an error message.
pub(super) fn names(classes: &[Class]) -> String {
    let names: Vec<String> = classes.iter().map(|c| c.grain.to_string()).collect();
    names.join(", ")
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached_by_search(classes: &[Class], total: u64) -> bool {
        let Some((class, rest)) = classes.split_first() else {
            return total == 0;
        };
        (0..=class.room)
            .map(|grains| grains * u64::from(class.grain))
            .take_while(|&taken| taken <= total)
            .any(|taken| reached_by_search(rest, total - taken))
    }

    #[test]
    fn the_table_knows_every_total() {
        let classes = [(6, 2), (4, 1), (10, 3)].map(|(grain, room)| Class { grain, room });
        let mut table = GrainTable::default();
        table.fill(&classes, 60).unwrap();
        for total in 0..=60 {
            let expected = reached_by_search(&classes, total);
            assert_eq!(table.reaches(3, total), expected, "{total}");
            if expected {
                let chosen = table.choose(&classes, &[1, 1, 1], total);
                let pairs = chosen.iter().zip(&classes);
                let sum: u64 = pairs.map(|(n, class)| n * u64::from(class.grain)).sum();
                assert_eq!(sum, total);
                assert!(
                    chosen
                        .iter()
                        .zip(&classes)
                        .all(|(&n, class)| n <= class.room)
                );
            }
        }
    }

    #[test]
    fn a_table_above_the_bound_is_refused() {
        let classes = [3, 7].map(|grain| Class { grain, room: 9 });
        let error = GrainTable::default()
            .fill(&classes, MOST_CELLS)
            .unwrap_err();
        assert!(
            matches!(
                error,
                Error::GrainTable {
                    cells: 20_000_002,
                    ..
                }
            ),
            "{error}"
        );
    }
}
