use super::*;

#[test]
fn a_gap_becomes_a_row_of_missing_values() {
    let rows = "t,speed,cpu\n0,1,5\n1,2,5\n2,3,5\n4,4,5\n5,5,5\n9.5,6,5\n";
    let log = read_one(rows, "--target speed --inputs cpu --time t");
    let speeds = vec![1.0, 2.0, 3.0, -1.0, 4.0, 5.0, -1.0, 6.0];
    let cpu = vec![5.0, 5.0, 5.0, -1.0, 5.0, 5.0, -1.0, 5.0];
    assert_eq!(values(&log, 0), [speeds, cpu]);
    assert_eq!(log.gaps, [2]);
    assert_eq!((log.rows(), log.recorded(0, 2..5)), (6, 2));
    assert_eq!(log.lines, [[2, 3, 4, 5, 5, 6, 7, 7]]);
    assert_eq!(read_one(rows, "--target speed").gaps, [0]);
}

#[test]
fn a_gap_is_as_wide_as_the_longest_lag() {
    let rows = "t,speed\n0,1\n1,2\n2,3\n4,4\n5,5\n";
    let log = read_one(rows, "--target speed --time t --reach 3");
    let speeds = [1.0, 2.0, 3.0, -1.0, -1.0, -1.0, 4.0, 5.0];
    assert_eq!(values(&log, 0), [speeds]);
    assert_eq!(log.lines, [[2, 3, 4, 5, 5, 5, 5, 6]]);
    assert_eq!((log.rows(), log.recorded(0, 3..7)), (5, 1));
    // All five rows are not enough for a lag of six.
    let log = read_one(rows, "--target speed --time t --reach 6");
    assert_eq!((log.series.sessions()[0].len(), &log.gaps), (5, &vec![1]));
    let log = read_one(rows, "--target speed --time t --reach 0");
    assert_eq!((log.rows(), log.gaps), (5, vec![1]));
}

#[test]
fn each_session_has_its_own_clock() {
    let mixed = "t,id,speed\n10,a,1\n0,b,1\n11,a,1\n100,b,1\n12,a,1\n200,b,1\n14,a,1\n";
    let log = read_one(mixed, "--target speed --session id --time t");
    assert_eq!(log.gaps, [1, 0]);
    let equal = "t,speed\n0,1\n0,2\n1,3\n1,4\n2,5\n2,6\n";
    assert_eq!(read_one(equal, "--target speed --time t").gaps, [0]);
}

#[test]
fn times_may_be_dates() {
    let rows = "when,speed\n2013-07-01 00:00:00,1\n2013-07-01T00:05:00,2\n\
                2013-07-01 00:10:00,3\n2013-07-01 00:20:00Z,4\n";
    let log = read_one(rows, "--target speed --time when");
    assert_eq!(values(&log, 0), [[1.0, 2.0, 3.0, -1.0, 4.0]]);
    let comma = "when;speed\n0,5;1\n1,0;2\n1,5;3\n2,5;4\n";
    let log = read_one(comma, "--target speed --time when");
    assert_eq!(values(&log, 0), [[1.0, 2.0, 3.0, -1.0, 4.0]]);
}

#[test]
fn times_do_not_decrease() {
    let flags = "--target speed --time t";
    refused(
        "t,speed\n0,1\n2,1\n\n1,1\n",
        flags,
        &[
            "line 5",
            "column `t`",
            "`1` is before that of line 3",
            "--session",
        ],
    );
    let mixed = "t,speed,id\n0,1,a\n5,1,b\n1,1,a\n4,1,b\n";
    let error = read_files(
        &[("log.csv", mixed.as_bytes())],
        &format!("{flags} --session id"),
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("line 5") && error.contains("line 3"),
        "{error}"
    );
    assert!(!error.contains("--session"), "{error}");
    let backward = "t,speed\n2013-07-01 00:05:00,1\n2013-07-01 00:00:00,1\n";
    refused(
        backward,
        flags,
        &["line 3", "`2013-07-01 00:00:00`", "line 2"],
    );
}

#[test]
fn every_row_has_a_time() {
    let flags = "--target speed --time t";
    refused("t,speed\n0,1\n,2\n", flags, &["line 3", "`t`", "empty"]);
    for cell in ["noon", "NaN", "inf", "NA", "2013-02-30", "00:05:00"] {
        let rows = format!("t,speed\n{cell},1\n");
        let says = format!("`{cell}` is not a time");
        refused(rows, flags, &["line 2", "column `t`", &says]);
    }
}
