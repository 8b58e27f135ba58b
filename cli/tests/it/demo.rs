use crate::*;

fn written(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let file = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, std::fs::read(entry.path()).unwrap())
    };
    let mut files: Vec<_> = entries.map(file).collect();
    files.sort();
    files
}

#[test]
fn the_demo_writes_the_same_files_each_time() {
    let folder = TempDir::new().unwrap();
    let first = run_in(folder.path(), &["demo"]);
    let second = run_in(folder.path(), &["demo", "--out", "again"]);
    assert_eq!((first.code, second.code), (DONE, DONE));
    assert_eq!(first.stdout, second.stdout.replace("again", "lbbsp-demo"));
    let files = written(&folder.path().join("lbbsp-demo"));
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["demo.json", "forecast.svg", "sizes.svg", "waiting.svg"]
    );
    assert_eq!(files, written(&folder.path().join("again")));
}

#[test]
fn the_demo_shows_every_policy_and_prints_what_it_writes() {
    let folder = TempDir::new().unwrap();
    let ran = run_in(folder.path(), &["demo", "--json"]);
    let file = std::fs::read_to_string(folder.path().join("lbbsp-demo/demo.json")).unwrap();
    assert_eq!(ran.stdout, file);
    let json = ran.json();
    let names = names(&json["policies"], "name");
    for policy in ["equal", "last", "ema", "guarded", "oracle"] {
        assert!(names.contains(&policy));
    }
    let table = run_in(folder.path(), &["demo"]);
    assert_eq!(table.stderr, "");
    assert!(names.iter().all(|name| table.stdout.contains(name)));
}

#[test]
fn the_demo_is_a_replay_of_the_recordings() {
    let folder = folder();
    let args =
        "replay bursts.csv periodic.csv sine.csv quota.csv --global-batch 2048 --json --policy";
    let mut args: Vec<&str> = args.split(' ').collect();
    args.push("equal,last,ema,ema-adaptive,guarded,informed,oracle");
    let replayed = run_in(folder.path(), &args).json();
    let mut demo = run_in(folder.path(), &["demo", "--json"]).json();
    assert!(demo.as_object_mut().unwrap().remove("forecast").is_some());
    assert_eq!(replayed, demo);
}

#[test]
fn the_demo_forecasts_what_train_and_backtest_do() {
    let folder = folder();
    let line = "train bursts.csv --target speed --inputs running_before -o model.json";
    assert_eq!(line_in(folder.path(), line).code, DONE);
    let tried = line_in(
        folder.path(),
        "backtest bursts.csv --model model.json --json",
    );
    let demo = run_in(folder.path(), &["demo", "--json"]).json();
    assert_eq!(demo["forecast"], tried.json());
    let text = run_in(folder.path(), &["demo"]).stdout;
    let best = &demo["forecast"]["models"][0]["name"];
    assert!(text.contains(&format!("{} is best", best.as_str().unwrap())));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = folder();
    let ran = run_in(folder.path(), &["demo", "--out", "sine.csv"]);
    ran.refused(INPUT, &["cannot write sine.csv"]);
}

#[test]
fn the_pictures_in_the_docs_are_those_of_the_demo() {
    let folder = TempDir::new().unwrap();
    assert_eq!(run_in(folder.path(), &["demo"]).code, DONE);
    for (name, picture) in written(&folder.path().join("lbbsp-demo")) {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures");
        if name.ends_with(".svg") {
            let same = std::fs::read(kept.join(&name)).unwrap() == picture;
            assert!(same, "copy lbbsp-demo/{name} to docs/pictures");
        }
    }
}
