//! The balancer against its promises: first one by one, then under random calls.

use std::collections::BTreeMap;

use narx::{Forecaster, LastValue};
use proptest::prelude::*;
use sizing::{Balancer, Error, IterationPlan, Limit, Limits, Policy, Report, defaults};

fn balancer(global_batch: u32, workers: u64) -> Balancer {
    let mut balancer = Balancer::new(global_batch, Policy::predictive(LastValue::new())).unwrap();
    for worker in 0..workers {
        balancer.join(worker, Limits::default()).unwrap();
    }
    balancer
}

fn batches(plan: &IterationPlan) -> Vec<u32> {
    plan.shares().iter().map(|share| share.batch).collect()
}

fn report_speed(balancer: &mut Balancer, worker: u64, iteration: u64, speed: f64) {
    let batch = balancer
        .plan(iteration)
        .unwrap()
        .share(worker)
        .unwrap()
        .batch;
    let report = Report::new(iteration, batch, f64::from(batch) / speed);
    balancer.report(worker, report).unwrap();
}

#[test]
fn sizes_follow_the_reported_speeds() {
    let mut job = balancer(600, 3);
    assert_eq!(batches(job.plan(0).unwrap()), [200, 200, 200]);
    for (worker, speed) in [(0, 100.0), (1, 200.0), (2, 300.0)] {
        report_speed(&mut job, worker, 0, speed);
    }
    let plan = job.plan(1).unwrap();
    assert_eq!(batches(plan), [100, 200, 300]);
    assert_eq!(plan.iteration_s(), Some(1.0));
    let weights: Vec<f64> = plan.shares().iter().map(|s| plan.weight(s)).collect();
    assert_eq!(weights, [1.0 / 6.0, 1.0 / 3.0, 0.5]);
}

#[test]
fn equal_batches_heed_only_the_limits() {
    let mut job: Balancer = Balancer::new(64, Policy::Equal).unwrap();
    let capped = Limits {
        max: Some(8),
        grain: 4,
        ..Limits::default()
    };
    job.join(7, capped).unwrap();
    job.join(
        8,
        Limits {
            grain: 4,
            ..Limits::default()
        },
    )
    .unwrap();
    job.join(
        9,
        Limits {
            grain: 4,
            ..Limits::default()
        },
    )
    .unwrap();
    for iteration in 0..3 {
        let plan = job.plan(iteration).unwrap();
        assert_eq!(batches(plan), [8, 28, 28]);
        let limits: Vec<Limit> = plan.shares().iter().map(|share| share.limit).collect();
        assert_eq!(limits, [Limit::Maximum, Limit::Free, Limit::Free]);
        for worker in 7..10 {
            report_speed(&mut job, worker, iteration, worker as f64);
        }
    }
    assert_eq!(job.plan(2).unwrap().iteration_s(), None);
}

#[test]
fn communication_is_part_of_the_time_to_the_barrier() {
    let mut job = balancer(300, 2);
    job.plan(0).unwrap();
    for (worker, communication_s) in [(0, 0.0), (1, 1.0)] {
        let report = Report::new(0, 150, 1.5);
        job.report(
            worker,
            Report {
                communication_s: Some(communication_s),
                ..report
            },
        )
        .unwrap();
    }
    // 2 s for 200 samples, and 1 s for 100 samples plus 1 s.
    assert_eq!(batches(job.plan(1).unwrap()), [200, 100]);
}

#[test]
fn a_plan_is_frozen_and_joins_act_from_the_next() {
    let mut job = balancer(60, 2);
    let first = job.plan(0).unwrap().clone();
    job.join(5, Limits::default()).unwrap();
    job.leave(0).unwrap();
    report_speed(&mut job, 1, 0, 1e6);
    assert_eq!(*job.plan(0).unwrap(), first);
    let next = job.plan(1).unwrap();
    let workers: Vec<u64> = next.shares().iter().map(|share| share.worker).collect();
    assert_eq!(workers, [1, 5]);
    assert_eq!(batches(next), [30, 30]);
}

#[test]
fn ties_leave_sizes_as_they_were() {
    let mut job = balancer(100, 3);
    assert_eq!(batches(job.plan(0).unwrap()), [34, 33, 33]);
    job.leave(0).unwrap();
    job.join(0, Limits::default()).unwrap();
    // The two that stayed keep their 33, so that the odd sample goes to the last in the order.
    let plan = job.plan(1).unwrap();
    let workers: Vec<u64> = plan.shares().iter().map(|share| share.worker).collect();
    assert_eq!((workers, batches(plan)), (vec![1, 2, 0], vec![33, 33, 34]));
}

#[test]
fn only_the_newest_plans_are_kept() {
    let mut job = balancer(60, 2);
    for iteration in 0..20 {
        job.plan(iteration).unwrap();
    }
    let oldest = 20 - defaults::PLANS_KEPT as u64;
    assert!(job.plan(oldest).is_ok());
    let gone = Error::PlanNotKept {
        iteration: oldest - 1,
        oldest,
        newest: 19,
    };
    assert_eq!(job.plan(oldest - 1), Err(gone));
    job.plan(30).unwrap();
    let skipped = job.plan(25).unwrap_err();
    assert!(
        matches!(skipped, Error::PlanNotKept { iteration: 25, .. }),
        "{skipped}"
    );
}

#[test]
fn a_silent_worker_is_forecast_and_then_unknown() {
    let mut job = balancer(400, 2);
    job.plan(0).unwrap();
    report_speed(&mut job, 0, 0, 100.0);
    report_speed(&mut job, 1, 0, 300.0);
    for iteration in 1..=3 {
        assert_eq!(
            batches(job.plan(iteration).unwrap()),
            [100, 300],
            "{iteration}"
        );
        report_speed(&mut job, 0, iteration, 100.0);
    }
    let plan = job.plan(4).unwrap();
    assert_eq!(batches(plan), [200, 200], "three reports are missing");
    assert_eq!(plan.shares()[1].predicted_s, None);
    report_speed(&mut job, 0, 4, 100.0);
    report_speed(&mut job, 1, 3, 300.0);
    assert_eq!(
        batches(job.plan(5).unwrap()),
        [100, 300],
        "late, but newer than its last"
    );
}

#[test]
fn an_unknown_worker_gets_an_equal_share() {
    let mut job = balancer(900, 2);
    job.plan(0).unwrap();
    report_speed(&mut job, 0, 0, 100.0);
    report_speed(&mut job, 1, 0, 500.0);
    job.join(2, Limits::default()).unwrap();
    assert_eq!(batches(job.plan(1).unwrap()), [100, 500, 300]);
}

#[test]
fn an_unknown_worker_is_taken_to_communicate_like_the_others() {
    let mut job = balancer(300, 3);
    job.plan(0).unwrap();
    for worker in 0..3 {
        let report = Report {
            communication_s: Some(0.5),
            ..Report::new(0, 100, 0.1)
        };
        job.report(worker, report).unwrap();
    }
    job.join(3, Limits::default()).unwrap();
    assert_eq!(batches(job.plan(1).unwrap()), [75, 75, 75, 75]);
    // One that says nothing of its communication too.
    job.report(3, Report::new(1, 75, 0.075)).unwrap();
    for worker in 0..3 {
        job.report(worker, Report::new(1, 75, 0.075)).unwrap();
    }
    assert_eq!(batches(job.plan(2).unwrap()), [75, 75, 75, 75]);
}

#[test]
fn a_worker_may_be_silent_for_longer_than_the_limit_and_then_catch_up() {
    let policy = Policy::forecast_by(Recorder::default(), &["queue"]);
    let mut job = Balancer::new(10, policy).unwrap().missing_limit(2);
    job.join(0, Limits::default()).unwrap();
    let report = |iteration| Report {
        driving: BTreeMap::from([("queue".to_owned(), 1.0)]),
        ..Report::new(iteration, 10, 0.5)
    };
    job.plan(0).unwrap();
    job.report(0, report(0)).unwrap();
    for iteration in 1..=8 {
        job.plan(iteration).unwrap();
    }
    job.report(0, report(8)).unwrap();
    // What was measured for 1 belongs to 1, and seven iterations are missing.
    let gaps = "(NaN, [NaN]), ".repeat(6);
    let expected = format!("observed: [(20.0, [NaN]), (NaN, [1.0]), {gaps}(20.0, [NaN])]");
    assert!(format!("{job:?}").contains(&expected), "{job:?}");
}

#[test]
fn an_iteration_without_work_does_not_count_as_missing() {
    let mut job = Balancer::new(10, Policy::predictive(LastValue::new())).unwrap();
    job.join(0, Limits::default()).unwrap();
    job.join(
        1,
        Limits {
            min: 0,
            ..Limits::default()
        },
    )
    .unwrap();
    job.plan(0).unwrap();
    report_speed(&mut job, 0, 0, 1000.0);
    report_speed(&mut job, 1, 0, 1.0);
    for iteration in 1..10 {
        assert_eq!(
            batches(job.plan(iteration).unwrap()),
            [10, 0],
            "{iteration}"
        );
        report_speed(&mut job, 0, iteration, 1000.0);
    }
}

#[test]
fn bad_reports_are_refused_and_change_nothing() {
    let mut job = balancer(60, 2);
    job.plan(0).unwrap();
    report_speed(&mut job, 0, 0, 10.0);
    let before = serde_json::to_string(&job).unwrap();
    let good = Report::new(0, 30, 1.0);
    let driving = BTreeMap::from([("queue".to_owned(), f64::NAN)]);
    let cases = [
        (
            "batch",
            Report {
                batch: 0,
                ..good.clone()
            },
        ),
        (
            "compute_s",
            Report {
                compute_s: 0.0,
                ..good.clone()
            },
        ),
        (
            "compute_s",
            Report {
                compute_s: -1.0,
                ..good.clone()
            },
        ),
        (
            "compute_s",
            Report {
                compute_s: f64::NAN,
                ..good.clone()
            },
        ),
        (
            "compute_s",
            Report {
                compute_s: f64::INFINITY,
                ..good.clone()
            },
        ),
        (
            "compute_s",
            Report {
                compute_s: 1e-320,
                ..good.clone()
            },
        ),
        (
            "communication_s",
            Report {
                communication_s: Some(-0.1),
                ..good.clone()
            },
        ),
        (
            "loading_s",
            Report {
                loading_s: Some(f64::NAN),
                ..good.clone()
            },
        ),
        (
            "queue",
            Report {
                driving,
                ..good.clone()
            },
        ),
    ];
    for (name, report) in cases {
        match job.report(1, report) {
            Err(Error::Report {
                worker: 1, field, ..
            }) => assert_eq!(field, name),
            other => panic!("{name}: {other:?}"),
        }
    }
    let stale = Error::Stale {
        worker: 0,
        iteration: 0,
        last: 0,
    };
    assert_eq!(job.report(0, good.clone()), Err(stale));
    assert_eq!(
        job.report(9, good.clone()),
        Err(Error::UnknownWorker { worker: 9 })
    );
    let early = Error::NoPart {
        worker: 1,
        iteration: 1,
    };
    assert_eq!(
        job.report(
            1,
            Report {
                iteration: 1,
                ..good
            }
        ),
        Err(early)
    );
    assert_eq!(
        job.join(0, Limits::default()),
        Err(Error::AlreadyJoined { worker: 0 })
    );
    assert_eq!(job.leave(9), Err(Error::UnknownWorker { worker: 9 }));
    let narrow = Limits {
        min: 5,
        max: Some(7),
        grain: 8,
    };
    assert!(matches!(
        job.join(3, narrow),
        Err(Error::Limits { worker: 3, .. })
    ));
    assert_eq!(serde_json::to_string(&job).unwrap(), before);
}

#[test]
fn an_infeasible_job_issues_nothing_and_can_be_mended() {
    let mut job = Balancer::new(50, Policy::default()).unwrap();
    assert_eq!(job.plan(0), Err(Error::NoWorkers));
    job.join(
        0,
        Limits {
            max: Some(20),
            ..Limits::default()
        },
    )
    .unwrap();
    let full = Error::OverCapacity {
        global_batch: 50,
        capacity: 20,
        over_by: 30,
    };
    assert_eq!(job.plan(0), Err(full));
    job.join(
        1,
        Limits {
            max: Some(40),
            ..Limits::default()
        },
    )
    .unwrap();
    assert_eq!(batches(job.plan(0).unwrap()), [20, 30]);
    assert!(matches!(
        Balancer::new(0, Policy::default()),
        Err(Error::EmptyGlobalBatch)
    ));
}

#[test]
fn only_iterations_with_a_part_in_them_can_be_reported() {
    let mut job = balancer(60, 2);
    let no_part = |iteration| {
        Err(Error::NoPart {
            worker: 0,
            iteration,
        })
    };
    let report = |iteration| Report::new(iteration, 30, 1.0);
    assert_eq!(job.report(0, report(0)), no_part(0), "before any plan");
    assert_eq!(job.report(0, report(u64::MAX)), no_part(u64::MAX));
    job.plan(0).unwrap();
    job.plan(10).unwrap();
    assert_eq!(job.report(0, report(5)), no_part(5), "passed over");
    job.report(0, report(0)).unwrap();
    job.leave(0).unwrap();
    job.join(0, Limits::default()).unwrap();
    assert_eq!(
        job.report(0, report(10)),
        no_part(10),
        "before it came back"
    );
    for iteration in 11..40 {
        job.plan(iteration).unwrap();
    }
    job.report(0, report(12)).unwrap();
    let plan = job.plan(40).unwrap();
    assert_eq!(
        plan.shares()[1].predicted_s,
        None,
        "27 reports are missing still"
    );
    job.report(0, report(39)).unwrap();
}

/// Writes down what it is told.
#[derive(Debug, Clone, Default)]
struct Recorder {
    observed: Vec<(f64, Vec<f64>)>,
}

impl Forecaster for Recorder {
    fn observe(&mut self, y: f64, inputs: &[f64]) {
        self.observed.push((y, inputs.to_vec()));
    }

    /// Encodes the inputs and the horizon in the speed.
    fn forecast(&self, inputs_now: &[f64], out: &mut [f64]) {
        let code = if inputs_now[0].is_nan() {
            9.0
        } else {
            inputs_now[0]
        };
        let steps = out.len() as f64;
        out.fill(f64::NAN);
        *out.last_mut().unwrap() = 100.0 * steps + code;
    }
}

#[test]
fn driving_series_belong_to_the_iteration_they_were_measured_for() {
    let policy = Policy::forecast_by(Recorder::default(), &["queue", "absent"]);
    let mut job = Balancer::new(10, policy).unwrap();
    job.join(0, Limits::default()).unwrap();
    let report = |iteration, queue| Report {
        driving: BTreeMap::from([("queue".to_owned(), queue), ("unused".to_owned(), 5.0)]),
        ..Report::new(iteration, 10, 0.5)
    };
    job.plan(0).unwrap();
    job.report(0, report(0, 1.0)).unwrap();
    let predicted =
        |job: &mut Balancer<Recorder>, k| 10.0 / job.plan(k).unwrap().iteration_s().unwrap();
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} is not {b}");
    near(predicted(&mut job, 1), 101.0);
    job.report(0, report(1, 2.0)).unwrap();
    near(predicted(&mut job, 2), 102.0);
    // The report of 2 is missing: one step further ahead, from the series measured for 2.
    near(predicted(&mut job, 3), 202.0);
    job.report(0, report(3, 4.0)).unwrap();
    near(predicted(&mut job, 4), 104.0);
    let snapshot = format!("{job:?}");
    // Speeds and inputs of iterations 0 to 3: nothing before 0, 1 for 1, 2 for 2, unknown for 3.
    let expected =
        "observed: [(20.0, [NaN, NaN]), (20.0, [1.0, NaN]), (NaN, [2.0, NaN]), (20.0, [NaN, NaN])]";
    assert!(snapshot.contains(expected), "{snapshot}");
}

#[test]
fn a_snapshot_that_is_none_is_refused() {
    let mut job = balancer(60, 2);
    job.plan(0).unwrap();
    let good = serde_json::to_string(&job).unwrap();
    assert!(serde_json::from_str::<Balancer>(&good).is_ok());
    for (from, to, says) in [
        (r#""version":1"#, r#""version":2"#, "version 2"),
        (
            r#""global_batch":60,"policy"#,
            r#""global_batch":61,"policy"#,
            "add up",
        ),
        (
            r#""global_batch":60,"policy"#,
            r#""global_batch":0,"policy"#,
            "is 0",
        ),
        (r#""worker":1,"limits""#, r#""worker":0,"limits""#, "twice"),
        (
            r#""missing_limit":3"#,
            r#""missing_limit":0"#,
            "missing_limit",
        ),
        (r#"{"predictive""#, r#"{"prophetic""#, "prophetic"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        let error = serde_json::from_str::<Balancer>(&bad)
            .unwrap_err()
            .to_string();
        assert!(error.contains(says), "{error}");
    }
    for cut in 0..good.len() {
        assert!(serde_json::from_str::<Balancer>(&good[..cut]).is_err());
    }
}

#[derive(Debug, Clone)]
enum Operation {
    Join(u64, Limits),
    Leave(u64),
    Report(u64, u64, u32, f64, Option<f64>),
    Plan(u64),
    Restore,
}

fn operation() -> impl Strategy<Value = Operation> {
    let limits = (0..3u32, prop::option::of(5..60u32), 1..3u32)
        .prop_map(|(min, max, grain)| Limits { min, max, grain });
    prop_oneof![
        2 => (0..5u64, limits).prop_map(|(worker, limits)| Operation::Join(worker, limits)),
        1 => (0..5u64).prop_map(Operation::Leave),
        8 => (0..5u64, 0..3u64, 0..40u32, prop_oneof![0.001..2.0f64, Just(0.0), Just(f64::NAN), Just(1e-300)], prop::option::of(0.0..1.0f64))
            .prop_map(|(worker, back, batch, seconds, comm)| Operation::Report(worker, back, batch, seconds, comm)),
        6 => (0..4u64).prop_map(Operation::Plan),
        1 => Just(Operation::Restore),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_calls_keep_the_promises(operations in prop::collection::vec(operation(), 1..80), global_batch in 1..100u32) {
        let mut job = Balancer::new(global_batch, Policy::default()).unwrap();
        // Gets the same calls, but is never saved and restored.
        let mut twin = job.clone();
        let mut joined: Vec<(u64, Limits)> = Vec::new();
        let mut issued: BTreeMap<u64, IterationPlan> = BTreeMap::new();
        for operation in operations {
            let before = serde_json::to_string(&job).unwrap();
            let newest = issued.keys().last().copied();
            let refused = match operation {
                Operation::Join(worker, limits) => {
                    let (a, b) = (job.join(worker, limits), twin.join(worker, limits));
                    prop_assert_eq!(&a, &b);
                    if a.is_ok() {
                        joined.push((worker, limits));
                    }
                    a.is_err()
                }
                Operation::Leave(worker) => {
                    let (a, b) = (job.leave(worker), twin.leave(worker));
                    prop_assert_eq!(&a, &b);
                    prop_assert_eq!(a.is_ok(), joined.iter().any(|&(w, _)| w == worker));
                    joined.retain(|&(w, _)| w != worker);
                    a.is_err()
                }
                Operation::Report(worker, back, batch, seconds, communication_s) => {
                    let iteration = newest.unwrap_or(0).saturating_sub(back);
                    let report = Report { communication_s, ..Report::new(iteration, batch, seconds) };
                    let (a, b) = (job.report(worker, report.clone()), twin.report(worker, report));
                    // NaN in an error is not equal to itself.
                    prop_assert_eq!(format!("{a:?}"), format!("{b:?}"));
                    a.is_err()
                }
                Operation::Plan(ahead) => {
                    let iteration = (newest.unwrap_or(0) + ahead).saturating_sub(1);
                    let (a, b) = (job.plan(iteration).cloned(), twin.plan(iteration).cloned());
                    prop_assert_eq!(&a, &b);
                    if let Ok(plan) = &a {
                        if let Some(first) = issued.get(&iteration) {
                            prop_assert_eq!(plan, first);
                        } else {
                            prop_assert_eq!(plan.shares().len(), joined.len());
                            let sum: u32 = plan.shares().iter().map(|share| share.batch).sum();
                            prop_assert_eq!(sum, global_batch);
                            for (share, (worker, limits)) in plan.shares().iter().zip(&joined) {
                                prop_assert_eq!(share.worker, *worker);
                                prop_assert!(share.batch >= limits.min);
                                prop_assert!(share.batch <= limits.max.unwrap_or(u32::MAX));
                                prop_assert_eq!(share.batch % limits.grain, 0);
                            }
                            issued.insert(iteration, plan.clone());
                        }
                    }
                    a.is_err()
                }
                Operation::Restore => {
                    job = serde_json::from_str(&before).unwrap();
                    prop_assert_eq!(serde_json::to_string(&job).unwrap(), before.clone());
                    false
                }
            };
            let after = serde_json::to_string(&job).unwrap();
            prop_assert_eq!(&after, &serde_json::to_string(&twin).unwrap());
            if refused {
                prop_assert_eq!(after, before);
            }
        }
    }
}
