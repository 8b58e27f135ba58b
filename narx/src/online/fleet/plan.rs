use std::ops::Range;

use crate::Error;
use crate::online::config::{Covariance, Jumps, OnlineConfig};
use crate::online::history::Term;
use crate::online::learner::Design;

/// What all workers of a fleet have in common.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) design: Design,
    pub(super) terms: Vec<Term>,
    /// How many of the terms, the first ones, are about steps that have passed.
    pub(super) past: usize,
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
            past: terms.iter().take_while(|term| term.lag > 0).count(),
            terms,
            jumps: config.jumps,
            columns: 1 + config.inputs.len(),
            rows: (longest + 1).next_power_of_two(),
        })
    }

    /// Lines of a block: the history, what is prepared of the next forecast, then the records, whose
    /// covariances come last, so that what a forecast reads lies together.
    pub(super) fn lines(&self) -> usize {
        self.record() + self.design.at.end
    }

    /// The first line of what is prepared.
    pub(super) fn ahead(&self) -> usize {
        self.rows * self.columns
    }

    /// The first line of the records.
    pub(super) fn record(&self) -> usize {
        self.ahead() + self.design.ahead(self.past)
    }

    /// The lines that a forecast of the next step reads.
    #[inline]
    pub(super) fn read(&self) -> [Range<usize>; 5] {
        let (record, past) = (self.record(), self.past);
        let (shape, weights) = (&self.design.shape, self.design.places.end);
        let (regressors, hidden) = (shape.regressors, shape.hidden);
        let scales = record + weights;
        [
            self.ahead()..record,
            // The weights of the regressors of the present, and those into the output.
            record + past * hidden..record + regressors * hidden,
            record + (regressors + 1) * hidden..scales,
            // Their means and factors.
            scales + past..scales + regressors,
            scales + 2 * regressors + past..scales + 3 * regressors,
        ]
    }

    /// The line of the column `term.column` so many steps before `step`.
    #[inline]
    pub(super) fn line(&self, step: usize, term: Term) -> usize {
        let row = step.wrapping_sub(term.lag) & (self.rows - 1);
        row * self.columns + term.column
    }
}
