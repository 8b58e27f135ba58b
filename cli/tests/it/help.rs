use std::process::{Command, Stdio};

use crate::*;

/// Help of the tool and of each of its subcommands, as found in the help itself.
fn helps() -> Vec<(String, String)> {
    let root = run(&["--help"]).stdout;
    let listed = root.split("Commands:\n").nth(1).unwrap();
    let listed = listed.split("\n\n").next().unwrap();
    let names = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let help = |name: &str| (name.to_owned(), run(&[name, "--help"]).stdout);
    let mut helps: Vec<_> = names.filter(|&name| name != "help").map(help).collect();
    helps.push(("lbbsp".to_owned(), root));
    helps
}

fn examples(help: &str) -> Vec<&str> {
    let after = help.split("Examples:\n").nth(1).unwrap_or("");
    let lines = after.lines().map(str::trim);
    lines
        .take_while(|line| line.starts_with("lbbsp "))
        .collect()
}

#[test]
fn every_example_in_a_help_text_works() {
    let folder = folder();
    // What the examples of one command need another one makes.
    let line = "train bursts.csv --target speed --inputs running_before -o model.json";
    let line = format!("{line} --online-state state.json");
    assert_eq!(line_in(folder.path(), &line).code, DONE);
    let line = "train jobs.csv --target rate --session job --time when -o jobs.json";
    assert_eq!(line_in(folder.path(), line).code, DONE);
    let binary = assert_cmd::cargo::cargo_bin!("lbbsp");
    let path = std::env::join_paths(
        std::iter::once(binary.parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let path = path.unwrap();
    for (name, help) in helps() {
        let examples = examples(&help);
        assert!(
            examples.len() >= 2,
            "{name} has {} examples",
            examples.len()
        );
        for example in examples {
            let shell = ["-c", example];
            let mut command = Command::new("sh");
            let output = command
                .args(shell)
                .current_dir(folder.path())
                .env("PATH", &path);
            let output = output.output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success() && stderr.is_empty(),
                "{example}: {stderr}"
            );
        }
    }
}

#[test]
fn help_states_the_exit_codes() {
    let help = run(&["--help"]).stdout;
    let listed = help.split("Exit codes:\n").nth(1).unwrap();
    let codes = listed
        .lines()
        .map(|line| line.trim().split(' ').next().unwrap());
    assert_eq!(codes.collect::<Vec<_>>(), ["0", "1", "2", "3", "4", "5"]);
}

#[test]
fn no_or_an_unknown_subcommand_is_wrong_usage() {
    run(&[]).refused(USAGE, &["Usage:"]);
    run(&["balance"]).refused(USAGE, &["'balance'"]);
    assert_eq!(
        run(&["--version"]).stdout,
        format!("lbbsp {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = folder();
    for args in [
        &["completions", "zsh"][..],
        &["size", "--global-batch", "8", "--speeds", "1"],
        &["demo", "--json"],
        &["size", "--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("lbbsp"));
        let command = command.args(args).current_dir(folder.path());
        let child = command.stdout(writer).stderr(Stdio::piped()).spawn();
        let output = child.unwrap().wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{args:?}");
        assert_eq!(output.status.code(), Some(DONE), "{args:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("lbbsp"));
    let command = command.args(["completions", "bash"]).stdout(full);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(INPUT));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("standard output")
    );
}
