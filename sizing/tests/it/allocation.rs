//! A caller who splits again and again does not go to the allocator for it.

use sizing::{Hinge, Plan, Points, Splitter, Worker};

#[test]
fn splitting_again_does_not_allocate() {
    let points = Points::new(&[(1, 0.1), (50, 0.1), (90, 0.4), (500, 2.0)]).unwrap();
    let hinge = Hinge::new(0.2, 0.004, -0.1).unwrap();
    let mut workers: Vec<Worker<'_>> = (0..300)
        .map(|i| match i % 3 {
            0 => Worker::proportional(100.0 + f64::from(i)),
            1 => Worker::points(&points),
            _ => Worker::hinge(hinge),
        })
        .collect();
    let (mut splitter, mut plan) = (Splitter::new(), Plan::default());
    // Both ways of handing out the rest are taken once: few grains, and many that tie.
    for global_batch in [9_000, 30_000] {
        splitter
            .split_into(global_batch, &workers, &mut plan)
            .unwrap();
    }
    let counted = allocation_counter::measure(|| {
        for round in 0..50 {
            workers[0] = Worker::proportional(20.0 + f64::from(round));
            let global_batch = 9_000 + 500 * round;
            splitter
                .split_into(global_batch, &workers, &mut plan)
                .unwrap();
        }
    });
    assert_eq!(counted.count_total, 0);
    assert_eq!(plan.global_batch(), 9_000 + 500 * 49);
}
