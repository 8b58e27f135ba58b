use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use crate::*;

/// Replays a trace file of these bytes, called bad.csv.
fn replayed(bytes: impl AsRef<[u8]>, more: &[&str]) -> Ran {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("bad.csv"), bytes).unwrap();
    let args = [
        "replay",
        "bad.csv",
        "--global-batch",
        "8",
        "--iterations",
        "3",
        "--json",
    ];
    run_in(folder.path(), &[&args, more].concat())
}

fn refused(bytes: impl AsRef<[u8]>, parts: &[&str]) {
    let parts = [&["bad.csv: "], parts].concat();
    replayed(bytes, &[]).refused(INPUT, &parts);
}

/// The iteration times of the second policy, which say what was read.
fn read(bytes: impl AsRef<[u8]>, more: &[&str]) -> Value {
    replayed(bytes, more).json()["policies"][1]["mean_iteration_s"].clone()
}

const PLAIN: &str = "t,speed\n0,2\n1,4\n2.5,1\n";

#[test]
fn a_file_may_come_from_any_editor_or_spreadsheet() {
    let expected = read(PLAIN, &[]);
    for same in [
        "\u{feff}t,speed\n0,2\n1,4\n2.5,1\n",
        "t,speed\r\n0,2\r\n1,4\r\n2.5,1\r\n",
        "t,speed\r0,2\r1,4\r2.5,1\r",
        "t,speed\n0,2\n1,4\n2.5,1",
        "\n\nt,speed\n\n0,2\n \n1,4\n2.5,1\n\n",
        "t;speed\n0;2\n1;4\n2.5;1\n",
        "t\tspeed\n0\t2\n1\t4\n2.5\t1\n",
        "\"t\", speed \n\"0\", 2 \n1,\"4\"\n2.5,1e0\n",
        "speed,note,t\n2,a,0\n4,\"b, c\",1\n1,,2.5\n",
        ",t,speed\n0,10,2\n1,11,4\n2,12.5,1\n",
        "t,speed,cpu\n0,2,\n1,4,NaN\n2.5,1,0.5\n",
    ] {
        assert_eq!(read(same, &[]), expected, "{same:?}");
    }
}

fn packed(content: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_file_may_be_packed() {
    let (head, tail) = PLAIN.split_at(10);
    let file = [packed(head), packed(tail)].concat();
    assert_eq!(read(&file, &[]), read(PLAIN, &[]));
    refused(&file[..file.len() - 3], &["gzip", "end too early"]);
    refused(b"\x1f\x8bt,speed\n0,1\n", &["gzip", "damaged"]);
}

#[test]
fn a_missing_column_is_answered_with_near_names() {
    let renamed = "time_s,Speed,cpu\n0,2,1\n";
    let near = "no column `speed`; did you mean `Speed`? the columns are `time_s`, `Speed`, `cpu`";
    replayed(renamed, &["--time", "time_s"]).refused(INPUT, &["line 1", near]);
}

#[test]
fn columns_can_have_other_names() {
    let renamed = "start,rate\n0,2\n1,4\n2.5,1\n";
    let flags = ["--time", "start", "--speed", "rate"];
    assert_eq!(read(renamed, &flags), read(PLAIN, &[]));
    refused(renamed, &["line 1", "no column `t`", "`start`, `rate`"]);
}

#[test]
fn a_header_is_needed() {
    refused("", &["the file is empty"]);
    refused("\u{feff}\r\n\r\n", &["the file is empty"]);
    refused("0,2\n1,4\n", &["line 1", "the header is missing"]);
    refused("t,speed\n", &["line 1", "no rows"]);
    refused(
        "t,rate\n0,1\n",
        &["line 1", "no column `speed`", "`t`, `rate`"],
    );
    refused(
        "t,speed,speed\n0,1,1\n",
        &["line 1", "`speed` is there twice"],
    );
    refused(
        "t|speed\n0|1\n",
        &["line 1", "`t|speed`", "commas, semicolons or tabs"],
    );
}

#[test]
fn a_bad_cell_is_named_by_line_and_column() {
    let speed = "column `speed`";
    refused("t,speed\n0,1\n1,NaN\n", &["line 3", speed, "got NaN"]);
    refused("t,speed\n0,1\n1,inf\n", &["line 3", speed, "got inf"]);
    refused(
        "t,speed\n0,1\n1,-4\n",
        &["line 3", speed, "between 0 and", "got -4"],
    );
    refused("t,speed\n0,1\n\n\n1,\n", &["line 5", speed, "empty"]);
    refused(
        "t,speed\r\n0,1\r\n1,fast\r\n",
        &["line 3", speed, "`fast` is not a number"],
    );
    refused(
        "t,speed\n0,0\n1,0\n",
        &["line 2", speed, "above 0 in at least one row"],
    );
    refused(
        "t,speed\n0,1\nNaN,1\n",
        &["line 3", "column `t`", "finite", "got NaN"],
    );
    refused("t,speed\n,1\n", &["line 2", "column `t`", "empty"]);
    refused(
        "t;speed\n0,5;1\n",
        &["line 2", "column `t`", "`0,5`", "not a comma"],
    );
    refused(
        "t,speed\n\"0\n\",1\n0,1\n",
        &["line 4", "column `t`", "above the one before"],
    );
}

#[test]
fn a_quote_that_is_not_closed_swallows_no_rows() {
    let says = ["cell 3 runs over several lines", "quote"];
    for table in [
        "t,speed,note\n0,1,\"open\n1,2,z\n",
        "t,speed,note\r\n0,1,\"open\r\n1,2,\"z\"\r\n",
        "t,speed,note\n0,1,\"open\n1,2,\"open\n2,1,x\n",
    ] {
        refused(table, &[&["line 2"], &says[..]].concat());
    }
    refused(
        "t,speed,\"note\n0,1,z\n1,2,z\n",
        &[&["line 1"], &says[..]].concat(),
    );
}

#[test]
fn times_rise_within_a_worker() {
    refused(
        "t,speed\n0,1\n2,1\n1,1\n",
        &["line 4", "column `t`", "above the one before", "got 1"],
    );
    let mixed = "t,speed,worker\n0,1,a\n0,1,b\n1,1,a\n0,1,b\n";
    refused(mixed, &["line 5", "column `t`", "above the one before"]);
    let ran = replayed("s,speed\n0,1\n0,1\n", &["--time", "s"]);
    ran.refused(INPUT, &["line 3", "column `s`"]);
}

#[test]
fn rows_are_as_long_as_the_header() {
    refused(
        "t,speed\n0,1\n1\n",
        &["line 3", "1 cells", "the header has 2"],
    );
    refused(
        "t,speed\n0,1,5\n",
        &["line 2", "3 cells", "the header has 2"],
    );
    refused("t,speed\n0;1\n", &["line 2", "1 cells", "the header has 2"]);
}

#[test]
fn text_is_utf_8() {
    refused(b"t,speed\n0,1\n1,\xff\n", &["line 3", "not UTF-8"]);
    refused(b"\xff\xfet\x00,\x00s\x00", &["line 1", "UTF-16"]);
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = folder();
    let replayed = |file| run_in(folder.path(), &["replay", file, "--global-batch", "8"]);
    replayed("absent.csv").refused(INPUT, &["cannot read absent.csv", "No such file"]);
    replayed(".").refused(INPUT, &["cannot read .", "directory"]);
}

#[test]
fn a_column_tells_workers_apart() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("one.csv", "t,worker,speed\n0,b,1\n0,a,2\n1,b,1\n1,a,2\n");
    write("two.csv", "t,speed\n0,1\n");
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    write("sub/two.csv", "t,speed\n0,1\n");
    let workers = |files: &[&str]| {
        let args = [&["replay", "--global-batch", "8", "--json"], files].concat();
        run_in(folder.path(), &args).json()["workers"].clone()
    };
    assert_eq!(workers(&["one.csv"]), serde_json::json!(["b", "a"]));
    let expected = serde_json::json!(["one/b", "one/a", "two"]);
    assert_eq!(workers(&["one.csv", "two.csv"]), expected);
    let expected = serde_json::json!(["two.csv", "sub/two.csv"]);
    assert_eq!(workers(&["two.csv", "sub/two.csv"]), expected);
    let expected = serde_json::json!(["two.csv", "two.csv#2"]);
    assert_eq!(workers(&["two.csv", "two.csv"]), expected);
    replayed(PLAIN, &["--worker", "host"]).refused(INPUT, &["no column `host`"]);
    refused(
        "t,speed,worker\n0,1,\n",
        &["line 2", "column `worker`", "empty"],
    );
}

#[test]
fn only_a_driving_series_can_be_known_before() {
    let trace = "t,speed,queue,label\n0,1,3,x\n1,1,2,y\n";
    assert_eq!(replayed(trace, &["--known-before", "queue"]).code, DONE);
    assert_eq!(replayed(trace, &["--known-before", ""]).code, DONE);
    for name in ["absent", "label", "speed"] {
        let ran = replayed(trace, &["--known-before", name]);
        ran.refused(USAGE, &["--known-before", name, "bad.csv"]);
    }
}

#[test]
fn a_million_rows_are_read_in_seconds() {
    let mut text = String::from("t,speed,queue,worker\n");
    for row in 0..250_000 {
        for worker in 0..4 {
            text.push_str(&format!(
                "{}.5,{},{},w{worker}\n",
                row,
                100 + worker * 10,
                row % 7
            ));
        }
    }
    let started = std::time::Instant::now();
    assert_eq!(replayed(text, &[]).code, DONE);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn what_a_file_holds_cannot_steer_the_terminal() {
    let ran = replayed("t,\u{1b}[2Jspeed\n0,1\n", &[]);
    assert_eq!(ran.code, INPUT);
    assert!(!ran.stderr.contains('\u{1b}'));
}

fn outcome_of(bytes: &[u8]) {
    let ran = replayed(bytes, &[]);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    // A speed of next to nothing may make the job infeasible, nothing else but the file can be wrong.
    assert!(
        [DONE, INPUT].contains(&ran.code),
        "{}: {}",
        ran.code,
        ran.stderr
    );
    assert_eq!(ran.code == DONE, ran.stderr.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        outcome_of(&bytes);
    }

    #[test]
    fn anything_like_a_trace_is_read_or_refused(
        header in "(t,speed|t;speed|t,speed,worker|speed,t,queue)",
        rows in prop::collection::vec("[-0-9.,;\"aN \re\u{0}é]{0,12}", 0..6),
        numbers in prop::collection::vec((any::<f64>(), any::<f64>()), 0..4),
    ) {
        let mut text = format!("{header}\n");
        for (t, speed) in numbers {
            text.push_str(&format!("{t},{speed}\n"));
        }
        text.push_str(&rows.join("\n"));
        outcome_of(text.as_bytes());
    }
}
