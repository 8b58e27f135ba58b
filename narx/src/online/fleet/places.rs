use serde::{Deserialize, Serialize};

use crate::Error;

/// A worker of a [`Fleet`](crate::Fleet), from when it joins to when it leaves.
///
/// It holds for the fleet that gave it, and for what is restored from that fleet's snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkerId {
    pub(super) place: u32,
    /// How many workers had left that place before.
    pub(super) generation: u32,
}

/// Who is where.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Places {
    /// Per place how many workers have left it.
    pub(super) generations: Vec<u32>,
    /// Places that nobody is in; the last one is taken next.
    pub(super) free: Vec<u32>,
}

impl Places {
    /// A free place, or a new one.
    pub(super) fn join(&mut self) -> WorkerId {
        let place = self.free.pop().unwrap_or_else(|| {
            self.generations.push(0);
            u32::try_from(self.generations.len() - 1).expect("memory holds fewer workers")
        });
        WorkerId {
            place,
            generation: self.generations[place as usize],
        }
    }

    /// Frees the place of a worker that is there.
    pub(super) fn leave(&mut self, place: usize) {
        self.generations[place] = self.generations[place].wrapping_add(1);
        self.free
            .push(u32::try_from(place).expect("a place was 32 bits when it was given"));
    }

    /// The place of a worker, if it was the last one to get it.
    pub(super) fn find(&self, id: WorkerId) -> Result<usize, Error> {
        let place = id.place as usize;
        match self.generations.get(place) {
            Some(&generation) if generation == id.generation => Ok(place),
            _ => Err(Error::NotInFleet),
        }
    }
}
