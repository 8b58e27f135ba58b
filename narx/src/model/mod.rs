mod file;
mod fingerprint;
mod predictor;

use crate::config::Config;
use crate::forecasts::{Forecasts, Walk};
use crate::frame::{Data, Frame};
use crate::network::Network;
use crate::roll::Roll;
use crate::train::Report;
use crate::{Error, Part, Series, Session};
pub use fingerprint::TrainedRows;
pub use predictor::Predictor;

/// Most steps that can be forecast at once: far beyond any use, and small enough for memory.
const LONGEST_HORIZON: usize = 10_000_000;

/// A trained model: ŷ(t) = f(y(t − 1), .., u(t − d), ..).
///
/// Trained by [`train`](crate::train()), read from a file by [`from_json`](Self::from_json).
#[derive(Debug, Clone, PartialEq)]
pub struct Narx {
    frame: Frame,
    network: Network,
    config: Config,
    report: Report,
    trained: Vec<TrainedRows>,
}

impl Narx {
    pub(crate) fn trained(
        frame: Frame,
        network: Network,
        config: &Config,
        series: &Series,
        part: &Part,
        report: &Report,
    ) -> Self {
        let trained = fingerprint::of(&frame, series, part);
        Self {
            frame,
            network,
            config: config.clone(),
            report: report.clone(),
            trained,
        }
    }

    /// Names of the outputs, in the order of the forecasts.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = &str> {
        self.frame.columns[..self.frame.outputs]
            .iter()
            .map(|column| column.name.as_str())
    }

    /// The lags of the outputs in use: none where an output never changed in the rows trained on.
    pub fn output_lags(&self) -> impl ExactSizeIterator<Item = &[usize]> {
        let outputs = self.frame.columns[..self.frame.outputs].iter();
        outputs.map(|column| column.lags.as_slice())
    }

    /// The inputs in use, each with its lags.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = (&str, &[usize])> {
        let inputs = self.frame.columns[self.frame.outputs..].iter();
        inputs.map(|column| (column.name.as_str(), column.lags.as_slice()))
    }

    /// Hidden tanh units, over all starts that were averaged.
    pub fn hidden(&self) -> usize {
        self.network.shape().hidden
    }

    /// The configuration that it was trained with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How the training went.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The rows that it was trained on.
    pub fn trained_rows(&self) -> &[TrainedRows] {
        &self.trained
    }

    /// The rows of a data set that the model has been trained on, recognised by their values at the
    /// same place of a session; an empty range for a session that it has not seen.
    ///
    /// # Errors
    /// [`Error::MissingSeries`] if the data set lacks a series of the model.
    pub fn seen(&self, series: &Series) -> Result<Part, Error> {
        fingerprint::seen(&self.frame, &self.trained, series)
    }

    /// One-step forecasts: each from the measured past of its row (series-parallel, open loop).
    ///
    /// # Errors
    /// [`Error::MissingSeries`] if the data set lacks a series of the model.
    pub fn one_step(&self, series: &Series) -> Result<Forecasts, Error> {
        let data = self.frame.bind(series)?;
        Ok(Walk::new(&data, &self.network).one_step())
    }

    /// Forecasts `steps` ahead: the one for row t is made from the outputs up to t − `steps` and
    /// the inputs up to t; near the start of a run of rows from the first row with a history. 1 is
    /// [`one_step`](Self::one_step), [`usize::MAX`] is [`free_run`](Self::free_run).
    ///
    /// # Errors
    /// [`Error::Setting`] if `steps` is 0, [`Error::MissingSeries`] if the data set lacks a series
    /// of the model.
    pub fn steps_ahead(&self, series: &Series, steps: usize) -> Result<Forecasts, Error> {
        if steps == 0 {
            return Err(Error::Setting {
                name: "steps",
                expected: "at least 1",
                got: 0.0,
            });
        }
        if steps == 1 {
            return self.one_step(series);
        }
        let data = self.frame.bind(series)?;
        Ok(Walk::new(&data, &self.network).ahead(steps, 0))
    }

    /// Free run (parallel, closed loop, simulation): only the outputs of the first rows are read,
    /// at least `initial` and as many as the lags need; from there on the model is fed its own
    /// forecasts. After a gap in the inputs it begins anew.
    ///
    /// # Errors
    /// [`Error::MissingSeries`] if the data set lacks a series of the model.
    pub fn free_run(&self, series: &Series, initial: usize) -> Result<Forecasts, Error> {
        let data = self.frame.bind(series)?;
        Ok(Walk::new(&data, &self.network).ahead(usize::MAX, initial))
    }

    /// Forecasts of the next `horizon` steps after the end of session `session`; no outputs of
    /// those steps are needed. `future[j]` holds the values of input j of the data set in these
    /// steps, as many as the lags reach: with a smallest lag of 1, the last step needs none.
    ///
    /// Returns, per output, `horizon` values.
    ///
    /// # Errors
    /// [`Error::FutureInputs`] if `future` does not reach far enough, [`Error::NeedsHistory`] if
    /// the end of the session is incomplete, [`Error::RanAway`] if the model ran away,
    /// [`Error::Setting`] if there is no such session or `horizon` is above 10,000,000,
    /// [`Error::MissingSeries`] as always.
    pub fn forecast(
        &self,
        series: &Series,
        session: usize,
        horizon: usize,
        future: &[Vec<f64>],
    ) -> Result<Vec<Vec<f64>>, Error> {
        let extended = self.extended(series, session, horizon, future)?;
        let history = extended.sessions()[0].len() - horizon;
        let data = self.frame.bind(&extended)?;
        let mut roll = Roll::new(&data);
        roll.begin(0, history);
        let mut scratch = self.network.room();
        let mut scaled = vec![0.0; self.frame.outputs];
        let mut forecasts = vec![Vec::with_capacity(horizon); self.frame.outputs];
        for step in 0..horizon {
            if roll.regressors().iter().any(|x| x.is_nan()) {
                return Err(Error::NeedsHistory {
                    rows: self.frame.longest_lag(),
                });
            }
            if !roll.step(&self.network, &mut scratch, &mut scaled) {
                return Err(Error::RanAway { step });
            }
            for (o, forecasts) in forecasts.iter_mut().enumerate() {
                forecasts.push(self.frame.columns[o].scaler.unscale(scaled[o]));
            }
        }
        Ok(forecasts)
    }

    /// The last rows of a session, as many as the lags reach, and the future inputs after them.
    fn extended(
        &self,
        series: &Series,
        session: usize,
        horizon: usize,
        future: &[Vec<f64>],
    ) -> Result<Series, Error> {
        let Some(past) = series.sessions().get(session) else {
            return Err(Error::Setting {
                name: "session",
                expected: "one of the data set",
                got: session as f64,
            });
        };
        if horizon > LONGEST_HORIZON {
            return Err(Error::Setting {
                name: "horizon",
                expected: "at most 10000000",
                got: horizon as f64,
            });
        }
        let first = past.len() - self.frame.longest_lag().min(past.len());
        let mut inputs = Vec::new();
        for (index, name) in series.inputs().iter().enumerate() {
            let values = future.get(index).map_or(&[][..], Vec::as_slice);
            let lags = self.inputs().find(|(used, _)| used == name);
            let least = lags.and_then(|(_, lags)| lags.first());
            let needed = least.map_or(0, |lag| horizon.saturating_sub(*lag));
            if values.len() < needed {
                return Err(Error::FutureInputs {
                    name: name.clone(),
                    needed,
                    got: values.len(),
                });
            }
            let mut column = past.input(index)[first..].to_vec();
            column.extend_from_slice(&values[..values.len().min(horizon)]);
            column.resize(past.len() - first + horizon, f64::NAN);
            inputs.push(column);
        }
        let output = |index| {
            let mut column: Vec<f64> = past.output(index)[first..].to_vec();
            column.resize(past.len() - first + horizon, f64::NAN);
            column
        };
        let outputs = (0..series.outputs().len()).map(output).collect();
        let names = |names: &[String]| names.to_vec();
        Series::new(names(series.outputs()), names(series.inputs()))?
            .with(Session::new(outputs, inputs)?)
    }

    /// The covariance of the trained weights, σ²(JᵀJ)⁻¹ from the one-step errors on the rows of
    /// `part`, in scaled units; None if the rows do not determine all weights.
    ///
    /// # Errors
    /// [`Error::MissingSeries`] and [`Error::Part`].
    pub fn covariance(&self, series: &Series, part: &Part) -> Result<Option<Vec<Vec<f64>>>, Error> {
        part.check(series)?;
        let data: Data<'_> = self.frame.bind(series)?;
        Ok(crate::train::covariance(
            &data,
            &data.complete_runs(part, None),
            &self.network,
        ))
    }

    pub(crate) fn parts(&self) -> (&Frame, &Network) {
        (&self.frame, &self.network)
    }

    /// A live forecaster that has seen nothing yet.
    ///
    /// # Errors
    /// [`Error::SeveralOutputs`] if the model has more than one output.
    pub fn predictor(&self) -> Result<Predictor, Error> {
        Predictor::new(self)
    }
}
