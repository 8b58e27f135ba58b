use serde::Serialize;

use super::normal_equations::{Model, NormalEquations};
use super::regressor::{Column, Regressor, check_output};
use super::rows::Rows;
use crate::{Error, Part, Series};

/// What a regressor must take off the validation error to be let in.
const LEAST_GAIN: f64 = 0.01;

/// Share of the first validation error below which there is only rounding left: the root of what
/// the sums of squares carry.
const ROUNDING: f64 = 1e-7;

/// Candidates for which the sums of products still fit into a few megabytes.
const MOST_CANDIDATES: usize = 1000;

/// Lags that help a linear model, as a start for any model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SuggestedLags {
    /// Lags of the output in steps, ascending; 1 is the last value. May be empty.
    pub output_lags: Vec<usize>,
    /// Inputs that help, in the order of the data set, with their lags in steps, ascending; 0 is
    /// the value at the start of the step to forecast. May be empty.
    pub inputs: Vec<(String, Vec<usize>)>,
    /// Validation error (RMSE) of forecasting the mean, in the unit of the output.
    pub first_rmse: f64,
    /// How the error fell, in the order in which the regressors were let in.
    pub steps: Vec<LagStep>,
}

/// A regressor that was let in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LagStep {
    /// Name of the output or input.
    pub name: String,
    /// Its lag in steps.
    pub lag: usize,
    /// Validation error (RMSE) with this regressor and those before, in the unit of the output.
    pub validation_rmse: f64,
}

/// Suggests which lags of an output and of the inputs to forecast that output from.
///
/// Candidates are the output at place `output`, 1 to `max_output_lag` steps back, and every input,
/// 0 to `max_input_lag` steps back. Starting from the mean, the candidate that lowers the
/// validation error most joins a linear least-squares model (forward selection, Miller, "Subset
/// Selection in Regression", chapter 3), until none lowers it by 1 %. Training rows are the first
/// 70 % of each session's rows in `part`, validation rows the rest. Only rows for which the output
/// and all candidates are there, and lie in the part, are rows; a candidate that does not vary, or
/// follows from those already in, never joins. Squared errors let one wild value decide: mark such
/// values as missing first.
///
/// Cost: O(rows · candidates²), up to 1000 candidates.
///
/// # Errors
/// [`Error::Part`] if `part` does not fit, [`Error::Setting`] if there is no such output or the
/// lags make no candidate or too many, [`Error::TooFewRows`] unless training rows outnumber the
/// candidates by two, [`Error::Constant`] if the output does not vary in them.
pub fn suggest_lags(
    series: &Series,
    part: &Part,
    output: usize,
    max_output_lag: usize,
    max_input_lag: usize,
) -> Result<SuggestedLags, Error> {
    part.check(series)?;
    check_output(series, output)?;
    check_candidates(series, max_output_lag, max_input_lag)?;
    let mut regressors = Regressor::all(series, output, max_output_lag, max_input_lag);
    regressors.push(Regressor {
        column: Column::Output(output),
        lag: 0,
    });
    let rows = Rows::of(series, part, &regressors);
    rows.check()?;
    let (train, judged, unit) = rows.equations()?;
    let (model, errors) = grow(regressors.len() - 1, &train, &judged);
    let joined: Vec<Regressor> = model.columns().iter().map(|&c| regressors[c]).collect();
    let errors: Vec<f64> = errors.iter().map(|rmse| rmse * unit).collect();
    Ok(report(series, output, &joined, &errors))
}

fn check_candidates(
    series: &Series,
    max_output_lag: usize,
    max_input_lag: usize,
) -> Result<(), Error> {
    let of_inputs = max_input_lag
        .saturating_add(1)
        .saturating_mul(series.inputs().len());
    let candidates = max_output_lag.saturating_add(of_inputs);
    if (1..=MOST_CANDIDATES).contains(&candidates) {
        return Ok(());
    }
    Err(Error::Setting {
        name: "candidates",
        expected: "1 to 1000 lags, those of the output and of all inputs together",
        got: candidates as f64,
    })
}

/// The model of the candidates that helped, and the validation error before and after each.
fn grow(candidates: usize, train: &NormalEquations, judged: &NormalEquations) -> (Model, Vec<f64>) {
    let mut model = Model::empty();
    let mut errors = vec![model.rmse(judged)];
    loop {
        let error = errors[errors.len() - 1];
        let larger = (0..candidates)
            .filter_map(|candidate| model.with(candidate, train))
            .map(|model| (model.rmse(judged), model));
        let best = larger.min_by(|a, b| a.0.total_cmp(&b.0));
        match best {
            Some((rmse, larger))
                if rmse <= error * (1.0 - LEAST_GAIN) && error > errors[0] * ROUNDING =>
            {
                model = larger;
                errors.push(rmse);
            }
            _ => return (model, errors),
        }
    }
}

/// `errors` has the one before the first regressor joined, then one after each.
fn report(series: &Series, output: usize, joined: &[Regressor], errors: &[f64]) -> SuggestedLags {
    let lags = |column| {
        let mine = joined.iter().filter(|r| r.column == column);
        let mut lags: Vec<usize> = mine.map(|r| r.lag).collect();
        lags.sort_unstable();
        lags
    };
    let inputs = series.inputs().iter().enumerate();
    let step = |(regressor, rmse): (&Regressor, &f64)| LagStep {
        name: regressor.name(series).to_owned(),
        lag: regressor.lag,
        validation_rmse: *rmse,
    };
    SuggestedLags {
        output_lags: lags(Column::Output(output)),
        inputs: inputs
            .map(|(place, name)| (name.clone(), lags(Column::Input(place))))
            .filter(|(_, lags)| !lags.is_empty())
            .collect(),
        first_rmse: errors[0],
        steps: joined.iter().zip(&errors[1..]).map(step).collect(),
    }
}
