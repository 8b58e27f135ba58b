//! No other division of the batch is better: exhaustive search on small cases.

use proptest::prelude::*;
use sizing::{Error, split};

use crate::instances::{Instance, Shape, instance, one_grain, workers};

/// Calls `visit` with every division of `left` samples within the limits.
fn every_division(
    left: u32,
    workers: &[Instance],
    taken: &mut Vec<u32>,
    visit: &mut dyn FnMut(&[u32]),
) {
    let Some((worker, rest)) = workers.split_first() else {
        if left == 0 {
            visit(taken);
        }
        return;
    };
    let (min, max) = worker.range();
    for size in (min..=max.min(left)).step_by(worker.grain as usize) {
        taken.push(size);
        every_division(left - size, rest, taken, visit);
        taken.pop();
    }
}

fn sorted_times(sizes: &[u32], times: &[Vec<f64>]) -> Vec<f64> {
    let mut sorted: Vec<f64> = sizes
        .iter()
        .zip(times)
        .map(|(&x, t)| t[x as usize])
        .collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    sorted
}

/// Times of every size that a worker may get, and 0 in the places of others.
fn tabulate(workers: &[Instance], most: u32) -> Vec<Vec<f64>> {
    let table = |worker: &Instance| {
        let (min, max) = worker.range();
        let may = |&x: &u32| min <= x && x <= max && x.is_multiple_of(worker.grain);
        (0..=most)
            .map(|x| if may(&x) { worker.seconds(x) } else { 0.0 })
            .collect()
    };
    workers.iter().map(table).collect()
}

/// The sorted times of the best division, slowest first; None if there is no division.
fn best_by_search(global_batch: u32, workers: &[Instance]) -> Option<Vec<f64>> {
    let times = tabulate(workers, global_batch);
    let mut best: Option<Vec<f64>> = None;
    every_division(global_batch, workers, &mut Vec::new(), &mut |sizes| {
        let sorted = sorted_times(sizes, &times);
        if best.as_ref().is_none_or(|best| sorted < *best) {
            best = Some(sorted);
        }
    });
    best
}

fn rises_strictly(shape: &Shape) -> bool {
    matches!(shape, Shape::Proportional(_) | Shape::Affine(..))
}

fn feasible_totals(workers: &[Instance], up_to: u32) -> Vec<u32> {
    let any = |&total: &u32| {
        let mut found = false;
        every_division(total, workers, &mut Vec::new(), &mut |_| found = true);
        found
    };
    (1..=up_to).filter(any).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn no_division_finishes_earlier(instances in one_grain(4), global_batch in 1..22u32) {
        let plan = split(global_batch, &workers(&instances));
        let best = best_by_search(global_batch, &instances);
        let (Ok(plan), Some(best)) = (&plan, &best) else {
            prop_assert!(plan.is_err() && best.is_none(), "{plan:?} {best:?}");
            return Ok(());
        };
        prop_assert_eq!(plan.iteration_s(), best[0]);
        if instances.iter().all(|worker| rises_strictly(&worker.shape)) {
            let times = tabulate(&instances, global_batch);
            prop_assert_eq!(&sorted_times(plan.sizes(), &times), best);
        }
    }

    #[test]
    fn with_different_grains_no_division_finishes_earlier(
        instances in prop::collection::vec(instance(1..6u32), 1..5), global_batch in 1..22u32,
    ) {
        let plan = split(global_batch, &workers(&instances));
        let best = best_by_search(global_batch, &instances);
        match (plan, best) {
            (Ok(plan), Some(best)) => {
                prop_assert_eq!(plan.sizes().iter().sum::<u32>(), global_batch);
                for (&size, worker) in plan.sizes().iter().zip(&instances) {
                    let (min, max) = worker.range();
                    prop_assert!(min <= size && size <= max && size % worker.grain == 0);
                }
                prop_assert_eq!(plan.iteration_s(), best[0]);
            }
            (Err(Error::Indivisible { below, above, .. }), None) => {
                let fit = feasible_totals(&instances, global_batch + 6);
                let nearest_below = fit.iter().rev().find(|&&total| total < global_batch);
                let nearest_above = fit.iter().find(|&&total| total > global_batch);
                prop_assert_eq!(below, nearest_below.map(|&t| u64::from(t)));
                prop_assert_eq!(above, nearest_above.map(|&t| u64::from(t)));
            }
            (Err(Error::Limits { .. } | Error::OverCapacity { .. } | Error::UnderMinimum { .. }), None) => {}
            (plan, best) => prop_assert!(false, "{plan:?} {best:?}"),
        }
    }
}
