use crate::*;

fn in_folder_of(log: &str, line: &str) -> (TempDir, Ran) {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("log.csv"), log).unwrap();
    let ran = line_in(folder.path(), line);
    (folder, ran)
}

#[test]
fn a_model_is_trained_tried_used_and_described() {
    let folder = trained(300);
    let path = folder.path();
    let tried = line_in(path, "backtest log.csv --model model.json --json").json();
    let place = names(&tried["models"], "name")
        .iter()
        .position(|name| *name == "narx");
    assert!(tried["models"][place.unwrap()]["fit_pct"].as_f64().unwrap() > 80.0);
    std::fs::write(path.join("next.csv"), "cpu\n1\n0\n").unwrap();
    let line = "forecast log.csv --model model.json --horizon 2 --future next.csv";
    let forecast = line_in(path, line).stdout;
    assert_eq!(forecast.lines().count(), 3);
    assert_eq!(forecast.lines().next(), Some("session,step,forecast"));
    let said = line_in(path, "inspect model.json").stdout;
    for part in [
        "forecasts `speed` from its own past (lags 1 and 2) and `cpu` (lags 0 and 1)",
        "180 in 1 session",
        "Levenberg-Marquardt",
        "seed 0",
        "unchanged since it was written",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn the_summary_tells_rows_starts_and_errors_of_new_rows() {
    let (_folder, ran) = in_folder_of(&log(300), TRAIN);
    for part in [
        "300 in 1 session, 180 to train on, 178 of them complete and used, 27 of them to judge",
        "starts   2, all averaged",
        "epochs",
        "on 120 rows held back, fit ",
        "wrote model.json",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    let (_folder, ran) = in_folder_of(&log(300), &format!("{TRAIN} --train-share 1 --json"));
    let json = ran.json();
    assert_eq!(json["report"]["rows"], 298);
    assert_eq!(json["held_back"], serde_json::json!([null]));
}

#[test]
fn a_seed_gives_one_model_whatever_the_threads() {
    let folder = trained(300);
    let path = folder.path();
    let first = std::fs::read(path.join("model.json")).unwrap();
    let args: Vec<&str> = TRAIN.split(' ').collect();
    let one_thread = lbbsp()
        .current_dir(path)
        .args(&args)
        .env("RAYON_NUM_THREADS", "1")
        .output();
    assert!(one_thread.unwrap().status.success());
    assert!(std::fs::read(path.join("model.json")).unwrap() == first);
    assert_eq!(line_in(path, &format!("{TRAIN} --seed 1")).code, DONE);
    assert!(std::fs::read(path.join("model.json")).unwrap() != first);
}

#[test]
fn flags_reach_the_model() {
    let folder = trained(300);
    let path = folder.path();
    let more = "--algorithm bayes --lags speed=1+3,cpu=0 --scaling min-max --skip none --log-target \
                --huber 1.5 --folds 3 --max-epochs 7 --average 1 --seed 5";
    let ran = line_in(path, &format!("{TRAIN} {more}"));
    assert_eq!(ran.code, DONE, "{}", ran.stderr);
    let config = &line_in(path, "inspect model.json --json").json()["config"];
    assert_eq!(config["output_lags"], serde_json::json!([1, 3]));
    assert_eq!(config["inputs"][0]["lags"], serde_json::json!([0]));
    assert_eq!(config["hidden"], 4);
    assert_eq!(config["scaling"], "min_max");
    assert_eq!(config["skip"], "none");
    assert_eq!(config["target"], "log");
    let training = &config["training"];
    assert_eq!(training["algorithm"], "bayes");
    assert_eq!(training["loss"]["huber"]["threshold"], 1.5);
    assert_eq!(training["validation"]["folds"]["folds"], 3);
    assert_eq!(training["max_epochs"], 7);
    assert_eq!(
        (&training["starts"], &training["average"]),
        (&2.into(), &1.into())
    );
    assert_eq!(training["seed"], 5);
    let closed = format!("{TRAIN} --closed-loop --max-epochs 3");
    assert_eq!(line_in(path, &closed).code, DONE);
    let training = &line_in(path, "inspect model.json --json").json()["config"]["training"];
    assert_eq!(training["algorithm"], "bayes");
    assert_eq!(training["validation"], "none");
    assert!(training["closed_loop"].is_object());
}

#[test]
fn an_input_that_never_changes_is_dropped_in_words() {
    let line = "train log.csv --target speed --inputs cpu,mem --starts 1 --hidden 2 -o model.json";
    let (folder, ran) = in_folder_of(&log(200), line);
    let says = "`mem` never changes in the rows trained on, so it is not used";
    assert!(ran.stdout.contains(says), "{}", ran.stdout);
    assert!(
        line_in(folder.path(), "inspect model.json")
            .stdout
            .contains(says)
    );
    let tried = line_in(folder.path(), "backtest log.csv --model model.json --json").json();
    assert_eq!(tried["split"]["trained_rows"], 120);
}

#[test]
fn a_target_that_never_changes_is_said_too() {
    let line = "train log.csv --target mem --inputs cpu --starts 1 --hidden 2 -o model.json";
    let (folder, ran) = in_folder_of(&log(200), line);
    assert!(ran.stdout.contains("`mem` never changes"), "{}", ran.stdout);
    assert!(ran.stdout.contains("forecasts `mem` from `cpu`"));
    let tried = line_in(folder.path(), "backtest log.csv --model model.json");
    assert!(
        tried.stdout.contains("have the same RMSE"),
        "{}",
        tried.stdout
    );
    assert!(tried.stdout.contains("cannot be checked"));
}

#[test]
fn a_missing_column_is_answered_with_near_names() {
    let line = "train log.csv --target sped --inputs cpu -o model.json";
    let (folder, ran) = in_folder_of(&log(50), line);
    ran.refused(
        INPUT,
        &["log.csv: line 1", "no column `sped`; did you mean `speed`?"],
    );
    assert!(!folder.path().join("model.json").exists());
}

#[test]
fn too_few_rows_are_counted() {
    let (_folder, ran) = in_folder_of(&log(3), TRAIN);
    ran.refused(
        INPUT,
        &[
            "cannot train the model",
            "of the 3 rows in the logs, 1 are to train on",
            "longest lag is 2",
        ],
    );
    let (_folder, ran) = in_folder_of(&log(50), &format!("{TRAIN} --lags speed=1+60"));
    ran.refused(INPUT, &["longest lag is 60"]);
}

#[test]
fn wrong_flags_are_wrong_usage() {
    let folder = trained(60);
    for (flags, part) in [
        (
            "--lags sped=1",
            "`sped`, which is none of the columns in use: `speed`, `cpu`",
        ),
        ("--lags speed=0..2", "lag 0 of the target `speed`"),
        ("--lags speed=1,speed=2", "names `speed` twice"),
        ("--lags speed=none,cpu=none", "nothing to forecast from"),
        ("--lags speed", "it should be like speed=1..4"),
        ("--lags speed=2..1", "no lags"),
        ("--train-share 0", "above 0 and at most 1"),
        ("--train-share NaN", "above 0 and at most 1"),
        ("--validation 1", "between 0 and 1"),
        ("--validation 0.2 --folds 3", "cannot be used with"),
        ("--folds 1", "at least 2"),
        ("--huber -1", "positive"),
        ("--starts 0", "at least 1"),
        ("--skip last-value --lags speed=2", "needs output lag 1"),
        ("--hidden 0 --skip none", "`hidden`"),
    ] {
        let line = TRAIN.replace(" --starts 2 --hidden 4", "");
        let ran = line_in(folder.path(), &format!("{line} {flags}"));
        ran.refused(USAGE, &[part]);
    }
}

#[test]
fn no_lag_reaches_across_a_gap() {
    let rows = log(200);
    let late = rows.lines().enumerate().map(|(place, line)| match place {
        101.. => format!("{}{line}\n", "1"),
        _ => format!("{line}\n"),
    });
    // From line 102 on the time has a 1 before it: 1100, 1101, ..
    let line = format!("{TRAIN} --time t --lags speed=1+5 --train-share 1");
    let (folder, ran) = in_folder_of(&late.collect::<String>(), &line);
    let part = "200 in 1 session, 200 to train on, 190 of them complete and used";
    assert!(ran.stdout.contains(part), "{}", ran.stdout);
    assert!(ran.stdout.contains("gaps     1"));
    let line = "backtest log.csv --model model.json --time t --allow-seen --json";
    let json = line_in(folder.path(), line).json();
    assert_eq!(json["split"]["scored_rows"], 190);
    assert_eq!(json["split"]["left_out_rows"], 10);
}

#[test]
fn the_picture_shows_every_start() {
    let line = format!("{TRAIN} --plot training.svg");
    let (folder, ran) = in_folder_of(&log(200), &line);
    assert!(ran.stdout.contains("wrote model.json, training.svg"));
    let picture = std::fs::read_to_string(folder.path().join("training.svg")).unwrap();
    for part in ["start 1", "start 2", "rows learnt from", "rows that judge"] {
        assert!(picture.contains(part), "{part}");
    }
    assert!(!picture.contains("start 3") && !picture.contains("NaN"));
}

#[test]
fn a_log_is_never_written_over() {
    let folder = trained(60);
    let log = std::fs::read(folder.path().join("log.csv")).unwrap();
    for out in ["-o log.csv", "-o ./log.csv", "-o model.json --plot log.csv"] {
        let line = format!("train log.csv --target speed --inputs cpu {out}");
        let ran = line_in(folder.path(), &line);
        ran.refused(USAGE, &["log.csv", "is one of the logs"]);
        assert_eq!(std::fs::read(folder.path().join("log.csv")).unwrap(), log);
    }
}
