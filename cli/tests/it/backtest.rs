use crate::*;

fn tried(folder: &Path, flags: &str) -> Ran {
    line_in(
        folder,
        &format!("backtest log.csv --model model.json {flags}"),
    )
}

#[test]
fn models_are_ranked_on_the_same_unseen_rows() {
    let folder = trained(300);
    let json = tried(
        folder.path(),
        "--baselines last,ema,ema-adaptive,ar,arx --json",
    )
    .json();
    assert_eq!(json["format"], 1);
    assert_eq!(
        (&json["target"], &json["horizon"]),
        (&"speed".into(), &1.into())
    );
    let split = &json["split"];
    assert_eq!(
        (&split["trained_rows"], &split["scored_rows"]),
        (&180.into(), &120.into())
    );
    let session = &split["sessions"][0];
    assert_eq!(session["name"], "log");
    assert_eq!(session["trained_lines"], serde_json::json!([2, 181]));
    assert_eq!(session["scored_lines"], serde_json::json!([182, 301]));
    let models = json["models"].as_array().unwrap();
    assert_eq!(models.len(), 6);
    for key in ["rmse", "mae", "nrmse", "fit_pct", "r2", "mase"] {
        assert!(models.iter().all(|model| model[key].is_f64()), "{key}");
    }
    assert!(models.iter().all(|model| model["rows"] == 120));
    assert!(models.is_sorted_by_key(|model| model["rmse"].as_f64().unwrap()));
    // The log is linear but for its noise, so no rule without the input comes near.
    let names = names(&json["models"], "name");
    assert!(
        names[..2].contains(&"arx") && names[..2].contains(&"narx"),
        "{names:?}"
    );
    let residuals = &json["residuals"];
    assert_eq!(residuals["model"], "narx");
    assert!(residuals["ljung_box_p_value"].as_f64().unwrap() > 0.0);
    assert_eq!(residuals["autocorrelation"][0], 1.0);
}

#[test]
fn the_table_names_the_split_and_the_checks() {
    let folder = trained(300);
    let text = tried(folder.path(), "--horizon 3").stdout;
    for part in [
        "`speed`, 3 steps ahead; scored are the rows that follow those trained on",
        "log: lines 2 to 181 trained on (180 rows), lines 182 to 301 scored (120 rows)",
        "is best",
        "errors of narx: Ljung-Box test of lags 1 to 10",
        "95 % limit",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_model_that_has_seen_everything_is_refused() {
    let folder = trained(100);
    let path = folder.path();
    assert_eq!(
        line_in(path, &format!("{TRAIN} --train-share 1")).code,
        DONE
    );
    tried(path, "").refused(INPUT, &["model.json", "every row", "--allow-seen"]);
    let json = tried(path, "--allow-seen --json").json();
    assert_eq!(json["split"]["allow_seen"], true);
    assert!(
        json["split"]["says"]
            .as_str()
            .unwrap()
            .contains("trained on too")
    );
    // The first two rows have no history.
    assert_eq!(json["split"]["scored_rows"], 98);
    assert_eq!(json["split"]["left_out_rows"], 2);
}

#[test]
fn of_a_grown_log_only_rows_not_trained_on_are_scored() {
    let folder = trained(200);
    let path = folder.path();
    std::fs::write(path.join("log.csv"), log(260)).unwrap();
    let json = tried(path, "--json").json();
    let session = &json["split"]["sessions"][0];
    assert_eq!(session["trained_lines"], serde_json::json!([2, 121]));
    assert_eq!(session["scored_lines"], serde_json::json!([122, 261]));
    assert_eq!(json["models"][0]["rows"], 140);
}

#[test]
fn rules_that_learn_need_the_rows_trained_on() {
    let folder = trained(200);
    let path = folder.path();
    let other = log(150).replace(",64", ",32").replacen("0,", "0,9", 1);
    std::fs::write(path.join("other.csv"), other).unwrap();
    let line = "backtest other.csv --model model.json";
    let ran = line_in(path, &format!("{line} --json"));
    assert!(ran.stderr.contains("none of the rows"), "{}", ran.stderr);
    let json = ran.json();
    let mut compared = names(&json["models"], "name");
    compared.sort();
    assert_eq!(compared, ["ema-adaptive", "last", "narx"]);
    assert_eq!(json["split"]["trained_rows"], 0);
    assert!(json["models"][0]["mase"].is_null());
    let ran = line_in(path, &format!("{line} --baselines last,arx"));
    assert_eq!((ran.code, ran.stdout.as_str()), (INPUT, ""));
    assert!(ran.stderr.contains("baseline `arx` learns"));
    // Together with the log it was trained on they can.
    let json = line_in(path, "backtest other.csv log.csv --model model.json --json").json();
    assert_eq!(json["models"].as_array().unwrap().len(), 6);
    assert_eq!(json["split"]["scored_rows"], 148 + 80);
}

#[test]
fn without_a_model_new_ones_are_trained() {
    let folder = trained(200);
    let path = folder.path();
    let line = "backtest log.csv --target speed --inputs cpu --train-share 0.5 --json";
    let json = line_in(path, line).json();
    let compared = names(&json["models"], "name");
    for name in [
        "narx-lm",
        "narx-bayes",
        "last",
        "ema",
        "ema-adaptive",
        "ar",
        "arx",
    ] {
        assert!(compared.contains(&name), "{name}");
    }
    assert_eq!(json["residuals"]["model"], compared[0]);
    assert_eq!(json["split"]["scored_rows"], 100);
    line_in(path, "backtest log.csv").refused(USAGE, &["--target"]);
    tried(path, "--target speed").refused(USAGE, &["cannot be used with"]);
    line_in(path, "backtest log.csv --target speed --train-share 1").refused(USAGE, &["below 1"]);
}

#[test]
fn values_of_any_size_are_drawn() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    for scale in [1e305, 1e-310, 1e-200] {
        let mut rows = String::from("speed\n");
        for row in 0..60 {
            rows.push_str(&format!(
                "{:e}\n",
                scale * f64::from((row * row) % 11 - 5) / 6.0
            ));
        }
        std::fs::write(path.join("log.csv"), rows).unwrap();
        let ran = line_in(path, "backtest log.csv --target speed --plot out");
        assert_eq!(ran.code, DONE, "{scale}: {}", ran.stderr);
    }
}

#[test]
fn the_pictures_are_written() {
    let folder = trained(200);
    let text = tried(folder.path(), "--plot out").stdout;
    assert!(text.contains("wrote out"));
    for (name, part) in [("forecast.svg", "truth"), ("residuals.svg", "95 % limits")] {
        let picture = std::fs::read_to_string(folder.path().join("out").join(name)).unwrap();
        assert!(picture.contains(part) && !picture.contains("NaN"), "{name}");
    }
}
