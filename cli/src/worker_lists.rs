use std::str::FromStr;

use lbbsp::prelude::Limits;

use crate::error::Error;

/// What is given once for all workers, or as a list with one value a worker.
#[derive(Debug, clap::Args)]
pub(crate) struct WorkerLists {
    /// Batches are multiples of this
    #[arg(long, value_delimiter = ',', default_value = "1", value_name = "SAMPLES",
        value_parser = clap::value_parser!(u32).range(1..))]
    grain: Vec<u32>,
    /// Smallest batch; a worker with 0 may sit out
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "1",
        value_name = "SAMPLES"
    )]
    min: Vec<u32>,
    /// Largest batch, or `none`
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "none",
        value_name = "SAMPLES"
    )]
    max: Vec<Ceiling>,
    /// Communication time, in seconds, whatever the batch
    #[arg(long, value_delimiter = ',', default_value = "0", value_name = "SECONDS",
        allow_hyphen_values = true, value_parser = seconds)]
    comm: Vec<f64>,
}

impl WorkerLists {
    /// The limits of each worker.
    pub(crate) fn limits(&self, workers: usize) -> Result<Vec<Limits>, Error> {
        let grains = one_each("--grain", &self.grain, workers)?;
        let minima = one_each("--min", &self.min, workers)?;
        let maxima = one_each("--max", &self.max, workers)?;
        let limits = |i: usize| Limits {
            min: minima[i],
            max: maxima[i].0,
            grain: grains[i],
        };
        Ok((0..workers).map(limits).collect())
    }

    /// The communication time of each worker.
    pub(crate) fn communication_s(&self, workers: usize) -> Result<Vec<f64>, Error> {
        one_each("--comm", &self.comm, workers)
    }
}

/// One value a worker, from one for all or one each.
pub(crate) fn one_each<T: Copy>(
    flag: &'static str,
    values: &[T],
    workers: usize,
) -> Result<Vec<T>, Error> {
    match values {
        [value] => Ok(vec![*value; workers]),
        _ if values.len() == workers => Ok(values.to_vec()),
        _ => Err(Error::ListLength {
            flag,
            got: values.len(),
            workers,
        }),
    }
}

/// Reads a time on the command line.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("a time must be a number of seconds, 0 or more".to_owned()),
    }
}

/// Reads a speed on the command line; whether it is one of use is for the split to say.
pub(crate) fn speed(text: &str) -> Result<f64, String> {
    let number = text.trim().parse();
    number.map_err(|_| "a speed must be a number of samples per second".to_owned())
}

/// A largest batch, if there is one.
#[derive(Debug, Clone, Copy)]
struct Ceiling(Option<u32>);

impl FromStr for Ceiling {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        let batch = text.parse();
        batch
            .map(|batch| Self(Some(batch)))
            .map_err(|cause| format!("a largest batch is a number of samples or `none`: {cause}"))
    }
}
