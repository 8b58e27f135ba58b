use crate::*;

fn sizes(args: &[&str]) -> Vec<u64> {
    let json = run(&[&["size", "--json"], args].concat()).json();
    let sizes = json["sizes"].as_array().unwrap();
    sizes.iter().map(|size| size.as_u64().unwrap()).collect()
}

#[test]
fn equal_speeds_share_what_cannot_be_shared_equally() {
    let mut sizes = sizes(&["--global-batch", "100", "--speeds", "1,1,1"]);
    sizes.sort_unstable();
    assert_eq!(sizes, [33, 33, 34]);
}

#[test]
fn a_total_that_the_grain_cannot_make_is_refused_with_those_it_can() {
    let ran = run(&[
        "size",
        "--global-batch",
        "7",
        "--speeds",
        "5,3",
        "--grain",
        "2",
    ]);
    ran.refused(INFEASIBLE, &["global batch 7", "6 and 8"]);
}

#[test]
fn the_json_has_the_documented_keys() {
    let json = run(&[
        "size",
        "--global-batch",
        "90",
        "--speeds",
        "2,1",
        "--max",
        "50,none",
        "--json",
    ]);
    let expected = serde_json::json!({
        "format": 1,
        "global_batch": 90,
        "workers": ["0", "1"],
        "sizes": [50, 40],
        "weights": [50.0 / 90.0, 40.0 / 90.0],
        "times_s": [25.0, 40.0],
        "iteration_time_s": 40.0,
        "binding_worker": 1,
        "lower_bound_s": 40.0,
        "limits": ["maximum", "free"],
    });
    assert_eq!(json.json(), expected);
}

#[test]
fn a_list_has_one_value_or_one_a_worker() {
    let base = ["--global-batch", "60", "--speeds", "1,1,1"];
    let with = |more: &[&str]| sizes(&[&base, more].concat());
    assert_eq!(with(&["--min", "20"]), [20, 20, 20]);
    assert_eq!(with(&["--max", "10,none,30"]), [10, 25, 25]);
    assert_eq!(with(&["--comm", "0,0,15"]), [25, 25, 10]);
    assert_eq!(with(&["--fixed", "0,0,15"]), [25, 25, 10]);
    let args = [&["size"], &base[..], &["--comm", "1,2"]].concat();
    run(&args).refused(USAGE, &["`--comm` has 2 values", "3 workers"]);
}

#[test]
fn ties_keep_near_the_sizes_before() {
    let base = ["--global-batch", "3", "--speeds", "1,1"];
    assert_eq!(sizes(&[&base[..], &["--previous", "1,2"]].concat()), [1, 2]);
    assert_eq!(sizes(&[&base[..], &["--previous", "2,1"]].concat()), [2, 1]);
}

#[test]
fn profiles_give_curves_and_ceilings() {
    let folder = folder();
    let args = [
        "size",
        "--global-batch",
        "96",
        "--profiles",
        "a.json,b.json",
        "--json",
    ];
    let json = run_in(folder.path(), &args).json();
    assert_eq!(json["sizes"], serde_json::json!([64, 32]));
    assert_eq!(json["workers"], serde_json::json!(["a", "b"]));
    let args = [
        "size",
        "--global-batch",
        "129",
        "--profiles",
        "a.json,b.json",
    ];
    run_in(folder.path(), &args).refused(INFEASIBLE, &["129", "128"]);
    let args = [
        "size",
        "--global-batch",
        "9",
        "--profiles",
        "a.json,b.json",
        "--min",
        "65,1",
    ];
    run_in(folder.path(), &args).refused(INFEASIBLE, &["65", "that is `a`"]);
}

#[test]
fn bad_numbers_are_wrong_usage() {
    for (speeds, part) in [
        ("1,0", "speed of worker 1"),
        ("NaN,1", "speed of worker 0"),
        ("1,inf", "speed of worker 1"),
        (
            "-1,2",
            "speed of worker 0 must be finite and above 0 (4.3e-281 at least), got -1.0 samples/s\n",
        ),
        ("1,x", "invalid value 'x'"),
        ("", "invalid value ''"),
    ] {
        run(&["size", "--global-batch", "8", "--speeds", speeds]).refused(USAGE, &[part]);
    }
    for more in [
        ["--comm", "-1,0"],
        ["--fixed", "inf"],
        ["--grain", "0"],
        ["--max", "many"],
        ["--min", "1.5"],
        ["--profiles", "a.json"],
    ] {
        let args = [&["size", "--global-batch", "8", "--speeds", "1"], &more[..]].concat();
        run(&args).refused(USAGE, &[more[0]]);
    }
    run(&["size", "--global-batch", "0", "--speeds", "1"]).refused(USAGE, &["--global-batch"]);
    run(&["size", "--global-batch", "8"]).refused(USAGE, &["--speeds", "--profiles"]);
}

#[test]
fn stopped_workers_sit_out_if_allowed() {
    let base = ["--global-batch", "8", "--park-stopped", "--speeds"];
    assert_eq!(sizes(&[&base[..], &["1,0"]].concat()), [8, 0]);
    let args = [&["size"], &base[..], &["0,0"]].concat();
    run(&args).refused(INFEASIBLE, &["global batch 8"]);
}

#[test]
fn infeasible_limits_are_told_apart_from_wrong_usage() {
    for more in [
        ["--min", "5"],
        ["--max", "3"],
        ["--grain", "5,3"],
        ["--min", "9,1"],
    ] {
        let args = [
            &["size", "--global-batch", "7", "--speeds", "2,1"],
            &more[..],
        ]
        .concat();
        run(&args).refused(INFEASIBLE, &[]);
    }
}

#[test]
fn bad_profiles_are_bad_input_with_their_place() {
    let folder = folder();
    let sized = |file: &str, text: &str| {
        std::fs::write(folder.path().join(file), text).unwrap();
        let args = ["size", "--global-batch", "8", "--profiles", file];
        run_in(folder.path(), &args)
    };
    sized("bad.json", "{\n  \"schema\": 1,\n  x").refused(INPUT, &["bad.json: line 3, column 3"]);
    sized("old.json", "{\"schema\": 7}").refused(INPUT, &["old.json", "7"]);
    sized("none.json", &profile("")).refused(INPUT, &["none.json", "at least one"]);
    let args = ["size", "--global-batch", "8", "--profiles", "absent.json"];
    run_in(folder.path(), &args).refused(INPUT, &["absent.json", "No such file"]);
    let args = ["size", "--global-batch", "8", "--profiles", "."];
    run_in(folder.path(), &args).refused(INPUT, &["directory"]);
}

#[test]
fn the_table_is_that_of_the_readme() {
    let readme = include_str!("../../README.md");
    let ran = run(&["size", "--global-batch", "256", "--speeds", "120,60,30"]);
    assert_eq!(ran.code, DONE);
    assert!(readme.contains(&ran.stdout), "{}", ran.stdout);
}

#[test]
fn the_profiles_of_the_readme_can_be_sized() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let profiles = "fixtures/profiles/large-card.json,fixtures/profiles/small-card.json";
    let args = [
        "size",
        "--global-batch",
        "256",
        "--json",
        "--profiles",
        profiles,
    ];
    let json = run_in(&root, &args).json();
    assert_eq!(json["limits"], serde_json::json!(["free", "maximum"]));
    assert_eq!(json["sizes"], serde_json::json!([196, 60]));
}
