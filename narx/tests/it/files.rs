//! Model files: read back to the bit, and refused if they are anything else.

use narx::{
    ClosedLoop, Config, Error, FileFault, Loss, Narx, Options, Part, Scaling, Series, Session,
    Skip, Target, Training, Validation, train_with,
};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

use crate::judge_noise::white;
use crate::plants::{bits, config, linear, one_session, one_step, planted, planted_config, train};

const NAN: f64 = f64::NAN;

fn small() -> Narx {
    let (y, u) = planted(1, 60);
    let mut settings = planted_config();
    settings.training.max_epochs = 5;
    train(&one_session(y, vec![u, vec![2.0; 60]]), &settings).0
}

fn fault(text: impl AsRef<[u8]>) -> FileFault {
    match Narx::from_json(text.as_ref()) {
        Err(Error::File(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

/// Changes the text of a model and puts in the checksum that belongs to it.
fn forged(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    let text = text.replacen(from, to, 1);
    let start = text.find("\"model\": ").unwrap() + "\"model\": ".len();
    let end = text.rfind('}').unwrap();
    let (mut compact, mut quoted) = (String::new(), false);
    for letter in text[start..end].chars() {
        quoted ^= letter == '"';
        if quoted || !letter.is_whitespace() {
            compact.push(letter);
        }
    }
    let hash = Sha256::digest(compact);
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let place = text.find("\"sha256\": \"").unwrap() + "\"sha256\": \"".len();
    format!("{}{hash}{}", &text[..place], &text[place + 64..])
}

#[test]
fn a_model_read_back_is_the_model() {
    let (y, u) = planted(1, 120);
    let positive: Vec<f64> = y.iter().map(|y| y.exp()).collect();
    let series = one_session(positive, vec![u, vec![1.0; 120], white(7, 120)]);
    let base = config(&[1, 2], &[&[0, 3], &[0], &[1]], 3);
    let mut closed = base.clone();
    closed.training = Training {
        starts: Some(2),
        closed_loop: Some(ClosedLoop {
            horizons: vec![4, usize::MAX],
            max_epochs: 3,
        }),
        seed: u64::MAX,
        ..Training::closed_loop()
    };
    let mut robust = base.clone();
    robust.scaling = Scaling::Robust;
    robust.target = Target::Log;
    robust.skip = Skip::LastValue;
    robust.training.loss = Loss::Huber { threshold: 1.345 };
    robust.training.validation = Validation::Folds { folds: 2 };
    let constant = one_session(vec![1.0 / 3.0; 120], vec![white(1, 120); 3]);
    for (series, settings) in [
        (&series, base.clone()),
        (&series, closed),
        (&series, robust),
        (&series, base.linear()),
        (&constant, base.clone()),
    ] {
        let (model, report) = train(series, &settings);
        let text = model.to_json();
        let read = Narx::from_json(text.as_bytes()).unwrap();
        assert_eq!(read, model);
        assert_eq!(read.to_json(), text);
        assert_eq!((read.config(), read.report()), (&settings, &report));
        assert_eq!(
            bits(&one_step(&read, series)),
            bits(&one_step(&model, series))
        );
        let free = |model: &Narx| bits(model.free_run(series, 0).unwrap().of(0, 0));
        assert_eq!(free(&read), free(&model));
        assert_eq!(read.seen(series).unwrap(), series.all());
    }
}

#[test]
fn a_file_cut_off_anywhere_is_told_as_such() {
    let text = small().to_json();
    for end in (0..text.len() - 1).step_by(50).chain([text.len() - 2]) {
        assert!(
            matches!(fault(&text[..end]), FileFault::CutOff { .. }),
            "{end}"
        );
    }
    // The last line needs no end.
    assert!(Narx::from_json(text.trim_end().as_bytes()).is_ok());
}

#[test]
fn any_changed_digit_is_found() {
    let model = small();
    let text = model.to_json();
    let mut found = 0;
    for (place, byte) in text
        .bytes()
        .enumerate()
        .filter(|(_, byte)| byte.is_ascii_digit())
    {
        let mut other = text.clone().into_bytes();
        other[place] = if byte == b'9' { b'1' } else { byte + 1 };
        match Narx::from_json(&other) {
            Err(Error::File(_)) => found += 1,
            // The digit is beyond what a number holds: it reads as the same one.
            Ok(read) => assert_eq!(read, model),
            Err(error) => panic!("{error:?}"),
        }
    }
    assert!(found > 400, "{found}");
}

#[test]
fn a_changed_or_foreign_field_is_found() {
    let text = small().to_json();
    let edited = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        fault(text.replacen(from, to, 1))
    };
    assert_eq!(edited("\"u0\"", "\"u1\""), FileFault::Edited);
    assert_eq!(edited("\"none\"", "\"linear\""), FileFault::Edited);
    assert_eq!(edited("\"narx-model\"", "\"other\""), FileFault::NotAModel);
    assert_eq!(
        edited("\"version\": 1", "\"version\": 2"),
        FileFault::Version { got: 2 }
    );
    assert_eq!(edited("\"version\": 1,", ""), FileFault::Version { got: 0 });
    for (from, to) in [
        ("\"weights\"", "\"weihgts\""),
        ("\"hidden\": 2", "\"hidden\": -2"),
        ("\"hidden\": 2", "\"hidden\": 2.5"),
        ("\"hidden\": 2", "\"hidden\": 1e99"),
        ("\"hidden\": 2", "\"hidden\": 2, \"hidden\": 2"),
        ("\"hidden\": 2", "\"hidden\": \"2\""),
        ("\"version\": 1", "\"version\": \"1\""),
        ("\"none\"", "\"some\""),
    ] {
        assert!(
            matches!(edited(from, to), FileFault::NotReadable { line, .. } if line > 0),
            "{to}"
        );
    }
    let other = "{\"format\": \"narx-model\", \"version\": 7, \"anything\": [1]}";
    assert_eq!(fault(other), FileFault::Version { got: 7 });
    for text in ["{}", "{\"version\": 1}", "{\"a\": [[[]]]}"] {
        assert_eq!(fault(text), FileFault::NotAModel);
    }
    for text in ["", " ", "{", "[", "\"narx"] {
        assert!(matches!(fault(text), FileFault::CutOff { .. }), "{text}");
    }
    for text in ["x", "7", "null", "\"narx-model\"", "{} {}", "\u{feff}{}"] {
        assert!(
            matches!(fault(text), FileFault::NotReadable { .. }),
            "{text}"
        );
    }
    assert!(matches!(
        fault([0xff, 0xfe, 0x00]),
        FileFault::NotReadable { .. }
    ));
    let deep = "[".repeat(100_000);
    assert!(matches!(fault(deep), FileFault::NotReadable { .. }));
}

#[test]
fn parts_that_do_not_fit_are_found_even_with_the_right_checksum() {
    let text = small().to_json();
    // The forger is good: an innocent change is read.
    let innocent = forged(&text, "\"u0\"", "\"cpu\"");
    let read = Narx::from_json(innocent.as_bytes()).unwrap();
    assert_eq!(read.inputs().next().unwrap().0, "cpu");
    let weight = text.split("\"weights\": [").nth(1).unwrap();
    let weight = weight.split(',').next().unwrap().trim().to_owned();
    let spread = text.split("\"spread\": ").nth(1).unwrap();
    let spread = format!("\"spread\": {}", spread.split(',').next().unwrap());
    let outputs = text.split("\"outputs\": ").nth(1).unwrap();
    let outputs = format!(
        "\"outputs\": {}",
        outputs.split("\"inputs\"").next().unwrap()
    );
    let lags = "\"lags\": [\n          1,\n          2\n        ]";
    for (from, to) in [
        (weight.as_str(), "1.0,\n2.0".to_owned()),
        ("\"hidden\": 2", "\"hidden\": 3".to_owned()),
        ("\"hidden\": 2", format!("\"hidden\": {}", usize::MAX)),
        ("\"hidden\": 2", "\"hidden\": 1000000000000".to_owned()),
        ("\"hidden\": 2", "\"hidden\": 0".to_owned()),
        (lags, "\"lags\": [2, 1]".to_owned()),
        (lags, "\"lags\": [0, 1]".to_owned()),
        (lags, "\"lags\": [1, 1]".to_owned()),
        (lags, "\"lags\": [1, 3]".to_owned()),
        (lags, format!("\"lags\": [1, {}]", usize::MAX)),
        (lags, "\"lags\": []".to_owned()),
        (spread.as_str(), "\"spread\": 0.0".to_owned()),
        (spread.as_str(), "\"spread\": -1.0".to_owned()),
        (spread.as_str(), "\"spread\": 2.0".to_owned()),
        (outputs.as_str(), "\"outputs\": [],".to_owned()),
        ("\"max_failures\": 6", "\"max_failures\": 0".to_owned()),
        ("\"output_rmse\": [", "\"output_rmse\": [1.0,".to_owned()),
        ("\"none\"", "\"linear\"".to_owned()),
    ] {
        let text = forged(&text, from, &to);
        let fault = fault(&text);
        assert!(matches!(fault, FileFault::Misfit { .. }), "{to}: {fault:?}");
    }
    // Rows that no data set has.
    let rows = forged(&text, "\"end\": 60", &format!("\"end\": {}", usize::MAX));
    let (y, u) = planted(1, 60);
    let series = one_session(y, vec![u]);
    let model = Narx::from_json(rows.as_bytes()).unwrap();
    assert!(model.seen(&series).unwrap().is_empty());
    let rows = forged(
        &text,
        "\"start\": 0,\n        \"end\"",
        "\"start\": 61,\n        \"end\"",
    );
    let model = Narx::from_json(rows.as_bytes()).unwrap();
    assert!(model.seen(&series).unwrap().is_empty());
}

#[test]
fn large_numbers_in_a_file_take_no_memory() {
    let text = small().to_json();
    let files = [
        forged(&text, "\"hidden\": 2", "\"hidden\": 1000000000000"),
        forged(
            &text,
            "\"lags\": [\n          1,\n          2",
            "\"lags\": [\n1,\n1000000000000",
        ),
        text.replacen(
            "\"weights\": [",
            &format!("\"weights\": [{}", "0.0,".repeat(10_000)),
            1,
        ),
    ];
    for file in files {
        let used = allocation_counter::measure(|| {
            Narx::from_json(file.as_bytes()).unwrap_err();
        });
        assert!(used.bytes_max < 2_000_000, "{used:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_bytes_are_no_model(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        fault(bytes);
    }

    #[test]
    fn a_file_with_random_changes_is_refused_or_the_same(
        changes in prop::collection::vec((0.0..1.0_f64, any::<u8>()), 1..4), cut in any::<bool>(),
    ) {
        let model = small_once();
        let mut text = model.to_json().into_bytes();
        for (place, byte) in changes {
            let place = (place * text.len() as f64) as usize;
            text[place] = byte;
            if cut {
                text.remove(place);
            }
        }
        match Narx::from_json(&text) {
            Ok(read) => prop_assert_eq!(&read, model),
            Err(Error::File(_)) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
}

fn small_once() -> &'static Narx {
    static MODEL: std::sync::OnceLock<Narx> = std::sync::OnceLock::new();
    MODEL.get_or_init(small)
}

#[test]
fn an_error_names_the_line() {
    let text = small().to_json();
    let place = text.find("\"weights\"").unwrap();
    let line = text[..place].lines().count();
    let broken = text.replacen("\"weights\": [", "\"weights\": [true,", 1);
    let fault = fault(broken);
    assert!(
        matches!(&fault, FileFault::NotReadable { line: got, .. } if *got == line),
        "{fault}"
    );
    assert!(!format!("{fault}").contains(" at line "));
}

fn linear_model(series: &Series, part: &Part) -> Narx {
    let settings: Config = config(&[1, 2], &[&[1]], 0).linear();
    train_with(series, part, &settings, &Options::default())
        .unwrap()
        .0
}

#[test]
fn a_model_knows_the_rows_that_it_was_trained_on() {
    let (y, u) = linear(1, 80, 0.2);
    let extra = white(9, 80);
    let series = |y: &[f64], u: &[f64]| one_session(y.to_vec(), vec![u.to_vec()]);
    let part = Part::of(10..60);
    let model = linear_model(&series(&y, &u), &part);
    let rows = &model.trained_rows()[0];
    assert_eq!((rows.start, rows.end, rows.sha256.len()), (10, 60, 64));
    let seen = |series: &Series| model.seen(series).unwrap();
    assert_eq!(seen(&series(&y, &u)), Part::of(10..60));
    // Grown, shortened, and too short.
    let grown = [y.clone(), vec![1.0; 50]].concat();
    assert_eq!(
        seen(&series(&grown, &[u.clone(), vec![NAN; 50]].concat())),
        Part::of(10..60)
    );
    assert_eq!(seen(&series(&y[..60], &u[..60])), Part::of(10..60));
    assert_eq!(seen(&series(&y[..59], &u[..59])), Part::of(0..0));
    assert_eq!(seen(&series(&[], &[])), Part::of(0..0));
    // Moved by a row.
    assert_eq!(seen(&series(&y[1..], &u[1..])), Part::of(0..0));
    // A changed value, in the part and outside of it.
    for (row, expected) in [(9, 10..60), (10, 0..0), (59, 0..0), (60, 10..60)] {
        for what in 0..2 {
            let (mut y, mut u) = (y.clone(), u.clone());
            let value = if what == 0 { &mut y[row] } else { &mut u[row] };
            *value = f64::from_bits(value.to_bits() + 1);
            assert_eq!(seen(&series(&y, &u)), Part::of(expected.clone()), "{row}");
        }
    }
    // Series that the model does not read do not matter, nor does their order.
    let wide = Series::new(["z", "y"], ["v", "u0"]).unwrap();
    let session = Session::new(vec![extra.clone(), y.clone()], vec![extra, u.clone()]).unwrap();
    assert_eq!(seen(&wide.with(session).unwrap()), Part::of(10..60));
    // Every missing value is the same.
    let (mut a, mut b) = (y.clone(), y.clone());
    (a[30], b[30]) = (NAN, f64::INFINITY);
    let model = linear_model(&series(&a, &u), &part);
    assert_eq!(model.seen(&series(&b, &u)).unwrap(), Part::of(10..60));
}

#[test]
fn the_sessions_of_a_model_are_found_wherever_they_are() {
    let of = |seed: u64| {
        let (y, u) = linear(seed, 50, 0.2);
        Session::of(y, vec![u]).unwrap()
    };
    let empty = || Session::of(vec![], vec![vec![]]).unwrap();
    let series = |sessions: Vec<Session>| {
        let mut series = Series::new(["y"], ["u0"]).unwrap();
        sessions.into_iter().for_each(|it| series.push(it).unwrap());
        series
    };
    let trained = series(vec![of(1), empty(), of(2), of(3)]);
    let part = Part::new(vec![0..30, 0..0, 5..50, 0..0]);
    let model = linear_model(&trained, &part);
    assert_eq!(model.trained_rows().len(), 2);
    assert_eq!(model.seen(&trained).unwrap(), part);
    let other = series(vec![of(4), of(2), of(3), empty(), of(1)]);
    let expected = [0..0, 5..50, 0..0, 0..0, 0..30];
    assert_eq!(model.seen(&other).unwrap().ranges(), expected);
    let read = Narx::from_json(model.to_json().as_bytes()).unwrap();
    assert_eq!(read.seen(&other).unwrap().ranges(), expected);
}
