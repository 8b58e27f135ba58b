use gpu_profile::{Ceiling, DeviceInfo, Error, Point, Profile};
use proptest::prelude::*;

use super::{any_seconds, profile};

const MINIMAL: &str = r#"{"schema":1,"device":{"kind":"cuda","name":"A100"},"points":[{"batch":1,"median_s":0.01},{"batch":64,"median_s":0.05}],"ceiling":{"max_verified":64}}"#;

#[test]
fn a_minimal_profile_is_read() -> Result<(), Error> {
    let points = vec![Point::new(1, 0.01), Point::new(64, 0.05)];
    let device = DeviceInfo::new("cuda", "A100");
    let expected = Profile::new(device, points, Some(Ceiling::new(64)))?;
    assert_eq!(read(MINIMAL)?, expected);
    assert_eq!(expected.points()[0].n, 1);
    Ok(())
}

#[test]
fn a_byte_order_mark_unknown_keys_and_order_do_not_matter() -> Result<(), Error> {
    let json = r#"{"points":[{"median_s":0.05,"batch":64,"later":[1e999,{}]},{"batch":1,"median_s":0.01}],
        "warnings":[],"ceiling":{"max_verified":64,"later":0.1},
        "device":{"name":"A100","kind":"cuda","later":108},"schema":1}"#;
    assert_eq!(read(&format!("\u{feff}{json}"))?, read(MINIMAL)?);
    Ok(())
}

#[test]
fn the_written_form_is_fixed() -> Result<(), Error> {
    let mut point = Point::new(8, 0.25);
    point.ci95_s = Some([0.2, 0.3]);
    point.peak_bytes = Some(u64::MAX);
    point.throttled = Some(false);
    let mut ceiling = Ceiling::new(8);
    ceiling.first_failing = Some(9);
    ceiling.cause = Some("oom".into());
    ceiling.tolerance = Some(0.01);
    let mut device = DeviceInfo::new("cuda", "A100");
    device.uuid = Some("GPU-1".into());
    device.sms = Some(108);
    let profile = Profile::new(device, vec![point], Some(ceiling))?;
    assert_eq!(profile.to_json(), WRITTEN);
    assert_eq!(read(WRITTEN)?, profile);
    Ok(())
}

const WRITTEN: &str = r#"{
  "schema": 1,
  "device": {
    "kind": "cuda",
    "name": "A100",
    "uuid": "GPU-1",
    "sms": 108
  },
  "points": [
    {
      "batch": 8,
      "n": 1,
      "median_s": 0.25,
      "ci95_s": [
        0.2,
        0.3
      ],
      "peak_bytes": 18446744073709551615,
      "throttled": false
    }
  ],
  "ceiling": {
    "max_verified": 8,
    "first_failing": 9,
    "cause": "oom",
    "tolerance": 0.01
  }
}
"#;

#[test]
fn a_foreign_schema_is_reported_before_anything_else() {
    let expected = Error::Schema {
        found: 2,
        supported: 1,
    };
    for json in [
        r#"{"schema":2}"#,
        r#"{"schema":2,"points":[{"batch":0}]}"#,
        r#"{"points":[],"device":7,"schema":2}"#,
        r#"{"schema":2,"points":["#,
    ] {
        assert_eq!(read(json), Err(expected.clone()), "{json}");
    }
    assert_eq!(
        expected.to_string(),
        "profile schema 2 is not supported, only 1 is"
    );
}

#[test]
fn what_is_not_a_profile_is_refused_with_its_place() {
    let points = |points: &str| {
        format!(r#"{{"schema":1,"device":{{"kind":"cuda","name":"A"}},"points":{points}}}"#)
    };
    let deep = "[".repeat(200_000);
    for json in [
        "",
        " \n",
        "null",
        "7",
        "[]",
        "{}",
        r#"{"schema":1}"#,
        r#"{"schema":null}"#,
        r#"{"schema":1e999}"#,
        r#"{"schema":1,"schema":2}"#,
        "\u{feff}\u{feff}{}",
        &deep,
        &format!(r#"{{"schema":1,"later":{deep}"#),
        &points(&deep),
        &points("null"),
        &points("{}"),
        &points(r#"[{"batch":1}]"#),
        &points(r#"[{"median_s":1}]"#),
        &points(r#"[{"batch":1,"median_s":NaN}]"#),
        &points(r#"[{"batch":1,"median_s":null}]"#),
        &points(r#"[{"batch":1,"median_s":"0.1"}]"#),
        &points(r#"[{"batch":1,"median_s":1e999}]"#),
        &points(r#"[{"batch":1,"median_s":-Infinity}]"#),
        &points(r#"[{"batch":1.5,"median_s":1}]"#),
        &points(r#"[{"batch":-1,"median_s":1}]"#),
        &points(r#"[{"batch":4294967296,"median_s":1}]"#),
        &points(r#"[{"batch":1,"batch":1,"median_s":1}]"#),
        &points(r#"[{"batch":1,"median_s":1,"ci95_s":[1]}]"#),
        &format!("{MINIMAL}x"),
    ] {
        let outcome = read(json);
        let shown = &json[..json.len().min(120)];
        assert!(
            matches!(&outcome, Err(Error::Json { line: 1.., message, .. }) if !message.contains(" at line ")),
            "{shown}: {outcome:?}"
        );
    }
}

#[test]
fn an_error_names_line_and_column() {
    let json = "{\n  \"schema\": 1,\n  \"device\": 7\n}";
    let Err(Error::Json { line, column, .. }) = read(json) else {
        panic!("a number is no device");
    };
    assert_eq!((line, column), (3, 13));
    let shown = read(json).unwrap_err().to_string();
    assert!(
        shown.starts_with("line 3, column 13: invalid type"),
        "{shown}"
    );
}

#[test]
fn reading_checks_what_new_checks() {
    let with = |from: &str, to: &str| read(&MINIMAL.replace(from, to));
    let time = Error::Time {
        key: "median_s",
        batch: 64,
        seconds: 0.0,
    };
    assert_eq!(with("0.05", "0"), Err(time));
    assert_eq!(with("\"batch\":1", "\"batch\":0"), Err(Error::EmptyBatch));
    let twice = Error::DuplicateBatch { batch: 64 };
    assert_eq!(with("\"batch\":1", "\"batch\":64"), Err(twice));
    let ceiling = Error::Ceiling {
        key: "max_verified",
        expected: "at least 1",
        got: 0,
    };
    assert_eq!(with("verified\":64", "verified\":0"), Err(ceiling));
    let none = r#"{"schema":1,"device":{"kind":"cuda","name":"A"},"points":[]}"#;
    assert_eq!(read(none), Err(Error::NoPoints));
}

#[test]
fn serde_makes_the_same_checks() {
    let message = |json: &str| {
        serde_json::from_str::<Profile>(json)
            .unwrap_err()
            .to_string()
    };
    assert!(message(&MINIMAL.replace("0.05", "-1")).contains("must be finite and above 0 s"));
    assert!(message(&MINIMAL.replace("\"schema\":1", "\"schema\":9")).contains("schema 9"));
    let read_by_serde: Profile = serde_json::from_str(MINIMAL).unwrap();
    assert_eq!(Ok(read_by_serde), read(MINIMAL));
}

#[test]
fn no_part_of_a_profile_is_a_profile() {
    let whole = WRITTEN.trim_end();
    for end in 0..whole.len() {
        let outcome = read(&whole[..end]);
        assert!(
            matches!(outcome, Err(Error::Json { .. })),
            "{end}: {outcome:?}"
        );
    }
}

proptest! {
    #[test]
    fn what_was_written_is_read_back_to_the_last_bit(profile in profile(1..=u32::MAX, any_seconds())) {
        let json = profile.to_json();
        let again = read(&json)?;
        prop_assert!(again.points().iter().zip(profile.points())
            .all(|(a, b)| a.median_s.to_bits() == b.median_s.to_bits()));
        prop_assert_eq!(again.to_json(), json);
        prop_assert_eq!(again, profile);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Profile::from_json(&bytes);
    }

    #[test]
    fn a_damaged_profile_is_read_or_refused(at in 0..WRITTEN.len(), byte: u8, cut in 0..9usize) {
        let mut bytes = WRITTEN.as_bytes().to_vec();
        bytes.splice(at..(at + cut).min(WRITTEN.len()), [byte]);
        if let Ok(profile) = Profile::from_json(&bytes) {
            prop_assert!(profile.largest_batch() >= 1);
        }
    }
}

fn read(json: &str) -> Result<Profile, Error> {
    Profile::from_json(json.as_bytes())
}
