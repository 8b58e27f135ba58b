use crate::*;

const TRACES: [&str; 4] = ["bursts.csv", "periodic.csv", "sine.csv", "quota.csv"];

fn replayed(more: &[&str]) -> Ran {
    let args = [&["replay", "--global-batch", "2048"], &TRACES[..], more].concat();
    run_in(folder().path(), &args)
}

#[test]
fn balancing_beats_equal_batches_on_recorded_workers() {
    let json = replayed(&["--policy", "equal,last,ema,oracle", "--json"]).json();
    let policies = &json["policies"];
    assert_eq!(names(policies, "name"), ["equal", "last", "ema", "oracle"]);
    let speedup = |i: usize| policies[i]["speedup"].as_f64().unwrap();
    assert_eq!(speedup(0), 1.0);
    for policy in [1, 2] {
        assert!(speedup(policy) > 1.1 && speedup(policy) < speedup(3));
    }
    assert!(policies[3]["waiting_share"].as_f64().unwrap() < 0.01);
    assert_eq!(policies[3]["oracle_share"], 1.0);
}

#[test]
fn the_json_has_the_documented_keys() {
    let json = replayed(&["--json"]).json();
    let keys = |value: &Value| {
        let keys = value.as_object().unwrap().keys();
        keys.map(|key| format!("`{key}`")).collect::<Vec<_>>()
    };
    assert_eq!(json["format"], 1);
    assert_eq!(json["global_batch"], 2048);
    assert_eq!(
        json["workers"],
        serde_json::json!(["bursts", "periodic", "sine", "quota"])
    );
    let policies = json["policies"].as_array().unwrap();
    assert_eq!(policies.len(), 6);
    assert_eq!(json["iterations"], policies[5]["iterations"]);
    let needed = [
        "name",
        "mean_iteration_s",
        "p95_iteration_s",
        "waiting_share",
        "speedup",
        "time_saved_pct",
        "oracle_share",
        "size_changes",
    ];
    assert!(needed.iter().all(|key| policies[0].get(key).is_some()));
    let readme = include_str!("../../README.md");
    for key in [keys(&json), keys(&policies[0])].concat() {
        assert!(readme.contains(&key), "{key} is not documented");
    }
}

#[test]
fn a_share_of_no_gain_is_null_and_a_dash() {
    let folder = folder();
    let args = [
        "replay",
        "quota.csv",
        "--global-batch",
        "512",
        "--policy",
        "ema",
    ];
    let json = run_in(folder.path(), &[&args[..], &["--json"]].concat()).json();
    assert_eq!(json["policies"][0]["oracle_share"], Value::Null);
    assert!(run_in(folder.path(), &args).stdout.contains('–'));
}

#[test]
fn the_table_has_a_line_a_policy() {
    let ran = replayed(&["--policy", "equal,ema:0.5,ema-adaptive,informed"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (DONE, ""));
    for part in [
        "4 workers",
        "2048",
        "| equal ",
        "| ema:0.5 ",
        "| ema-adaptive ",
        "| informed ",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
}

#[test]
fn the_job_can_be_limited() {
    let json = replayed(&[
        "--policy",
        "equal,last",
        "--iterations",
        "7",
        "--planning",
        "0.25",
        "--comm",
        "0.5,0,0,0",
        "--max",
        "600,none,none,none",
        "--grain",
        "8",
        "--json",
    ])
    .json();
    assert_eq!(json["iterations"], 7);
    let mean_s = |i: usize| json["policies"][i]["mean_iteration_s"].as_f64().unwrap();
    assert!(mean_s(0) > 0.5 && mean_s(1) > 0.25);
    replayed(&["--max", "500"]).refused(INFEASIBLE, &["2048", "2000"]);
    replayed(&["--min", "1,2"]).refused(USAGE, &["`--min` has 2 values", "4 workers"]);
    replayed(&["--max", "1,0,1,1"]).refused(INFEASIBLE, &["that is `periodic`"]);
}

#[test]
fn unknown_policies_are_wrong_usage() {
    replayed(&["--policy", "best"]).refused(USAGE, &["'best'", "ema-adaptive"]);
    replayed(&["--policy", "ema:0"]).refused(USAGE, &["above 0 and at most 1", "got 0"]);
    replayed(&["--policy", "ema:x"]).refused(USAGE, &["above 0 and at most 1", "got x"]);
    replayed(&["--policy", "last,last"]).refused(USAGE, &["`last` is named twice"]);
}

#[test]
fn a_trace_may_stop_or_hold() {
    let folder = folder();
    let path = folder.path();
    std::fs::write(path.join("short.csv"), "t,speed\n0,10\n1,10\n2,5\n").unwrap();
    let base = [
        "replay",
        "short.csv",
        "--global-batch",
        "10",
        "--policy",
        "last",
        "--json",
    ];
    let with = |more: &[&str]| run_in(path, &[&base[..], more].concat());
    assert_eq!(
        with(&["--at-end", "stop", "--iterations", "9"]).json()["iterations"],
        2
    );
    assert_eq!(with(&["--iterations", "9"]).json()["iterations"], 9);
    let held = with(&["--at-end", "hold", "--iterations", "9"]).json();
    assert_eq!(held["policies"][0]["median_iteration_s"], 2.0);
    let args = [
        "replay",
        "short.csv",
        "--global-batch",
        "50",
        "--at-end",
        "stop",
    ];
    run_in(path, &args).refused(INPUT, &["first iteration", "that is `short`"]);
}

#[test]
fn a_worker_that_never_finishes_is_named() {
    let folder = folder();
    let path = folder.path();
    std::fs::write(path.join("dead.csv"), "t,speed\n0,10\n1,10\n2,0\n").unwrap();
    let args = [
        "replay",
        "sine.csv",
        "dead.csv",
        "--global-batch",
        "20",
        "--at-end",
        "hold",
    ];
    let ran = run_in(path, &[&args[..], &["--iterations", "9"]].concat());
    ran.refused(INPUT, &["never finishes iteration 2", "that is `dead`"]);
}

#[test]
fn pictures_are_written_where_they_are_asked_for() {
    let folder = folder();
    let args = [
        "replay",
        "sine.csv",
        "quota.csv",
        "--global-batch",
        "512",
        "--plot",
        "new/out",
    ];
    let ran = run_in(folder.path(), &args);
    assert!(ran.stdout.contains("sizes.svg"), "{}", ran.stderr);
    for name in ["sizes.svg", "waiting.svg"] {
        let svg = std::fs::read_to_string(folder.path().join("new/out").join(name)).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(!svg.contains("NaN"));
    }
    let args = [
        "replay",
        "sine.csv",
        "--global-batch",
        "512",
        "--plot",
        "quota.csv",
    ];
    run_in(folder.path(), &args).refused(INPUT, &["cannot write quota.csv"]);
}

#[test]
fn workers_of_one_file_share_its_clock() {
    // The same speed at every instant, but b has no row of its own before 10 s.
    let rows = "t,speed,worker\n0,50,a\n10,50,a\n10,50,b\n20,100,a\n20,100,b\n";
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("both.csv"), rows).unwrap();
    let args = "replay both.csv --global-batch 900 --iterations 40 --policy equal,oracle --json";
    let args: Vec<&str> = args.split(' ').collect();
    let json = run_in(folder.path(), &args).json();
    assert_eq!(json["workers"], serde_json::json!(["a", "b"]));
    assert!(json["policies"][0]["waiting_share"].as_f64().unwrap() < 1e-9);
    assert_eq!(json["policies"][1]["oracle_share"], Value::Null);
}

#[test]
fn a_replay_that_stops_early_says_so() {
    let folder = TempDir::new().unwrap();
    std::fs::write(
        folder.path().join("fast.csv"),
        "t,speed\n0,1000000\n50,1000000\n",
    )
    .unwrap();
    let args = [
        "replay",
        "fast.csv",
        "--global-batch",
        "1",
        "--policy",
        "equal",
    ];
    let ran = run_in(folder.path(), &args);
    assert_eq!(ran.code, DONE);
    assert!(
        ran.stderr.contains("stopped after 100000 iterations"),
        "{}",
        ran.stderr
    );
    let told = run_in(
        folder.path(),
        &[&args[..], &["--iterations", "10"]].concat(),
    );
    assert_eq!(told.stderr, "");
}
