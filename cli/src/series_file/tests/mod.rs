mod refusals;
mod times;

use std::io::Write;
use std::time::Instant;

use clap::Parser;
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use super::*;
use crate::exit::ExitCode;

#[derive(Debug, Parser)]
struct Flags {
    #[command(flatten)]
    names: SeriesColumns,
    #[command(flatten)]
    columns: RowColumns,
    #[arg(long, default_value = "1")]
    reach: usize,
}

impl Flags {
    fn of(flags: &str) -> Self {
        let flags = flags.split_whitespace();
        let args = ["lbbsp"].into_iter().chain(flags);
        Self::try_parse_from(args).unwrap()
    }

    fn read(&self, paths: &[PathBuf]) -> Result<Log, Error> {
        let series = named_series(&self.names.target, &self.names.inputs)?;
        read(paths, series, &self.columns, self.reach)
    }
}

/// Reads files of these names and bytes.
fn read_files(files: &[(&str, &[u8])], flags: &str) -> Result<Log, Error> {
    let folder = TempDir::new().unwrap();
    let mut paths = Vec::new();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        paths.push(path);
    }
    Flags::of(flags).read(&paths)
}

fn read_one(bytes: impl AsRef<[u8]>, flags: &str) -> Log {
    read_files(&[("log.csv", bytes.as_ref())], flags).unwrap()
}

/// Outputs and inputs of a session, missing values as -1.
fn values(log: &Log, session: usize) -> Vec<Vec<f64>> {
    let (series, session) = (&log.series, &log.series.sessions()[session]);
    let outputs = (0..series.outputs().len()).map(|index| session.output(index));
    let inputs = (0..series.inputs().len()).map(|index| session.input(index));
    let shown = |value: &f64| if value.is_nan() { -1.0 } else { *value };
    let shown = |column: &[f64]| column.iter().map(shown).collect();
    outputs.chain(inputs).map(shown).collect()
}

#[track_caller]
fn refused(bytes: impl AsRef<[u8]>, flags: &str, parts: &[&str]) {
    let error = read_files(&[("log.csv", bytes.as_ref())], flags).unwrap_err();
    assert_eq!(ExitCode::from(&error), ExitCode::Input);
    for part in [&["log.csv: "], parts].concat() {
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
}

fn packed(content: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

const PLAIN: &str = "speed,cpu,mem\n1.5,10,3\n2,20,\n2.5,30,5\n";

#[test]
fn a_log_may_come_from_any_tool() {
    let expected = [[1.5, 2.0, 2.5], [3.0, -1.0, 5.0], [10.0, 20.0, 30.0]];
    for same in [
        PLAIN,
        "\u{feff}speed,cpu,mem\n1.5,10,3\n2,20,\n2.5,30,5\n",
        "speed,cpu,mem\r\n1.5,10,3\r\n2,20,\r\n2.5,30,5\r\n",
        "speed,cpu,mem\r1.5,10,3\r2,20,\r2.5,30,5",
        "\n\nspeed,cpu,mem\n\n1.5,10,3\n \n2,20,NaN\n2.5,30,5\n\n",
        "\"speed\", cpu ,\"mem\"\n\"1.5\", 10 ,3\n2,\"20\",\"\"\n2.5,30,5\n",
        "speed;cpu;mem\n1,5;10;3\n2;20;\n2,5;30;5\n",
        "speed;cpu;mem\r1,5;10;3\r2;20;\r2,5;30;5\r",
        "speed;cpu;mem\n1.5;10;3\n2;20;?\n2.5;30;5\n",
        "speed\tcpu\tmem\n1.5\t10\t3\n2\t20\t\n2.5\t30\t5\n",
        "note,mem,speed,cpu\n\"a, b\",3,1.5,10\nx,n/a,2,20\n,5,2.5,30\n",
        "mem,note,note,speed,,cpu,\n3,1,2,1.5,,10,\n-,1,2,2,,20,\n5,1,2,2.5,,30,\n",
    ] {
        let log = read_one(same, "--target speed --inputs mem,cpu");
        assert_eq!(values(&log, 0), expected, "{same:?}");
        assert_eq!(log.series.outputs(), ["speed"]);
        assert_eq!(log.series.inputs(), ["mem", "cpu"]);
        assert_eq!((log.names, log.gaps), (vec!["log".to_owned()], vec![0]));
    }
}

#[test]
fn only_the_named_columns_are_read() {
    let log = read_one(PLAIN, "--target mem,speed");
    assert_eq!(values(&log, 0), [[3.0, -1.0, 5.0], [1.5, 2.0, 2.5]]);
    assert_eq!(log.series.outputs(), ["mem", "speed"]);
    assert!(log.series.inputs().is_empty());
    let log = read_one("host,speed\nnode7,1\n,2\n", "--target speed --inputs ,");
    assert_eq!(values(&log, 0), [[1.0, 2.0]]);
}

#[test]
fn packed_logs_are_unpacked() {
    let (head, tail) = PLAIN.split_at(20);
    let file = [packed(head), packed(tail)].concat();
    let log = read_files(&[("log.csv.gz", &file)], "--target speed").unwrap();
    assert_eq!(values(&log, 0), [[1.5, 2.0, 2.5]]);
    assert_eq!(log.names, ["log"]);
    let short = &file[..file.len() - 1];
    refused(short, "--target speed", &["gzip", "end too early"]);
    let mut broken = packed(PLAIN);
    let checksum = broken.len() - 8;
    broken[checksum] ^= 1;
    refused(broken, "--target speed", &["gzip", "damaged"]);
}

#[test]
fn a_column_tells_sessions_apart() {
    let mixed = "id,speed\nb,1\na,10\nb,2\n\na,20\nc c,5\nb,3\n";
    let log = read_one(mixed, "--target speed --session id");
    assert_eq!(log.names, ["log/b", "log/a", "log/c c"]);
    assert_eq!(values(&log, 0), [[1.0, 2.0, 3.0]]);
    assert_eq!(values(&log, 1), [[10.0, 20.0]]);
    assert_eq!(log.lines, [vec![2, 4, 8], vec![3, 6], vec![7]]);
    assert_eq!(log.rows(), 6);
    let names: Vec<&str> = log.sessions.iter().flatten().map(String::as_str).collect();
    assert_eq!(names, ["b", "a", "c c"]);
    refused(
        "id,speed\na,1\n,2\n",
        "--target speed --session id",
        &["line 3", "column `id`", "empty"],
    );
}

#[test]
fn every_file_is_a_session_of_its_own() {
    let files: [(&str, &[u8]); 3] = [
        ("x/a.csv", b"speed,id\n1,p\n"),
        ("b.tsv", b"id\tspeed\np\t2\nq\t3\n"),
        ("y/a.csv", b"speed;id\n4,5;p\n"),
    ];
    let log = read_files(&files, "--target speed").unwrap();
    let of_sessions: Vec<_> = (0..3)
        .map(|session| values(&log, session).concat())
        .collect();
    assert_eq!(of_sessions, [vec![1.0], vec![2.0, 3.0], vec![4.5]]);
    assert_eq!(log.names[1], "b");
    assert_ne!(log.names[0], log.names[2]);
    let log = read_files(&files, "--target speed --session id").unwrap();
    assert_eq!(log.names[1..3], ["b/p", "b/q"]);
    assert_eq!(log.names.len(), 4);
}

#[test]
fn many_rows_in_many_sessions_are_read_in_seconds() {
    let mut text = String::from("t,id,speed,note\n");
    for row in 0..500_000 {
        text.push_str(&format!("{row},{},1.25,x\n", row % 5000));
    }
    let started = Instant::now();
    let log = read_one(text, "--target speed --session id --time t");
    assert_eq!((log.names.len(), log.lines[4999][99]), (5000, 500_001));
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
