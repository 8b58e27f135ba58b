use crate::{Error, Series, Session};

/// What a linear model may look at: a column some steps back. The output at lag 0 is what it is to
/// explain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Regressor {
    pub(super) column: Column,
    pub(super) lag: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    Output(usize),
    Input(usize),
}

impl Regressor {
    /// The output at lags 1 to `max_output_lag`, each input at lags 0 to `max_input_lag`.
    pub(super) fn all(
        series: &Series,
        output: usize,
        max_output_lag: usize,
        max_input_lag: usize,
    ) -> Vec<Self> {
        let at = |column| move |lag| Self { column, lag };
        let past = (1..=max_output_lag).map(at(Column::Output(output)));
        let inputs = (0..series.inputs().len())
            .flat_map(|input| (0..=max_input_lag).map(at(Column::Input(input))));
        past.chain(inputs).collect()
    }

    /// Its value at a row of a session that has at least `lag` rows before.
    pub(super) fn value(&self, session: &Session, row: usize) -> f64 {
        match self.column {
            Column::Output(place) => session.output(place)[row - self.lag],
            Column::Input(place) => session.input(place)[row - self.lag],
        }
    }

    /// Name of its column.
    pub(super) fn name<'a>(&self, series: &'a Series) -> &'a str {
        match self.column {
            Column::Output(place) => &series.outputs()[place],
            Column::Input(place) => &series.inputs()[place],
        }
    }
}

/// Checks that there is an output at that place.
pub(super) fn check_output(series: &Series, output: usize) -> Result<(), Error> {
    if output < series.outputs().len() {
        return Ok(());
    }
    Err(Error::Setting {
        name: "output",
        expected: "the place of an output of the series",
        got: output as f64,
    })
}
