//! The tool as its users run it.

mod completions;
mod demo;
mod help;
mod recorded;
mod replay;
mod size;
mod traces;

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
    write("a.json", &points(0.001));
    write("b.json", &points(0.002));
    folder
}

fn names<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    let list = list.as_array().unwrap();
    list.iter()
        .map(|entry| entry[key].as_str().unwrap())
        .collect()
}
