use std::collections::HashSet;

use lbbsp::narx::Series;

use super::Fault;
use crate::error::Error;
use crate::log_file::{self, Header};
use crate::worker_names::plain;

/// What is forecast from what.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Columns of the logs")]
pub(crate) struct SeriesColumns {
    /// Columns to forecast, as a list
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', required = true)]
    pub(crate) target: Vec<String>,
    /// Columns to forecast them from besides their own past, as a list
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) inputs: Vec<String>,
}

/// What tells the rows of a log apart.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Columns of the logs")]
pub(crate) struct RowColumns {
    /// Tells the sessions of a file apart: no row is forecast from those of another session
    #[arg(long, value_name = "COLUMN")]
    pub(crate) session: Option<String>,
    /// When a row was recorded, a number or a date such as 2013-07-01 00:05:00: no row is forecast
    /// from those before a gap
    #[arg(long, value_name = "COLUMN")]
    pub(crate) time: Option<String>,
}

/// A data set of these columns, without sessions yet.
pub(crate) fn named_series(target: &[String], inputs: &[String]) -> Result<Series, Error> {
    let (outputs, inputs) = (named(target), named(inputs));
    if outputs.is_empty() {
        return Err(Error::NoTarget);
    }
    let mut seen = HashSet::new();
    if let Some(name) = outputs
        .iter()
        .chain(&inputs)
        .find(|name| !seen.insert(**name))
    {
        return Err(Error::ColumnTwice { name: plain(name) });
    }
    let series = Series::new(outputs, inputs);
    Ok(series.expect("there is an output, and no name is there twice"))
}

/// The names in a list, of which `--inputs ""` has none.
fn named(list: &[String]) -> Vec<&str> {
    let names = list.iter().map(|name| name.trim());
    names.filter(|name| !name.is_empty()).collect()
}

/// Where the columns of one file are.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) header: Header,
    /// First the outputs, then the inputs.
    pub(super) values: Vec<usize>,
    pub(super) session: Option<usize>,
    pub(super) time: Option<usize>,
}

impl Layout {
    /// `series` has the names of outputs and inputs.
    pub(super) fn of(header: Header, series: &Series, columns: &RowColumns) -> Result<Self, Fault> {
        let place = |name: &String| header.needed(name.trim());
        let names = series.outputs().iter().chain(series.inputs());
        let values = names
            .map(place)
            .collect::<Result<Vec<_>, log_file::Fault>>()?;
        let session = columns.session.as_ref().map(place).transpose()?;
        let time = columns.time.as_ref().map(place).transpose()?;
        // Of the others it does not matter, logs are made by many hands.
        header.check_doubled(|column| {
            values.contains(&column) || [session, time].contains(&Some(column))
        })?;
        Ok(Self {
            header,
            values,
            session,
            time,
        })
    }
}
