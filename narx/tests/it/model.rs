//! What a model reads: lags, sessions, gaps, scales; and that hostile data does no harm.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use nalgebra::{DMatrix, DVector};
use narx::{
    Algorithm, ClosedLoop, Config, Error, Input, Loss, Options, Part, Scaling, Series, Session,
    Skip, Target, Validation, train_with,
};
use proptest::prelude::*;

use crate::judge_noise::white;
use crate::plants::{
    SCALINGS, assert_sensible, bits, config, linear, moved, names, one_session, one_step, planted,
    planted_config, rmse, sessions, train, try_train, unjudged,
};

const NAN: f64 = f64::NAN;

/// Least squares in units of the network and back: some hundred roundings.
const EXACT: f64 = 1e-8;

/// Least squares of y(t) on 1, y(t − lag) .. and u(t − lag) .., by an orthogonal
/// factor (nalgebra's singular values are off by 1e-2 on one data set in some hundred of these).
fn least_squares(
    y: &[f64],
    inputs: &[Vec<f64>],
    output_lags: &[usize],
    lags: &[Vec<usize>],
) -> Vec<f64> {
    let inputs = inputs.iter().zip(lags);
    let mut columns: Vec<(&[f64], usize)> = output_lags.iter().map(|&lag| (y, lag)).collect();
    columns.extend(inputs.flat_map(|(u, lags)| lags.iter().map(move |&lag| (u.as_slice(), lag))));
    let first = columns.iter().map(|column| column.1).max().unwrap();
    let rows = y.len() - first;
    let matrix = DMatrix::from_fn(rows, columns.len() + 1, |row, k| match k {
        0 => 1.0,
        _ => columns[k - 1].0[first + row - columns[k - 1].1],
    });
    let right = DVector::from_column_slice(&y[first..]);
    let (q, r) = matrix.clone().qr().unpack();
    let solution = r.solve_upper_triangular(&(q.transpose() * right)).unwrap();
    let fitted = matrix * solution;
    let missing = vec![NAN; first];
    missing.into_iter().chain(fitted.iter().copied()).collect()
}

fn assert_close(forecasts: &[f64], expected: &[f64], tolerance: f64) {
    for (row, (f, e)) in forecasts.iter().zip(expected).enumerate() {
        assert_eq!(f.is_nan(), e.is_nan(), "row {row}");
        if !e.is_nan() {
            assert_relative_eq!(*f, *e, epsilon = tolerance, max_relative = tolerance);
        }
    }
}

fn increasing_lags(least: usize) -> impl Strategy<Value = Vec<usize>> {
    prop::collection::btree_set(least..9, 1..4).prop_map(|lags| lags.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_linear_model_is_least_squares(
        seed in 0..1_000_u64,
        output_lags in prop_oneof![Just(Vec::new()), increasing_lags(1)],
        lags in prop::collection::vec(increasing_lags(0), 0..3),
        scale in 1e-3..1e6_f64,
    ) {
        prop_assume!(!output_lags.is_empty() || !lags.is_empty());
        let rows = 120;
        let inputs: Vec<Vec<f64>> = (0..lags.len()).map(|k| white(seed + k as u64, rows)).collect();
        let mut y: Vec<f64> = white(seed + 77, rows).iter().map(|e| scale * (e + 3.0)).collect();
        for t in 1..rows {
            y[t] += 0.6 * y[t - 1] + inputs.iter().map(|u| scale * u[t - 1]).sum::<f64>();
        }
        let of_inputs: Vec<&[usize]> = lags.iter().map(Vec::as_slice).collect();
        let series = one_session(y.clone(), inputs.clone());
        let settings = config(&output_lags, &of_inputs, 4).linear();
        let units: Vec<f64> = y.iter().map(|y| y / scale).collect();
        let expected = least_squares(&units, &inputs, &output_lags, &lags);
        for scaling in SCALINGS {
            let (model, _) = train(&series, &Config { scaling, ..settings.clone() });
            let forecasts: Vec<f64> = one_step(&model, &series).iter().map(|f| f / scale).collect();
            assert_close(&forecasts, &expected, EXACT);
        }
    }

    /// An impulse in row t of a column moves the forecasts of the rows t + lag and no others; a
    /// missing value there takes exactly these forecasts away.
    #[test]
    fn a_value_reaches_the_rows_at_its_lags_and_no_others(
        output_lags in increasing_lags(1),
        lags in prop::collection::vec(increasing_lags(0), 1..3),
        row in 0..60_usize,
        place in 0..3_usize,
        hidden in prop_oneof![Just(0), Just(3)],
        value in prop_oneof![Just(NAN), Just(f64::INFINITY), Just(0.77)],
    ) {
        let rows = 60;
        let y = white(1, rows);
        let inputs: Vec<Vec<f64>> = (0..lags.len()).map(|k| white(2 + k as u64, rows)).collect();
        let of_inputs: Vec<&[usize]> = lags.iter().map(Vec::as_slice).collect();
        let mut settings = unjudged(config(&output_lags, &of_inputs, hidden));
        settings.training.max_epochs = 3;
        let series = one_session(y.clone(), inputs.clone());
        let (model, _) = train(&series, &settings);
        let place = place % (lags.len() + 1);
        let (mut y, mut inputs) = (y, inputs);
        let lags = if place == 0 { &output_lags } else { &lags[place - 1] };
        *(if place == 0 { &mut y[row] } else { &mut inputs[place - 1][row] }) = value;
        let (before, after) = (
            one_step(&model, &series),
            one_step(&model, &one_session(y, inputs)),
        );
        let known = |row: &usize| *row < rows && before[*row].is_finite();
        let expected: Vec<usize> = lags.iter().map(|lag| row + lag).filter(known).collect();
        prop_assert_eq!(moved(&before, &after), expected.clone());
        if !value.is_finite() {
            prop_assert!(expected.iter().all(|&row| after[row].is_nan()));
        }
    }
}

#[test]
fn a_linear_model_of_very_many_rows_is_least_squares_of_all_of_them() {
    let rows = 20_000;
    let settings = config(&[1, 2], &[&[0, 1, 3]], 0).linear();
    for seed in 0..4 {
        let (y, u) = linear(seed, rows, 0.5);
        let series = one_session(y.clone(), vec![u.clone()]);
        let (model, report) = train(&series, &settings);
        let expected = least_squares(&y, &[u], &[1, 2], &[vec![0, 1, 3]]);
        assert_close(&one_step(&model, &series), &expected, EXACT);
        assert_relative_eq!(report.rmse(), rmse(&expected, &y), max_relative = EXACT);
    }
}

#[test]
fn without_output_lags_a_model_is_a_finite_impulse_response() {
    let u = white(3, 200);
    let y: Vec<f64> = (0..200)
        .map(|t| 1.0 + u[t] - if t < 5 { 0.0 } else { 2.0 * u[t - 5] })
        .collect();
    let series = one_session(y.clone(), vec![u]);
    let (model, report) = train(&series, &config(&[], &[&[0, 5]], 2));
    assert!(report.rmse() < 1e-6);
    // Nothing is fed back: a free run is as good as one step.
    let free = model.free_run(&series, 0).unwrap();
    assert_eq!(bits(free.of(0, 0)), bits(&one_step(&model, &series)));
    assert_eq!(free.of(0, 0).iter().filter(|f| f.is_nan()).count(), 5);
}

#[test]
fn without_inputs_a_model_reads_its_own_past_only() {
    let (y, u) = linear(8, 150, 1.0);
    let (alone, _) = train(&one_session(y.clone(), vec![]), &config(&[1, 4], &[], 2));
    let (beside, _) = train(&one_session(y, vec![u]), &config(&[1, 4], &[], 2));
    assert_eq!(alone.to_json(), beside.to_json());
    assert_eq!(alone.inputs().len(), 0);
}

#[test]
fn values_outside_the_part_change_nothing_in_the_model() {
    let (y, u) = planted(1, 200);
    for scaling in SCALINGS {
        let settings = Config {
            scaling,
            ..planted_config()
        };
        let part = Part::of(50..150);
        let of = |y: Vec<f64>, u: Vec<f64>| {
            let series = one_session(y, vec![u]);
            let (model, _) = train_with(&series, &part, &settings, &Options::default()).unwrap();
            model.to_json()
        };
        let plain = of(y.clone(), u.clone());
        let (mut other_y, mut other_u) = (y.clone(), u.clone());
        // Rows 48 and 49 are the history of the first rows of the part.
        for row in (0..48).chain(150..200) {
            other_y[row] = if row % 3 == 0 { NAN } else { 1e6 };
            other_u[row] = -1e9;
        }
        assert_eq!(of(other_y, other_u), plain);
        let mut history = u.clone();
        history[49] += 0.1;
        assert_ne!(of(y.clone(), history), plain);
    }
}

#[test]
fn scales_are_those_of_the_training_rows() {
    // The finite values in the part are 1, 2, 3, 4, 10.
    let u = vec![100.0, 4.0, NAN, 2.0, 10.0, 1.0, f64::INFINITY, 3.0, -50.0];
    let y = white(4, 9);
    let series = one_session(y, vec![u]);
    for (scaling, shift, spread) in [
        (Scaling::MinMax, 5.5, 4.5),
        (Scaling::Standard, 4.0, 10.0_f64.sqrt()),
        (Scaling::Robust, 3.0, 1.0),
    ] {
        let settings = Config {
            scaling,
            ..config(&[], &[&[0]], 0).linear()
        };
        let part = Part::of(1..8);
        let (model, _) = train_with(&series, &part, &settings, &Options::default()).unwrap();
        let file: serde_json::Value = serde_json::from_str(&model.to_json()).unwrap();
        let scaler = &file["model"]["inputs"][0]["scaler"];
        assert_abs_diff_eq!(scaler["shift"].as_f64().unwrap(), shift, epsilon = 1e-12);
        assert_abs_diff_eq!(scaler["spread"].as_f64().unwrap(), spread, epsilon = 1e-12);
    }
}

#[test]
fn the_units_of_the_series_do_not_matter() {
    let (y, u) = planted(2, 300);
    let in_units = |factor: f64, shift: f64| {
        let y = y.iter().map(|y| factor * y + shift).collect();
        let u = u.iter().map(|u| u / factor - shift).collect();
        let series = one_session(y, vec![u]);
        let (_, report) = train(&series, &unjudged(planted_config()));
        report.rmse() / factor
    };
    let plain = in_units(1.0, 0.0);
    for (factor, shift) in [(1e-6, 0.0), (1e9, 0.0), (1.0, 50.0)] {
        assert!(in_units(factor, shift) < plain + 1e-6);
    }
}

#[test]
fn sessions_are_forecast_as_if_each_were_alone() {
    let (first, second) = (planted(1, 40), planted(2, 50));
    let (model, _) = train(
        &one_session(first.0.clone(), vec![first.1.clone()]),
        &planted_config(),
    );
    let alone = |it: &(Vec<f64>, Vec<f64>)| one_session(it.0.clone(), vec![it.1.clone()]);
    let both = sessions(vec![
        (first.0.clone(), vec![first.1.clone()]),
        (second.0.clone(), vec![second.1.clone()]),
    ]);
    for steps in [1, 4, usize::MAX] {
        let together = model.steps_ahead(&both, steps).unwrap();
        for (session, it) in [&first, &second].into_iter().enumerate() {
            let alone = model.steps_ahead(&alone(it), steps).unwrap();
            assert_eq!(bits(together.of(session, 0)), bits(alone.of(0, 0)));
            assert!(together.of(session, 0)[1].is_nan());
        }
    }
    let joined = one_session(
        [first.0, second.0].concat(),
        vec![[first.1, second.1].concat()],
    );
    assert!(one_step(&model, &joined)[40].is_finite());
}

#[test]
fn sessions_are_learnt_from_row_by_row_and_never_across_their_border() {
    let (y, u) = linear(1, 100, 0.3);
    let settings = config(&[1, 2], &[&[1, 3]], 0).linear();
    let cut = |at: usize| {
        sessions(vec![
            (y[..at].to_vec(), vec![u[..at].to_vec()]),
            (y[at..].to_vec(), vec![u[at..].to_vec()]),
        ])
    };
    let (_, whole) = train(&one_session(y.clone(), vec![u.clone()]), &settings);
    let (two, report) = train(&cut(40), &settings);
    assert_eq!((whole.rows, report.rows), (97, 94));
    // A missing row ends a run of rows like a border does.
    let (mut gap_y, mut gap_u) = (y.clone(), u.clone());
    gap_y.insert(40, NAN);
    gap_u.insert(40, NAN);
    let gap = one_session(gap_y, vec![gap_u]);
    let (of_gap, with_gap) = train(&gap, &settings);
    assert_eq!(with_gap.rows, 94);
    assert_eq!(with_gap.output_rmse, report.output_rmse);
    assert_eq!(bits(&one_step(&of_gap, &gap)), bits(&one_step(&two, &gap)));
    // Sessions too short for the lags teach nothing and harm nothing.
    let mut series = cut(40);
    for rows in 0..=4 {
        let session = Session::of(y[..rows].to_vec(), vec![u[..rows].to_vec()]);
        series.push(session.unwrap()).unwrap();
    }
    let (_, with_short) = train(&series, &settings);
    assert_eq!(with_short.rows, 95);
}

#[test]
fn a_constant_input_is_dropped_and_remembered() {
    let (y, u) = linear(1, 100, 0.1);
    let nearly: Vec<f64> = (0..100).map(|t| 5.0 + f64::from(t % 2) * 1e-12).collect();
    let part = Part::of(0..80);
    // Changes after the rows trained on.
    let late: Vec<f64> = (0..100).map(|t| f64::from(u8::from(t > 90))).collect();
    let series = one_session(y, vec![vec![3.0; 100], u, nearly, late, vec![NAN; 100]]);
    let settings = config(&[1, 2], &[&[0], &[1, 3], &[0], &[1], &[0]], 2);
    let (model, report) = train_with(&series, &part, &settings, &Options::default()).unwrap();
    assert_eq!(report.dropped_inputs, ["u0", "u2", "u3", "u4"]);
    let used: Vec<_> = model.inputs().collect();
    assert_eq!(used, [("u1", &[1, 3][..])]);
    let read = narx::Narx::from_json(model.to_json().as_bytes()).unwrap();
    assert_eq!(read.report().dropped_inputs, report.dropped_inputs);
    // Their values are not read, not even if they are missing.
    assert!(one_step(&model, &series)[50].is_finite());
}

#[test]
fn a_constant_target_is_forecast_as_that_constant() {
    let inputs = vec![white(1, 60), white(2, 60)];
    for value in [0.0, 7.25, -3e-7, 1e12, f64::MAX, f64::MIN_POSITIVE] {
        for lags in [&[1, 2][..], &[]] {
            for hidden in [0, 3] {
                let mut settings = config(lags, &[&[0, 1], &[2]], hidden);
                for algorithm in [Algorithm::Lm, Algorithm::Bayes] {
                    settings.training.algorithm = algorithm;
                    let series = one_session(vec![value; 60], inputs.clone());
                    let model = try_train(&series, &series.all(), &settings, "constant").unwrap();
                    let future = vec![vec![0.5; 9]; 2];
                    let forecasts = model.forecast(&series, 0, 9, &future).unwrap();
                    assert_eq!(forecasts[0], [value; 9]);
                    assert_eq!(one_step(&model, &series)[10], value);
                }
            }
        }
    }
}

#[test]
fn a_nearly_constant_target_can_be_run_freely() {
    let mut y: Vec<f64> = white(9, 80)
        .iter()
        .map(|e| 1e13 + e.round() * 100.0)
        .collect();
    y[0] = 1e13 + 2_000.0;
    let series = one_session(y.clone(), vec![white(3, 80)]);
    for settings in [config(&[1], &[&[0]], 2), config(&[1], &[], 2)] {
        let model = try_train(&series, &series.all(), &settings, "nearly").unwrap();
        let free = model.free_run(&series, 0).unwrap();
        assert!(free.ran_away().is_empty());
        for (forecast, y) in free.of(0, 0).iter().zip(&y) {
            assert_relative_eq!(*forecast, *y, max_relative = 1e-9);
        }
    }
}

#[test]
fn the_log_target_fits_what_multiplies_and_takes_what_is_not_positive_as_missing() {
    let u = white(6, 200);
    let mut y = vec![2.0_f64];
    for t in 1..200 {
        y.push(y[t - 1].powf(0.6) * (0.5 * u[t] + 0.3).exp());
    }
    let mut settings = config(&[1], &[&[0]], 0).linear();
    settings.target = Target::Log;
    // The model reads ln y.
    let series = one_session(y.clone(), vec![u.clone()]);
    let (model, report) = train(&series, &settings);
    assert!(report.rmse() < 1e-8, "{report:?}");
    let before = one_step(&model, &series);
    assert!(before[1..].iter().all(|f| *f > 0.0));
    for missing in [0.0, -1.0, NAN, f64::INFINITY] {
        let mut other = y.clone();
        other[100] = missing;
        let series = one_session(other, vec![u.clone()]);
        let after = one_step(&model, &series);
        assert_eq!(moved(&before, &after), [101]);
        assert!(after[101].is_nan());
        assert_eq!(train(&series, &settings).1.rows, report.rows - 2);
    }
    let negative = one_session(vec![-1.0; 200], vec![u]);
    let error = narx::train(&negative, &settings).unwrap_err();
    assert_eq!(error, Error::TooShort { got: 0, needed: 1 });
}

/// a(t) = 0.5 a(t−1) + 0.3 b(t−1) + u(t), b(t) = −0.4 a(t−1) + 0.2 b(t−1) − 10 u(t).
fn coupled(rows: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let u = white(11, rows);
    let (mut a, mut b) = (vec![0.4], vec![5.0]);
    for t in 1..rows {
        a.push(0.5 * a[t - 1] + 0.3 * b[t - 1] + u[t]);
        b.push(-0.4 * a[t - 1] + 0.2 * b[t - 1] - 10.0 * u[t]);
    }
    (a, b, u)
}

#[test]
fn several_outputs_are_forecast_from_each_other_and_found_by_name() {
    let (a, b, u) = coupled(150);
    let series = Series::new(["a", "b"], ["u0"]).unwrap();
    let session = Session::new(vec![a.clone(), b.clone()], vec![u.clone()]).unwrap();
    let series = series.with(session).unwrap();
    for hidden in [0, 3] {
        let mut settings = config(&[1], &[&[0]], hidden);
        if hidden == 0 {
            settings = settings.linear();
        }
        let (model, report) = train(&series, &settings);
        assert_eq!(report.output_rmse.len(), 2);
        assert!(
            report.output_rmse.iter().all(|rmse| *rmse < 1e-5),
            "{report:?}"
        );
        assert_eq!(model.outputs().collect::<Vec<_>>(), ["a", "b"]);
        let free = model.free_run(&series, 0).unwrap();
        assert!(rmse(free.of(0, 0), &a) < 1e-4 && rmse(free.of(0, 1), &b) < 1e-4);
        let turned = Series::new(["b", "other", "a"], ["v", "u0"]).unwrap();
        let columns = vec![b.clone(), vec![NAN; 150], a.clone()];
        let inputs = vec![vec![NAN; 150], u.clone()];
        let turned = turned.with(Session::new(columns, inputs).unwrap()).unwrap();
        let (turned, plain) = (
            model.one_step(&turned).unwrap(),
            model.one_step(&series).unwrap(),
        );
        for output in 0..2 {
            assert_eq!(bits(turned.of(0, output)), bits(plain.of(0, output)));
        }
        assert_eq!(
            model.predictor().unwrap_err(),
            Error::SeveralOutputs { got: 2 }
        );
    }
}

#[test]
fn a_constant_output_beside_a_varying_one_stays_what_it_is() {
    let (a, _, u) = coupled(150);
    let series = Series::new(["a", "b"], ["u0"]).unwrap();
    let session = Session::new(vec![a, vec![4.0; 150]], vec![u]).unwrap();
    let series = series.with(session).unwrap();
    for skip in [Skip::None, Skip::Linear, Skip::LastValue] {
        let settings = Config {
            skip,
            ..config(&[1, 2], &[&[0]], 3)
        };
        let (model, report) = train(&series, &settings);
        assert_sensible(&model, &report, &series, "constant beside");
        for forecast in &model.one_step(&series).unwrap().of(0, 1)[2..] {
            assert_relative_eq!(*forecast, 4.0, epsilon = 0.1);
        }
    }
}

#[test]
fn each_skip_connection_has_its_weights() {
    let (y, u) = planted(3, 100);
    let series = one_session(y, vec![u]);
    // Regressors: y(t−1), y(t−2), u(t), u(t−1).
    let hidden_and_output = (4 + 1) * 3 + 3 + 1;
    for (skip, direct) in [(Skip::None, 0), (Skip::Linear, 4), (Skip::LastValue, 0)] {
        let settings = Config {
            skip,
            ..config(&[1, 2], &[&[0, 1]], 3)
        };
        assert_eq!(
            train(&series, &settings).1.weights,
            hidden_and_output + direct
        );
    }
}

#[test]
fn the_last_value_connection_forecasts_the_change() {
    // A walk far away from where it started.
    let u = white(8, 400);
    let mut y = vec![0.0];
    for t in 1..400 {
        y.push(y[t - 1] + 0.3 + 0.2 * u[t].tanh());
    }
    let series = one_session(y.clone(), vec![u]);
    let settings = Config {
        skip: Skip::LastValue,
        ..config(&[1], &[&[0]], 3)
    };
    let part = series.first(0.6).unwrap();
    let error_of = |skip| {
        let settings = Config {
            skip,
            ..settings.clone()
        };
        let (model, _) = train_with(&series, &part, &settings, &Options::default()).unwrap();
        rmse(&one_step(&model, &series)[240..], &y[240..])
    };
    assert!(error_of(Skip::LastValue) < 0.2 * error_of(Skip::None));
}

/// Every way of spoiling a column that a log can hold.
fn hostile() -> Vec<(&'static str, Vec<f64>)> {
    let good = |rows: usize| white(17, rows);
    let with = |at: usize, value: f64| {
        let mut y = good(60);
        y[at] = value;
        y
    };
    vec![
        ("empty", vec![]),
        ("one row", good(1)),
        ("three rows", good(3)),
        ("four rows", good(4)),
        ("all missing", vec![NAN; 60]),
        ("all infinite", vec![f64::INFINITY; 60]),
        (
            "one value",
            with(0, 1.0)
                .iter()
                .enumerate()
                .map(|(k, y)| if k == 9 { *y } else { NAN })
                .collect(),
        ),
        ("constant", vec![2.5; 60]),
        ("spike", with(30, 1e12)),
        ("last spike", with(59, -1e12)),
        ("largest", with(30, f64::MAX)),
        (
            "both largest",
            (0..60)
                .map(|t| if t % 2 == 0 { f64::MAX } else { -f64::MAX })
                .collect(),
        ),
        (
            "wild",
            (0..60)
                .map(|t: i32| [f64::MAX, -f64::MAX, 1.0, 1e-300, NAN][(t * t % 5) as usize])
                .collect(),
        ),
        ("huge", good(60).iter().map(|y| y * 1e300).collect()),
        ("tiny", good(60).iter().map(|y| y * 1e-300).collect()),
        ("denormal", good(60).iter().map(|y| y * 1e-315).collect()),
        (
            "every second",
            good(60)
                .iter()
                .enumerate()
                .map(|(k, y)| if k % 2 == 0 { *y } else { NAN })
                .collect(),
        ),
        ("infinite", with(30, f64::NEG_INFINITY)),
        ("steps", (0..60).map(|t| f64::from(t / 30)).collect()),
        ("growing", (0..60).map(|t| 2.0_f64.powi(17 * t)).collect()),
    ]
}

#[test]
fn hostile_data_gives_a_sensible_model_or_a_typed_error() {
    let mut trained = 0;
    for (what, column) in hostile() {
        let rows = column.len();
        for (place, y, u) in [
            ("output", column.clone(), white(5, rows)),
            ("input", white(5, rows), column.clone()),
        ] {
            let series = sessions(vec![
                (y.clone(), vec![u.clone()]),
                (vec![], vec![vec![]]),
                (y, vec![u]),
            ]);
            for scaling in SCALINGS {
                for (skip, target, algorithm, loss) in [
                    (Skip::Linear, Target::Value, Algorithm::Lm, Loss::Squares),
                    (
                        Skip::None,
                        Target::Log,
                        Algorithm::Bayes,
                        Loss::Huber { threshold: 1.3 },
                    ),
                    (
                        Skip::LastValue,
                        Target::Value,
                        Algorithm::Bayes,
                        Loss::Huber { threshold: 1e-300 },
                    ),
                ] {
                    let mut settings = config(&[1, 2], &[&[0, 1]], 2);
                    (settings.skip, settings.target, settings.scaling) = (skip, target, scaling);
                    (settings.training.algorithm, settings.training.loss) = (algorithm, loss);
                    settings.training.max_epochs = 4;
                    let what = format!("{what} {place} {scaling:?} {skip:?}");
                    trained +=
                        usize::from(try_train(&series, &series.all(), &settings, &what).is_ok());
                    settings.training.closed_loop = Some(ClosedLoop {
                        horizons: vec![3, 0],
                        max_epochs: 3,
                    });
                    trained +=
                        usize::from(try_train(&series, &series.all(), &settings, &what).is_ok());
                }
            }
        }
    }
    assert!(trained > 300, "{trained}");
}

#[test]
fn a_spike_leaves_the_forecasts_of_other_rows_alone() {
    let (mut y, u) = linear(4, 200, 0.0);
    let truth = y.clone();
    y[100] = 1e12;
    let series = one_session(y, vec![u.clone()]);
    let mut settings = config(&[1, 2], &[&[1, 3]], 0).linear();
    settings.scaling = Scaling::Robust;
    settings.training.loss = Loss::Huber { threshold: 1.345 };
    let model = try_train(&series, &series.all(), &settings, "spike").unwrap();
    let forecasts = one_step(&model, &one_session(truth.clone(), vec![u]));
    assert!(forecasts.iter().skip(3).all(|f| f.is_finite()));
}

#[test]
fn unusable_data_is_told_apart() {
    let settings = config(&[1], &[&[0]], 1);
    let fails =
        |y: Vec<f64>, u: Vec<f64>| narx::train(&one_session(y, vec![u]), &settings).unwrap_err();
    assert_eq!(fails(vec![], vec![]), Error::TooShort { got: 0, needed: 1 });
    assert_eq!(
        fails(vec![NAN; 9], white(1, 9)),
        Error::TooShort { got: 0, needed: 1 }
    );
    let error = fails(white(1, 3), white(2, 3));
    assert!(
        matches!(error, Error::TooFewRows { got: 2, needed } if needed > 2),
        "{error:?}"
    );
    let none = Series::new(["y"], ["u0"]).unwrap();
    assert_eq!(
        narx::train(&none, &settings).unwrap_err(),
        Error::TooShort { got: 0, needed: 1 }
    );
    let other = Series::new(["y"], ["v"]).unwrap();
    let session = Session::of(white(1, 30), vec![white(2, 30)]).unwrap();
    let error = narx::train(&other.with(session).unwrap(), &settings).unwrap_err();
    assert!(matches!(error, Error::MissingSeries { what: "input", .. }));
    let series = one_session(white(1, 30), vec![white(2, 30)]);
    for part in [
        Part::of(0..31),
        Part::new(vec![]),
        Part::new(vec![0..3, 0..1]),
    ] {
        let error = train_with(&series, &part, &settings, &Options::default()).unwrap_err();
        assert!(matches!(error, Error::Part { .. }));
    }
}

/// A number of rows that an error asks for is enough, and one less is not.
#[test]
fn the_rows_that_are_needed_are_enough() {
    for validation in [
        Validation::None,
        Validation::Tail { share: 0.15 },
        Validation::Tail { share: 0.9 },
        Validation::Tail { share: 1e-3 },
        Validation::Folds { folds: 2 },
        Validation::Folds { folds: 3 },
        Validation::Folds { folds: 7 },
    ] {
        let mut settings = config(&[], &[&[0]], 0).linear();
        settings.training.validation = validation;
        let with = |rows: usize| {
            let series = one_session(white(1, rows), vec![white(2, rows)]);
            narx::train(&series, &settings).map(|_| ())
        };
        let mut rows = 2;
        while let Err(error) = with(rows) {
            let Error::TooFewRows { got, needed } = error else {
                panic!("{error:?}");
            };
            assert_eq!(got, rows);
            assert!(
                needed > rows,
                "{validation:?}: {rows} rows, {needed} needed"
            );
            assert!(with(needed - 1).is_err(), "{validation:?}: {needed}");
            rows = needed;
        }
    }
}

#[test]
fn every_setting_out_of_range_is_refused() {
    let series = one_session(white(1, 40), vec![white(2, 40), white(3, 40)]);
    let good = config(&[1], &[&[0]], 2);
    assert!(narx::train(&series, &good).is_ok());
    let refused = |change: &dyn Fn(&mut Config)| {
        let mut settings = good.clone();
        change(&mut settings);
        match narx::train(&series, &settings) {
            Ok(_) => panic!("{settings:?}"),
            Err(error) => error,
        }
    };
    for lags in [
        vec![0],
        vec![2, 1],
        vec![1, 1],
        vec![1_000_001],
        vec![1, usize::MAX],
    ] {
        let error = refused(&|it| it.output_lags = lags.clone());
        assert!(matches!(error, Error::Lags { least: 1, .. }));
    }
    for lags in [vec![1, 0], vec![0, 0], vec![usize::MAX]] {
        let error = refused(&|it| it.inputs[0].lags = lags.clone());
        assert!(matches!(error, Error::Lags { of, least: 0, .. } if of == "u0"));
    }
    let setting = |change: &dyn Fn(&mut Config), expected: &str| {
        let error = refused(change);
        assert!(
            matches!(error, Error::Setting { name, .. } if name == expected),
            "{error:?}"
        );
    };
    for share in [0.0, 1.0, -0.1, NAN, f64::INFINITY] {
        setting(
            &|it| it.training.validation = Validation::Tail { share },
            "validation share",
        );
    }
    for threshold in [0.0, -1.0, NAN, f64::INFINITY] {
        setting(
            &|it| it.training.loss = Loss::Huber { threshold },
            "Huber threshold",
        );
    }
    for folds in [0, 1] {
        setting(
            &|it| it.training.validation = Validation::Folds { folds },
            "folds",
        );
    }
    setting(&|it| it.hidden = 4097, "hidden");
    setting(&|it| (it.hidden, it.skip) = (0, Skip::None), "hidden");
    setting(&|it| it.training.starts = Some(0), "starts");
    setting(&|it| it.training.starts = Some(usize::MAX), "starts");
    setting(&|it| it.training.average = Some(0), "average");
    setting(&|it| it.training.max_failures = 0, "max_failures");
    let none = ClosedLoop {
        horizons: vec![],
        max_epochs: 1,
    };
    setting(
        &|it| it.training.closed_loop = Some(none.clone()),
        "closed-loop horizons",
    );
    let nothing: [&dyn Fn(&mut Config); 2] = [
        &|it| (it.output_lags, it.inputs) = (vec![], vec![]),
        &|it| (it.output_lags, it.inputs[0].lags) = (vec![], vec![]),
    ];
    for change in nothing {
        assert_eq!(refused(change), Error::NoRegressors);
    }
    let late: &dyn Fn(&mut Config) = &|it| (it.output_lags, it.skip) = (vec![2], Skip::LastValue);
    assert_eq!(refused(late), Error::LastValueLag);
    let twice: &dyn Fn(&mut Config) = &|it| it.inputs.push(Input::new("u0", [1]));
    assert_eq!(
        refused(twice),
        Error::DuplicateName {
            name: "u0".to_owned()
        }
    );
}

#[test]
fn extreme_settings_are_taken_or_refused_without_harm() {
    let series = one_session(white(1, 40), vec![white(2, 40)]);
    let too_few: [&dyn Fn(&mut Config); 5] = [
        &|it| it.training.validation = Validation::Folds { folds: usize::MAX },
        &|it| it.training.validation = Validation::Folds { folds: 1 << 40 },
        &|it| {
            it.training.validation = Validation::Tail {
                share: f64::MIN_POSITIVE,
            }
        },
        &|it| {
            it.training.validation = Validation::Tail {
                share: 1.0 - f64::EPSILON,
            }
        },
        &|it| it.output_lags = vec![1, 1_000_000],
    ];
    for change in too_few {
        let mut settings = config(&[1], &[&[0]], 2);
        change(&mut settings);
        let error = narx::train(&series, &settings).unwrap_err();
        assert!(
            matches!(error, Error::TooFewRows { got, needed } if needed > got),
            "{error:?}"
        );
    }
    let taken: [&dyn Fn(&mut Config); 6] = [
        &|it| it.training.max_epochs = 0,
        &|it| it.training.max_failures = usize::MAX,
        &|it| it.training.average = Some(usize::MAX),
        &|it| it.training.seed = u64::MAX,
        &|it| {
            it.training.closed_loop = Some(ClosedLoop {
                horizons: vec![usize::MAX, 1],
                max_epochs: 0,
            })
        },
        &|it| {
            it.training.closed_loop = Some(ClosedLoop {
                horizons: vec![usize::MAX, 100, 1],
                max_epochs: 3,
            })
        },
    ];
    for change in taken {
        let mut settings = config(&[1], &[&[0]], 2);
        change(&mut settings);
        try_train(&series, &series.all(), &settings, "extreme").unwrap();
    }
}

#[test]
fn a_data_set_has_what_it_says() {
    assert_eq!(Series::new::<&str>([], ["u"]), Err(Error::NoOutput));
    assert_eq!(
        Series::new(["y"], ["y"]),
        Err(Error::DuplicateName {
            name: "y".to_owned()
        })
    );
    let mut series = Series::new(names("y", 1), names("u", 1)).unwrap();
    let error = series
        .push(Session::of(vec![1.0], vec![]).unwrap())
        .unwrap_err();
    assert_eq!(
        error,
        Error::Columns {
            what: "inputs",
            expected: 1,
            got: 0
        }
    );
    let error = Session::of(vec![1.0], vec![vec![1.0, 2.0]]).unwrap_err();
    assert_eq!(
        error,
        Error::Length {
            column: 1,
            expected: 1,
            got: 2
        }
    );
    assert_eq!(Session::new(vec![], vec![]), Err(Error::NoOutput));
    series
        .push(Session::of(vec![1.0; 5], vec![vec![2.0; 5]]).unwrap())
        .unwrap();
    series
        .push(Session::of(vec![], vec![vec![]]).unwrap())
        .unwrap();
    assert_eq!(series.all().ranges(), [0..5, 0..0]);
    assert_eq!(series.first(0.6).unwrap().ranges(), [0..3, 0..0]);
    assert_eq!(
        series.after(&series.first(0.6).unwrap()).ranges(),
        [3..5, 0..0]
    );
    assert!(series.first(0.0).unwrap().is_empty());
    assert_eq!(series.first(1.0).unwrap().len(), 5);
    for share in [-0.1, 1.1, NAN] {
        assert!(matches!(
            series.first(share),
            Err(Error::Setting { name: "share", .. })
        ));
    }
}
