//! What a scheduler that embeds this crate relies on.

#[path = "../../examples/embed.rs"]
mod embed;

use std::process::Command;

#[test]
fn the_example_keeps_the_global_batch_and_follows_the_speeds() {
    embed::main().unwrap();
    let plan = embed::job().unwrap();
    let batches: Vec<u32> = plan.shares().iter().map(|share| share.batch).collect();
    assert_eq!(batches.iter().sum::<u32>(), 1024);
    let workers: Vec<u64> = plan.shares().iter().map(|share| share.worker).collect();
    assert_eq!(workers, [0, 1, 3]);
    // Speeds 1000 and 400 samples/s, and a third worker taken to be as fast as they are on average.
    assert_eq!(batches[0], 400, "the card's memory ceiling");
    assert!(batches[1] < batches[2] && batches[1] > 200, "{batches:?}");
}

#[test]
fn an_embedding_scheduler_gets_no_heavy_dependencies() {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "-p",
            "lbbsp",
            "-e",
            "no-dev",
            "--prefix",
            "none",
            "--locked",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        tree.status.success(),
        "{}",
        String::from_utf8_lossy(&tree.stderr)
    );
    let tree = String::from_utf8(tree.stdout).unwrap();
    let names: Vec<&str> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(
        names.contains(&"sizing") && names.contains(&"serde"),
        "{tree}"
    );
    for heavy in [
        "candle-core",
        "candle-nn",
        "cudarc",
        "tokio",
        "clap",
        "csv",
        "plotters",
        "fixtures",
    ] {
        assert!(!names.contains(&heavy), "{heavy} is in the tree:\n{tree}");
    }
}
