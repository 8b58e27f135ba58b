//! Many online forecasters of one kind, stepped together.

mod block;
mod lines;
mod places;
mod plan;
mod pool;
mod snapshot;

use smallvec::SmallVec;

use super::config::OnlineConfig;
use super::track::known;
use crate::Error;
use block::{Block, Desk, Sight};
use lines::LANES;
use places::Places;
pub use places::WorkerId;
use plan::Plan;
use pool::Pool;

/// Room for as many lines as a forecast handles without allocating.
type Few = SmallVec<[[f64; LANES]; 64]>;

/// The [`Online`](crate::Online) forecasters of thousands of workers, each with its own weights,
/// stepped eight at a time.
///
/// Workers join and leave. Each has a place, and what is given and returned for all of them is in the
/// order of the places: `places()` values, or `places() · inputs()` inputs, those of the first place
/// first. What stands in a place that nobody is in is not read, and its forecast is NaN. A place stays
/// the worker's until it leaves; then it goes to the next one that joins.
///
/// A worker that joins by [`join_fresh`](Self::join_fresh) is forecast as by [`Online`](crate::Online)
/// with the same settings, bit for bit. One that joins by [`join`](Self::join) starts with what the
/// others have learnt.
///
/// Once the workers have joined no step allocates (up to 64 regressors and 64 inputs).
///
/// # Example
/// ```
/// use narx::{Covariance, Fleet, OnlineConfig};
/// let config = OnlineConfig { covariance: Covariance::Nodes, ..OnlineConfig::new(1) };
/// let mut fleet = Fleet::new(&config)?;
/// let (slow, fast) = (fleet.join(), fleet.join());
/// let mut forecasts = [0.0; 2];
/// for t in 0..500 {
///     let load = f64::from(t * t % 7); // known when the step begins
///     fleet.forecast_all(&[load, load], &mut forecasts)?;
///     fleet.observe_all(&[50.0 / (1.0 + load), 100.0 / (1.0 + load)], &[load, load])?;
/// }
/// let (slow, fast) = (fleet.position(slow)?, fleet.position(fast)?);
/// assert!((forecasts[fast] / forecasts[slow] - 2.0).abs() < 0.1);
/// # Ok::<(), narx::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Fleet {
    config: OnlineConfig,
    plan: Plan,
    places: Places,
    blocks: Vec<Block>,
    /// The step to be forecast next.
    step: usize,
    /// What a worker knows that learns from nobody.
    fresh: Vec<f64>,
    pool: Pool,
    desk: Desk,
}

impl Fleet {
    /// A fleet without workers.
    ///
    /// # Errors
    /// [`Error::FleetCovariance`] if the covariance is not
    /// [`Covariance::Nodes`](crate::Covariance::Nodes), [`Error::Setting`] if a setting is outside its
    /// range or there are more than 1000 regressors or 200,000 numbers a worker, [`Error::Lags`] and
    /// [`Error::NoRegressors`] if the lags are wrong.
    pub fn new(config: &OnlineConfig) -> Result<Self, Error> {
        let plan = Plan::new(config)?;
        Ok(Self {
            config: config.clone(),
            places: Places::default(),
            blocks: Vec::new(),
            step: 0,
            fresh: plan.design.record(config.seed),
            pool: Pool::new(&plan),
            desk: Desk::new(&plan),
            plan,
        })
    }

    /// The settings.
    pub fn config(&self) -> &OnlineConfig {
        &self.config
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.config.inputs.len()
    }

    /// Number of weights of one worker.
    pub fn weights(&self) -> usize {
        self.plan.design.places.end
    }

    /// Number of places, with workers in them or not.
    pub fn places(&self) -> usize {
        self.places.generations.len()
    }

    /// Number of workers.
    pub fn len(&self) -> usize {
        self.places() - self.places.free.len()
    }

    /// Whether there are no workers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place of a worker, from 0.
    ///
    /// # Errors
    /// [`Error::NotInFleet`] if it has left.
    pub fn position(&self, id: WorkerId) -> Result<usize, Error> {
        let place = self.places.find(id)?;
        match self.blocks[place / LANES].is_present(place % LANES) {
            true => Ok(place),
            false => Err(Error::NotInFleet),
        }
    }

    /// A new worker, which starts with the mean weights of those that have learnt from at least 100
    /// steps; it learns the scales of its series anew. Before there are such workers it starts as by
    /// [`join_fresh`](Self::join_fresh).
    pub fn join(&mut self) -> WorkerId {
        let pooled = self.pool.start(&self.plan);
        self.enter(pooled.as_deref())
    }

    /// A new worker that starts as [`Online::new`](crate::Online::new) does.
    pub fn join_fresh(&mut self) -> WorkerId {
        self.enter(None)
    }

    fn enter(&mut self, record: Option<&[f64]>) -> WorkerId {
        let id = self.places.join();
        let place = id.place as usize;
        if place / LANES == self.blocks.len() {
            self.blocks.push(Block::new(&self.plan));
        }
        let record = record.unwrap_or(&self.fresh);
        let block = &mut self.blocks[place / LANES];
        block.enter(&self.plan, place % LANES, record);
        block.prepare(&self.plan, self.step, &mut self.desk.raw);
        id
    }

    /// A worker leaves, and what it has learnt is lost.
    ///
    /// # Errors
    /// [`Error::NotInFleet`] if it has left before.
    pub fn leave(&mut self, id: WorkerId) -> Result<(), Error> {
        let place = self.position(id)?;
        self.blocks[place / LANES].leave(place % LANES);
        self.places.leave(place);
        Ok(())
    }

    /// Writes the forecasts of all workers' next values into `out`, one a place.
    ///
    /// `inputs` are the driving series measured at the start of that step, those of one place side by
    /// side; NaN is missing.
    ///
    /// # Errors
    /// [`Error::Count`] if there are more or fewer numbers than for each place.
    pub fn forecast_all(&self, inputs: &[f64], out: &mut [f64]) -> Result<(), Error> {
        self.check_counts(inputs, "forecasts", out.len())?;
        let mut now = line_up(self.inputs());
        let mut sight = Sight::new(&self.plan);
        for (index, (block, out)) in self.blocks.iter().zip(out.chunks_mut(LANES)).enumerate() {
            if let Some(coming) = self.blocks.get(index + FETCHED_AHEAD) {
                coming.fetch(&self.plan);
            }
            turn(inputs, self.inputs(), index, &mut now);
            let next = block.forecast(&self.plan, &now, &mut sight);
            out.copy_from_slice(&next[..out.len()]);
        }
        Ok(())
    }

    /// Takes in the next value of every worker: `y` has one a place, NaN where nothing came.
    ///
    /// `inputs` are the driving series that held at the start of that step, see
    /// [`forecast_all`](Self::forecast_all).
    ///
    /// # Errors
    /// [`Error::Count`] if there are more or fewer numbers than for each place. Then nothing was
    /// learnt.
    pub fn observe_all(&mut self, y: &[f64], inputs: &[f64]) -> Result<(), Error> {
        self.check_counts(inputs, "values", y.len())?;
        let columns = self.inputs();
        for (index, y) in y.chunks(LANES).enumerate() {
            turn(inputs, columns, index, &mut self.desk.now);
            let mut values = [f64::NAN; LANES];
            values[..y.len()].copy_from_slice(y);
            self.blocks[index].observe(&self.plan, self.step, &values, &mut self.desk);
        }
        // One block a step is soon all of them, and costs nearly nothing.
        if let Some(index) = self.step.checked_rem(self.blocks.len()) {
            let lanes = (0..LANES).filter(|&lane| self.blocks[index].is_present(lane));
            for lane in lanes {
                let record = self.blocks[index].record(&self.plan);
                self.pool.take(&self.plan, record, lane);
            }
        }
        self.step = self.step.wrapping_add(1);
        Ok(())
    }

    /// Writes the forecasts of the next `out.len()` steps of one worker, the first one first.
    /// `inputs_now` stay as they are over these steps.
    ///
    /// # Errors
    /// [`Error::NotInFleet`] if it has left.
    pub fn forecast(&self, id: WorkerId, inputs_now: &[f64], out: &mut [f64]) -> Result<(), Error> {
        let place = self.position(id)?;
        let mut sight = Sight::new(&self.plan);
        let (block, lane) = (&self.blocks[place / LANES], place % LANES);
        block.forecast_one(&self.plan, self.step, lane, inputs_now, &mut sight, out);
        Ok(())
    }

    /// Takes in the next value of one worker. It takes as long as for eight; for the others no step
    /// passes.
    ///
    /// # Errors
    /// [`Error::NotInFleet`] if it has left.
    pub fn observe(&mut self, id: WorkerId, y: f64, inputs: &[f64]) -> Result<(), Error> {
        let place = self.position(id)?;
        let (block, lane) = (&mut self.blocks[place / LANES], place % LANES);
        for (input, now) in self.desk.now.iter_mut().enumerate() {
            *now = [inputs.get(input).copied().map_or(f64::NAN, known); LANES];
        }
        block.observe_one(&self.plan, self.step, lane, y, &mut self.desk);
        self.pool.take(&self.plan, block.record(&self.plan), lane);
        Ok(())
    }

    fn check_counts(&self, inputs: &[f64], what: &'static str, got: usize) -> Result<(), Error> {
        let counts = [
            (what, self.places(), got),
            ("inputs", self.places() * self.inputs(), inputs.len()),
        ];
        for (what, expected, got) in counts {
            if got != expected {
                return Err(Error::Count {
                    what,
                    expected,
                    got,
                });
            }
        }
        Ok(())
    }
}

/// The inputs of a block, `columns` for each place, with those of its workers side by side.
fn turn(inputs: &[f64], columns: usize, block: usize, now: &mut [[f64; LANES]]) {
    let inputs = &inputs[block * LANES * columns..];
    for lane in 0..LANES.min(inputs.len().checked_div(columns).unwrap_or(0)) {
        for (now, input) in now.iter_mut().zip(&inputs[lane * columns..]) {
            now[lane] = known(*input);
        }
    }
}

/// How many blocks before its forecast a block is fetched from memory.
const FETCHED_AHEAD: usize = 1;

fn line_up(lines: usize) -> Few {
    SmallVec::from_elem([0.0; LANES], lines)
}
