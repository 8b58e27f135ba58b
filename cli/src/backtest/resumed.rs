use std::path::Path;

use super::contender::GUARDED;
use super::{Args, Baseline, Contender, Outcome, Trial, Tried, distinct};
use crate::error::Error;
use crate::series_file;
use crate::state_file::State;

/// The online forecasters of a state, and the rules that need no training.
pub(super) fn tried(args: &Args, path: &Path) -> Result<Tried, Error> {
    let state = State::read(path)?;
    let reach = state.longest_lag();
    let log = series_file::read(&args.logs, state.series(), &args.columns, reach)?;
    if log.names.len() != 1 {
        let (flag, got) = ("--online-state", log.names.len());
        return Err(Error::SeveralSessions { flag, got });
    }
    let baselines = match &args.baselines {
        Some(asked) => distinct(asked),
        None => vec![Baseline::Last, Baseline::EmaAdaptive],
    };
    if let Some(name) = baselines.iter().find(|it| it.learns()) {
        let name = name.name();
        return Err(Error::NoTraining { name });
    }
    let trained = log.series.first(0.0).expect("the share is from 0 to 1");
    let learners = state.into_learners();
    let mut contenders = Vec::from(Contender::learners(&learners));
    for baseline in baselines {
        // No model is trained, so the configuration is of no matter.
        let config = Default::default();
        contenders.push(Contender::baseline(baseline, &log, &trained, &config)?);
    }
    let trial = Trial {
        log: &log,
        trained: &trained,
        scored: &log.series.all(),
        horizon: args.horizon as usize,
        allow_seen: false,
        resumed: true,
        intervals: args.intervals,
        model: Some(GUARDED),
    };
    let outcome = Outcome::of(&trial, &contenders)?;
    Ok(Tried {
        log,
        outcome,
        learners: Some(learners),
    })
}
