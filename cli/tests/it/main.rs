//! The tool as its users run it.

mod backtest;
mod completions;
mod demo;
mod forecast;
mod help;
mod inspect;
mod online;
mod recorded;
mod replay;
mod size;
mod traces;
mod train;

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

const DONE: i32 = 0;
const USAGE: i32 = 2;
const INPUT: i32 = 3;
const INFEASIBLE: i32 = 4;

/// What one run of the tool left.
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Ran {
    fn json(&self) -> Value {
        assert_eq!(self.code, DONE, "{}", self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// Checks that the tool refused, with a message that holds all these parts.
    #[track_caller]
    fn refused(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "");
        for part in parts {
            assert!(self.stderr.contains(part), "{part}: {}", self.stderr);
        }
    }
}

fn lbbsp() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("lbbsp"))
}

fn run_in(folder: &Path, args: &[&str]) -> Ran {
    let output = lbbsp().current_dir(folder).args(args).output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn run(args: &[&str]) -> Ran {
    run_in(Path::new("."), args)
}

fn profile(points: &str) -> String {
    format!(
        r#"{{"schema": 1, "device": {{"kind": "cuda", "name": "A100"}}, "points": [{points}]}}"#
    )
}

/// A folder with every file that the examples in the help texts name.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    for trace in fixtures::WORKER_TRACES {
        write(&format!("{}.csv", trace.name), trace.csv);
    }
    write(
        "cluster.csv",
        "start_s,host,rate\n0,a,100\n0,b,50\n1,a,60\n1,b,70\n",
    );
    let points = |slope: f64| {
        let point = |batch: u32| {
            let seconds = 0.01 + slope * f64::from(batch);
            format!(r#"{{"batch": {batch}, "median_s": {seconds}}}"#)
        };
        profile(&[1, 32, 64].map(point).join(", "))
    };
    write("next.csv", "running_before\n1\n2\n1\n");
    let mut jobs = String::from("when,job,rate\n");
    for row in 0..60 {
        let rate = 20 + (row * row) % 13;
        jobs.push_str(&format!("2026-01-01 00:{row:02}:00,a,{rate}\n"));
        jobs.push_str(&format!("2026-01-01 00:{row:02}:00,b,{}\n", 2 * rate));
    }
    write("jobs.csv", &jobs);
    write("a.json", &points(0.001));
    write("b.json", &points(0.002));
    folder
}

/// A log of a worker with so many rows: `speed` follows its past and `cpu`, which is known before;
/// `mem` never changes.
fn log(rows: usize) -> String {
    let mut text = String::from("t,speed,cpu,mem\n");
    let (mut speed, mut state) = (100.0, 1_u64);
    for row in 0..rows {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let noise = (state >> 33) as f64 / (1_u64 << 31) as f64 - 0.5;
        let cpu = f64::from(u8::from(row % 17 < 6));
        speed = 0.5 * speed + 60.0 - 25.0 * cpu + 4.0 * noise;
        text.push_str(&format!("{row},{speed:.3},{cpu},64\n"));
    }
    text
}

const TRAIN: &str = "train log.csv --target speed --inputs cpu --starts 2 --hidden 4 -o model.json";

/// A folder with a log of so many rows and a model trained on the first 60 % of it.
fn trained(rows: usize) -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("log.csv"), log(rows)).unwrap();
    let ran = line_in(folder.path(), TRAIN);
    assert_eq!((ran.code, ran.stderr.as_str()), (DONE, ""));
    folder
}

/// Runs a line of arguments without spaces in them.
fn line_in(folder: &Path, line: &str) -> Ran {
    run_in(folder, &line.split_whitespace().collect::<Vec<_>>())
}

fn names<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    let list = list.as_array().unwrap();
    list.iter()
        .map(|entry| entry[key].as_str().unwrap())
        .collect()
}
