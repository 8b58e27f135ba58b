use super::{Residuals, Scores, moments::difference, naive_mae};
use crate::{Error, Forecaster, Part, Series};

/// Forecasts of recorded rows, each made from nothing but what was known at its time.
#[derive(Debug, Clone, PartialEq)]
pub struct Backtest {
    /// How many steps ahead the forecasts were made; 1 is the next step.
    pub horizon: usize,
    /// Per session, one forecast for each scored row, in the unit of the output. NaN where the
    /// forecaster said so, and where the session had no row yet from which to make it.
    pub forecasts: Vec<Vec<f64>>,
    /// What came true, in the same places.
    pub truth: Vec<Vec<f64>>,
    /// The forecasts against the truth, all sessions together. The naive error is that of the rows
    /// before the scored ones of each session.
    pub scores: Scores,
}

impl Backtest {
    /// Truth less forecast, one run per session. A horizon above 1 makes neighbours correlated
    /// even if the forecasts are as good as can be.
    pub fn residuals(&self) -> Residuals {
        let sessions = self.truth.iter().zip(&self.forecasts);
        let run = |(truth, forecasts): (&Vec<f64>, &Vec<f64>)| {
            let pairs = truth.iter().zip(forecasts);
            pairs.map(|(y, guess)| residual(*y, *guess)).collect()
        };
        Residuals::new(sessions.map(run).collect())
    }
}

/// Lets a forecaster run through each session as if it were live, and scores what it said.
///
/// Scored is the output at place `output` in the rows `scored`. A forecaster is given the inputs
/// at the places `inputs`, in that order, and one from `forecaster` (which is told the place of
/// the session) starts at the first row of each session, in their order. Before every row it is
/// asked for the next `horizon` steps, with the inputs of that row; after that it is told the
/// row's value. What it says about the last of these steps is kept, so the forecast for row t was
/// made before row t − `horizon` + 1 came true and without any input after that row (a
/// rolling-origin evaluation, Tashman 2000, "Out-of-sample tests of forecasting accuracy").
///
/// What was learnt before is up to the caller: a model that comes from `forecaster` must be trained
/// on rows before the scored ones.
///
/// # Errors
/// [`Error::Part`] if `scored` does not fit, [`Error::Setting`] if there is no such output or input
/// or `horizon` is 0, [`Error::TooFewRows`] if no scored row has a value and a forecast.
///
/// # Example
/// ```
/// use narx::{LastValue, Series, Session, backtest};
/// let session = Session::of(vec![1.0, 2.0, 4.0, 7.0], vec![])?;
/// let series = Series::new(["speed"], [])?.with(session)?;
/// let last_two = series.after(&series.first(0.5)?);
/// let result = backtest(&series, &last_two, 0, &[], 1, |_| LastValue::new())?;
/// assert_eq!(result.forecasts, [[2.0, 4.0]]);
/// assert_eq!(result.scores.mae, 2.5);
/// # Ok::<(), narx::Error>(())
/// ```
pub fn backtest<F: Forecaster>(
    series: &Series,
    scored: &Part,
    output: usize,
    inputs: &[usize],
    horizon: usize,
    mut forecaster: impl FnMut(usize) -> F,
) -> Result<Backtest, Error> {
    check(series, scored, output, inputs, horizon)?;
    let (mut forecasts, mut truth, mut before) = (Vec::new(), Vec::new(), Vec::new());
    for (index, (session, rows)) in series.sessions().iter().zip(scored.ranges()).enumerate() {
        let columns = Columns {
            output: session.output(output),
            inputs: inputs.iter().map(|&input| session.input(input)).collect(),
        };
        let said = columns.replay(&mut forecaster(index), rows.end, horizon);
        forecasts.push(said[rows.clone()].to_vec());
        truth.push(columns.output[rows.clone()].to_vec());
        before.push(&columns.output[..rows.start]);
    }
    let naive = naive_mae(before).unwrap_or(f64::NAN);
    Ok(Backtest {
        horizon,
        scores: Scores::of(&truth.concat(), &forecasts.concat(), naive)?,
        forecasts,
        truth,
    })
}

fn residual(truth: f64, forecast: f64) -> f64 {
    match truth.is_finite() && forecast.is_finite() {
        true => difference(truth, forecast),
        false => f64::NAN,
    }
}

/// What a forecaster gets to see of a session.
struct Columns<'a> {
    output: &'a [f64],
    inputs: Vec<&'a [f64]>,
}

impl Columns<'_> {
    /// The forecasts for the first `rows` rows, each made `horizon` steps ahead.
    fn replay(&self, forecaster: &mut impl Forecaster, rows: usize, horizon: usize) -> Vec<f64> {
        let mut said = vec![f64::NAN; rows];
        let mut steps = vec![f64::NAN; horizon.min(rows)];
        let mut inputs = vec![f64::NAN; self.inputs.len()];
        for row in 0..rows {
            for (value, column) in inputs.iter_mut().zip(&self.inputs) {
                *value = column[row];
            }
            if let Some(target) = row.checked_add(horizon - 1).filter(|&target| target < rows) {
                steps.fill(f64::NAN);
                forecaster.forecast(&inputs, &mut steps);
                said[target] = steps[horizon - 1];
            }
            forecaster.observe(self.output[row], &inputs);
        }
        said
    }
}

fn check(
    series: &Series,
    scored: &Part,
    output: usize,
    inputs: &[usize],
    horizon: usize,
) -> Result<(), Error> {
    scored.check(series)?;
    super::regressor::check_output(series, output)?;
    let setting = |name, expected, got| Error::Setting {
        name,
        expected,
        got: got as f64,
    };
    if let Some(&input) = inputs.iter().find(|&&i| i >= series.inputs().len()) {
        return Err(setting("inputs", "places of inputs of the series", input));
    }
    if horizon == 0 {
        return Err(setting("horizon", "at least 1", horizon));
    }
    Ok(())
}
