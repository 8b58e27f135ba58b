//! Relations between plans that hold at any size, where no search could check one.

use proptest::prelude::*;
use sizing::{Plan, Points, Worker, split};

const WORKERS: usize = 400;

/// Proportional, affine and measured curves in turn, made of a speed each.
fn points(speeds: &[f64]) -> Vec<Points> {
    let make = |&speed: &f64| {
        let at = |x: u32| {
            (
                x,
                0.3 / speed.sqrt() + f64::from(x) * f64::from(x).sqrt() / speed,
            )
        };
        Points::new(&[1, 10, 40, 150, 700, 5000].map(at)).expect("a curve that rises")
    };
    speeds.iter().map(make).collect()
}

fn workers<'a>(speeds: &[f64], points: &'a [Points]) -> Vec<Worker<'a>> {
    let make = |(i, &speed): (usize, &f64)| match i % 3 {
        0 => Worker::proportional(speed).communication(0.01 * (i % 7) as f64),
        1 => Worker::affine(0.2 / speed, speed).at_most(20_000),
        _ => Worker::points(&points[i]),
    };
    let make = |(i, speed)| make((i, speed)).at_least(0);
    speeds.iter().enumerate().map(make).collect()
}

fn plan(global_batch: u32, speeds: &[f64]) -> Plan {
    split(global_batch, &workers(speeds, &points(speeds))).expect("a batch that fits")
}

fn sorted(times: &[f64]) -> Vec<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn speeds() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(
        prop_oneof![1.0..1e4f64, (1..5u32).prop_map(f64::from)],
        WORKERS,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_order_of_workers_does_not_change_the_sorted_times(
        speeds in speeds(), order in Just((0..WORKERS).collect::<Vec<_>>()).prop_shuffle(), global_batch in 1..300_000u32,
    ) {
        let points = points(&speeds);
        let straight = workers(&speeds, &points);
        let shuffled: Vec<Worker<'_>> = order.iter().map(|&i| straight[i]).collect();
        let (a, b) = (split(global_batch, &straight).unwrap(), split(global_batch, &shuffled).unwrap());
        prop_assert_eq!(sorted(a.times_s()), sorted(b.times_s()));
    }

    #[test]
    fn time_in_another_unit_does_not_change_the_sizes(speeds in speeds(), global_batch in 1..300_000u32, power in -30..30i32) {
        // A power of two scales every double exactly.
        let unit = 2.0_f64.powi(power);
        let scaled: Vec<f64> = speeds.iter().map(|speed| speed / unit).collect();
        let proportional = |speeds: &[f64], comm: f64| -> Plan {
            let workers: Vec<_> = speeds.iter().map(|&v| Worker::affine(comm, v).communication(comm)).collect();
            split(global_batch.max(WORKERS as u32), &workers).unwrap()
        };
        let (a, b) = (proportional(&speeds, 0.75), proportional(&scaled, 0.75 * unit));
        prop_assert_eq!(a.sizes(), b.sizes());
        prop_assert_eq!(a.iteration_s() * unit, b.iteration_s());
    }

    #[test]
    fn a_faster_worker_never_slows_the_job(speeds in speeds(), who in 0..WORKERS, factor in 1.0..10.0f64, global_batch in 1..300_000u32) {
        let before = plan(global_batch, &speeds).iteration_s();
        let mut faster = speeds;
        faster[who] *= factor;
        prop_assert!(plan(global_batch, &faster).iteration_s() <= before);
    }

    #[test]
    fn one_more_worker_never_slows_the_job(speeds in speeds(), global_batch in 1..300_000u32) {
        let fewer = plan(global_batch, &speeds[..WORKERS - 1]).iteration_s();
        prop_assert!(plan(global_batch, &speeds).iteration_s() <= fewer);
    }

    #[test]
    fn a_larger_batch_never_takes_less_time(speeds in speeds(), global_batch in 1..300_000u32, more in 1..5000u32) {
        prop_assert!(plan(global_batch, &speeds).iteration_s() <= plan(global_batch + more, &speeds).iteration_s());
    }

    #[test]
    fn sizes_that_tie_stay_as_they_were(pace in 1..50u32, workers in 2..60u32, extra in 1..60u32, shift in 0..60u32) {
        // Equal workers: who gets one more is a matter of the tie-breaks alone.
        let extra = extra % workers;
        let global_batch = pace * workers + extra;
        let previous = |i: u32| pace + u32::from((i + shift) % workers < extra);
        let team: Vec<_> = (0..workers).map(|i| Worker::proportional(8.0).previous(previous(i))).collect();
        let plan = split(global_batch, &team).unwrap();
        prop_assert_eq!(plan.sizes().to_vec(), (0..workers).map(previous).collect::<Vec<_>>());
    }

    #[test]
    fn under_a_flat_floor_sizes_stay_as_they_were(previous in prop::collection::vec(1..1_000_000u32, 2..40)) {
        let floor = sizing::Hinge::new(0.5, 1e-9, 0.0).unwrap();
        let team: Vec<_> = previous.iter().map(|&size| Worker::hinge(floor).previous(size)).collect();
        let plan = split(previous.iter().sum(), &team).unwrap();
        prop_assert_eq!(plan.sizes(), previous);
    }
}
