use crate::*;

#[test]
fn an_edited_or_cut_file_is_refused() {
    let folder = trained(100);
    let path = folder.path();
    let file = path.join("model.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"hidden\": 4", "\"hidden\": 5")).unwrap();
    let says = "model.json: the file was changed after it was written";
    for line in [
        "inspect model.json",
        "backtest log.csv --model model.json",
        "forecast log.csv --model model.json --horizon 1",
    ] {
        line_in(path, line).refused(INPUT, &[says]);
    }
    std::fs::write(&file, &text[..text.len() / 2]).unwrap();
    line_in(path, "inspect model.json").refused(INPUT, &["model.json: the file is cut off"]);
    std::fs::write(&file, "{}").unwrap();
    line_in(path, "inspect model.json").refused(INPUT, &["this is not a model file"]);
    line_in(path, "inspect absent.json").refused(INPUT, &["cannot read absent.json"]);
    line_in(path, "inspect log.csv").refused(INPUT, &["log.csv: "]);
}

#[test]
fn json_holds_what_the_file_does() {
    let folder = trained(100);
    let json = line_in(folder.path(), "inspect model.json --json").json();
    assert_eq!(json["format"], 1);
    assert_eq!(json["checksum"], "matches");
    assert_eq!(json["outputs"][0]["name"], "speed");
    assert_eq!(json["inputs"][0]["lags"], serde_json::json!([0, 1]));
    assert!(json["outputs"][0]["scaler"]["spread"].as_f64().unwrap() > 0.0);
    // Two starts of four units each are averaged.
    assert_eq!(json["hidden"], 8);
    assert_eq!(json["trained_rows"][0]["end"], 60);
    assert_eq!(json["report"]["rows"], 58);
}
