//! What cannot be split is refused with what would fit.

use sizing::{Curve, Error, Hinge, Points, Worker, split};

fn error(global_batch: u32, workers: &[Worker<'_>]) -> Error {
    split(global_batch, workers).expect_err("no plan")
}

#[test]
fn nothing_to_split_or_nobody_to_take_it() {
    assert_eq!(
        error(0, &[Worker::proportional(1.0)]),
        Error::EmptyGlobalBatch
    );
    assert_eq!(error(5, &[]), Error::NoWorkers);
}

#[test]
fn above_the_ceilings_says_by_how_much() {
    let workers = [3, 4].map(|most| Worker::proportional(1.0).at_most(most));
    let expected = Error::OverCapacity {
        global_batch: 10,
        capacity: 7,
        over_by: 3,
    };
    assert_eq!(error(10, &workers), expected);
}

#[test]
fn below_the_minima_says_what_is_needed() {
    let workers = [3, 4].map(|least| Worker::proportional(1.0).at_least(least));
    let expected = Error::UnderMinimum {
        global_batch: 6,
        minimum: 7,
    };
    assert_eq!(error(6, &workers), expected);
}

#[test]
fn a_total_between_grains_names_its_neighbours() {
    let workers = [5.0, 3.0].map(|speed| Worker::proportional(speed).grain(2));
    let error = error(7, &workers);
    assert_eq!(
        error,
        Error::Indivisible {
            global_batch: 7,
            grains: "2".to_owned(),
            below: Some(6),
            above: Some(8)
        }
    );
    assert!(error.to_string().ends_with("6 and 8"), "{error}");
}

#[test]
fn an_empty_batch_is_no_neighbour() {
    let small = [Worker::proportional(1.0).grain(4).at_most(7).at_least(0)];
    assert!(matches!(
        error(3, &small),
        Error::Indivisible {
            below: None,
            above: Some(4),
            ..
        }
    ));
}

#[test]
fn a_speed_that_is_no_speed_names_its_worker() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
        let workers = [Worker::proportional(2.0), Worker::proportional(bad)];
        assert!(
            matches!(error(9, &workers), Error::Speed { worker: 1, .. }),
            "{bad}"
        );
    }
    for bad in [-1e-9, f64::NAN, f64::INFINITY, 1e300] {
        let workers = [
            Worker::proportional(2.0),
            Worker::proportional(1.0).communication(bad),
        ];
        assert!(
            matches!(error(9, &workers), Error::Seconds { worker: 1, .. }),
            "{bad}"
        );
        let workers = [Worker::affine(bad, 1.0)];
        assert!(
            matches!(error(9, &workers), Error::Seconds { worker: 0, .. }),
            "{bad}"
        );
    }
}

#[test]
fn a_stopped_worker_sits_out_on_request() {
    let stopped = Worker::proportional(0.0).at_least(4).park_if_stopped();
    let plan = split(9, &[Worker::proportional(2.0), stopped]).unwrap();
    assert_eq!(plan.sizes(), [9, 0]);
    assert_eq!(plan.times_s()[1], 0.0);
    assert!(matches!(
        error(9, &[stopped]),
        Error::OverCapacity { capacity: 0, .. }
    ));
    let slow = Worker::proportional(1.0).park_if_stopped();
    assert_eq!(
        split(9, &[Worker::proportional(2.0), slow])
            .unwrap()
            .sizes(),
        [6, 3]
    );
}

#[test]
fn limits_without_a_size_between_them_are_refused() {
    let worker = Worker::proportional(1.0).at_least(5).at_most(7).grain(8);
    assert_eq!(
        error(8, &[worker]),
        Error::Limits {
            worker: 0,
            min: 5,
            max: 7,
            grain: 8
        }
    );
    let points = Points::new(&[(4, 1.0)]).unwrap();
    let worker = Worker::points(&points).at_least(5);
    assert_eq!(
        error(5, &[worker]),
        Error::Limits {
            worker: 0,
            min: 5,
            max: 4,
            grain: 1
        }
    );
}

#[test]
fn a_curve_that_decreases_is_refused_where_it_does() {
    assert!(matches!(
        Points::new(&[(1, 0.1), (2, 0.3), (3, 0.2)]),
        Err(Error::CurvePoint {
            what: "time",
            at: 2,
            ..
        })
    ));
    assert!(matches!(
        Points::new(&[(1, 0.1), (1, 0.3)]),
        Err(Error::CurvePoint {
            what: "batch",
            at: 1,
            ..
        })
    ));
    assert!(matches!(
        Points::new(&[(0, 0.1)]),
        Err(Error::CurvePoint { at: 0, .. })
    ));
    assert!(matches!(
        Points::new(&[(1, f64::NAN)]),
        Err(Error::CurvePoint { at: 0, .. })
    ));
    assert_eq!(Points::new(&[]), Err(Error::NoPoints));
    assert!(matches!(
        Hinge::new(0.1, -1e-9, 0.0),
        Err(Error::CurvePoint { at: 1, .. })
    ));
    assert!(matches!(
        Hinge::new(0.1, 1.0, f64::NAN),
        Err(Error::CurvePoint { at: 2, .. })
    ));

    assert!(matches!(
        Hinge::new(0.0, 1e281, 0.0),
        Err(Error::CurvePoint { at: 1, .. })
    ));

    let worker = Worker::curve(&Falling).at_most(100);
    let error = error(40, &[Worker::proportional(1.0), worker]);
    assert!(
        matches!(error, Error::Decreasing { worker: 1, .. }),
        "{error}"
    );
}

/// Takes less and less time.
#[derive(Debug)]
struct Falling;

impl Curve for Falling {
    fn seconds(&self, batch: u32) -> f64 {
        50.0 - f64::from(batch)
    }
}

/// A curve that returns the same for every batch.
#[derive(Debug)]
struct Broken(f64);

impl Curve for Broken {
    fn seconds(&self, _batch: u32) -> f64 {
        self.0
    }

    fn batch_within(&self, _seconds: f64) -> Option<f64> {
        Some(f64::NAN)
    }
}

#[test]
fn a_curve_without_a_number_is_refused() {
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        let broken = Broken(bad);
        let error = error(40, &[Worker::proportional(1.0), Worker::curve(&broken)]);
        assert!(matches!(error, Error::Seconds { worker: 1, .. }), "{error}");
    }
}

#[test]
fn an_inverse_that_lies_does_not_change_the_sizes() {
    let flat = Broken(2.0);
    let plan = split(
        40,
        &[Worker::proportional(1.0), Worker::curve(&flat).at_most(30)],
    )
    .unwrap();
    assert_eq!(plan.sizes(), [10, 30]);
}

#[test]
fn different_grains_beyond_the_table_are_refused() {
    let workers = [7, 3].map(|grain| Worker::proportional(1.0).grain(grain));
    assert!(matches!(
        error(4_000_000_000, &workers),
        Error::GrainTable { .. }
    ));
}

#[test]
fn the_largest_batch_and_the_fewest_workers() {
    let plan = split(u32::MAX, &[Worker::proportional(1e9)]).unwrap();
    assert_eq!(plan.sizes(), [u32::MAX]);
    let plan = split(
        u32::MAX,
        &[Worker::proportional(1e-280), Worker::proportional(1e300)],
    )
    .unwrap();
    assert_eq!(plan.sizes(), [1, u32::MAX - 1]);
}

#[test]
fn the_steepest_curves_are_split_like_any() {
    let steep = Hinge::new(0.0, 2e280, 0.0).unwrap();
    let plan = split(u32::MAX - 1, &[Worker::hinge(steep), Worker::hinge(steep)]).unwrap();
    assert_eq!(plan.sizes(), [u32::MAX / 2; 2]);
}

#[test]
fn a_grain_that_nobody_needs_costs_no_table() {
    let coarse = Worker::proportional(1.0).grain(20_000_000).at_least(0);
    let plan = split(100, &[Worker::proportional(1.0), coarse]).unwrap();
    assert_eq!(plan.sizes(), [100, 0]);
    let parked = Worker::proportional(0.0).grain(7).park_if_stopped();
    let plan = split(9, &[Worker::proportional(1.0).grain(3), parked]).unwrap();
    assert_eq!(plan.sizes(), [9, 0]);
    let fixed = [2, 3].map(|size| {
        Worker::proportional(1.0)
            .grain(size)
            .at_least(size)
            .at_most(size)
    });
    assert_eq!(split(5, &fixed).unwrap().sizes(), [2, 3]);
}
