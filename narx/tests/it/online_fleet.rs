//! A fleet does for every worker what a forecaster of its own would do.

use narx::{
    Covariance, Error, FileFault, Fleet, Forecaster, Jumps, Online, OnlineConfig, WorkerId,
};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

use crate::random::Uniform;

const NAN: f64 = f64::NAN;

/// Where the body of a snapshot starts: after the magic bytes, version, length and checksum.
const HEAD: usize = 52;

/// A small network that takes jumps early.
fn config() -> OnlineConfig {
    OnlineConfig {
        hidden: 3,
        covariance: Covariance::Nodes,
        jumps: Jumps {
            threshold: 4.0,
            expected: 0.1,
        },
        ..OnlineConfig::new(2)
    }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Seeded numbers from 0 to 1.
struct Random(Uniform);

impl Random {
    fn new(seed: u64) -> Self {
        // A state of 0 would stay 0.
        Self(Uniform(seed.wrapping_mul(2).wrapping_add(1)))
    }

    fn next(&mut self) -> f64 {
        self.0.next()
    }

    fn below(&mut self, end: usize) -> usize {
        ((self.next() * end as f64) as usize).min(end.saturating_sub(1))
    }

    /// An input, now and then a missing or a wild one.
    fn input(&mut self) -> f64 {
        match self.next() {
            r if r < 0.04 => NAN,
            r if r < 0.05 => 1e9,
            r if r < 0.06 => f64::INFINITY,
            r => r,
        }
    }

    /// A value around `level`, now and then a missing one, a spike or a shift of the level.
    fn value(&mut self, level: &mut f64, inputs: &[f64]) -> f64 {
        let usual = *level * (1.0 + 0.1 * inputs[0].clamp(0.0, 1.0) + 0.01 * self.next());
        match self.next() {
            r if r < 0.04 => NAN,
            r if r < 0.07 => 30.0 * usual,
            r if r < 0.08 => f64::INFINITY,
            r if r < 0.10 => {
                *level *= 3.0 * self.next() - 0.2;
                usual
            }
            _ => usual,
        }
    }
}

/// A worker of a fleet and the forecaster that it must agree with.
struct Pair {
    id: WorkerId,
    single: Online,
    level: f64,
}

struct Both {
    fleet: Fleet,
    pairs: Vec<Pair>,
    random: Random,
}

impl Both {
    fn new(config: &OnlineConfig, seed: u64) -> Self {
        Self {
            fleet: Fleet::new(config).unwrap(),
            pairs: Vec::new(),
            random: Random::new(seed),
        }
    }

    fn join(&mut self) {
        self.pairs.push(Pair {
            id: self.fleet.join_fresh(),
            single: Online::new(self.fleet.config()).unwrap(),
            level: 1.0 + 10.0 * self.random.next(),
        });
    }

    fn leave(&mut self) {
        if !self.pairs.is_empty() {
            let pair = self.pairs.swap_remove(self.random.below(self.pairs.len()));
            self.fleet.leave(pair.id).unwrap();
            assert_eq!(self.fleet.position(pair.id), Err(Error::NotInFleet));
        }
    }

    /// Everyone forecasts and observes a step.
    fn step_all(&mut self) {
        let columns = self.fleet.inputs();
        let places = self.fleet.places();
        // What nobody reads may be anything.
        let mut inputs = vec![7.0; places * columns];
        let mut y = vec![5.0; places];
        let mut expected = vec![NAN; places];
        for pair in &mut self.pairs {
            let place = self.fleet.position(pair.id).unwrap();
            let own = &mut inputs[place * columns..][..columns];
            own.iter_mut()
                .for_each(|input| *input = self.random.input());
            pair.single.forecast(own, &mut expected[place..=place]);
            y[place] = self.random.value(&mut pair.level, own);
            pair.single.observe(y[place], own);
        }
        let mut got = vec![0.0; places];
        self.fleet.forecast_all(&inputs, &mut got).unwrap();
        assert_eq!(bits(&got), bits(&expected));
        self.fleet.observe_all(&y, &inputs).unwrap();
    }

    /// Only one observes a step.
    fn step_one(&mut self) {
        if self.pairs.is_empty() {
            return;
        }
        let index = self.random.below(self.pairs.len());
        let pair = &mut self.pairs[index];
        let inputs = [self.random.input(), self.random.input()];
        let y = self.random.value(&mut pair.level, &inputs);
        pair.single.observe(y, &inputs);
        self.fleet.observe(pair.id, y, &inputs).unwrap();
    }

    /// Forecasts of several steps, and of few inputs.
    fn compare(&mut self) {
        for pair in &self.pairs {
            for inputs in [&[self.random.input(), self.random.input()][..], &[0.5], &[]] {
                let (mut got, mut expected) = ([0.0; 5], [0.0; 5]);
                pair.single.forecast(inputs, &mut expected);
                self.fleet.forecast(pair.id, inputs, &mut got).unwrap();
                assert_eq!(bits(&got), bits(&expected));
            }
        }
    }

    fn run(&mut self, steps: usize) {
        for _ in 0..steps {
            match self.random.next() {
                r if r < 0.03 => self.join(),
                r if r < 0.05 => self.leave(),
                r if r < 0.15 => self.step_one(),
                _ => self.step_all(),
            }
        }
        self.compare();
    }

    fn restart(&mut self) {
        let bytes = self.fleet.to_bytes();
        self.fleet = Fleet::from_bytes(&bytes).unwrap();
        assert!(self.fleet.to_bytes() == bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn every_worker_is_forecast_as_if_it_were_alone(
        seed in any::<u64>(), workers in 1..20usize, hidden in 0..13usize, long in any::<bool>(),
    ) {
        let lags = if long { vec![1, 3, 8] } else { vec![1, 2] };
        let config = OnlineConfig { hidden, output_lags: lags, ..config() };
        let mut both = Both::new(&config, seed);
        (0..workers).for_each(|_| both.join());
        both.run(150);
        both.restart();
        both.run(60);
    }

    #[test]
    fn a_restored_fleet_knows_who_comes_next(seed in any::<u64>()) {
        let mut both = Both::new(&config(), seed);
        (0..10).for_each(|_| both.join());
        both.run(140);
        (0..4).for_each(|_| both.leave());
        let mut restored = Fleet::from_bytes(&both.fleet.to_bytes()).unwrap();
        for _ in 0..8 {
            prop_assert_eq!(restored.join(), both.fleet.join());
        }
        let inputs = vec![0.5; 2 * restored.places()];
        let y: Vec<f64> = (0..restored.places()).map(|_| both.random.next()).collect();
        for fleet in [&mut restored, &mut both.fleet] {
            (0..30).for_each(|_| fleet.observe_all(&y, &inputs).unwrap());
        }
        prop_assert!(restored.to_bytes() == both.fleet.to_bytes());
    }

    #[test]
    fn a_snapshot_with_random_changes_is_refused(
        changes in prop::collection::vec((0.0..1.0_f64, 1..=255_u8), 1..4), sealed in any::<bool>(),
    ) {
        let mut bytes = small().to_bytes();
        for (place, change) in changes {
            let place = (place * bytes.len() as f64) as usize;
            bytes[place] ^= change;
        }
        if sealed {
            seal(&mut bytes);
        }
        match Fleet::from_bytes(&bytes) {
            // Two changes that undo each other, or numbers that might have been.
            Ok(read) => {
                prop_assert!(sealed || bytes == small().to_bytes());
                prop_assert_eq!(read.places(), small().places());
            }
            Err(error) => prop_assert!(matches!(error, Error::File(_))),
        }
    }

    #[test]
    fn random_bytes_are_no_fleet(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(matches!(Fleet::from_bytes(&bytes), Err(Error::File(_))));
    }
}

/// A fleet of three workers, one of which has left.
fn small() -> Fleet {
    let config = OnlineConfig {
        hidden: 1,
        ..config()
    };
    let mut both = Both::new(&config, 3);
    (0..4).for_each(|_| both.join());
    (0..120).for_each(|_| both.step_all());
    both.leave();
    both.fleet
}

/// Makes the checksum fit.
fn seal(bytes: &mut [u8]) {
    let checksum = Sha256::digest(&bytes[HEAD..]);
    bytes[20..HEAD].copy_from_slice(&checksum);
}

fn fault(bytes: &[u8]) -> FileFault {
    match Fleet::from_bytes(bytes) {
        Err(Error::File(fault)) => fault,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was read"),
    }
}

#[test]
fn a_snapshot_that_is_cut_off_says_so() {
    let bytes = small().to_bytes();
    for end in 0..bytes.len() {
        let fault = fault(&bytes[..end]);
        let FileFault::CutShort { needed, got } = fault else {
            panic!("{end}: {fault}");
        };
        assert_eq!(got, end as u64);
        assert!(needed == bytes.len() as u64 || end < HEAD);
    }
}

#[test]
fn a_foreign_changed_or_later_snapshot_says_so() {
    let sound = small().to_bytes();
    assert!(Fleet::from_bytes(&sound).is_ok());
    let with = |place: usize, value: u8| {
        let mut bytes = sound.clone();
        bytes[place] = value;
        bytes
    };
    assert_eq!(fault(&with(0, b'N')), FileFault::NotAFleet);
    assert_eq!(fault(b"{}"), FileFault::NotAFleet);
    assert_eq!(fault(&with(8, 2)), FileFault::Version { got: 2 });
    assert_eq!(fault(&with(HEAD + 9, 77)), FileFault::Edited);
    assert_eq!(fault(&[&sound[..], &[0]].concat()), FileFault::Edited);
    let message = fault(&sound[..100]).to_string();
    assert!(message.contains("100 of"), "{message}");
}

#[test]
fn parts_that_do_not_fit_are_found_even_with_the_right_checksum() {
    let sound = small().to_bytes();
    let forged = |place: usize, value: &[u8]| {
        let mut bytes = sound.clone();
        bytes[place..][..value.len()].copy_from_slice(value);
        seal(&mut bytes);
        bytes
    };
    let last = sound.len() - 7 * 8;
    let large = u32::MAX.to_le_bytes();
    for bytes in [
        // Number of inputs, and of lags.
        forged(HEAD, &large),
        forged(HEAD + 4, &large),
        // A lag of the series.
        forged(HEAD + 8, &large),
        forged(HEAD + 8, &0_u32.to_le_bytes()),
        // The last worker's last value and gate.
        forged(last, &f64::INFINITY.to_le_bytes()),
        forged(last + 16, &(-1.0_f64).to_le_bytes()),
    ] {
        let used = allocation_counter::measure(|| {
            let fault = fault(&bytes);
            assert!(matches!(fault, FileFault::Misfit { .. }), "{fault:?}");
        });
        assert!(used.bytes_max < 200_000, "{used:?}");
    }
}

#[test]
fn a_worker_that_has_left_is_refused() {
    let mut fleet = Fleet::new(&config()).unwrap();
    let (first, second) = (fleet.join(), fleet.join());
    fleet.leave(first).unwrap();
    assert_eq!(fleet.leave(first), Err(Error::NotInFleet));
    let third = fleet.join();
    assert_ne!(first, third);
    assert_eq!(fleet.position(third), Ok(0));
    assert_eq!((fleet.places(), fleet.len()), (2, 2));
    let gone = Err(Error::NotInFleet);
    assert_eq!(fleet.forecast(first, &[], &mut [0.0]), gone);
    assert_eq!(fleet.observe(first, 1.0, &[]), gone);
    fleet.leave(second).unwrap();
    fleet.leave(third).unwrap();
    assert!(fleet.is_empty());
    // An id of a larger fleet, and of a free place.
    let mut other = Fleet::new(&config()).unwrap();
    let far = (0..20).map(|_| other.join()).last().unwrap();
    assert_eq!(fleet.position(far), gone.map(|()| 0));
    let text = r#"{"place":0,"generation":2}"#;
    let free: WorkerId = serde_json::from_str(text).unwrap();
    assert_eq!(fleet.position(free), Err(Error::NotInFleet));
}

#[test]
fn settings_and_counts_that_do_not_fit_are_refused() {
    let full = OnlineConfig {
        covariance: Covariance::Full,
        ..config()
    };
    assert_eq!(Fleet::new(&full).unwrap_err(), Error::FleetCovariance);
    let many = OnlineConfig {
        output_lags: (1..=900).collect(),
        ..config()
    };
    assert!(matches!(Fleet::new(&many), Err(Error::Setting { .. })));
    let mut fleet = Fleet::new(&config()).unwrap();
    for _ in 0..3 {
        fleet.join();
    }
    let count = |what, expected, got| {
        Err(Error::Count {
            what,
            expected,
            got,
        })
    };
    let (inputs, mut out) = ([0.0; 6], [0.0; 3]);
    let got = fleet.forecast_all(&inputs[..5], &mut out);
    assert_eq!(got, count("inputs", 6, 5));
    let got = fleet.forecast_all(&inputs, &mut out[..2]);
    assert_eq!(got, count("forecasts", 3, 2));
    assert_eq!(fleet.observe_all(&[1.0; 4], &inputs), count("values", 3, 4));
    assert_eq!(fleet.observe_all(&[1.0; 3], &inputs), Ok(()));
}

#[test]
fn a_newcomer_starts_with_what_the_others_have_learnt() {
    let settings = OnlineConfig {
        jumps: Jumps::default(),
        ..config()
    };
    let mut fleet = Fleet::new(&settings).unwrap();
    let mut random = Random::new(5);
    let mut errors = [0.0; 2];
    for _ in 0..8 {
        fleet.join();
    }
    let step = |fleet: &mut Fleet, random: &mut Random| {
        let places = fleet.places();
        let inputs: Vec<f64> = (0..2 * places).map(|_| random.next()).collect();
        let speed = |place: usize| (1 + place) as f64 / (0.3 + inputs[2 * place]);
        let y: Vec<f64> = (0..places).map(speed).collect();
        let mut forecasts = vec![0.0; places];
        fleet.forecast_all(&inputs, &mut forecasts).unwrap();
        fleet.observe_all(&y, &inputs).unwrap();
        (y, forecasts)
    };
    for _ in 0..400 {
        step(&mut fleet, &mut random);
    }
    let newcomers = [fleet.join_fresh(), fleet.join()];
    for k in 0..30 {
        let (y, forecasts) = step(&mut fleet, &mut random);
        for (error, id) in errors.iter_mut().zip(newcomers) {
            let place = fleet.position(id).unwrap();
            if k >= 10 {
                *error += (forecasts[place] / y[place] - 1.0).powi(2);
            }
        }
    }
    assert!(errors[1] < 0.6 * errors[0], "{errors:?}");
    // Its first forecast is the last value.
    let id = fleet.join();
    fleet.observe(id, 42.0, &[0.5, 0.5]).unwrap();
    let mut out = [0.0];
    fleet.forecast(id, &[0.1, 0.9], &mut out).unwrap();
    assert_eq!(out, [42.0]);
}

#[test]
fn no_step_allocates() {
    let mut fleet = Fleet::new(&config()).unwrap();
    let ids: Vec<WorkerId> = (0..20).map(|_| fleet.join()).collect();
    let (inputs, mut out) = ([0.5; 40], [0.0; 20]);
    let counted = allocation_counter::measure(|| {
        for k in 0..100 {
            fleet.forecast_all(&inputs, &mut out).unwrap();
            fleet
                .observe_all(&[f64::from(k * k % 7); 20], &inputs)
                .unwrap();
            fleet.forecast(ids[3], &[0.1, 0.2], &mut out[..4]).unwrap();
            fleet.observe(ids[5], 2.0, &[0.1, 0.2]).unwrap();
        }
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn the_memory_of_workers_that_leave_is_free_again() {
    let mut fleet = Fleet::new(&config()).unwrap();
    let counted = allocation_counter::measure(|| {
        for _ in 0..50 {
            let ids: Vec<WorkerId> = (0..64).map(|_| fleet.join()).collect();
            ids.into_iter().for_each(|id| fleet.leave(id).unwrap());
        }
    });
    assert_eq!(fleet.places(), 64);
    // 64 workers of 85 to 120 numbers.
    assert!(counted.bytes_max < 120_000, "{counted:?}");
}

#[test]
fn four_thousand_workers_fit_into_forty_megabytes() {
    let config = OnlineConfig {
        covariance: Covariance::Nodes,
        ..OnlineConfig::new(3)
    };
    let counted = allocation_counter::measure(|| {
        let mut fleet = Fleet::new(&config).unwrap();
        for _ in 0..4096 {
            fleet.join_fresh();
        }
        std::hint::black_box(&fleet);
    });
    assert!(counted.bytes_max < 40_000_000, "{}", counted.bytes_max);
}
