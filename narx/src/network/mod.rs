//! The network: one hidden layer of tanh units, linear outputs, optional direct connections.

mod block;
mod evaluate;
mod linearise;
mod tanh;

use serde::{Deserialize, Serialize};

use crate::config::Skip;
pub(crate) use block::{Block, ROWS, Strip};
pub(crate) use evaluate::{Lanes, Network};
pub(crate) use linearise::Scratch;
pub(crate) use tanh::tanh;

/// Sizes of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    /// Regressors.
    pub(crate) regressors: usize,
    /// Hidden tanh units.
    pub(crate) hidden: usize,
    /// Outputs.
    pub(crate) outputs: usize,
    pub(crate) skip: Skip,
}

/// Where the groups of trained weights of a [`Shape`] start in one flat vector:
///
/// - `regressor · hidden + unit`: from the regressors to the hidden units,
/// - `hidden_bias + unit`,
/// - `output + o · hidden + unit`: from the hidden units to output o,
/// - `direct + o · regressors + regressor`, with linear direct connections only,
/// - `output_bias + o`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) hidden_bias: usize,
    pub(crate) output: usize,
    pub(crate) direct: usize,
    pub(crate) output_bias: usize,
    /// Number of weights.
    pub(crate) end: usize,
}

impl Shape {
    pub(crate) fn places(&self) -> Places {
        let hidden_bias = self.regressors * self.hidden;
        let output = hidden_bias + self.hidden;
        let direct = output + self.outputs * self.hidden;
        let linear = self.skip == Skip::Linear;
        let output_bias = direct + usize::from(linear) * self.outputs * self.regressors;
        Places {
            hidden_bias,
            output,
            direct,
            output_bias,
            end: output_bias + self.outputs,
        }
    }

    /// Number of trained weights of a shape that came from a file; None if it is beyond all bounds.
    pub(crate) fn checked_weights(&self) -> Option<usize> {
        let hidden = self.hidden.checked_mul(self.regressors.checked_add(1)?)?;
        let direct = self.outputs.checked_mul(self.regressors)?;
        let output = self.outputs.checked_mul(self.hidden.checked_add(1)?)?;
        hidden.checked_add(direct)?.checked_add(output)?;
        Some(self.weights())
    }

    /// Number of trained weights.
    pub(crate) fn weights(&self) -> usize {
        self.places().end
    }
}
