//! A fleet as bytes, all numbers little-endian:
//!
//! - `narxflt` and a zero, the version (u32), the number of all bytes (u64), the SHA-256 of what
//!   follows,
//! - the settings,
//! - the step (u64),
//! - the pool: how many were taken, mean weights,
//! - the free places, in the order in which they became free,
//! - per place its generation, and if a worker is there its record, its history from the oldest step
//!   on, its last value and its gate.

use sha2::{Digest, Sha256};

use super::Fleet;
use super::block::Block;
use super::lines::LANES;
use crate::online::config::{Covariance, Jumps, OnlineConfig};
use crate::online::gate::Gate;
use crate::online::history::Term;
use crate::{Error, FileFault};

const MAGIC: [u8; 8] = *b"narxflt\0";

/// Version of the format that this crate writes and reads.
const VERSION: u32 = 1;

/// Where the body starts.
const HEAD: usize = 8 + 4 + 8 + 32;

impl Fleet {
    /// All that the fleet has learnt, and who is in it, with a checksum. Read back, it goes on
    /// forecasting the same, bit for bit, and its workers keep their [`WorkerId`](crate::WorkerId)s.
    /// A worker of 8 regressors and 10 hidden units takes 6.4 kB.
    pub fn to_bytes(&self) -> Vec<u8> {
        let of_worker = 8 * (self.plan.lines() + 8);
        let mut bytes = Bytes(Vec::with_capacity(HEAD + 1000 + of_worker * self.len()));
        bytes.0.resize(HEAD, 0);
        bytes.settings(&self.config);
        bytes.0.extend((self.step as u64).to_le_bytes());
        bytes.number(self.pool.taken);
        bytes.numbers(&self.pool.mean);
        bytes.integers(&self.places.free);
        bytes.integers(&self.places.generations);
        for place in 0..self.places() {
            let (block, lane) = (&self.blocks[place / LANES], place % LANES);
            if block.is_present(lane) {
                self.write_worker(block, lane, &mut bytes);
            }
        }
        let mut bytes = bytes.0;
        let length = bytes.len() as u64;
        let checksum = Sha256::digest(&bytes[HEAD..]);
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..20].copy_from_slice(&length.to_le_bytes());
        bytes[20..HEAD].copy_from_slice(&checksum);
        bytes
    }

    fn write_worker(&self, block: &Block, lane: usize, bytes: &mut Bytes) {
        for line in block.record(&self.plan) {
            bytes.number(line[lane]);
        }
        for term in self.past() {
            bytes.number(block.seen(&self.plan, self.step, term, lane));
        }
        bytes.number(block.last(lane));
        bytes.numbers(&block.gate(lane).numbers());
    }

    /// The steps of the history from the oldest on.
    fn past(&self) -> impl Iterator<Item = Term> + use<> {
        let columns = self.plan.columns;
        let lags = (1..self.plan.rows).rev();
        lags.flat_map(move |lag| (0..columns).map(move |column| Term { column, lag }))
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// [`Error::File`] if it is no fleet, of an unknown version, cut off, changed, or its parts do not
    /// fit each other.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut body = Reader(body(bytes)?);
        let config = body.settings()?;
        let misfit = |what| FileFault::Misfit { what };
        let mut fleet = Self::new(&config).map_err(|_| misfit("the settings are not valid"))?;
        fleet.step = u64::from_le_bytes(body.take()?) as usize;
        fleet.pool.taken = body.number()?;
        body.numbers(&mut fleet.pool.mean)?;
        if !fleet.pool.is_sound() {
            return Err(misfit("the mean weights are not sound").into());
        }
        fleet.places.free = body.integers()?;
        fleet.places.generations = body.integers()?;
        let present = fleet
            .occupied()
            .ok_or(misfit("the free places are wrong"))?;
        let of_worker = fleet.plan.design.at.end + fleet.past().count() + 7;
        if body.0.len() != 8 * of_worker * present.iter().filter(|&&there| there).count() {
            return Err(misfit("the number of workers is another").into());
        }
        let mut record = vec![0.0; fleet.plan.design.at.end];
        for (place, there) in present.into_iter().enumerate() {
            if place % LANES == 0 {
                fleet.blocks.push(Block::new(&fleet.plan));
            }
            if there {
                fleet.read_worker(place, &mut record, &mut body)?;
            }
        }
        Ok(fleet)
    }

    /// Per place whether a worker is there; None if a free place is none or named twice.
    fn occupied(&self) -> Option<Vec<bool>> {
        let mut present = vec![true; self.places()];
        for &place in &self.places.free {
            let there = present.get_mut(place as usize)?;
            if !std::mem::replace(there, false) {
                return None;
            }
        }
        Some(present)
    }

    fn read_worker(
        &mut self,
        place: usize,
        record: &mut [f64],
        body: &mut Reader<'_>,
    ) -> Result<(), FileFault> {
        let misfit = |what| FileFault::Misfit { what };
        body.numbers(record)?;
        let unsound = |_| misfit("what a worker has learnt is not sound");
        self.plan.design.check(record).map_err(unsound)?;
        let past = self.past();
        let (block, lane) = (&mut self.blocks[place / LANES], place % LANES);
        block.enter(&self.plan, lane, record);
        for term in past {
            block.see(&self.plan, self.step, term, lane, body.number()?);
        }
        let last = body.number()?;
        let mut numbers = [0.0; 6];
        body.numbers(&mut numbers)?;
        let gate = Gate::of(self.plan.jumps, numbers);
        if last.is_infinite() || gate.check(self.plan.jumps).is_err() {
            return Err(misfit("a worker's last values are not sound"));
        }
        block.resume(lane, last, gate);
        block.prepare(&self.plan, self.step, &mut self.desk.raw);
        Ok(())
    }
}

/// What the checksum is of.
fn body(bytes: &[u8]) -> Result<&[u8], FileFault> {
    let known = bytes.len().min(MAGIC.len());
    if bytes[..known] != MAGIC[..known] {
        return Err(FileFault::NotAFleet);
    }
    let got = bytes.len() as u64;
    let cut = |needed| FileFault::CutShort { needed, got };
    let (head, body) = bytes.split_at_checked(HEAD).ok_or(cut(HEAD as u64))?;
    let mut reader = Reader(&head[MAGIC.len()..]);
    let version = reader.integer()?;
    if version != VERSION {
        return Err(FileFault::Version {
            got: version.into(),
        });
    }
    let needed = u64::from_le_bytes(reader.take()?);
    if got < needed {
        return Err(cut(needed));
    }
    if got > needed || reader.0 != Sha256::digest(body).as_slice() {
        return Err(FileFault::Edited);
    }
    Ok(body)
}

struct Bytes(Vec<u8>);

impl Bytes {
    fn integer(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    /// How many there are, then each.
    fn integers(&mut self, values: &[u32]) {
        self.count(values.len());
        values.iter().for_each(|&value| self.integer(value));
    }

    fn count(&mut self, count: usize) {
        self.integer(u32::try_from(count).expect("memory holds fewer workers"));
    }

    fn number(&mut self, value: f64) {
        self.0.extend(value.to_le_bytes());
    }

    fn numbers(&mut self, values: &[f64]) {
        values.iter().for_each(|&value| self.number(value));
    }

    fn settings(&mut self, config: &OnlineConfig) {
        self.count(config.inputs.len());
        for lags in std::iter::once(&config.output_lags).chain(&config.inputs) {
            self.count(lags.len());
            lags.iter().for_each(|&lag| self.count(lag));
        }
        self.count(config.hidden);
        self.number(config.forgetting);
        self.number(config.jumps.threshold);
        self.number(config.jumps.expected);
        self.0.extend(config.seed.to_le_bytes());
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], FileFault> {
        let what = "it ends within a number";
        let (first, rest) = self
            .0
            .split_first_chunk()
            .ok_or(FileFault::Misfit { what })?;
        self.0 = rest;
        Ok(*first)
    }

    fn integer(&mut self) -> Result<u32, FileFault> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn integers(&mut self) -> Result<Vec<u32>, FileFault> {
        (0..self.count()?).map(|_| self.integer()).collect()
    }

    /// How many follow, of at least four bytes each.
    fn count(&mut self) -> Result<usize, FileFault> {
        let count = self.integer()? as usize;
        if count > self.0.len() / 4 {
            let what = "more is announced than follows";
            return Err(FileFault::Misfit { what });
        }
        Ok(count)
    }

    fn number(&mut self) -> Result<f64, FileFault> {
        Ok(f64::from_le_bytes(self.take()?))
    }

    fn numbers(&mut self, values: &mut [f64]) -> Result<(), FileFault> {
        for value in values {
            *value = self.number()?;
        }
        Ok(())
    }

    fn lags(&mut self) -> Result<Vec<usize>, FileFault> {
        let lags = self.integers()?;
        Ok(lags.into_iter().map(|lag| lag as usize).collect())
    }

    fn settings(&mut self) -> Result<OnlineConfig, FileFault> {
        let inputs = self.count()?;
        Ok(OnlineConfig {
            output_lags: self.lags()?,
            inputs: (0..inputs).map(|_| self.lags()).collect::<Result<_, _>>()?,
            hidden: self.integer()? as usize,
            covariance: Covariance::Nodes,
            forgetting: self.number()?,
            jumps: Jumps {
                threshold: self.number()?,
                expected: self.number()?,
            },
            seed: u64::from_le_bytes(self.take()?),
        })
    }
}
