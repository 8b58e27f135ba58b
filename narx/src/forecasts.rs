use crate::frame::{Data, Run};
use crate::network::{Block, Lanes, Network, ROWS};
use crate::roll::{RUNAWAY, Roll};

/// Forecasts for every row of a data set: value t of a session is for its time step t. NaN where
/// there is none, because the history is incomplete or the model ran away.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecasts {
    /// Per session, per output.
    pub(crate) sessions: Vec<Vec<Vec<f64>>>,
    pub(crate) ran_away: Vec<(usize, usize)>,
}

impl Forecasts {
    /// The forecasts of an output in a session, one for each of its rows.
    ///
    /// # Panics
    /// If there is no such session or output.
    pub fn of(&self, session: usize, output: usize) -> &[f64] {
        &self.sessions[session][output]
    }

    /// Where the model ran on its own forecasts until they were more than 20 times as large as
    /// anything it was trained on, and was cut: session and row of each time that happened.
    pub fn ran_away(&self) -> &[(usize, usize)] {
        &self.ran_away
    }
}

/// Makes forecasts for the sessions of a data set.
pub(crate) struct Walk<'a> {
    data: &'a Data<'a>,
    network: &'a Network,
    roll: Roll<'a>,
    scratch: Vec<Lanes>,
    scaled: Vec<f64>,
    out: Forecasts,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(data: &'a Data<'a>, network: &'a Network) -> Self {
        let outputs = data.frame.outputs;
        let empty = |session| vec![vec![f64::NAN; data.len(session)]; outputs];
        Self {
            data,
            network,
            roll: Roll::new(data),
            scratch: network.room(),
            scaled: vec![0.0; outputs],
            out: Forecasts {
                sessions: (0..data.sessions.len()).map(empty).collect(),
                ran_away: Vec::new(),
            },
        }
    }

    /// Forecasts made from the measured past of each row.
    pub(crate) fn one_step(mut self) -> Forecasts {
        let frame = self.data.frame;
        let mut block = Block::new(frame.terms.len(), frame.outputs);
        for session in 0..self.data.sessions.len() {
            let rows = self.data.len(session);
            for start in (0..rows).step_by(ROWS) {
                let rows = start..(start + ROWS).min(rows);
                self.data
                    .regressors(session, rows.clone(), &mut block.regressors);
                block.forecast(self.network);
                for (o, scaled) in block.outputs.iter().enumerate() {
                    let scaler = &frame.columns[o].scaler;
                    let out = &mut self.out.sessions[session][o][rows.clone()];
                    for (out, &scaled) in out.iter_mut().zip(scaled) {
                        *out = scaler.unscale(scaled);
                    }
                }
            }
        }
        self.out
    }

    /// Forecasts made `steps` steps before, from what had been measured then; earlier in a run of
    /// rows from the first row that has a history.
    pub(crate) fn ahead(mut self, steps: usize, initial: usize) -> Forecasts {
        for session in 0..self.data.sessions.len() {
            let mut row = initial;
            while let Some(run) = self.next_run(session, row) {
                self.follow(session, run.start, run.end, usize::MAX, steps);
                for origin in run.start + 1..run.end {
                    let Some(last) = origin.checked_add(steps - 1).filter(|&t| t < run.end) else {
                        break;
                    };
                    self.follow(session, origin, run.end, last, steps);
                }
                row = run.end;
            }
        }
        self.out
    }

    /// Rolls from `origin` for at most `steps` rows before `end`; writes the row `only`, or all
    /// rows if that is none of them.
    fn follow(&mut self, session: usize, origin: usize, end: usize, only: usize, steps: usize) {
        self.roll.begin(session, origin);
        for row in origin..end.min(origin.saturating_add(steps)) {
            let went_on = self
                .roll
                .step(self.network, &mut self.scratch, &mut self.scaled);
            if !went_on {
                if self.scaled.iter().any(|value| value.abs() > RUNAWAY) {
                    self.out.ran_away.push((session, row));
                }
                return;
            }
            if only == usize::MAX || only == row {
                self.write(session, row);
            }
        }
    }

    /// The next rows, from `row` on, that a roll can pass through: the first one has a complete
    /// history, and all inputs are there.
    fn next_run(&self, session: usize, row: usize) -> Option<std::ops::Range<usize>> {
        let rows = self.data.len(session);
        let start = (row..rows).find(|&row| self.data.has_history(session, row))?;
        let inputs = self.data.frame.terms.iter();
        let inputs: Vec<_> = inputs
            .filter(|term| term.column >= self.data.frame.outputs)
            .collect();
        let lacks_input = |row: &usize| {
            let mut inputs = inputs.iter();
            inputs.any(|term| {
                self.data
                    .value(session, term.column, *row, term.lag)
                    .is_nan()
            })
        };
        let end = (start..rows).find(lacks_input).unwrap_or(rows);
        Some(start..end)
    }

    fn write(&mut self, session: usize, row: usize) {
        for (o, &value) in self.scaled.iter().enumerate() {
            let scaler = &self.data.frame.columns[o].scaler;
            self.out.sessions[session][o][row] = scaler.unscale(value);
        }
    }
}

/// Of one-step forecasts, per output, in the output's units.
pub(crate) fn root_mean_square_error(data: &Data<'_>, runs: &[Run], network: &Network) -> Vec<f64> {
    let frame = data.frame;
    let mut block = Block::new(frame.terms.len(), frame.outputs);
    let mut squares = vec![0.0_f64; frame.outputs];
    for run in runs {
        for start in run.rows.clone().step_by(ROWS) {
            let rows = start..(start + ROWS).min(run.rows.end);
            data.regressors(run.session, rows.clone(), &mut block.regressors);
            block.forecast(network);
            for (o, square) in squares.iter_mut().enumerate() {
                let scaler = &frame.columns[o].scaler;
                let truth = &data.sessions[run.session][o][rows.clone()];
                for (truth, &scaled) in truth.iter().zip(&block.outputs[o]) {
                    // In units of the spread, so that no square overflows.
                    *square += ((truth - scaler.unscale(scaled)) / scaler.unit()).powi(2);
                }
            }
        }
    }
    let rows: usize = runs.iter().map(|run| run.rows.len()).sum();
    let units = frame.columns.iter().map(|column| column.scaler.unit());
    let root = |(square, unit): (&f64, f64)| ((square / rows as f64).sqrt() * unit).min(f64::MAX);
    squares.iter().zip(units).map(root).collect()
}
