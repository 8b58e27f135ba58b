//! Which lags are suggested.

use std::{iter, ops::Range};

use approx::assert_relative_eq;
use narx::{Error, Part, Series, Session, SuggestedLags, suggest_lags};

use crate::judge_noise::white;

const NAN: f64 = f64::NAN;

/// y(t) = 0.6 y(t-1) - 0.2 y(t-3) + 0.8 u(t-2) + noise, and an input that has no part in it.
fn planted(seed: u64, rows: usize, noise: f64) -> (Vec<f64>, Vec<Vec<f64>>) {
    let (u, other, e) = (
        white(seed, rows),
        white(seed + 1000, rows),
        white(seed + 2000, rows),
    );
    let mut y = vec![0.0; rows];
    for t in 3..rows {
        y[t] = 0.6 * y[t - 1] - 0.2 * y[t - 3] + 0.8 * u[t - 2] + noise * e[t];
    }
    (y, vec![u, other])
}

fn series(sessions: Vec<(Vec<f64>, Vec<Vec<f64>>)>) -> Series {
    let empty = Series::new(["y"], ["u", "other"]).unwrap();
    sessions.into_iter().fold(empty, |series, (y, inputs)| {
        series.with(Session::of(y, inputs).unwrap()).unwrap()
    })
}

/// The given rows of the only session.
fn only(rows: Range<usize>) -> Part {
    Part::new(iter::once(rows).collect())
}

fn suggested(series: &Series) -> SuggestedLags {
    suggest_lags(series, &series.all(), 0, 5, 4).unwrap()
}

fn assert_planted(found: &SuggestedLags) {
    assert_eq!(found.output_lags, [1, 3], "{found:?}");
    assert_eq!(found.inputs, [("u".to_owned(), vec![2])], "{found:?}");
}

#[test]
fn planted_lags_are_found() {
    for seed in 0..20 {
        let found = suggested(&series(vec![planted(seed, 1000, 0.2)]));
        assert_planted(&found);
        let names: Vec<&str> = found.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names.iter().filter(|name| **name == "u").count(), 1);
        let last = found.steps.last().unwrap().validation_rmse;
        assert!((0.17..0.23).contains(&last), "{last}");
    }
}

#[test]
fn each_step_takes_off_at_least_one_per_cent() {
    let found = suggested(&series(vec![planted(7, 400, 0.5)]));
    let mut error = found.first_rmse;
    for step in &found.steps {
        assert!(step.validation_rmse <= 0.99 * error, "{found:?}");
        error = step.validation_rmse;
    }
}

#[test]
fn the_errors_are_those_of_least_squares() {
    // y = 2 u + 1 but for the last of three validation rows, which is 3 more; training rows are
    // exact, so that is the only error.
    let u = vec![1.0, 5.0, 2.0, 4.0, 3.0, 6.0, 0.0, 2.0, 7.0, 4.0];
    let mut y: Vec<f64> = u.iter().map(|u| 2.0 * u + 1.0).collect();
    y[9] += 3.0;
    let mean = y[..7].iter().sum::<f64>() / 7.0;
    let squares: f64 = y[7..].iter().map(|y| (y - mean).powi(2)).sum();
    let data = Series::new(["y"], ["u"]).unwrap();
    let data = data.with(Session::of(y, vec![u]).unwrap()).unwrap();
    let found = suggest_lags(&data, &data.all(), 0, 0, 0).unwrap();
    assert_relative_eq!(
        found.first_rmse,
        (squares / 3.0).sqrt(),
        max_relative = 1e-12
    );
    assert_eq!(found.steps.len(), 1);
    let error = found.steps[0].validation_rmse;
    assert_relative_eq!(error, 3.0_f64.sqrt(), max_relative = 1e-12);
}

#[test]
fn sessions_count_together_and_their_borders_are_kept() {
    let sessions = (0..6).map(|seed| planted(seed, 150, 0.1)).collect();
    assert_planted(&suggested(&series(sessions)));
    let mut sessions: Vec<_> = (0..3).map(|seed| planted(seed, 300, 0.1)).collect();
    sessions.push((vec![1.0; 3], vec![vec![0.0; 3]; 2]));
    sessions.push((vec![], vec![vec![]; 2]));
    assert_planted(&suggested(&series(sessions)));
}

#[test]
fn rows_outside_the_part_and_incomplete_rows_do_not_matter() {
    let (mut y, mut inputs) = planted(5, 1000, 0.1);
    let part = only(100..900);
    let clean = series(vec![(y.clone(), inputs.clone())]);
    let found = suggest_lags(&clean, &part, 0, 5, 4).unwrap();
    assert_planted(&found);
    y[..100].fill(1e9);
    y[900..].fill(-1e9);
    let changed = series(vec![(y.clone(), inputs.clone())]);
    assert_eq!(suggest_lags(&changed, &part, 0, 5, 4).unwrap(), found);
    for t in (150..900).step_by(60) {
        y[t] = NAN;
        inputs[0][t + 7] = f64::INFINITY;
        inputs[1][t + 9] = NAN;
    }
    let holes = series(vec![(y, inputs)]);
    assert_planted(&suggest_lags(&holes, &part, 0, 5, 4).unwrap());
}

#[test]
fn constant_and_collinear_inputs_never_join() {
    let (y, mut inputs) = planted(2, 800, 0.1);
    inputs[1] = vec![0.1; 800];
    assert_planted(&suggested(&series(vec![(y.clone(), inputs.clone())])));
    inputs[1] = inputs[0].iter().map(|u| 1e6 - 3.0 * u).collect();
    let found = suggested(&series(vec![(y, inputs)]));
    assert_eq!(found.output_lags, [1, 3]);
    let chosen: Vec<usize> = found
        .inputs
        .iter()
        .flat_map(|(_, lags)| lags.clone())
        .collect();
    assert_eq!(chosen, [2], "{found:?}");
}

#[test]
fn the_unit_of_a_column_does_not_matter() {
    let (y, inputs) = planted(4, 800, 0.1);
    let scaled = |values: &[f64], unit: f64, offset: f64| -> Vec<f64> {
        values.iter().map(|v| v * unit + offset).collect()
    };
    let inputs = vec![scaled(&inputs[0], 1e-9, 3.0), scaled(&inputs[1], 1e9, 1e12)];
    assert_planted(&suggested(&series(vec![(scaled(&y, 1e7, 1e10), inputs)])));
}

#[test]
fn an_exact_model_ends_the_search() {
    let found = suggested(&series(vec![planted(6, 500, 0.0)]));
    assert_planted(&found);
    assert!(found.steps[2].validation_rmse < 1e-6, "{found:?}");
}

#[test]
fn noise_suggests_nothing() {
    let inputs = vec![white(2, 2000), white(3, 2000)];
    let found = suggested(&series(vec![(white(1, 2000), inputs)]));
    assert!(found.steps.is_empty(), "{found:?}");
    assert!(found.output_lags.is_empty() && found.inputs.is_empty());
}

#[test]
fn a_spike_anywhere_leaves_numbers() {
    for (place, size) in [
        (200, 1e12),
        (200, 1e300),
        (900, 1e12),
        (900, -1e300),
        (900, f64::MAX),
    ] {
        let (mut y, mut inputs) = planted(8, 1000, 0.1);
        y[place] = size;
        inputs[1][place] = size;
        let found = suggested(&series(vec![(y, inputs)]));
        assert!(found.first_rmse.is_finite(), "{found:?}");
        assert!(found.steps.iter().all(|s| s.validation_rmse.is_finite()));
    }
}

#[test]
fn what_gives_no_answer_is_refused() {
    let (y, inputs) = planted(1, 100, 0.1);
    let whole = series(vec![(y.clone(), inputs.clone())]);
    // 5 + 2 * 5 candidates need 17 training rows, so 25 complete rows after the 5 that lags take.
    let ask = |rows: usize| suggest_lags(&whole, &only(10..10 + rows), 0, 5, 4);
    assert_eq!(
        ask(29),
        Err(Error::TooFewRows {
            got: 16,
            needed: 17
        })
    );
    assert!(ask(30).is_ok());
    assert_eq!(ask(0), Err(Error::TooFewRows { got: 0, needed: 17 }));
    let flat = series(vec![(vec![0.1; 100], inputs.clone())]);
    let refused = suggest_lags(&flat, &flat.all(), 0, 5, 4);
    assert!(matches!(refused, Err(Error::Constant { .. })));
    let missing = series(vec![(y, vec![inputs[0].clone(), vec![NAN; 100]])]);
    let refused = suggest_lags(&missing, &missing.all(), 0, 5, 4);
    assert!(matches!(refused, Err(Error::TooFewRows { got: 0, .. })));
    let setting = |output, outputs, inputs| {
        let refused = suggest_lags(&whole, &whole.all(), output, outputs, inputs);
        matches!(refused, Err(Error::Setting { .. }))
    };
    assert!(setting(1, 5, 4));
    assert!(setting(0, 1001, 0));
    assert!(setting(0, usize::MAX, usize::MAX));
    let stranger = suggest_lags(&whole, &only(0..101), 0, 5, 4);
    assert!(matches!(stranger, Err(Error::Part { .. })));
}

#[test]
fn several_outputs_are_told_apart() {
    let (y, inputs) = planted(9, 800, 0.1);
    let session = Session::new(vec![white(50, 800), y], inputs).unwrap();
    let series = Series::new(["noise", "y"], ["u", "other"]).unwrap();
    let series = series.with(session).unwrap();
    let found = suggest_lags(&series, &series.all(), 1, 5, 4).unwrap();
    assert_planted(&found);
    assert!(found.steps.iter().all(|step| step.name != "noise"));
    assert!(
        suggest_lags(&series, &series.all(), 0, 5, 4)
            .unwrap()
            .steps
            .is_empty()
    );
}
