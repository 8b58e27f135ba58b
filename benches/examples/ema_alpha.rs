//! Which smoothing factor suits which worker: one-step errors on recorded speeds.
//!
//! Tuned on the first 60 % of each series, scored on the rest (RMSE over that of the tuned factor).
//! Reads the four recordings of `fixtures`, or all in the folder `LBBSP_DATA/traces`.

use std::path::PathBuf;

use narx::{Ema, Forecaster, LastValue};

fn main() {
    println!("worker                  tuned   last  0.3    adaptive");
    let mut logs = [0.0_f64; 3];
    let traces = traces();
    for (name, csv) in &traces {
        let speed = fixtures::column(csv, "speed");
        let cut = speed.len() * 6 / 10;
        let tuned = Ema::tuned(&speed[..cut]).expect("a recording has many rows");
        let alpha = tuned.alpha();
        let base = rmse(tuned, &speed, cut);
        let fixed = Ema::new(0.3).expect("0.3 is in range");
        let ratios = [
            rmse(LastValue::new(), &speed, cut) / base,
            rmse(fixed, &speed, cut) / base,
            rmse(Ema::adaptive(), &speed, cut) / base,
        ];
        let [last, ema, adaptive] = ratios;
        println!("{name:<22}  {alpha:>5.1}  {last:.3}  {ema:.3}  {adaptive:.3}");
        for (log, ratio) in logs.iter_mut().zip(ratios) {
            *log += ratio.ln() / traces.len() as f64;
        }
    }
    let [last, ema, adaptive] = logs.map(f64::exp);
    println!("geometric mean                 {last:.3}  {ema:.3}  {adaptive:.3}");
}

/// Root mean square of the one-step errors from row `from` on.
fn rmse(mut rule: impl Forecaster, speed: &[f64], from: usize) -> f64 {
    let mut squares = 0.0;
    for (row, &value) in speed.iter().enumerate() {
        if row >= from {
            let mut out = [0.0];
            rule.forecast(&[], &mut out);
            squares += (out[0] - value).powi(2);
        }
        rule.observe(value, &[]);
    }
    (squares / (speed.len() - from) as f64).sqrt()
}

fn traces() -> Vec<(String, String)> {
    let Some(data) = std::env::var_os("LBBSP_DATA") else {
        let own = fixtures::WORKER_TRACES.iter();
        return own.map(|t| (t.name.to_owned(), t.csv.to_owned())).collect();
    };
    let folder = PathBuf::from(data).join("traces");
    let entries = std::fs::read_dir(&folder).expect("LBBSP_DATA has a folder `traces`");
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|p| p.extension().is_some_and(|e| e == "csv"))
        .collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        (
            name,
            std::fs::read_to_string(path).expect("a readable trace"),
        )
    };
    paths.iter().map(read).collect()
}
