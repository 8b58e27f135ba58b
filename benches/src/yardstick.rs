use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Instance;

/// A time that is finite and not negative; its bits are in the order of its values.
fn ordered(seconds: f64) -> u64 {
    seconds.to_bits()
}

/// The rule that defines the plan, to the letter, for proportional workers: from one sample each,
/// sample by sample to the worker whose time after taking it is smallest.
///
/// Ties go to the larger present time, then to the one furthest below its previous size, then to
/// the first.
pub fn greedy(instance: &Instance) -> Vec<u32> {
    let mut sizes = vec![1; instance.speeds.len()];
    let next = |worker: usize, size: u32| {
        let speed = instance.speeds[worker];
        Reverse((
            ordered(f64::from(size + 1) / speed),
            Reverse(ordered(f64::from(size) / speed)),
            i64::from(size) - i64::from(instance.previous[worker]),
            worker,
        ))
    };
    let mut heap: BinaryHeap<_> = (0..sizes.len()).map(|worker| next(worker, 1)).collect();
    for _ in sizes.len()..instance.global_batch as usize {
        let Reverse((.., worker)) = heap.pop().expect("nobody ever leaves the heap for good");
        sizes[worker] += 1;
        heap.push(next(worker, sizes[worker]));
    }
    sizes
}

/// Shares in proportion to speed, rounded down, and the samples left over to the largest
/// fractions: what is commonly done, and not the earliest finish in general.
#[derive(Debug, Clone, Default)]
pub struct LargestRemainder {
    sizes: Vec<u32>,
    fractions: Vec<(f64, usize)>,
}

impl LargestRemainder {
    /// Splits the instance in the memory of the splits before.
    pub fn split(&mut self, instance: &Instance) -> &[u32] {
        let per_speed = f64::from(instance.global_batch) / instance.speeds.iter().sum::<f64>();
        self.sizes.clear();
        self.fractions.clear();
        let mut left = instance.global_batch as usize;
        for (worker, speed) in instance.speeds.iter().enumerate() {
            let share = speed * per_speed;
            let size = share as u32;
            left -= size as usize;
            self.sizes.push(size);
            self.fractions.push((share - f64::from(size), worker));
        }
        if left > 0 {
            let by_fraction = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0);
            self.fractions.select_nth_unstable_by(left - 1, by_fraction);
        }
        for &(_, worker) in &self.fractions[..left] {
            self.sizes[worker] += 1;
        }
        &self.sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slowest_s(instance: &Instance, sizes: &[u32]) -> f64 {
        let times = sizes.iter().zip(&instance.speeds);
        times
            .map(|(&size, speed)| f64::from(size) / speed)
            .fold(0.0, f64::max)
    }

    #[test]
    fn the_rule_makes_the_plan_of_the_library() {
        for seed in 0..20 {
            let instance = Instance::new(7, seed);
            let plan = sizing::split(instance.global_batch, &instance.proportional()).unwrap();
            assert_eq!(greedy(&instance), plan.sizes());
        }
    }

    #[test]
    fn rounding_shares_adds_up_and_never_finishes_before_the_rule() {
        for seed in 0..20 {
            let instance = Instance::new(7, seed);
            let sizes = LargestRemainder::default().split(&instance).to_vec();
            assert_eq!(sizes.iter().sum::<u32>(), instance.global_batch);
            let best_s = slowest_s(&instance, &greedy(&instance));
            assert!(slowest_s(&instance, &sizes) >= best_s);
        }
    }
}
