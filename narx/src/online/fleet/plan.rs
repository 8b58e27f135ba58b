use crate::Error;
use crate::online::config::{Covariance, Jumps, OnlineConfig};
use crate::online::history::Term;
use crate::online::learner::Design;

/// What all workers of a fleet have in common.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) design: Design,
    pub(super) terms: Vec<Term>,
    pub(super) jumps: Jumps,
    /// Columns of the history: the series, then its inputs.
    pub(super) columns: usize,
    /// Steps in the history, a power of two.
    pub(super) rows: usize,
}

impl Plan {
    pub(super) fn new(config: &OnlineConfig) -> Result<Self, Error> {
        if config.covariance != Covariance::Nodes {
            return Err(Error::FleetCovariance);
        }
        let design = Design::new(config)?;
        let terms: Vec<Term> = config.terms().collect();
        let longest = terms.iter().map(|term| term.lag).max().unwrap_or(0);
        Ok(Self {
            design,
            terms,
            jumps: config.jumps,
            columns: 1 + config.inputs.len(),
            rows: (longest + 1).next_power_of_two(),
        })
    }

    /// Lines of a block: the history, then the records, whose covariances come last, so that what
    /// a forecast reads lies together.
    pub(super) fn lines(&self) -> usize {
        self.record() + self.design.at.end
    }

    /// The first line of the records.
    pub(super) fn record(&self) -> usize {
        self.rows * self.columns
    }

    /// The line of the column `term.column` so many steps before `step`.
    #[inline]
    pub(super) fn line(&self, step: usize, term: Term) -> usize {
        let row = step.wrapping_sub(term.lag) & (self.rows - 1);
        row * self.columns + term.column
    }
}
