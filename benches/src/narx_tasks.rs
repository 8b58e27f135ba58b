//! The data sets on which forecasts are judged, with the splits and lags that others used.

use std::path::Path;

use narx::{Input, Part, Series, Session};

/// A data set with its split and lags.
#[derive(Debug, Clone)]
pub struct Task {
    /// What it is called in the results.
    pub name: &'static str,
    /// Training and test sessions, in one data set.
    pub series: Series,
    /// Rows to train on.
    pub train: Part,
    /// Rows that are scored, one entry per test record.
    pub tests: Vec<(&'static str, Part)>,
    /// Lags of the output.
    pub output_lags: Vec<usize>,
    /// Inputs with their lags.
    pub inputs: Vec<Input>,
}

fn text(data: &Path, file: &str) -> String {
    let path = data.join("narx").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|cause| panic!("{}: {cause}", path.display()))
}

/// A numeric column; what is no number is missing.
fn column(text: &str, name: &str) -> Vec<f64> {
    let mut rows = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.as_bytes());
    let header = rows.headers().expect("a header");
    let index = header.iter().position(|cell| cell.trim() == name);
    let index = index.unwrap_or_else(|| panic!("no column {name}"));
    let cell = |row: csv::StringRecord| row[index].trim().parse().unwrap_or(f64::NAN);
    rows.records()
        .map(|row| cell(row.expect("a full row")))
        .collect()
}

fn lags(inputs: &[&str], first: usize, last: usize) -> Vec<Input> {
    inputs
        .iter()
        .map(|name| Input::new(*name, first..=last))
        .collect()
}

/// Cascaded tanks: estimation record to train on, validation record to test on; the first 5 outputs
/// of the test record may be read.
pub fn tanks(data: &Path) -> Task {
    let csv = text(data, "cascaded_tanks.csv");
    let record = |y: &str, u: &str| Session::of(column(&csv, y), vec![column(&csv, u)]).expect("");
    let (train, test) = (record("yEst", "uEst"), record("yVal", "uVal"));
    let rows = train.len();
    Task {
        name: "tanks",
        series: Series::new(["y"], ["u"])
            .and_then(|series| series.with(train)?.with(test.clone()))
            .expect("the columns fit"),
        train: Part::new(vec![0..rows, 0..0]),
        tests: vec![("test", Part::new(vec![0..0, 5..test.len()]))],
        output_lags: (1..=4).collect(),
        inputs: lags(&["u"], 1, 4),
    }
}

/// Silverbox: the first three quarters of the multisine to train on; its rest and the arrow, whole
/// and without its growing end, to test on, each free to read 50 outputs.
pub fn silverbox(data: &Path) -> Task {
    const MULTISINE: std::ops::Range<usize> = 40_650..127_400;
    const ARROW: std::ops::Range<usize> = 100..40_575;
    const INITIAL: usize = 50;
    let csv = text(data, "silverbox_SNLS80mV.csv");
    let (u, y) = (column(&csv, "V1"), column(&csv, "V2"));
    let session = |rows: std::ops::Range<usize>| {
        Session::of(y[rows.clone()].to_vec(), vec![u[rows].to_vec()]).expect("they fit")
    };
    let cut = MULTISINE.start + (MULTISINE.len() as f64 * 0.75) as usize;
    let sessions = [
        session(MULTISINE.start..cut),
        session(cut..MULTISINE.end),
        session(ARROW),
        session(ARROW.start..ARROW.start + 32_000),
    ];
    let lengths: Vec<usize> = sessions.iter().map(Session::len).collect();
    let mut series = Series::new(["y"], ["u"]).expect("two names");
    for session in sessions {
        series.push(session).expect("the columns fit");
    }
    let test = |place: usize| {
        let range = |n: usize| {
            if n == place {
                INITIAL..lengths[n]
            } else {
                0..0
            }
        };
        Part::new((0..4).map(range).collect())
    };
    Task {
        name: "silverbox",
        series,
        train: Part::new(vec![0..lengths[0], 0..0, 0..0, 0..0]),
        tests: vec![
            ("multisine", test(1)),
            ("arrow", test(2)),
            ("arrow without extrapolation", test(3)),
        ],
        output_lags: (1..=4).collect(),
        inputs: lags(&["u"], 0, 4),
    }
}

/// One session, the first `rows` of it to train on, the rest to test on after 4 rows.
fn split(
    name: &'static str,
    session: Session,
    inputs: &[&str],
    rows: usize,
    output_lags: usize,
    inputs_with_lags: Vec<Input>,
) -> Task {
    let length = session.len();
    Task {
        name,
        series: Series::new(["y"], inputs.iter().copied())
            .and_then(|series| series.with(session))
            .expect("the columns fit"),
        train: Part::of(0..rows),
        tests: vec![("test", Part::of(rows + 4..length))],
        output_lags: (1..=output_lags).collect(),
        inputs: inputs_with_lags,
    }
}

/// The CPU of a virtual machine from its memory, disk and network.
pub fn bitbrains(data: &Path) -> Task {
    let csv = text(data, "bitbrains/rnd_2013-7_vm97.csv");
    let memory: Vec<f64> = column(&csv, "mem_kb")
        .iter()
        .zip(column(&csv, "mem_cap_kb"))
        .map(|(used, there)| 100.0 * used / there)
        .collect();
    let log = |name: &str| {
        column(&csv, name)
            .into_iter()
            .map(f64::ln_1p)
            .collect::<Vec<f64>>()
    };
    let inputs = vec![memory, log("disk_w_kbs"), log("net_rx_kbs")];
    let session = Session::of(column(&csv, "cpu_pct"), inputs).expect("they fit");
    let names = ["memory", "disk", "network"];
    let rows = (session.len() as f64 * 0.6) as usize;
    split("bitbrains97", session, &names, rows, 3, lags(&names, 1, 2))
}

/// Gas furnace: carbon dioxide from the gas rate.
pub fn gas(data: &Path) -> Task {
    let csv = text(data, "gas_furnace.csv");
    let session = Session::of(column(&csv, "CO2"), vec![column(&csv, "InputGasRate")]);
    let session = session.expect("they fit");
    let mut task = split("gas", session, &["u"], 200, 3, lags(&["u"], 1, 6));
    let length = task.series.sessions()[0].len();
    task.tests = vec![("test", Part::of(206..length))];
    task
}

/// A recorded worker: its speed from what is known before each mini-batch.
pub fn worker(data: &Path) -> Task {
    let csv = text(data, "worker_trace2.csv");
    let speed = column(&csv, "speed_samples_per_s");
    let names = ["runnable", "cpu_before_pct", "mem_used_pct"];
    let inputs = names.map(|name| column(&csv, name)).to_vec();
    let speed = speed.into_iter().map(|speed| speed / 1000.0).collect();
    let session = Session::of(speed, inputs).expect("they fit");
    let rows = (session.len() as f64 * 0.6) as usize;
    split("worker2", session, &names, rows, 2, lags(&names, 0, 1))
}
