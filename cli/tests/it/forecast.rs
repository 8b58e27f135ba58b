use crate::*;

fn forecast(folder: &Path, future: Option<&str>, flags: &str) -> Ran {
    let mut line = format!("forecast log.csv --model model.json {flags}");
    if let Some(rows) = future {
        std::fs::write(folder.join("next.csv"), rows).unwrap();
        line.push_str(" --future next.csv");
    }
    line_in(folder, &line)
}

#[test]
fn too_few_rows_of_the_future_are_counted() {
    let folder = trained(100);
    let path = folder.path();
    let needed = "the input `cpu` of the coming 3 rows: give a file of them as `--future`";
    forecast(path, None, "--horizon 3").refused(INPUT, &["`log`", needed]);
    let needed = "next.csv must have 3 rows with the input `cpu` for it, got 2";
    forecast(path, Some("cpu\n1\n0\n"), "--horizon 3").refused(INPUT, &["`log`", needed]);
    forecast(path, Some("cpu\n1\n\n"), "--horizon 1").done_silently();
    forecast(path, Some("gpu\n1\n"), "--horizon 1").refused(INPUT, &["no column `cpu`"]);
    forecast(path, None, "--horizon 0").refused(USAGE, &["--horizon"]);
}

impl Ran {
    /// Checks that the tool did its work without a word on standard error.
    #[track_caller]
    fn done_silently(&self) {
        assert_eq!((self.code, self.stderr.as_str()), (DONE, ""));
    }
}

#[test]
fn lags_from_one_on_need_a_row_less() {
    let folder = trained(100);
    let path = folder.path();
    let ran = line_in(path, &format!("{TRAIN} --lags cpu=1..2"));
    assert_eq!(ran.code, DONE, "{}", ran.stderr);
    forecast(path, None, "--horizon 1").done_silently();
    forecast(path, Some("cpu\n1\n"), "--horizon 2").done_silently();
    forecast(path, Some("cpu\n1\n"), "--horizon 3").refused(INPUT, &["must have 2 rows"]);
}

#[test]
fn one_step_is_what_came_true_but_for_the_noise() {
    let folder = trained(300);
    let path = folder.path();
    let rows = log(301);
    let last = rows.lines().last().unwrap();
    let cells: Vec<&str> = last.split(',').collect();
    let next = format!("cpu\n{}\n", cells[2]);
    let json = forecast(path, Some(&next), "--horizon 1 --json").json();
    let said = json["sessions"][0]["forecasts"][0][0].as_f64().unwrap();
    let truth: f64 = cells[1].parse().unwrap();
    // The noise is 2 at most, the steps between levels are 50.
    assert!((said - truth).abs() < 6.0, "{said} {truth}");
}

#[test]
fn every_session_is_continued_with_its_own_inputs() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let mut rows = String::from("id,speed,cpu\n");
    for (place, line) in log(200).lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let id = if place % 2 == 0 { "a" } else { "b" };
        rows.push_str(&format!("{id},{},{}\n", cells[1], cells[2]));
    }
    std::fs::write(path.join("log.csv"), rows).unwrap();
    let ran = line_in(path, &format!("{TRAIN} --session id"));
    assert_eq!(ran.code, DONE, "{}", ran.stderr);
    let flags = "--horizon 1 --session id";
    let both = "id,cpu\nb,1\na,0\n";
    let text = forecast(path, Some(both), flags).stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1].starts_with("log/a,1,") && lines[2].starts_with("log/b,1,"));
    let swapped = forecast(path, Some("id,cpu\na,1\nb,0\n"), flags).stdout;
    assert_ne!(text, swapped);
    let one = forecast(path, Some("id,cpu\na,1\n"), flags);
    one.refused(INPUT, &["`log/b`", "must have 1 row ", "got 0"]);
}

#[test]
fn a_model_without_inputs_needs_no_future() {
    let folder = trained(100);
    let path = folder.path();
    let line = "train log.csv --target speed --starts 1 --hidden 2 -o model.json";
    assert_eq!(line_in(path, line).code, DONE);
    forecast(path, None, "--horizon 4").done_silently();
    forecast(path, Some("cpu\n1\n"), "--horizon 1").refused(USAGE, &["no inputs"]);
}
