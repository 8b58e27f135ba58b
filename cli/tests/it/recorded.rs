//! Recordings that the repository does not carry.

use crate::run_in;

#[test]
fn every_recorded_trace_is_read_and_the_oracle_gains_on_all_of_them_together() {
    let name =
        "recorded::every_recorded_trace_is_read_and_the_oracle_gains_on_all_of_them_together";
    let Some(data) = fixtures::data_dir(name) else {
        return;
    };
    let folder = data.join("traces");
    let mut files: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|file| file.ends_with(".csv"))
        .collect();
    files.sort();
    assert!(files.len() >= 8, "{files:?}");
    let global_batch = (512 * files.len()).to_string();
    let mut args = vec![
        "replay",
        "--json",
        "--policy",
        "equal,last,ema-adaptive,informed,oracle",
    ];
    args.extend(["--global-batch", &global_batch]);
    args.extend(files.iter().map(String::as_str));
    let json = run_in(&folder, &args).json();
    assert_eq!(json["workers"].as_array().unwrap().len(), files.len());
    let speedup: Vec<f64> = json["policies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|policy| policy["speedup"].as_f64().unwrap())
        .collect();
    assert_eq!(speedup[0], 1.0);
    // Measured on ten: last 1.69, adaptive average 1.69, informed 1.79, oracle 1.97.
    for policy in &speedup[1..4] {
        assert!(1.1 < *policy && *policy < speedup[4], "{speedup:?}");
    }
}
