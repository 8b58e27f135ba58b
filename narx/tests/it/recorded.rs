//! Recorded series: a trained network has to be worth its name on them.

use fixtures::{WORKER_TRACES, column, data_dir};
use narx::{Config, Input, Options, Part, Scores, Series, Session, train_with};

/// RMSE of one-step forecasts on the last 40 %, of a model trained on the rest.
fn rmse(series: &Series, config: &Config) -> f64 {
    let learnt = series.first(0.6).unwrap();
    let (model, _) = train_with(series, &learnt, config, &Options::default()).unwrap();
    of_rows(
        series,
        &series.after(&learnt),
        model.one_step(series).unwrap().of(0, 0),
    )
}

/// RMSE of forecasts on the rows of a part.
fn of_rows(series: &Series, part: &Part, forecasts: &[f64]) -> f64 {
    let rows = part.ranges()[0].clone();
    let truth = &series.sessions()[0].output(0)[rows.clone()];
    Scores::of(truth, &forecasts[rows], f64::NAN).unwrap().rmse
}

#[test]
fn a_network_beats_linear_models_and_the_last_value_on_a_bursty_worker() {
    let trace = WORKER_TRACES
        .iter()
        .find(|trace| trace.name == "bursts")
        .unwrap();
    let speed = column(trace.csv, "speed");
    let last: Vec<f64> = std::iter::once(f64::NAN)
        .chain(speed.iter().copied())
        .collect();
    let running = column(trace.csv, "running_before");
    let session = Session::of(speed, vec![running]).unwrap();
    let series = Series::new(["speed"], ["running"])
        .unwrap()
        .with(session)
        .unwrap();
    let config = Config {
        inputs: vec![Input::new("running", [0, 1])],
        ..Config::default()
    };
    let (network, linear) = (rmse(&series, &config), rmse(&series, &config.linear()));
    let unseen = series.after(&series.first(0.6).unwrap());
    let last = of_rows(&series, &unseen, &last[..last.len() - 1]);
    assert!(network < 0.97 * linear, "{network} against {linear}");
    assert!(network < 0.90 * last, "{network} against {last}");
}

#[test]
fn a_network_beats_a_linear_model_by_a_tenth_on_a_virtual_machine() {
    let Some(data) = data_dir("a_network_beats_a_linear_model_by_a_tenth_on_a_virtual_machine")
    else {
        return;
    };
    let path = data.join("narx/bitbrains/rnd_2013-7_vm97.csv");
    let csv = std::fs::read_to_string(&path).expect("the folder of data has it");
    let log = |name| {
        column(&csv, name)
            .into_iter()
            .map(f64::ln_1p)
            .collect::<Vec<f64>>()
    };
    let inputs = vec![column(&csv, "mem_kb"), log("disk_w_kbs"), log("net_rx_kbs")];
    let session = Session::of(column(&csv, "cpu_pct"), inputs).unwrap();
    let names = ["memory", "disk", "network"];
    let series = Series::new(["cpu"], names).unwrap().with(session).unwrap();
    let config = Config {
        output_lags: vec![1, 2, 3],
        inputs: names.map(|name| Input::new(name, [1, 2])).to_vec(),
        ..Config::default()
    };
    let (network, linear) = (rmse(&series, &config), rmse(&series, &config.linear()));
    assert!(network < 0.9 * linear, "{network} against {linear}");
}
