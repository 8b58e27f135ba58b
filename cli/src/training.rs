use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;

use lbbsp::narx::{
    self, Config, Epoch, Narx, Options, Part, Report, Series, StopReason, Training, Validation,
    train_with,
};

use crate::progress::Progress;
use crate::table::counted;

/// A model and how it came about.
#[derive(Debug)]
pub(crate) struct Trained {
    pub(crate) model: Narx,
    pub(crate) history: History,
}

/// The epochs of each start, and fold by fold those of a cross-validation, in their order.
#[derive(Debug, Default)]
pub(crate) struct History(pub(crate) BTreeMap<(usize, usize), Vec<Epoch>>);

impl History {
    fn add(&mut self, epoch: &Epoch) {
        let start = self.0.entry((epoch.start, epoch.fold)).or_default();
        start.push(*epoch);
    }
}

/// Trains a model, with progress on a terminal.
pub(crate) fn train(series: &Series, part: &Part, config: &Config) -> Result<Trained, narx::Error> {
    let progress = Progress::new("training");
    let most = most_epochs(&config.training, part.len()) as f64;
    let heard = Mutex::new((0_usize, History::default()));
    let on_epoch = |epoch: &Epoch| {
        let mut heard = heard.lock().expect("nobody panics while counting");
        heard.0 += 1;
        heard.1.add(epoch);
        progress.show((heard.0 as f64 / most).min(1.0));
        ControlFlow::Continue(())
    };
    let options = Options {
        on_epoch: Some(&on_epoch),
        ..Options::default()
    };
    let (model, _) = train_with(series, part, config, &options)?;
    let (_, history) = heard.into_inner().expect("nobody panics while counting");
    Ok(Trained { model, history })
}

/// About how many epochs there can be; most starts end before.
fn most_epochs(training: &Training, rows: usize) -> usize {
    let folds = match training.validation {
        Validation::Folds { folds } => folds,
        _ => 1,
    };
    let closed = training.closed_loop.as_ref();
    let closed = closed.map_or(0, |closed| {
        closed.horizons.len().saturating_mul(closed.max_epochs)
    });
    let of_start = training.max_epochs.saturating_add(closed);
    let starts = training.starts_for(rows).saturating_mul(folds);
    of_start.saturating_mul(starts).max(1)
}

/// How many epochs the starts took, and why they ended.
pub(crate) fn ending(report: &Report) -> String {
    let epochs = || report.starts.iter().map(|start| start.epochs);
    let (least, most) = (epochs().min().unwrap_or(0), epochs().max().unwrap_or(0));
    let epochs = match most {
        most if most == least => counted(most, "epoch"),
        most => format!("{least} to {most} epochs"),
    };
    let mut reasons: Vec<(StopReason, usize)> = Vec::new();
    for start in &report.starts {
        match reasons
            .iter_mut()
            .find(|(reason, _)| *reason == start.stopped)
        {
            Some((_, count)) => *count += 1,
            None => reasons.push((start.stopped, 1)),
        }
    }
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let several = reasons.len() > 1;
    let reason = |(reason, count): &(StopReason, usize)| {
        let times = if several {
            format!(" ({count} ×)")
        } else {
            String::new()
        };
        format!("{}{times}", why(*reason))
    };
    let reasons: Vec<String> = reasons.iter().map(reason).collect();
    format!("{epochs}, then {}", reasons.join(", "))
}

fn why(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Converged => "converged",
        StopReason::NoBetterStep => "no step made it better",
        StopReason::ValidationRose => "the validation error rose",
        StopReason::EpochLimit => "the epochs were used up",
        StopReason::Diverged => "diverged",
        _ => "stopped",
    }
}

/// How many starts there were and how many of them make the model.
pub(crate) fn starts(report: &Report) -> String {
    let started = report.starts.iter().filter(|start| start.fold == 0);
    let folds = report.starts.iter().map(|start| start.fold + 1).max();
    let (mut all, mut chosen) = (0, 0);
    for start in started {
        all += 1;
        chosen += usize::from(start.chosen);
    }
    let folds = match folds {
        Some(folds) if folds > 1 => format!(" of {folds} folds each"),
        _ => String::new(),
    };
    match (all, chosen) {
        (1, _) => format!("1{folds}"),
        (all, chosen) if all == chosen => format!("{all}{folds}, all averaged"),
        (all, 1) => format!("{all}{folds}, the best one taken"),
        (all, chosen) => format!("{all}{folds}, the best {chosen} averaged"),
    }
}
