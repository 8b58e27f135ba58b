use lbbsp::narx::{Covariance, Forecaster, Guarded, Narx, Online, Scores};

use crate::*;

const LEARNERS: [&str; 3] = ["corrected", "guarded", "online"];

/// Of the models of a back-test, those that learn as they go.
fn learners(json: &Value) -> Vec<&Value> {
    let models = json["models"].as_array().unwrap();
    let learns = |model: &&Value| LEARNERS.contains(&model["name"].as_str().unwrap());
    models.iter().filter(learns).collect()
}

fn rmse(json: &Value, name: &str) -> f64 {
    let models = json["models"].as_array().unwrap();
    let model = models.iter().find(|model| model["name"] == name);
    model.unwrap()["rmse"].as_f64().unwrap()
}

/// The header and some rows of a log of 300 rows.
fn part(rows: std::ops::Range<usize>) -> String {
    let log = log(300);
    let lines: Vec<&str> = log.lines().collect();
    [&lines[..1], &lines[1 + rows.start..1 + rows.end]]
        .concat()
        .join("\n")
        + "\n"
}

#[test]
fn forecasters_that_learn_as_they_go_are_scored_on_the_same_rows() {
    let folder = trained(300);
    for line in [
        "backtest log.csv --model model.json --online",
        "backtest log.csv --model model.json --online --horizon 4",
        "backtest log.csv --target speed --inputs cpu,mem --lags mem=none,cpu=0 --online",
    ] {
        let text = line_in(folder.path(), line).stdout;
        let json = line_in(folder.path(), &format!("{line} --json")).json();
        assert_eq!(learners(&json).len(), 3, "{line}");
        let models = json["models"].as_array().unwrap();
        assert!(models.iter().all(|model| model["rows"] == 120), "{line}");
        assert!(
            LEARNERS
                .iter()
                .all(|name| text.contains(&format!("| {name} ")))
        );
        let last = rmse(&json, "last");
        assert!(
            rmse(&json, "guarded") < last && rmse(&json, "online") < last,
            "{line}"
        );
    }
    let json = line_in(folder.path(), "backtest log.csv --model model.json --json").json();
    assert!(learners(&json).is_empty());
}

#[test]
fn of_many_weights_some_have_no_covariance() {
    let folder = trained(200);
    let path = folder.path();
    let many = TRAIN.replace("--hidden 4", "--hidden 30 --max-epochs 5");
    assert_eq!(line_in(path, &many).code, DONE);
    let json = line_in(path, "backtest log.csv --model model.json --online --json").json();
    assert_eq!(learners(&json).len(), 3);
    let line =
        "backtest log.csv --target speed --lags speed=1..70 --online --json --baselines last";
    assert_eq!(learners(&line_in(path, line).json()).len(), 3);
}

#[test]
fn on_a_recorded_trace_the_guarded_forecaster_beats_the_rules() {
    let folder = folder();
    for trace in ["bursts", "periodic", "quota", "sine"] {
        let line =
            format!("backtest {trace}.csv --target speed --inputs running_before --online --json");
        let json = line_in(folder.path(), &line).json();
        let best = ["last", "ema", "ema-adaptive", "ar", "arx"].map(|name| rmse(&json, name));
        let best = best.into_iter().fold(f64::MAX, f64::min);
        // Measured: 0.98, 0.92, 0.97 and 1.007 times the best rule.
        let guarded = rmse(&json, "guarded");
        assert!(guarded < 1.02 * best, "{trace}: {guarded} {best}");
    }
}

#[test]
fn intervals_are_judged_beside_the_forecasts() {
    let folder = trained(300);
    let path = folder.path();
    let line = "backtest log.csv --model model.json --online --intervals 0.8";
    for horizon in [1, 3] {
        let json = line_in(path, &format!("{line} --horizon {horizon} --json")).json();
        assert_eq!(json["intervals"], 0.8);
        for model in json["models"].as_array().unwrap() {
            let intervals = &model["intervals"];
            assert_eq!(intervals["rows"], 120);
            let coverage = intervals["coverage"].as_f64().unwrap();
            assert!((coverage - 0.8).abs() < 0.08, "{model}");
            assert!(intervals["interval_score"].as_f64() > intervals["mean_width"].as_f64());
        }
    }
    let text = line_in(path, line).stdout;
    assert!(
        text.contains("interval score |") && text.contains("hold 80 % of"),
        "{text}"
    );
    let plain = line_in(path, "backtest log.csv --model model.json --json").json();
    assert!(plain["intervals"].is_null() && plain["models"][0]["intervals"].is_null());
    for share in ["0.4", "1", "NaN", "-1"] {
        let line = format!("backtest log.csv --model model.json --intervals {share}");
        line_in(path, &line).refused(USAGE, &["from 0.5 to 0.999"]);
    }
}

#[test]
fn the_picture_of_the_members_names_all_five() {
    let folder = trained(200);
    let path = folder.path();
    let picture = path.join("out/members.svg");
    let line = "backtest log.csv --model model.json --plot out";
    assert_eq!(line_in(path, line).code, DONE);
    assert!(!picture.exists());
    let text = line_in(path, &format!("{line} --online")).stdout;
    assert!(text.contains("members.svg"), "{text}");
    let picture = std::fs::read_to_string(picture).unwrap();
    for part in [
        "last value",
        "average",
        "linear",
        "online",
        "corrected",
        "first row scored",
    ] {
        assert!(picture.contains(part), "{part}");
    }
    assert!(!picture.contains("NaN"));
}

#[test]
fn a_state_goes_on_as_if_it_had_never_stopped() {
    let folder = trained(200);
    let path = folder.path();
    // Missing cells are among what a state remembers.
    let first = part(0..200).replace("199,", "199,,,");
    let first = first.lines().map(|line| match line.starts_with("199,,,") {
        true => "199,,,64\n".to_owned(),
        false => format!("{line}\n"),
    });
    std::fs::write(path.join("log.csv"), first.collect::<String>()).unwrap();
    std::fs::write(path.join("rest.csv"), part(200..300)).unwrap();
    let ran = line_in(path, &format!("{TRAIN} --online-state state.json"));
    assert!(
        ran.stdout
            .contains("wrote state.json: an online forecaster of `speed` after 200 rows")
    );
    let line = "backtest rest.csv --online-state state.json --json";
    let json = line_in(path, line).json();
    assert_eq!(names(&json["models"], "name").len(), 5);
    assert_eq!(json["split"]["scored_rows"], 99);

    let model = Narx::from_json(&std::fs::read(path.join("model.json")).unwrap()).unwrap();
    let online = Online::warm(&model, Covariance::Full).unwrap();
    let mut guarded = Guarded::around(online).unwrap();
    let (mut truth, mut forecasts) = (Vec::new(), Vec::new());
    for (row, line) in part(0..300).lines().skip(1).enumerate() {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let (speed, cpu) = if row == 199 {
            (f64::NAN, f64::NAN)
        } else {
            (cells[1], cells[2])
        };
        let mut forecast = [f64::NAN];
        guarded.forecast(&[cpu], &mut forecast);
        guarded.observe(speed, &[cpu]);
        // The last value of the first new row is not known to the rule of that name.
        if row > 200 {
            truth.push(speed);
            forecasts.push(forecast[0]);
        }
    }
    let never_stopped = Scores::of(&truth, &forecasts, f64::NAN).unwrap();
    assert_eq!(
        rmse(&json, "guarded").to_bits(),
        never_stopped.rmse.to_bits()
    );
}

#[test]
fn a_state_is_described() {
    let folder = trained(200);
    let path = folder.path();
    assert_eq!(
        line_in(path, &format!("{TRAIN} --online-state state.json")).code,
        DONE
    );
    let text = line_in(path, "inspect state.json").stdout;
    for part in [
        "state.json is an online forecaster of `speed` after 200 rows",
        "| cpu    | input  | 0 and 1 |",
        "| last value |",
        "8 hidden tanh units",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = line_in(path, "inspect state.json --json").json();
    assert_eq!((&json["format"], &json["rows"]), (&1.into(), &200.into()));
    assert_eq!(json["inputs"], serde_json::json!(["cpu"]));
    let weights = json["members"].as_array().unwrap();
    let sum: f64 = weights
        .iter()
        .map(|it| it["weight"].as_f64().unwrap())
        .sum();
    assert_eq!(weights[0]["member"], "last_value");
    assert!((sum - 1.0).abs() < 1e-12, "{sum}");
}

#[test]
fn a_broken_or_foreign_state_is_refused() {
    let folder = trained(200);
    let path = folder.path();
    assert_eq!(
        line_in(path, &format!("{TRAIN} --online-state state.json")).code,
        DONE
    );
    let file = path.join("state.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let tried = "backtest log.csv --online-state state.json";
    for (broken, says) in [
        (
            text[..text.len() / 2].to_owned(),
            "the file is cut off at line 1",
        ),
        (
            text.replace("\"format\":1", "\"format\":2"),
            "format 2, format 1 is needed",
        ),
        (
            text.replace("[\"cpu\"]", "[]"),
            "0 inputs have names, the forecaster takes 1",
        ),
        (text.replace("[\"cpu\"]", "[\"speed\"]"), "named twice"),
        (
            text.replace("\"rows\":200", "\"rows\":-1"),
            "line 1, column",
        ),
        (
            text.replace("\"gap\":", "\"gap\":-"),
            "`mixture` must be finite and not negative",
        ),
        (
            "{}".to_owned(),
            "its field `kind` should be `lbbsp-online-state`",
        ),
    ] {
        assert!(broken != text, "{says}");
        std::fs::write(&file, broken).unwrap();
        line_in(path, tried).refused(INPUT, &["state.json: ", says]);
    }
    line_in(path, &tried.replace("state.json", "model.json")).refused(INPUT, &["`kind`"]);
    std::fs::write(&file, &text).unwrap();
    for line in [
        "backtest log.csv --model",
        "forecast log.csv --horizon 1 --model",
    ] {
        let ran = line_in(path, &format!("{line} state.json"));
        ran.refused(
            INPUT,
            &["state.json is the state of an online forecaster, not a model"],
        );
    }
}

#[test]
fn what_cannot_go_on_learning_is_refused() {
    let folder = trained(200);
    let path = folder.path();
    let small = "--starts 1 --hidden 2 --max-epochs 3 -o two.json";
    let two = format!("train log.csv --target speed,mem {small}");
    let many = "train log.csv --target speed --starts 3 --hidden 22 --max-epochs 3 -o many.json";
    let online = "backtest log.csv --online --model";
    assert_eq!(line_in(path, &two).code, DONE);
    let says = [
        "two.json cannot go on learning",
        "one output",
        "one model for each target",
    ];
    line_in(path, &format!("{online} two.json")).refused(INPUT, &says);
    assert_eq!(line_in(path, many).code, DONE);
    let says = [
        "many.json cannot go on learning",
        "at most 64, got 66",
        "smaller `--average`",
    ];
    line_in(path, &format!("{online} many.json")).refused(INPUT, &says);
    // Known before the training, so nothing is written.
    for file in ["two.json", "many.json"] {
        std::fs::remove_file(path.join(file)).unwrap();
    }
    let state = "--online-state state.json";
    let ran = line_in(path, &format!("{two} {state}"));
    ran.refused(USAGE, &["`--online-state`", "one model for each target"]);
    let ran = line_in(path, &format!("{many} {state}"));
    ran.refused(USAGE, &["`--online-state`", "got 66", "`--average`"]);
    assert!(!path.join("two.json").exists() && !path.join("many.json").exists());
    assert_eq!(
        line_in(path, &format!("{many} {state} --average 1")).code,
        DONE
    );
    std::fs::write(path.join("other.csv"), log(50)).unwrap();
    let ran = line_in(
        path,
        &format!("{TRAIN} {state}").replace("log.csv", "log.csv other.csv"),
    );
    ran.refused(USAGE, &["state of one worker", "the logs have 2"]);
    let tried = format!("backtest log.csv {state}");
    line_in(path, &tried.replace("log.csv", "log.csv other.csv")).refused(USAGE, &["have 2"]);
    line_in(path, &format!("{tried} --baselines arx")).refused(USAGE, &["`arx` learns"]);
    line_in(path, &format!("{tried} --model many.json")).refused(USAGE, &["cannot be used with"]);
    line_in(path, &format!("{tried} --target speed")).refused(USAGE, &["cannot be used with"]);
}

#[test]
fn a_log_is_not_written_over_by_a_state() {
    let folder = trained(60);
    let before = std::fs::read(folder.path().join("log.csv")).unwrap();
    let ran = line_in(folder.path(), &format!("{TRAIN} --online-state log.csv"));
    ran.refused(USAGE, &["`--online-state log.csv` is one of the logs"]);
    assert_eq!(
        std::fs::read(folder.path().join("log.csv")).unwrap(),
        before
    );
}

#[test]
fn two_files_of_a_training_are_not_one() {
    let folder = trained(60);
    for (line, flags) in [
        (
            "--online-state new.json --plot new.json",
            "`--plot` and `--online-state`",
        ),
        ("--online-state model.json", "`--out` and `--online-state`"),
    ] {
        let model = std::fs::read(folder.path().join("model.json")).unwrap();
        let ran = line_in(folder.path(), &format!("{TRAIN} {line}"));
        ran.refused(USAGE, &[flags, "each needs its own"]);
        assert_eq!(
            std::fs::read(folder.path().join("model.json")).unwrap(),
            model
        );
    }
}
