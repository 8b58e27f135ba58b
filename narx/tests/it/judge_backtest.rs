//! Back-tests: what is forecast where, and from what.

use std::{cmp::Ordering, iter, ops::Range};

use approx::assert_relative_eq;
use narx::{Ema, Error, Forecaster, LastValue, Part, Scores, Series, Session, backtest, naive_mae};
use proptest::prelude::*;

use crate::judge_noise::white;

const NAN: f64 = f64::NAN;

/// Forecasts a number that depends on everything it was ever shown.
struct Witness(f64);

impl Witness {
    fn mix(state: f64, value: f64) -> f64 {
        (state * 1.7 + value.to_bits() as f64 / u64::MAX as f64).sin()
    }
}

impl Forecaster for Witness {
    fn observe(&mut self, y: f64, inputs: &[f64]) {
        self.0 = inputs
            .iter()
            .fold(Self::mix(self.0, y), |s, u| Self::mix(s, *u));
    }

    fn forecast(&self, inputs_now: &[f64], out: &mut [f64]) {
        let state = inputs_now.iter().fold(self.0, |s, u| Self::mix(s, *u));
        for (step, value) in out.iter_mut().enumerate() {
            *value = Self::mix(state, step as f64);
        }
    }
}

/// Is shown the number of the row and says the numbers of the rows it forecasts.
struct Clock;

impl Forecaster for Clock {
    fn observe(&mut self, _: f64, _: &[f64]) {}

    fn forecast(&self, inputs_now: &[f64], out: &mut [f64]) {
        for (step, value) in out.iter_mut().enumerate() {
            *value = inputs_now[0] + step as f64;
        }
    }
}

fn one_session(y: Vec<f64>, inputs: Vec<Vec<f64>>) -> Series {
    let names: Vec<String> = (0..inputs.len()).map(|k| format!("u{k}")).collect();
    let series = Series::new(["y".to_owned()], names).unwrap();
    series.with(Session::of(y, inputs).unwrap()).unwrap()
}

/// The given rows of the only session.
fn only(rows: Range<usize>) -> Part {
    Part::new(iter::once(rows).collect())
}

fn witness(series: &Series, scored: &Part, horizon: usize) -> Vec<Vec<f64>> {
    let inputs: Vec<usize> = (0..series.inputs().len()).collect();
    let result = backtest(series, scored, 0, &inputs, horizon, |_| Witness(0.0));
    result.unwrap().forecasts
}

#[test]
fn the_last_value_is_the_one_before_the_horizon() {
    let series = one_session(vec![1.0, 2.0, 4.0, 8.0, 16.0], vec![]);
    let all = series.all();
    let one = backtest(&series, &all, 0, &[], 1, |_| LastValue::new()).unwrap();
    assert!(one.forecasts[0][0].is_nan());
    assert_eq!(one.forecasts[0][1..], [1.0, 2.0, 4.0, 8.0]);
    assert_eq!((one.scores.rows, one.scores.mae), (4, 3.75));
    assert_eq!(one.scores.mase, None);
    let three = backtest(&series, &all, 0, &[], 3, |_| LastValue::new()).unwrap();
    assert!(three.forecasts[0][..3].iter().all(|y| y.is_nan()));
    assert_eq!(three.forecasts[0][3..], [1.0, 2.0]);
    assert_eq!((three.scores.rows, three.scores.mae), (2, 10.5));
}

#[test]
fn the_naive_error_is_that_of_the_rows_before() {
    let series = one_session(vec![1.0, 3.0, 2.0, 5.0, 5.5], vec![]);
    let result = backtest(&series, &only(3..5), 0, &[], 1, |_| LastValue::new());
    let result = result.unwrap();
    assert_eq!(naive_mae([&[1.0, 3.0, 2.0][..]]), Ok(1.5));
    assert_eq!(
        (result.scores.mae, result.scores.mase),
        (1.75, Some(1.75 / 1.5))
    );
    assert_eq!(result.truth, [[5.0, 5.5]]);
    assert_eq!(result.residuals().runs(), [[3.0, 0.5]]);
}

#[test]
fn each_session_starts_afresh_and_empty_ones_do_no_harm() {
    let series = ["a", "b"].map(|_| vec![1.0, 2.0, 3.0, 4.0]);
    let sessions = [series[0].clone(), vec![], vec![9.0], series[1].clone()];
    let empty = Series::new(["y"], []).unwrap();
    let series = sessions.into_iter().fold(empty, |series, y| {
        series.with(Session::of(y, vec![]).unwrap()).unwrap()
    });
    let scored = Part::new(vec![1..3, 0..0, 0..1, 1..3]);
    let mut asked = Vec::new();
    let result = backtest(&series, &scored, 0, &[], 1, |session| {
        asked.push(session);
        Ema::new(0.5).unwrap()
    })
    .unwrap();
    assert_eq!(result.forecasts[0], [1.0, 1.5]);
    assert_eq!(result.forecasts[3], result.forecasts[0]);
    assert!(result.forecasts[1].is_empty() && result.forecasts[2][0].is_nan());
    assert_eq!(result.scores.rows, 4);
    assert_eq!(asked, [0, 1, 2, 3]);
}

#[test]
fn a_missing_value_is_passed_on_and_not_scored() {
    let series = one_session(vec![1.0, NAN, 3.0, f64::INFINITY, 4.0], vec![]);
    let result = backtest(&series, &series.all(), 0, &[], 1, |_| LastValue::new()).unwrap();
    assert_eq!(result.forecasts[0][1..], [1.0, 1.0, 3.0, 3.0]);
    assert_eq!((result.scores.rows, result.scores.mae), (2, 1.5));
    let residuals = result.residuals();
    let run = &residuals.runs()[0];
    assert!(run[0].is_nan() && run[1].is_nan() && run[3].is_nan());
    assert_eq!((run[2], run[4]), (2.0, 1.0));
}

#[test]
fn inputs_and_outputs_are_taken_by_their_places() {
    let count = |from: f64| (0..6).map(|t| from + f64::from(t)).collect::<Vec<f64>>();
    let session = Session::new(vec![white(1, 6), count(0.0)], vec![white(2, 6), count(0.0)]);
    let series = Series::new(["x", "y"], ["a", "b"]).unwrap();
    let series = series.with(session.unwrap()).unwrap();
    let result = backtest(&series, &series.all(), 1, &[1, 0], 1, |_| Clock).unwrap();
    assert_eq!((result.scores.rows, result.scores.rmse), (6, 0.0));
}

#[test]
fn what_cannot_be_tested_is_refused() {
    let series = one_session(vec![1.0, 2.0, 3.0], vec![vec![0.0; 3]]);
    let ask = |part: Part, output, inputs: &[usize], horizon| {
        backtest(&series, &part, output, inputs, horizon, |_| {
            LastValue::new()
        })
        .map(|_| ())
    };
    let setting = |found: Result<(), Error>, expected| {
        assert!(matches!(found, Err(Error::Setting { name, .. }) if name == expected));
    };
    setting(ask(series.all(), 1, &[], 1), "output");
    setting(ask(series.all(), 0, &[0, 1], 1), "inputs");
    setting(ask(series.all(), 0, &[], 0), "horizon");
    for part in [only(0..4), Part::new(vec![]), Part::new(vec![0..1, 0..1])] {
        let found = ask(part, 0, &[], 1);
        assert!(matches!(found, Err(Error::Part { .. })));
    }
    for (rows, horizon) in [(0..1, 1), (2..2, 1), (0..3, 3), (0..3, usize::MAX)] {
        let found = ask(only(rows), 0, &[], horizon);
        assert_eq!(found, Err(Error::TooFewRows { got: 0, needed: 1 }));
    }
}

#[test]
fn a_spike_of_1e12_is_scored() {
    let mut y = vec![1.0; 100];
    y[60] = 1e12;
    let series = one_session(y, vec![]);
    let scored = only(50..100);
    let result = backtest(&series, &scored, 0, &[], 1, |_| LastValue::new()).unwrap();
    assert_relative_eq!(result.scores.mae, (1e12 - 1.0) / 25.0, max_relative = 1e-15);
    assert!(result.scores.r2.unwrap() < 0.0);
    assert_eq!(result.scores.mase, None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn the_forecast_for_a_row_stands_at_its_place(
        rows in 5..40usize, start in 0..40usize, end in 0..40usize, horizon in 1..5usize, spike in 0..40usize,
    ) {
        let (start, spike) = (start.min(rows - 5), spike.min(rows - 5));
        let end = end.clamp(start, rows).max(start + 5);
        let count: Vec<f64> = (0..rows).map(|t| t as f64).collect();
        let scored = only(start..end);

        let series = one_session(count.clone(), vec![count]);
        let result = backtest(&series, &scored, 0, &[0], horizon, |_| Clock).unwrap();
        for (place, forecast) in result.forecasts[0].iter().enumerate() {
            let row = start + place;
            let expected = if row < horizon - 1 { NAN } else { row as f64 };
            prop_assert_eq!(forecast.total_cmp(&expected), Ordering::Equal);
        }

        let mut y = vec![0.0; rows];
        y[spike] = 1.0;
        let series = one_session(y, vec![]);
        let result = backtest(&series, &scored, 0, &[], horizon, |_| LastValue::new()).unwrap();
        for (place, forecast) in result.forecasts[0].iter().enumerate() {
            let row = start + place;
            prop_assert_eq!(*forecast == 1.0, row == spike + horizon);
        }
    }

    #[test]
    fn no_forecast_depends_on_what_comes_later(
        seed in 0..1000u64, rows in 6..30usize, row in 0..30usize, horizon in 1..5usize,
    ) {
        let row = row % (rows - 1);
        let (y, inputs) = (white(seed, rows), vec![white(seed + 1, rows), white(seed + 2, rows)]);
        let series = one_session(y.clone(), inputs.clone());
        let original = witness(&series, &series.all(), horizon);
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<u64>>();

        // All values after the row: no forecast up to that row changes.
        let (mut later_y, mut later_inputs) = (y.clone(), inputs.clone());
        for column in later_inputs.iter_mut().chain([&mut later_y]) {
            column[row + 1..].iter_mut().for_each(|v| *v = 5.0 - *v);
        }
        let changed = one_session(later_y, later_inputs);
        let found = witness(&changed, &changed.all(), horizon);
        prop_assert_eq!(bits(&original[0][..=row]), bits(&found[0][..=row]));

        // An origin knows the outputs before it and the inputs up to it: changing the output from
        // a row on and the inputs after it changes no forecast made there or before ..
        let (mut later_y, mut later_inputs) = (y, inputs);
        later_y[row..].iter_mut().for_each(|v| *v = 5.0 - *v);
        for column in &mut later_inputs {
            column[row + 1..].iter_mut().for_each(|v| *v = 5.0 - *v);
        }
        let changed = one_session(later_y, later_inputs);
        let found = witness(&changed, &changed.all(), horizon);
        let target = (row + horizon).min(rows);
        prop_assert_eq!(bits(&original[0][..target]), bits(&found[0][..target]));
        // .. and does change those made after.
        for (old, new) in original[0][target..].iter().zip(&found[0][target..]) {
            prop_assert_ne!(old, new);
        }
    }

    #[test]
    fn the_scores_are_those_of_the_forecasts(seed in 0..1000u64, horizon in 1..4usize) {
        let series = one_session(white(seed, 40), vec![]);
        let scored = series.after(&series.first(0.5).unwrap());
        let result = backtest(&series, &scored, 0, &[], horizon, |_| Ema::adaptive()).unwrap();
        let y = series.sessions()[0].output(0);
        let naive = naive_mae([&y[..20]]).unwrap();
        let expected = Scores::of(&y[20..], &result.forecasts[0], naive);
        prop_assert_eq!(Ok(result.scores), expected);
    }
}
