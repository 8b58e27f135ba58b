//! The bound of the mixture.

use narx::{Forecaster, Guarded, Member};
use proptest::prelude::*;

use crate::random::Uniform;

const DISCOUNT: f64 = 0.995;
const RATE: f64 = 0.4;
const PRIOR: [f64; 5] = [0.02, 0.38, 0.2, 0.2, 0.2];

/// Discounted sums that the bound is about.
#[derive(Default)]
struct Sums {
    mixture: f64,
    members: [f64; 5],
    squares: f64,
    largest: f64,
    range: Option<(f64, f64)>,
    mean_loss: f64,
}

impl Sums {
    /// Takes in a step, with losses as the documentation defines them.
    fn step(&mut self, y: f64, of_members: [f64; 5], of_mixture: f64, weights: [f64; 5]) {
        let cut = |forecast: f64| match self.range {
            Some((low, high)) => forecast.clamp(low, high),
            None => forecast,
        };
        let square = |forecast: f64| (y - cut(forecast)).powi(2);
        let squares = of_members.map(square);
        let largest = squares.iter().copied().fold(0.0, f64::max);
        let most = 1e4 * self.mean_loss;
        let down = match most > 0.0 && largest > most {
            true => most / largest,
            false => 1.0,
        };
        let losses = squares.map(|square| down * square);
        let own = down * square(of_mixture);
        let least = losses.iter().copied().fold(f64::MAX, f64::min);
        let spread = losses.iter().copied().fold(0.0, f64::max) - least;
        self.mixture = DISCOUNT * self.mixture + own;
        for (sum, loss) in self.members.iter_mut().zip(losses) {
            *sum = DISCOUNT * *sum + loss;
        }
        self.squares = DISCOUNT * DISCOUNT * self.squares + spread * spread;
        self.largest = (DISCOUNT * self.largest).max(spread);
        let mean: f64 = weights.iter().zip(losses).map(|(w, loss)| w * loss).sum();
        let weight = if self.mean_loss > 0.0 { 0.03 } else { 1.0 };
        self.mean_loss += weight * (mean - self.mean_loss);
        self.range = Some(
            self.range
                .map_or((y, y), |(low, high)| (low.min(y), high.max(y))),
        );
    }

    /// How much of what the bound allows is used up, at most, over the members.
    fn used(&self) -> f64 {
        let allowed = 0.5 * (RATE * self.squares).sqrt() + self.largest;
        let of_member = |(sum, prior): (&f64, f64)| {
            let bound = (1.0 + (1.0 / prior).ln() / RATE) * allowed;
            let rounding = 1e-9 * sum.abs().max(self.mixture);
            (self.mixture - sum - rounding) / bound.max(f64::MIN_POSITIVE)
        };
        self.members
            .iter()
            .zip(PRIOR)
            .map(of_member)
            .fold(f64::MIN, f64::max)
    }
}

/// Runs a series that may answer to the forecasts; returns how much of the bound was used at most.
fn largest_use(steps: usize, mut next: impl FnMut(&Guarded) -> f64) -> f64 {
    let (mut guarded, mut sums, mut used) = (Guarded::new(0).unwrap(), Sums::default(), 0.0_f64);
    for t in 0..steps {
        let y = next(&guarded);
        let of = |member| {
            let mut out = [0.0];
            guarded.forecast_of(member, &[], &mut out);
            out[0]
        };
        let mut mixture = [0.0];
        guarded.forecast(&[], &mut mixture);
        if t > 0 {
            sums.step(y, Member::ALL.map(of), mixture[0], guarded.weights());
            used = used.max(sums.used());
        } else {
            sums.range = Some((y, y));
        }
        guarded.observe(y, &[]);
    }
    used
}

/// What each of the members and the mixture forecast.
fn opinions(guarded: &Guarded) -> Vec<f64> {
    let of = |member: &Member| {
        let mut out = [0.0];
        guarded.forecast_of(*member, &[], &mut out);
        out[0]
    };
    Member::ALL.iter().map(of).collect()
}

#[test]
fn the_bound_holds_on_series_made_to_break_it() {
    let mut random = Uniform(11);
    let heaviest = |guarded: &Guarded| {
        let weights = guarded.weights();
        (0..5)
            .max_by(|&a, &b| weights[a].total_cmp(&weights[b]))
            .unwrap()
    };
    // Away from whoever is trusted most, as far as the range goes.
    let mut t = 0.0_f64;
    let away = largest_use(3000, |guarded| {
        t += 1.0;
        let trusted = opinions(guarded)[heaviest(guarded)];
        let low = 1.0 + 0.1 * (t / 7.0).sin();
        if trusted.is_nan() || trusted < 1.5 {
            2.0
        } else {
            low
        }
    });
    // On what the least trusted one says.
    let towards = largest_use(3000, |guarded| {
        let weights = guarded.weights();
        let least = (0..5)
            .min_by(|&a, &b| weights[a].total_cmp(&weights[b]))
            .unwrap();
        let said = opinions(guarded)[least];
        let noise = random.normal();
        if said.is_finite() {
            said + 0.1 * noise
        } else {
            noise
        }
    });
    // Members take turns: a random walk, white noise, then alternation, each for 150 steps.
    let (mut t, mut level) = (0, 0.0);
    let turns = largest_use(4000, |_| {
        t += 1;
        level += random.normal();
        match t / 150 % 3 {
            0 => level,
            1 => 5.0 * random.normal(),
            _ => f64::from(t % 2),
        }
    });
    // Rare values of any size.
    let wild = largest_use(3000, |_| random.heavy().powi(3));
    // So long calm that all but one member have no weight left, then away from it.
    let mut calm = 0;
    let waking = largest_use(7000, |guarded| {
        calm += 1;
        if calm < 5000 {
            return f64::from(calm % 2);
        }
        let trusted = opinions(guarded)[heaviest(guarded)];
        if trusted < 0.5 { 1.0 } else { 0.0 }
    });
    for used in [away, towards, turns, wild, waking] {
        println!("{used:.3} of the bound used");
        assert!(used <= 1.0, "{used}");
    }
    // It says something: a tenth of it is used up by a series made for it.
    assert!(away.max(turns) > 0.02, "{away} {turns}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]
    #[test]
    fn the_bound_holds_on_any_series(
        series in prop::collection::vec(prop_oneof![-1e3..1e3f64, -1.0..1.0f64, Just(0.0)], 2..200),
    ) {
        let mut values = series.iter();
        let used = largest_use(series.len(), |_| *values.next().unwrap());
        prop_assert!(used <= 1.0, "{used}");
    }
}

#[test]
fn it_is_as_good_as_the_network_where_that_is_right_and_as_the_average_where_not() {
    let (y, u) = crate::online::worker(3000, 5);
    let mut random = Uniform(2);
    let noise: Vec<f64> = y.iter().map(|_| 50.0 + random.normal()).collect();
    for (y, best) in [(y, Member::Online), (noise, Member::Average)] {
        let mut guarded = Guarded::new(1).unwrap();
        let (mut of_best, mut own) = (0.0, 0.0);
        for (t, (&y, &u)) in y.iter().zip(&u).enumerate() {
            let (mut mixture, mut member) = ([0.0], [0.0]);
            guarded.forecast(&[u], &mut mixture);
            guarded.forecast_of(best, &[u], &mut member);
            if t >= 500 {
                own += (mixture[0] - y).powi(2);
                of_best += (member[0] - y).powi(2);
            }
            guarded.observe(y, &[u]);
        }
        assert!(own <= 1.02 * of_best, "{best:?}: {own} {of_best}");
    }
}
