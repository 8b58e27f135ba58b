//! The data sets on which forecasts are judged, with the splits and lags that others used.

use std::collections::BTreeMap;
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

/// A session and the first row that is scored; the average it is compared with is tuned on the rows
/// before `tuned_to`.
#[derive(Debug, Clone)]
pub struct Stream {
    /// What it is called in the results.
    pub name: String,
    /// What is forecast, in its unit.
    pub y: Vec<f64>,
    /// The inputs, each with the values known when the step begins.
    pub inputs: Vec<(&'static str, Vec<f64>)>,
    /// Where tuning ends.
    pub tuned_to: usize,
    /// Where scoring begins.
    pub scored_from: usize,
}

impl Stream {
    /// Tuned on a first share of the rows, scored on the rest but for `initial` rows.
    fn new(
        name: impl Into<String>,
        y: Vec<f64>,
        inputs: Vec<(&'static str, Vec<f64>)>,
        share: f64,
        initial: usize,
    ) -> Self {
        let tuned_to = (y.len() as f64 * share) as usize;
        Self {
            name: name.into(),
            y,
            inputs,
            tuned_to,
            scored_from: tuned_to + initial,
        }
    }
}

/// What was measured in the step before is what is known when a step begins.
fn known_after(mut values: Vec<f64>) -> Vec<f64> {
    values.pop();
    values.insert(0, values.first().copied().unwrap_or(f64::NAN));
    values
}

/// The ten workers of one of Alibaba's training jobs, in mini-batches per normalised time, each with
/// the median and the smallest speed of the others in the step before. Scored on the last 60 %.
pub fn pai(data: &Path, job: u32) -> Vec<Stream> {
    const WORKERS: usize = 10;
    let csv = text(data, &format!("pai_minibatch_job{job}.csv"));
    let columns = ["worker", "time", "batch_time_norm"].map(|name| column(&csv, name));
    let mut times: BTreeMap<u64, Vec<Vec<f64>>> = BTreeMap::new();
    for ((&worker, &time), &taken) in columns[0].iter().zip(&columns[1]).zip(&columns[2]) {
        if taken.is_finite() {
            let row = times.entry(time as u64);
            row.or_insert_with(|| vec![Vec::new(); WORKERS])[worker as usize].push(taken);
        }
    }
    let mean = |taken: &Vec<f64>| taken.iter().sum::<f64>() / taken.len() as f64;
    let rows = times
        .values()
        .map(|row| row.iter().map(mean).collect::<Vec<f64>>());
    let rows = rows.filter(|row| row.iter().all(|taken| *taken > 0.0));
    let rows: Vec<Vec<f64>> = rows
        .map(|row| row.iter().map(|taken| 1000.0 / taken).collect())
        .collect();
    let stream = |worker: usize| {
        let (mut median, mut least) = (Vec::new(), Vec::new());
        for row in &rows {
            let mut others = row.clone();
            others.remove(worker);
            others.sort_by(f64::total_cmp);
            median.push(others[others.len() / 2]);
            least.push(others[0]);
        }
        let inputs = vec![
            ("median", known_after(median)),
            ("least", known_after(least)),
        ];
        let y: Vec<f64> = rows.iter().map(|row| row[worker]).collect();
        // The first two rows are history, as in the peers' scores.
        let first = 2 + ((y.len() - 2) as f64 * 0.4) as usize;
        Stream {
            name: format!("pai job {job} worker {worker}"),
            y,
            inputs,
            tuned_to: first,
            scored_from: first,
        }
    };
    (0..WORKERS).map(stream).collect()
}

/// The recorded worker of [`worker`].
pub fn worker_stream(data: &Path) -> Stream {
    let csv = text(data, "worker_trace2.csv");
    let speed = column(&csv, "speed_samples_per_s");
    let speed = speed.into_iter().map(|speed| speed / 1000.0).collect();
    let names = ["runnable", "cpu_before_pct", "mem_used_pct"];
    let inputs = names.map(|name| (name, column(&csv, name))).to_vec();
    Stream::new("worker2", speed, inputs, 0.6, 4)
}

/// A worker whose speed is a known formula of measured CPU and memory.
pub fn semi(data: &Path, worker: u32) -> Stream {
    let csv = text(data, "semi_worker_speed.csv");
    let of_worker = column(&csv, "worker");
    let chosen = |name: &str| {
        let rows = column(&csv, name).into_iter().zip(&of_worker);
        rows.filter(|(_, of)| **of == f64::from(worker))
            .map(|(value, _)| value)
            .collect::<Vec<f64>>()
    };
    let inputs = ["cpu_pct", "mem_pct"]
        .map(|name| (name, chosen(name)))
        .to_vec();
    Stream::new(format!("semi {worker}"), chosen("speed"), inputs, 0.6, 4)
}

/// The CPU of a virtual machine, with its memory, disk and network in the step before.
pub fn machine(data: &Path, number: u32) -> Stream {
    let csv = text(data, &format!("bitbrains/rnd_2013-7_vm{number}.csv"));
    let used = column(&csv, "mem_kb")
        .into_iter()
        .zip(column(&csv, "mem_cap_kb"));
    let memory = used
        .map(|(used, there)| 100.0 * used / there.max(1e-9))
        .collect();
    let log = |name: &str| column(&csv, name).into_iter().map(f64::ln_1p).collect();
    let inputs = vec![
        ("memory", known_after(memory)),
        ("disk", known_after(log("disk_w_kbs"))),
        ("network", known_after(log("net_rx_kbs"))),
    ];
    let y = column(&csv, "cpu_pct");
    Stream::new(format!("bitbrains {number}"), y, inputs, 0.6, 4)
}

/// The recorded training workers, each under another contention: what was measured in the step
/// before, as rates, and of the coming step the run queue and the batch.
pub fn traces(data: &Path) -> Vec<Stream> {
    let entries = std::fs::read_dir(data.join("traces")).expect("a folder of traces");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|kind| kind == "csv"));
    paths.sort();
    let stream = |path: &std::path::PathBuf| {
        let csv = std::fs::read_to_string(path).expect("a trace");
        let of = |name: &str| column(&csv, name);
        let per = |name: &str, size: &[f64]| {
            let shares = of(name).into_iter().zip(size);
            known_after(shares.map(|(value, size)| value / size).collect())
        };
        let taken = of("t_compute");
        let jiffies: Vec<Vec<f64>> = ["busy_j", "idle_j", "steal_j"].map(of).to_vec();
        let all: Vec<f64> = (0..taken.len())
            .map(|t| jiffies.iter().map(|column| column[t]).sum::<f64>().max(1.0))
            .collect();
        let batch = of("x").into_iter().map(f64::ln).collect();
        let inputs = vec![
            ("running_before", of("running_before")),
            ("running", known_after(of("running"))),
            ("run delay", per("rundelay_s", &taken)),
            ("cpu", per("cpu_s", &taken)),
            ("throttled", per("throttled_s", &taken)),
            ("core busy", per("busy_j", &all)),
            ("page faults", per("minflt", &taken)),
            ("switches", per("nivcsw", &taken)),
            ("batch", batch),
        ];
        let name = path.file_stem().expect("a name").to_string_lossy();
        Stream::new(format!("trace {name}"), of("speed"), inputs, 0.6, 0)
    };
    paths.iter().map(stream).collect()
}
