use proptest::prelude::*;

use super::*;

#[test]
fn a_missing_column_is_answered_with_near_names() {
    let near = "no column `sped`; did you mean `speed`? the columns are `speed`, `cpu`, `mem`";
    refused(PLAIN, "--target sped", &["line 1", near]);
    for flags in ["--inputs CPU", "--session CPU", "--time CPU"] {
        let flags = format!("--target speed {flags}");
        refused(PLAIN, &flags, &["no column `CPU`; did you mean `cpu`?"]);
    }
    refused(
        "speed|cpu\n1|2\n",
        "--target speed",
        &["commas, semicolons or tabs"],
    );
}

#[test]
fn a_header_and_rows_are_needed() {
    let flags = "--target speed --inputs cpu";
    for empty in ["", "\u{feff}", "\r\n\n"] {
        refused(empty, flags, &["the file is empty", "`speed,cpu`"]);
    }
    refused(packed(""), flags, &["the file is empty"]);
    refused("\nspeed,cpu\n", flags, &["line 2", "no rows follow"]);
    refused(
        "1,2\n3,4\n",
        flags,
        &["line 1", "header is missing", "`speed,cpu`"],
    );
    let doubled = "speed,speed,cpu\n1,1,1\n";
    refused(doubled, flags, &["line 1", "`speed` is there twice"]);
    assert_eq!(
        read_one("speed\n1\n2\n3\n", "--target speed").lines,
        [[2, 3, 4]]
    );
}

#[test]
fn text_where_a_number_must_be_is_named() {
    let flags = "--target speed --inputs cpu";
    let rows = "speed,cpu,note\n1,2,x\n2,fast,y\n";
    let says = ["line 3", "column `cpu`", "`fast` is not a number"];
    refused(rows, flags, &says);
    assert_eq!(values(&read_one(rows, "--target speed"), 0), [[1.0, 2.0]]);
    refused(
        "speed,cpu\n\"1,5\",2\n",
        flags,
        &["line 2", "column `speed`", "`1,5`", "not a comma"],
    );
    refused(
        "speed,cpu\n1,2\n1\n",
        flags,
        &["line 3", "1 cells", "has 2"],
    );
    refused(
        "speed,cpu\n1,\"2\n3,4\n",
        flags,
        &["line 2", "cell 2", "closing quote"],
    );
    refused(b"speed,cpu\n1,\xff\n", flags, &["line 2", "not UTF-8"]);
    refused(b"\xff\xfes\x00", flags, &["UTF-16"]);
}

#[test]
fn flags_that_name_no_series_are_wrong_usage() {
    let error = |flags| read_files(&[("log.csv", PLAIN.as_bytes())], flags).unwrap_err();
    for flags in [
        "--target ,",
        "--target speed,speed",
        "--target speed --inputs cpu,speed",
    ] {
        assert_eq!(ExitCode::from(&error(flags)), ExitCode::Usage, "{flags}");
    }
    assert!(matches!(error("--target ,"), Error::NoTarget));
    assert!(Flags::try_parse_from(["lbbsp"]).is_err());
    let absent = [PathBuf::from("absent.csv")];
    let error = Flags::of("--target speed").read(&absent).unwrap_err();
    assert!(matches!(error, Error::Read { .. }));
}

/// Reads the bytes as a log, and checks what was read.
fn read_or_refuse(bytes: &[u8], flags: &str) {
    let flags = Flags::of(flags);
    let series = named_series(&flags.names.target, &flags.names.inputs).unwrap();
    let Ok(sessions) = sessions(bytes, &series, &flags.columns) else {
        return;
    };
    assert!(!sessions.is_empty());
    for session in sessions {
        let rows = session.lines.len();
        assert!(rows > 0 && session.lines.is_sorted());
        assert!(session.values.iter().all(|values| values.len() == rows));
        if let Some(times) = &session.times {
            assert!(times.len() == rows && times.is_sorted());
            assert!(behind_gaps(times).iter().all(|&row| 0 < row && row < rows));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_or_refuse(&bytes, "--target speed");
    }

    #[test]
    fn anything_like_a_log_is_read_or_refused(
        header in "(t,speed,id|t;speed;id|id\tspeed\tt|speed,t,id,speed2)",
        rows in prop::collection::vec("[-0-9.,;\t\"aN:T \re\u{0}é]{0,14}", 0..6),
        numbers in prop::collection::vec((any::<f64>(), any::<f64>(), 0..3), 0..4),
        flags in "(--time t)? (--session id)? (--inputs t)?",
    ) {
        let mut text = format!("{header}\n");
        for (t, speed, id) in numbers {
            text.push_str(&format!("{t},{speed},{id}\n"));
        }
        text.push_str(&rows.join("\n"));
        read_or_refuse(text.as_bytes(), &format!("--target speed {flags}"));
    }
}
