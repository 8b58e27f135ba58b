use lbbsp::narx::{
    self, Config, Covariance, Forecaster, Guarded, Narx, Online, OnlineConfig, Series,
};

/// The online forecasters as they are before the first row of a session.
#[derive(Debug)]
pub(crate) struct Learners {
    /// The other two are members of it.
    pub(crate) guarded: Guarded,
    /// Names of the inputs in use, in their order.
    pub(crate) inputs: Vec<String>,
}

impl Learners {
    /// Those that know nothing yet, with the lags and the seed of a model. Their network has as many
    /// hidden units as there is room for.
    pub(crate) fn fresh(config: &Config) -> Result<Self, narx::Error> {
        let most = OnlineConfig::new(0).hidden;
        let full = (1..=most).rev();
        let mut full = full.map(|hidden| of_lags(config, hidden, Covariance::Full));
        let fits = full.find_map(|config| Guarded::with(&config).ok());
        let guarded = match fits {
            Some(guarded) => guarded,
            None => Guarded::with(&of_lags(config, most, Covariance::Nodes))?,
        };
        let inputs = config.inputs.iter().map(|input| input.name.clone());
        Ok(Self {
            guarded,
            inputs: inputs.collect(),
        })
    }

    /// Those whose network begins as the one of a model.
    pub(crate) fn warm(model: &Narx) -> Result<Self, narx::Error> {
        let online = match Online::warm(model, Covariance::Full) {
            Err(narx::Error::Setting {
                name: "weights", ..
            }) => Online::warm(model, Covariance::Nodes)?,
            other => other?,
        };
        let inputs = model.inputs().map(|(name, _)| name.to_owned());
        Ok(Self {
            guarded: Guarded::around(online)?,
            inputs: inputs.collect(),
        })
    }

    /// Lets `guarded` run through a session; `before` sees it before each row.
    pub(crate) fn run(
        &mut self,
        series: &Series,
        session: usize,
        mut before: impl FnMut(&Guarded),
    ) {
        let places = places(series, &self.inputs);
        let session = &series.sessions()[session];
        let columns: Vec<&[f64]> = places.iter().map(|&place| session.input(place)).collect();
        let mut inputs = vec![f64::NAN; columns.len()];
        for (row, &y) in session.output(0).iter().enumerate() {
            for (value, column) in inputs.iter_mut().zip(&columns) {
                *value = column[row];
            }
            before(&self.guarded);
            self.guarded.observe(y, &inputs);
        }
    }
}

/// Whether a model of this configuration, trained on so many rows, can go on learning: known before
/// the training.
pub(crate) fn check(config: &Config, outputs: usize, rows: usize) -> Result<(), narx::Error> {
    if outputs > 1 {
        return Err(narx::Error::SeveralOutputs { got: outputs });
    }
    let starts = config.training.starts_for(rows);
    let averaged = config.training.average.unwrap_or(starts).min(starts);
    let hidden = config.hidden.saturating_mul(averaged);
    Guarded::with(&of_lags(config, hidden, Covariance::Nodes)).map(drop)
}

fn of_lags(config: &Config, hidden: usize, covariance: Covariance) -> OnlineConfig {
    let inputs = config.inputs.iter().map(|input| input.lags.clone());
    OnlineConfig {
        output_lags: config.output_lags.clone(),
        inputs: inputs.collect(),
        hidden,
        covariance,
        seed: config.training.seed,
        ..OnlineConfig::new(0)
    }
}

/// Where the inputs of these names are in a data set that was read for them.
pub(crate) fn places(series: &Series, names: &[String]) -> Vec<usize> {
    let place = |name: &String| series.inputs().iter().position(|input| input == name);
    let places: Option<Vec<usize>> = names.iter().map(place).collect();
    places.expect("the columns of every forecaster were read")
}
