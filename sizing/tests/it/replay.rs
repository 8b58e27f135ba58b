//! Replays of workers whose best treatment is known.

use std::sync::{Arc, Mutex};

use approx::assert_relative_eq;
use narx::{AnyForecaster, Ema, Forecaster, LastValue};
use sizing::replay::{AtEnd, Job, Run, Strategy, Summary, Trace, compare, replay};
use sizing::{Error, Limits, Policy};

const ROUNDING: f64 = 1e-12;

fn steady(speed: f64) -> Trace {
    Trace::new(&[0.0, 10.0], &[speed, speed]).unwrap()
}

fn recorded() -> Vec<Trace> {
    let trace = |csv| {
        let (starts, speeds) = (fixtures::column(csv, "t"), fixtures::column(csv, "speed"));
        Trace::new(&starts, &speeds).unwrap()
    };
    fixtures::WORKER_TRACES
        .iter()
        .map(|recorded| trace(recorded.csv))
        .collect()
}

fn strategies() -> Vec<(String, Strategy)> {
    vec![
        ("equal".to_owned(), Strategy::Online(Policy::Equal)),
        (
            "last".to_owned(),
            Strategy::Online(Policy::predictive(LastValue::new())),
        ),
        ("ema".to_owned(), Strategy::Online(Policy::default())),
        (
            "adaptive".to_owned(),
            Strategy::Online(Policy::predictive(Ema::adaptive())),
        ),
        ("informed".to_owned(), Strategy::Informed),
        ("oracle".to_owned(), Strategy::Oracle),
    ]
}

fn summaries(traces: &[Trace], job: &Job) -> Vec<Summary> {
    compare(traces, job, &strategies(), &mut |_| {})
        .unwrap()
        .summaries
}

#[test]
fn steady_workers_are_balanced_after_one_iteration() {
    let traces = [steady(100.0), steady(300.0)];
    let job = Job {
        iterations: Some(100),
        ..Job::new(400)
    };
    let all = summaries(&traces, &job);
    assert_relative_eq!(all[0].mean_iteration_s, 2.0, max_relative = ROUNDING);
    assert_relative_eq!(all[0].waiting_share, 1.0 / 3.0, max_relative = ROUNDING);
    assert_relative_eq!(all[5].mean_iteration_s, 1.0, max_relative = ROUNDING);
    assert_relative_eq!(all[5].speedup, 2.0, max_relative = ROUNDING);
    assert_relative_eq!(all[5].time_saved_pct, 50.0, max_relative = ROUNDING);
    for summary in &all[1..4] {
        // One equal iteration of 2 s, then 99 of 1 s.
        assert_relative_eq!(summary.mean_iteration_s, 1.01, max_relative = ROUNDING);
        assert_relative_eq!(summary.oracle_share.unwrap(), 0.99, max_relative = 1e-9);
        assert_eq!(summary.size_changes, 1);
        assert_relative_eq!(summary.median_iteration_s, 1.0, max_relative = ROUNDING);
        assert_relative_eq!(summary.p95_iteration_s, 1.0, max_relative = ROUNDING);
    }
}

#[test]
fn equal_workers_leave_nothing_to_share() {
    let all = summaries(&[steady(50.0), steady(50.0)], &Job::new(100));
    for summary in all {
        assert_eq!(summary.oracle_share, None, "{}", summary.name);
        assert_relative_eq!(summary.speedup, 1.0, max_relative = ROUNDING);
        assert_relative_eq!(summary.waiting_share, 0.0, epsilon = ROUNDING);
    }
}

#[test]
fn communication_and_planning_take_their_time() {
    let traces = [steady(100.0), steady(100.0)];
    let job = Job {
        communication_s: vec![0.5, 1.5],
        planning_s: 0.25,
        iterations: Some(50),
        ..Job::new(400)
    };
    let all = summaries(&traces, &job);
    assert_relative_eq!(all[0].mean_iteration_s, 3.5, max_relative = ROUNDING);
    // 250 samples in 2.5 s plus 0.5 s, 150 in 1.5 s plus 1.5 s, and the planning.
    assert_relative_eq!(all[5].mean_iteration_s, 3.25, max_relative = ROUNDING);
    let waiting = 0.25 / 3.25;
    assert_relative_eq!(all[5].waiting_share, waiting, max_relative = ROUNDING);
}

#[test]
fn a_change_inside_an_iteration_has_its_true_effect() {
    // Fast for 1 s, then slow: 100 + 4 x 10 samples take 5 s, whatever a policy thought at 0.
    let changing = Trace::new(&[0.0, 1.0, 50.0], &[100.0, 10.0, 10.0]).unwrap();
    let job = Job {
        iterations: Some(1),
        ..Job::new(280)
    };
    let traces = [changing, steady(1000.0)];
    let equal: Strategy = Strategy::Online(Policy::Equal);
    let run = replay(&traces, &job, &equal, &mut |run| run.iterations.is_empty()).unwrap();
    assert_relative_eq!(run.iterations[0].times_s[0], 5.0, max_relative = ROUNDING);
    assert_relative_eq!(run.iterations[0].duration_s, 5.0, max_relative = ROUNDING);
}

#[test]
fn nobody_beats_the_oracle_from_the_same_start() {
    let (traces, job) = (recorded(), Job::new(2048));
    for (name, strategy) in strategies() {
        let run = replay(&traces, &job, &strategy, &mut |run| {
            run.iterations.len() < 150
        })
        .unwrap();
        for iteration in &run.iterations {
            let rest: Vec<Trace> = fixtures::WORKER_TRACES
                .iter()
                .zip(&traces)
                .map(|(recorded, trace)| rest_of(recorded.csv, trace.length_s(), iteration.start_s))
                .collect();
            let oracle: Strategy = Strategy::Oracle;
            let best = replay(&rest, &job, &oracle, &mut |run| run.iterations.is_empty()).unwrap();
            let (best_s, got_s) = (best.iterations[0].duration_s, iteration.duration_s);
            // Both add up the same rows, but from different zeros of time.
            assert!(best_s <= got_s * (1.0 + 1e-9), "{name}: {best_s} {got_s}");
            if name == "oracle" {
                assert_relative_eq!(best_s, got_s, max_relative = 1e-9);
            }
        }
    }
}

/// What a recorded worker does from a moment on, for two rounds of its trace.
fn rest_of(csv: &str, length_s: f64, start_s: f64) -> Trace {
    let (starts, speeds) = (fixtures::column(csv, "t"), fixtures::column(csv, "speed"));
    let round = (start_s / length_s).floor();
    let rows = (0..3).flat_map(|more| {
        let shift = (round + f64::from(more)) * length_s - starts[0];
        starts
            .iter()
            .zip(&speeds)
            .map(move |(t, v)| (t + shift, *v))
    });
    let (mut times, mut rates): (Vec<f64>, Vec<f64>) = (vec![start_s], vec![0.0]);
    for (t, v) in rows {
        if t <= start_s {
            rates[0] = v;
        } else {
            times.push(t);
            rates.push(v);
        }
    }
    Trace::new(&times, &rates).unwrap()
}

#[test]
fn recorded_workers_gain_and_the_order_is_as_it_must_be() {
    let all = summaries(&recorded(), &Job::new(2048));
    let speedup = |name: &str| all.iter().find(|s| s.name == name).unwrap().speedup;
    assert_eq!(speedup("equal"), 1.0);
    for name in ["last", "ema", "adaptive", "informed"] {
        assert!(speedup(name) > 1.05, "{name}: {}", speedup(name));
        assert!(speedup(name) < speedup("oracle"), "{name}");
    }
    assert!(speedup("informed") > speedup("last"));
}

#[test]
fn the_same_replay_gives_the_same_bits() {
    let (a, b) = (
        summaries(&recorded(), &Job::new(777)),
        summaries(&recorded(), &Job::new(777)),
    );
    assert_eq!(a, b);
}

#[test]
fn a_trace_that_stops_ends_the_replay_for_all() {
    let short = steady(100.0).at_end(AtEnd::Stop);
    let traces = [short, steady(300.0)];
    let comparison = compare(&traces, &Job::new(400), &strategies(), &mut |_| {}).unwrap();
    // 20 s of trace hold 10 iterations of 2 s, the slowest strategy's.
    for (summary, run) in comparison.summaries.iter().zip(&comparison.runs) {
        assert_eq!(
            (summary.iterations, run.iterations.len()),
            (10, 10),
            "{}",
            summary.name
        );
    }
    // Standing still at the end is an end too.
    let stopping = Trace::new(&[0.0, 10.0], &[100.0, 0.0])
        .unwrap()
        .at_end(AtEnd::Stop);
    let run = compare(&[stopping], &Job::new(400), &strategies(), &mut |_| {}).unwrap();
    assert_eq!(run.summaries[0].iterations, 2);
    let job = Job::new(40_000);
    let error = compare(&traces, &job, &strategies(), &mut |_| {}).unwrap_err();
    assert_eq!(error, Error::TraceTooShort { worker: 0 });
}

#[test]
fn a_worker_that_stops_for_ever_is_told_instead_of_waited_for() {
    let stopping = Trace::new(&[0.0, 1.0], &[100.0, 0.0])
        .unwrap()
        .at_end(AtEnd::Hold);
    for (_, strategy) in strategies() {
        let traces = [steady(100.0), stopping.clone()];
        let job = Job::new(100);
        let error = replay(&traces, &job, &strategy, &mut |_| true).unwrap_err();
        assert!(
            matches!(error, Error::NeverFinishes { worker: 1, .. }),
            "{error}"
        );
    }
}

#[test]
fn a_worker_without_a_batch_takes_no_part_in_the_barrier() {
    let idle = Limits {
        min: 0,
        ..Limits::default()
    };
    let job = Job {
        limits: vec![Limits::default(), idle],
        communication_s: vec![0.1, 50.0],
        iterations: Some(5),
        ..Job::new(10)
    };
    let traces = [steady(1000.0), steady(1.0)];
    let oracle: Strategy = Strategy::Oracle;
    let run = replay(&traces, &job, &oracle, &mut |run| run.iterations.len() < 5).unwrap();
    assert_eq!(run.iterations[4].sizes, [10, 0]);
    assert_relative_eq!(run.iterations[4].duration_s, 0.11, max_relative = ROUNDING);
}

#[test]
fn lists_that_do_not_fit_are_refused() {
    let job = Job {
        communication_s: vec![0.0; 3],
        ..Job::new(10)
    };
    let traces = [steady(1.0), steady(1.0)];
    let strategy: Strategy = Strategy::Oracle;
    let run = |job: &Job, traces: &[Trace]| -> Result<Run, Error> {
        replay(traces, job, &strategy, &mut |_| false)
    };
    assert!(matches!(
        run(&job, &traces),
        Err(Error::Length {
            expected: 2,
            got: 3,
            ..
        })
    ));
    assert_eq!(run(&Job::new(10), &[]), Err(Error::NoWorkers));
    let job = Job {
        planning_s: f64::NAN,
        ..Job::new(10)
    };
    assert!(matches!(run(&job, &traces), Err(Error::Planning { .. })));
    let job = Job {
        limits: Vec::new(),
        ..Job::new(10)
    };
    assert!(matches!(
        run(&job, &traces),
        Err(Error::Length { got: 0, .. })
    ));
}

/// What a forecaster was told: the value and the inputs of each step.
type Told = Arc<Mutex<Vec<(f64, Vec<f64>)>>>;

/// Notes what a policy gets to see.
#[derive(Debug, Clone)]
struct Spy(Told);

impl PartialEq for Spy {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Forecaster for Spy {
    fn observe(&mut self, y: f64, inputs: &[f64]) {
        self.0.lock().unwrap().push((y, inputs.to_vec()));
    }

    fn forecast(&self, _: &[f64], out: &mut [f64]) {
        out.fill(1.0);
    }
}

#[test]
fn a_policy_sees_only_the_past() {
    // Row k lasts a second; its speed, 10 + k, is known when it is over, the queue when it begins.
    let rows: Vec<f64> = (0..20).map(f64::from).collect();
    let speeds: Vec<f64> = rows.iter().map(|k| 10.0 + k).collect();
    let trace = Trace::new(&rows, &speeds)
        .unwrap()
        .with_series("queue", rows.clone(), true)
        .unwrap()
        .with_series("load", rows.clone(), false)
        .unwrap();
    let told = Told::default();
    let policy = Policy::forecast_by(Spy(Arc::clone(&told)), &["queue", "load"]);
    // 25 samples: 10 in row 0, 11 in row 1, 4 in row 2, and so on.
    let job = Job::new(25);
    let run = replay(&[trace], &job, &Strategy::Online(policy), &mut |run| {
        run.iterations.len() < 6
    })
    .unwrap();
    let told = told.lock().unwrap();
    for (k, (iteration, (speed, inputs))) in run.iterations.iter().zip(told.iter()).enumerate() {
        assert_relative_eq!(*speed, 25.0 / iteration.duration_s, max_relative = ROUNDING);
        let row = iteration.start_s.floor();
        if k > 0 {
            assert_eq!(inputs, &[row, row - 1.0], "iteration {k}");
        }
    }
}

#[test]
fn any_forecaster_can_be_replayed() {
    let any: AnyForecaster = LastValue::new().into();
    let strategy = Strategy::Online(Policy::predictive(any));
    let run = replay(&recorded(), &Job::new(64), &strategy, &mut |run| {
        run.iterations.len() < 3
    });
    assert_eq!(run.unwrap().iterations.len(), 3);
}
