use crate::*;

#[test]
fn every_shell_gets_a_script_with_every_subcommand() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = run(&["completions", shell]);
        assert_eq!(ran.code, DONE);
        for word in [
            "size",
            "replay",
            "train",
            "backtest",
            "demo",
            "global-batch",
        ] {
            assert!(ran.stdout.contains(word), "{shell}: {word}");
        }
    }
    run(&["completions", "csh"]).refused(USAGE, &["'csh'"]);
}
