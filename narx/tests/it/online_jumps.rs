//! Spikes against shifts: calm series with log-normal noise of 3 %, 200 steps to warm up, then a
//! jump to a fifth of the level or to five times it.

use narx::{AnyForecaster, Corrected, Forecaster, Guarded, Jumps, Online, OnlineConfig};

use crate::random::Uniform;

const SEEDS: u64 = 100;
const WARM_STEPS: usize = 200;
const FACTORS: [f64; 2] = [0.2, 5.0];

fn forecast(rule: &AnyForecaster) -> f64 {
    let mut out = [0.0];
    rule.forecast(&[], &mut out);
    out[0]
}

fn rules() -> [(&'static str, AnyForecaster); 3] {
    let online = Online::new(&OnlineConfig::new(0)).unwrap();
    [
        ("guarded", AnyForecaster::default()),
        ("online", online.into()),
        ("corrected", Corrected::new(0, 0).unwrap().into()),
    ]
}

/// Median and largest of a measure over all seeds; it is given the warm rule and the noise.
fn over_seeds(
    rule: &AnyForecaster,
    measure: impl Fn(AnyForecaster, &mut dyn FnMut() -> f64) -> f64,
) -> (f64, f64) {
    let of_seed = |seed: u64| {
        let mut random = Uniform(0x9e37_79b9_7f4a_7c15 ^ (seed + 1));
        let mut noise = move || (0.03 * random.normal()).exp();
        let mut rule = rule.clone();
        (0..WARM_STEPS).for_each(|_| rule.observe(noise(), &[]));
        measure(rule, &mut noise)
    };
    let mut all: Vec<f64> = (0..SEEDS).map(of_seed).collect();
    all.sort_by(f64::total_cmp);
    (all[all.len() / 2], all[all.len() - 1])
}

/// By what share of a one-step spike the next forecast moves.
fn moved(rule: &AnyForecaster, factor: f64) -> (f64, f64) {
    over_seeds(rule, |mut rule, noise| {
        let (before, spike) = (forecast(&rule), factor * noise());
        rule.observe(spike, &[]);
        ((forecast(&rule) - before) / (spike - before)).abs()
    })
}

/// Steps until the forecast is within 5 % of a level that stays.
fn followed(rule: &AnyForecaster, factor: f64) -> (f64, f64) {
    over_seeds(rule, |mut rule, noise| {
        let arrived = |rule: &AnyForecaster| (forecast(rule) / factor - 1.0).abs() <= 0.05;
        let mut steps = 0.0;
        while steps < 1000.0 && !arrived(&rule) {
            rule.observe(factor * noise(), &[]);
            steps += 1.0;
        }
        steps
    })
}

#[test]
fn a_spike_moves_the_next_forecast_by_a_twentieth_at_most() {
    for factor in FACTORS {
        for (name, rule) in rules() {
            let (median, worst) = moved(&rule, factor);
            println!("{name}, spike × {factor}: moved by {median:.3}, at most {worst:.3}");
            assert!(median <= 0.05, "{name}, × {factor}: {median}");
        }
    }
}

#[test]
fn a_shift_is_followed_within_five_steps() {
    for factor in FACTORS {
        for (name, rule) in rules() {
            let (median, worst) = followed(&rule, factor);
            println!("{name}, shift × {factor}: {median} steps, at most {worst}");
            assert!(median <= 5.0, "{name}, × {factor}: {median}");
        }
    }
}

#[test]
fn a_spike_teaches_nothing() {
    for factor in FACTORS {
        for (name, mut rule) in rules() {
            let mut random = Uniform(3);
            let mut noise = || (0.03 * random.normal()).exp();
            (0..WARM_STEPS).for_each(|_| rule.observe(noise(), &[]));
            let mut other = rule.clone();
            rule.observe(factor * noise(), &[]);
            other.observe(f64::NAN, &[]);
            for _ in 0..20 {
                let y = noise();
                rule.observe(y, &[]);
                other.observe(y, &[]);
            }
            let off = (forecast(&rule) - forecast(&other)).abs();
            assert!(off < 0.005, "{name}, × {factor}: {off}");
        }
    }
}

#[test]
fn jumps_that_last_are_soon_believed() {
    // A level that jumps every 40 steps: the first ones are held back, later ones less and less.
    let mut rule = Guarded::new(0).unwrap();
    let mut random = Uniform(3);
    let mut moved = Vec::new();
    for t in 0..1200 {
        let level = if t / 40 % 2 == 0 { 1.0 } else { 2.5 };
        let y = level * (0.01 * random.normal()).exp();
        let mut before = [0.0];
        rule.forecast(&[], &mut before);
        rule.observe(y, &[]);
        if t > 0 && t % 40 == 0 {
            let mut after = [0.0];
            rule.forecast(&[], &mut after);
            moved.push((after[0] - before[0]) / (y - before[0]));
        }
    }
    assert!(moved[0] < 0.1, "{moved:?}");
    let late = &moved[moved.len() / 2..];
    assert!(late.iter().all(|share| *share > 0.5), "{moved:?}");
}

#[test]
fn the_trade_can_be_set() {
    let with = |jumps| {
        let config = OnlineConfig {
            jumps,
            ..OnlineConfig::new(0)
        };
        AnyForecaster::from(Online::new(&config).unwrap())
    };
    let jumps = Jumps::default();
    let trusting = with(Jumps {
        expected: 0.5,
        ..jumps
    });
    let open = with(Jumps {
        threshold: f64::MAX,
        ..jumps
    });
    let usual = with(jumps);
    let at = |rule: &AnyForecaster| moved(rule, 0.2).0;
    assert!(at(&usual) < 0.05);
    assert!((at(&trusting) - 0.5).abs() < 0.05, "{}", at(&trusting));
    assert!(at(&open) > 0.5, "{}", at(&open));
}

#[test]
fn a_shift_of_a_constant_series_is_followed() {
    for (name, mut rule) in rules() {
        (0..400).for_each(|_| rule.observe(100.0, &[]));
        (0..3).for_each(|_| rule.observe(200.0, &[]));
        let off = forecast(&rule) - 200.0;
        assert!(off.abs() < 2.0, "{name}: {off}");
    }
}

#[test]
fn spikes_to_both_sides_are_no_shift() {
    for (name, mut rule) in rules() {
        let mut random = Uniform(3);
        let mut noise = || 100.0 * (0.03 * random.normal()).exp();
        (0..WARM_STEPS).for_each(|_| rule.observe(noise(), &[]));
        for y in [1000.0, -800.0, 100.0] {
            rule.observe(y, &[]);
            let now = forecast(&rule);
            assert!((50.0..150.0).contains(&now), "{name}: {now} after {y}");
        }
    }
}

#[test]
fn a_reading_of_zero_or_below_is_a_spike_like_any_other() {
    for spike in [0.0, -1.0, 1e5] {
        let (mut hit, mut calm) = (Corrected::new(0, 0).unwrap(), Corrected::new(0, 0).unwrap());
        let mut random = Uniform(5);
        let (mut of_hit, mut of_calm) = (0.0, 0.0);
        for t in 0..500 {
            let y = 100.0 + 10.0 * (f64::from(t) / 5.0).sin() + random.normal();
            let error = |rule: &Corrected| {
                let mut out = [0.0];
                rule.forecast(&[], &mut out);
                (out[0] - y).powi(2)
            };
            if t > 210 {
                of_hit += error(&hit);
                of_calm += error(&calm);
            }
            hit.observe(if t == 200 { spike } else { y }, &[]);
            calm.observe(y, &[]);
        }
        assert!(of_hit < 1.1 * of_calm, "{spike}: {of_hit} {of_calm}");
    }
}
