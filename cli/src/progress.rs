use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const STEPS: u64 = 1000;

/// A bar on standard error, if that is a terminal that can redraw a line. It is gone when dropped.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new(what: &'static str) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let target = if std::io::stderr().is_terminal() && !dumb {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let style = ProgressStyle::with_template("{msg} [{bar:40}] {percent} %")
            .expect("the template is fixed and valid")
            .progress_chars("=> ");
        let bar = ProgressBar::with_draw_target(Some(STEPS), target).with_style(style);
        Self(bar.with_message(what))
    }

    /// Shows which part is done, from 0 to 1.
    pub(crate) fn show(&self, part: f64) {
        let step = (part * STEPS as f64) as u64;
        if step != self.0.position() {
            self.0.set_position(step);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
