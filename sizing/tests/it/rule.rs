//! The plan is what the greedy rule makes, whatever the solver does to get there.

use std::cmp::Ordering;

use proptest::prelude::*;
use sizing::{Error, split};

use crate::instances::{Instance, Shape, one_grain, workers};

/// The rule of the documentation, word for word, a grain at a time.
fn by_rule(global_batch: u32, workers: &[Instance]) -> Option<Vec<u32>> {
    let n = workers.len() as i64;
    let mut sizes: Vec<u32> = workers.iter().map(|worker| worker.range().0).collect();
    if workers
        .iter()
        .any(|worker| worker.range().0 > worker.range().1)
    {
        return None;
    }
    let deficit = |i: usize, size: u32| {
        let previous = workers[i].previous;
        previous.map_or(i64::from(global_batch), |p| n * i64::from(p)) - n * i64::from(size)
    };
    let mut left = i64::from(global_batch) - sizes.iter().map(|&x| i64::from(x)).sum::<i64>();
    while left > 0 {
        let mut due: Option<usize> = None;
        for i in 0..workers.len() {
            if sizes[i] + workers[i].grain > workers[i].range().1 {
                continue;
            }
            let better = due.is_none_or(|best| {
                let after = |i: usize| workers[i].seconds(sizes[i] + workers[i].grain);
                let present = |i: usize| workers[i].seconds(sizes[i]);
                let order = after(i)
                    .total_cmp(&after(best))
                    .then(present(best).total_cmp(&present(i)))
                    .then(deficit(best, sizes[best]).cmp(&deficit(i, sizes[i])));
                order == Ordering::Less
            });
            if better {
                due = Some(i);
            }
        }
        sizes[due?] += workers[due?].grain;
        left -= i64::from(workers[due?].grain);
    }
    (left == 0).then_some(sizes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn the_plan_is_what_the_rule_makes(instances in one_grain(6), global_batch in 1..90u32) {
        match (split(global_batch, &workers(&instances)), by_rule(global_batch, &instances)) {
            (Ok(plan), Some(sizes)) => prop_assert_eq!(plan.sizes(), sizes),
            (Err(Error::Limits { .. } | Error::OverCapacity { .. } | Error::UnderMinimum { .. } | Error::Indivisible { .. }), None) => {}
            (plan, sizes) => prop_assert!(false, "split {plan:?}, rule {sizes:?}"),
        }
    }

    #[test]
    fn what_a_plan_says_of_itself_is_true(instances in one_grain(6), global_batch in 1..90u32) {
        let Ok(plan) = split(global_batch, &workers(&instances)) else { return Ok(()) };
        prop_assert_eq!(plan.sizes().iter().sum::<u32>(), global_batch);
        let weights: Vec<f64> = plan.weights().collect();
        for (i, (&size, instance)) in plan.sizes().iter().zip(&instances).enumerate() {
            let (min, max) = instance.range();
            prop_assert!(min <= size && size <= max && size % instance.grain == 0);
            prop_assert_eq!(plan.times_s()[i], instance.seconds(size));
            prop_assert_eq!(weights[i], f64::from(size) / f64::from(global_batch));
            let limit = match (size == min, size == max) {
                (true, true) => sizing::Limit::Both,
                (true, false) => sizing::Limit::Minimum,
                (false, true) => sizing::Limit::Maximum,
                (false, false) => sizing::Limit::Free,
            };
            prop_assert_eq!(plan.limits()[i], limit);
        }
        let slowest = plan.times_s().iter().copied().fold(0.0, f64::max);
        prop_assert_eq!(plan.iteration_s(), slowest);
        prop_assert_eq!(plan.times_s().iter().position(|&t| t == slowest), Some(plan.binding()));
        let rounding = instances.len() as f64 * 2.0_f64.powi(-53);
        prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() <= rounding);
        if let Some(bound) = plan.lower_bound_s() {
            prop_assert!(bound >= 0.0 && bound <= slowest);
        }
    }

    #[test]
    fn the_lower_bound_is_what_fractions_of_samples_reach(
        instances in one_grain(6), global_batch in 1..90u32,
    ) {
        let Ok(plan) = split(global_batch, &workers(&instances)) else { return Ok(()) };
        let Some(bound_s) = plan.lower_bound_s() else { return Ok(()) };
        // Stairs have an inverse, but no fractions.
        prop_assume!(!instances.iter().any(|worker| matches!(worker.shape, Shape::Stairs(_))));
        let done_by = |seconds: f64| -> f64 {
            let done = instances.iter().map(|worker| {
                let (min, max) = worker.range();
                reach(worker, seconds).clamp(f64::from(min), f64::from(max))
            });
            done.sum()
        };
        // A little late, so that a jump at exactly this time counts.
        let is_enough = |seconds: f64| done_by(seconds * (1.0 + 1e-12)) >= f64::from(global_batch) * (1.0 - 1e-12);
        let (mut low_s, mut high_s) = (0.0, 1e6);
        for _ in 0..200 {
            let middle_s = (low_s + high_s) / 2.0;
            if is_enough(middle_s) { high_s = middle_s } else { low_s = middle_s }
        }
        let earliest_s = instances.iter().map(|worker| worker.seconds(worker.range().0)).fold(high_s, f64::max);
        approx::assert_relative_eq!(bound_s, earliest_s, max_relative = 1e-9, epsilon = 1e-9);
    }
}

/// The largest real batch that a worker finishes in time, by bisection on its curve.
fn reach(worker: &Instance, seconds: f64) -> f64 {
    let curve = |batch: f64| -> f64 {
        let compute_s = match &worker.shape {
            Shape::Proportional(speed) => batch / speed,
            Shape::Affine(fixed_s, speed) => fixed_s + batch / speed,
            Shape::Hinge(floor_s, slope_s, offset_s) => floor_s.max(slope_s * batch + offset_s),
            Shape::Points(points, _) => {
                let at = points.iter().position(|&(x, _)| batch <= f64::from(x));
                match at {
                    None => f64::INFINITY,
                    Some(0) => points[0].1,
                    Some(at) => {
                        let ((x0, y0), (x1, y1)) = (points[at - 1], points[at]);
                        y0 + (y1 - y0) * (batch - f64::from(x0)) / f64::from(x1 - x0)
                    }
                }
            }
            Shape::Stairs(_) => unreachable!("left out"),
        };
        compute_s + worker.communication_s
    };
    let (mut low, mut high) = (0.0, 1e3);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if curve(middle) <= seconds {
            low = middle
        } else {
            high = middle
        }
    }
    low
}
