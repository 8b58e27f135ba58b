//! What the forecasters promise that learn at every step.

use narx::{
    Config, Corrected, Covariance, Error, Forecaster, Input, LastValue, Narx, Online, OnlineConfig,
    Options, Part, Series, Session, Skip, Target, Training, train_with,
};

use crate::random::Uniform;

/// A speed that a load halves and more, with a memory of one step and noise of 2 %; the load is
/// known when the step begins.
pub(crate) fn worker(steps: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut random = Uniform(seed);
    let (mut load, mut speed) = (0.0, 100.0);
    let mut rows = (Vec::new(), Vec::new());
    for _ in 0..steps {
        load = 0.8 * load + random.next();
        speed = 0.4 * speed + 60.0 / (1.0 + load * load / 10.0) * (0.02 * random.normal()).exp();
        rows.0.push(speed);
        rows.1.push(load);
    }
    rows
}

/// Root mean squared error of the one-step forecasts from row `from` on.
fn error(rule: &mut impl Forecaster, y: &[f64], u: &[f64], from: usize) -> f64 {
    let mut sum = 0.0;
    for (t, (&y, &u)) in y.iter().zip(u).enumerate() {
        let mut forecast = [0.0];
        rule.forecast(&[u], &mut forecast);
        if t >= from {
            sum += (forecast[0] - y).powi(2);
        }
        rule.observe(y, &[u]);
    }
    (sum / (y.len() - from) as f64).sqrt()
}

fn online(config: &OnlineConfig) -> Online {
    Online::new(config).unwrap()
}

#[test]
fn the_first_forecasts_are_the_last_value_bit_for_bit() {
    let (mut online, mut corrected) =
        (online(&OnlineConfig::new(1)), Corrected::new(1, 0).unwrap());
    for y in [3.7, 2.9, 4.1] {
        let mut forecast = [0.0];
        online.observe(y, &[0.3]);
        online.forecast(&[0.7], &mut forecast);
        assert_eq!(forecast[0].to_bits(), y.to_bits());
        corrected.observe(3.7, &[0.3]);
        corrected.forecast(&[0.7], &mut forecast);
        approx::assert_relative_eq!(forecast[0], 3.7, max_relative = 1e-15);
    }
}

#[test]
fn without_training_they_learn_what_the_load_does() {
    let (y, u) = worker(3000, 5);
    let last = error(&mut LastValue::new(), &y, &u, 1000);
    let nodes = OnlineConfig {
        covariance: Covariance::Nodes,
        ..OnlineConfig::new(1)
    };
    let full = error(&mut online(&OnlineConfig::new(1)), &y, &u, 1000);
    let nodes = error(&mut online(&nodes), &y, &u, 1000);
    let linear = error(&mut online(&OnlineConfig::linear(1)), &y, &u, 1000);
    let corrected = error(&mut Corrected::new(1, 0).unwrap(), &y, &u, 1000);
    // Measured: 0.217, 0.219, 0.232 and 0.28 of the error of the last value.
    assert!(full < 0.23 * last, "{full} of {last}");
    assert!(nodes < 0.23 * last, "{nodes} of {last}");
    assert!(full < linear && linear < 0.25 * last, "{linear} of {last}");
    assert!(corrected < 0.45 * last, "{corrected} of {last}");
}

#[test]
fn a_nearly_constant_input_does_not_wind_up() {
    // Plain recursive least squares with forgetting loses all that it knows here: the input moves
    // once in 500 steps.
    let (y, _) = worker(20_000, 8);
    let u: Vec<f64> = (0..y.len())
        .map(|t| f64::from(u8::from(t % 500 == 0)))
        .collect();
    let last = error(&mut LastValue::new(), &y, &u, 1000);
    let rule = error(&mut online(&OnlineConfig::linear(1)), &y, &u, 1000);
    assert!(rule < 1.01 * last, "{rule} of {last}");
}

#[test]
fn of_many_inputs_those_are_chosen_that_tell_something() {
    let (y, u) = worker(2000, 4);
    let mut random = Uniform(77);
    let mut corrected = Corrected::new(9, 0).unwrap();
    for (&y, &u) in y.iter().zip(&u) {
        let mut inputs = [0.0; 9];
        inputs.iter_mut().for_each(|input| *input = random.normal());
        inputs[7] = u;
        corrected.observe(y, &inputs);
    }
    assert!(corrected.inputs_in_use().contains(&7), "{corrected:?}");
    assert_eq!(corrected.inputs_in_use().len(), 4);
    assert!(corrected.gain() > 0.5, "{}", corrected.gain());
}

#[test]
fn one_step_of_several_is_the_forecast_of_one_step() {
    let (y, u) = worker(500, 6);
    let mut rules: Vec<narx::AnyForecaster> = vec![
        online(&OnlineConfig::new(1)).into(),
        Corrected::new(1, 0).unwrap().into(),
        narx::Guarded::new(1).unwrap().into(),
    ];
    for rule in &mut rules {
        for (&y, &u) in y.iter().zip(&u) {
            let (mut one, mut eight) = ([0.0], [0.0; 8]);
            rule.forecast(&[u], &mut one);
            rule.forecast(&[u], &mut eight);
            assert_eq!(one[0].to_bits(), eight[0].to_bits());
            rule.observe(y, &[u]);
        }
        // With the load held, the speed goes where it belongs: 100 / (1 + load² / 10).
        let (load, mut ahead) = (2.0, [0.0; 8]);
        rule.forecast(&[load], &mut ahead);
        let there = 100.0 / (1.0 + load * load / 10.0);
        assert!((ahead[7] / there - 1.0).abs() < 0.1, "{ahead:?}, {there}");
    }
}

#[test]
fn missing_inputs_and_values_are_lived_with() {
    let (y, u) = worker(3000, 5);
    let last = error(&mut LastValue::new(), &y, &u, 1000);
    let mut random = Uniform(3);
    let holes: Vec<f64> = u
        .iter()
        .map(|&u| if random.next() < 0.1 { f64::NAN } else { u })
        .collect();
    let rule = error(&mut online(&OnlineConfig::new(1)), &y, &holes, 1000);
    assert!(rule < 0.6 * last, "{rule} of {last}");
    let mut rule = online(&OnlineConfig::new(1));
    for (t, (&y, &u)) in y.iter().zip(&u).enumerate() {
        rule.observe(if t % 3 == 0 { f64::NAN } else { y }, &[u]);
    }
    let mut ahead = [0.0; 8];
    rule.forecast(&[2.0], &mut ahead);
    assert!((ahead[7] - 71.4).abs() < 15.0, "{ahead:?}");
}

fn trained(target: Target, skip: Skip) -> (Narx, Series, Vec<f64>, Vec<f64>) {
    let (y, u) = worker(1200, 9);
    let series = Series::new(["speed"], ["load"])
        .unwrap()
        .with(Session::of(y.clone(), vec![u.clone()]).unwrap())
        .unwrap();
    let config = Config {
        inputs: vec![Input::new("load", [0, 1])],
        skip,
        target,
        training: Training {
            starts: Some(1),
            ..Training::default()
        },
        ..Config::default()
    };
    let part = Part::of(0..800);
    let (model, _) = train_with(&series, &part, &config, &Options::default()).unwrap();
    (model, series, y, u)
}

#[test]
fn a_warm_start_goes_on_from_the_models_forecast() {
    for target in [Target::Value, Target::Log] {
        for skip in [Skip::Linear, Skip::LastValue, Skip::None] {
            let (model, series, y, u) = trained(target, skip);
            let of_model = model.one_step(&series).unwrap();
            for covariance in [Covariance::Full, Covariance::Nodes] {
                let mut online = Online::warm(&model, covariance).unwrap();
                let mut forecast = [0.0];
                (100..102).for_each(|t| online.observe(y[t], &[u[t]]));
                online.forecast(&[u[102]], &mut forecast);
                let expected = of_model.of(0, 0)[102];
                approx::assert_relative_eq!(forecast[0], expected, max_relative = 1e-12);
                let frozen = y[800..]
                    .iter()
                    .zip(&of_model.of(0, 0)[800..])
                    .map(|(y, guess)| (y - guess).powi(2))
                    .sum::<f64>();
                let rows = (y.len() - 800) as f64;
                let warm = error(&mut online, &y[102..], &u[102..], 698);
                assert!(
                    warm < 1.1 * (frozen / rows).sqrt(),
                    "{target:?} {skip:?} {warm}"
                );
            }
        }
    }
}

#[test]
fn a_warm_start_that_leaves_the_range_trained_on_comes_back() {
    let (model, _, y, u) = trained(Target::Value, Skip::Linear);
    let mut online = Online::warm(&model, Covariance::Full).unwrap();
    // The worker is moved to a machine four times as fast.
    let fast: Vec<f64> = y.iter().map(|y| 4.0 * y).collect();
    error(&mut online, &y[..800], &u[..800], 0);
    let after = error(&mut online, &fast, &u, 400);
    let last = error(&mut LastValue::new(), &fast, &u, 400);
    assert!(after < 0.5 * last, "{after} of {last}");
}

#[test]
fn too_large_models_are_refused_with_what_would_do() {
    let (y, u) = worker(400, 2);
    let series = Series::new(["speed"], ["load"])
        .unwrap()
        .with(Session::of(y, vec![u]).unwrap())
        .unwrap();
    let config = |starts| Config {
        inputs: vec![Input::new("load", [0, 1])],
        training: Training {
            starts: Some(starts),
            max_epochs: 2,
            ..Training::default()
        },
        ..Config::default()
    };
    let model = |starts| narx::train(&series, &config(starts)).unwrap().0;
    let error = Online::warm(&model(6), Covariance::Full).unwrap_err();
    assert!(error.to_string().contains("at most 300"), "{error}");
    assert!(Online::warm(&model(6), Covariance::Nodes).is_ok());
    let error = Online::warm(&model(7), Covariance::Nodes).unwrap_err();
    assert!(error.to_string().contains("at most 64"), "{error}");
}

#[test]
fn settings_out_of_range_are_refused() {
    let new = OnlineConfig::new;
    let bad = [
        OnlineConfig {
            hidden: 65,
            ..new(1)
        },
        OnlineConfig {
            hidden: 60,
            ..new(3)
        },
        OnlineConfig {
            forgetting: 1.0,
            ..new(1)
        },
        OnlineConfig {
            forgetting: f64::NAN,
            ..new(1)
        },
        OnlineConfig {
            output_lags: vec![0, 1],
            ..new(1)
        },
        OnlineConfig {
            output_lags: vec![2, 1],
            ..new(1)
        },
        OnlineConfig {
            output_lags: vec![1001],
            ..new(1)
        },
        OnlineConfig {
            inputs: vec![vec![1, 1]],
            ..new(1)
        },
        OnlineConfig {
            output_lags: vec![],
            ..new(0)
        },
    ];
    for config in &bad {
        assert!(Online::new(config).is_err(), "{config:?}");
    }
    for (threshold, expected) in [
        (0.0, 0.0),
        (f64::INFINITY, 0.0),
        (20.0, -0.1),
        (20.0, f64::NAN),
    ] {
        let mut config = new(0);
        (config.jumps.threshold, config.jumps.expected) = (threshold, expected);
        assert!(Online::new(&config).is_err(), "{config:?}");
        assert!(Corrected::with_jumps(0, 0, config.jumps).is_err());
    }
    assert!(Corrected::new(1001, 0).is_err());
    for inputs in [0, 1, 10, 64] {
        let online = online(&new(inputs));
        assert!(online.weights() <= 300, "{inputs} inputs");
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_one_others() {
    let (y, u) = worker(300, 1);
    let run = |seed| {
        let config = OnlineConfig {
            seed,
            ..OnlineConfig::new(1)
        };
        error(&mut online(&config), &y, &u, 1).to_bits()
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
}

#[test]
fn a_step_does_not_allocate() {
    let (y, u) = worker(400, 1);
    let mut rules: Vec<narx::AnyForecaster> = vec![
        online(&OnlineConfig::new(1)).into(),
        Corrected::new(1, 0).unwrap().into(),
        narx::Guarded::new(1).unwrap().into(),
    ];
    for rule in &mut rules {
        let counted = allocation_counter::measure(|| {
            let mut forecast = [0.0; 8];
            for (&y, &u) in y.iter().zip(&u) {
                rule.forecast(&[u], &mut forecast);
                rule.observe(y, &[u]);
            }
        });
        assert_eq!(counted.count_total, 0);
    }
}

#[test]
fn a_state_that_no_steps_lead_to_is_refused() {
    let (y, u) = worker(100, 1);
    let mut rule = online(&OnlineConfig {
        hidden: 2,
        ..OnlineConfig::new(1)
    });
    error(&mut rule, &y, &u, 0);
    let sound = serde_json::to_value(&rule).unwrap();
    let refuse = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut state = sound.clone();
        change(&mut state);
        let read: Result<Online, _> = serde_json::from_value(state.clone());
        assert!(read.is_err(), "{state}");
    };
    let record = sound["record"].as_array().unwrap();
    refuse(&|state| state["record"] = record[1..].into());
    // After the weights come means and variances of four regressors; at the end is a variance.
    refuse(&|state| state["record"][rule.weights() + 4] = (-1.0).into());
    refuse(&|state| state["record"][rule.weights() + 16] = (-1.0).into());
    refuse(&|state| state["config"]["hidden"] = 3.into());
    refuse(&|state| state["config"]["output_lags"] = vec![1, 3].into());
    refuse(&|state| state["track"]["history"]["columns"] = 3.into());
    refuse(&|state| state["track"]["gate"]["mean_square"] = (-1.0).into());
    let read: Online = serde_json::from_value(sound).unwrap();
    assert_eq!(read, rule);
}

#[test]
fn the_expected_deviation_is_the_one_that_comes() {
    let (y, u) = worker(3000, 12);
    let mut rule = online(&OnlineConfig::new(1));
    assert!(rule.deviation(&[0.0]).is_nan());
    let (mut foreseen, mut came) = (0.0, 0.0);
    for (t, (&y, &u)) in y.iter().zip(&u).enumerate() {
        let mut forecast = [0.0];
        rule.forecast(&[u], &mut forecast);
        if t >= 500 {
            foreseen += rule.deviation(&[u]).powi(2);
            came += (forecast[0] - y).powi(2);
        }
        rule.observe(y, &[u]);
    }
    let ratio = (foreseen / came).sqrt();
    assert!((0.9..1.2).contains(&ratio), "{ratio}");
}

#[test]
fn a_model_with_several_outputs_has_no_warm_start() {
    let (y, u) = worker(300, 2);
    let series = Series::new(["a", "b"], [])
        .unwrap()
        .with(Session::new(vec![y, u], vec![]).unwrap())
        .unwrap();
    let (model, _) = narx::train(&series, &Config::default().linear()).unwrap();
    let error = Online::warm(&model, Covariance::Full).unwrap_err();
    assert_eq!(error, Error::SeveralOutputs { got: 2 });
}

#[test]
fn the_largest_values_leave_a_state_that_can_be_read() {
    let mut random = Uniform(9);
    let mut rule = narx::Guarded::new(1).unwrap();
    for _ in 0..100 {
        rule.observe(1e299 * random.normal(), &[1e300 * random.normal()]);
        let text = serde_json::to_string(&rule).unwrap();
        let read: narx::Guarded = serde_json::from_str(&text).unwrap();
        assert_eq!(read, rule);
        assert!(rule.online().deviation(&[0.0]).is_finite());
    }
}

#[test]
fn a_member_without_a_forecast_is_left_out() {
    let (model, ..) = trained(Target::Log, Skip::Linear);
    let online = Online::warm(&model, Covariance::Full).unwrap();
    let mut guarded = narx::Guarded::around(online).unwrap();
    for y in [-1.0, 0.0, -2.0, -1.5] {
        guarded.observe(y, &[1.0]);
        let mut forecast = [0.0];
        guarded.forecast(&[1.0], &mut forecast);
        assert!((-2.0..=0.0).contains(&forecast[0]), "{}", forecast[0]);
    }
}

#[test]
fn a_forged_state_cannot_ask_for_much_memory() {
    let state = serde_json::json!({
        "config": {"output_lags": [1, 1000], "inputs": vec![Vec::<usize>::new(); 100_000],
            "hidden": 1, "covariance": "nodes", "forgetting": 0.0,
            "jumps": {"threshold": 20.0, "expected": 0.0}, "seed": 0},
        "warm": null, "record": [],
        "track": {"terms": [], "history": {"columns": 1, "values": [], "step": 0},
            "gate": {"jumps": {"threshold": 20.0, "expected": 0.0}, "seen": 0, "mean_square": 0.0,
                "share": 0.0, "held": null, "lasted": 0.0, "passed": 0.0}, "last": null},
    });
    let used = allocation_counter::measure(|| {
        let read: Result<Online, _> = serde_json::from_value(state.clone());
        let cause = read.unwrap_err().to_string();
        assert!(cause.contains("`inputs` must be at most 1000"), "{cause}");
    });
    assert!(used.bytes_max < 100_000_000, "{used:?}");
    assert!(Online::new(&OnlineConfig::new(usize::MAX)).is_err());
}
