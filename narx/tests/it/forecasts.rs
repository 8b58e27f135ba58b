//! One step, several steps, free runs, forecasts of what is not measured yet.

use narx::{Config, Error, Narx, Series, Session, Skip, Target};
use proptest::prelude::*;

use crate::judge_noise::white;
use crate::plants::{
    bits, config, linear, moved, one_session, one_step, planted, planted_config, sessions, train,
    unjudged,
};

const NAN: f64 = f64::NAN;

/// A model of little training, which is all that its arithmetic needs.
fn quick(output_lags: &[usize], inputs: &[&[usize]], hidden: usize, skip: Skip) -> Narx {
    let rows = 80;
    let u: Vec<Vec<f64>> = (0..inputs.len())
        .map(|k| white(20 + k as u64, rows))
        .collect();
    let mut settings = unjudged(config(output_lags, inputs, hidden));
    settings.skip = skip;
    settings.training.max_epochs = 3;
    train(&one_session(linear(2, rows, 0.5).0, u), &settings).0
}

/// Values with gaps.
fn column(rows: usize) -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![20 => -3.0..3.0_f64, 1 => Just(NAN), 1 => Just(f64::INFINITY)];
    prop::collection::vec(value, rows)
}

fn two_sessions() -> impl Strategy<Value = Series> {
    (0..40_usize, 0..40_usize).prop_flat_map(|(a, b)| {
        let session = |rows| (column(rows), column(rows));
        (session(a), session(b))
            .prop_map(|((y, u), (z, v))| sessions(vec![(y, vec![u]), (z, vec![v])]))
    })
}

fn models() -> Vec<Narx> {
    vec![
        quick(&[1, 3], &[&[0, 2]], 3, Skip::Linear),
        quick(&[2], &[&[1]], 2, Skip::None),
        quick(&[1], &[&[0]], 5, Skip::LastValue),
        quick(&[], &[&[0, 4]], 2, Skip::Linear),
        quick(&[1, 2], &[&[3]], 0, Skip::Linear),
    ]
}

/// The forecast for every row made `steps` before by [`Narx::forecast`] from a cut session.
fn by_forecast(model: &Narx, series: &Series, session: usize, steps: usize) -> Vec<f64> {
    let it = &series.sessions()[session];
    let of_row = |row: usize| {
        let Some(origin) = (row + 1).checked_sub(steps) else {
            return NAN;
        };
        let past = one_session(
            it.output(0)[..origin].to_vec(),
            vec![it.input(0)[..origin].to_vec()],
        );
        let future = vec![it.input(0)[origin..=row].to_vec()];
        let forecasts = model.forecast(&past, 0, steps, &future);
        forecasts.map_or(NAN, |of| of[0][steps - 1])
    };
    (0..it.len()).map(of_row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn one_and_all_steps_are_the_one_step_forecasts_and_the_free_run(series in two_sessions()) {
        for model in models() {
            let (one, free) = (model.one_step(&series).unwrap(), model.free_run(&series, 0).unwrap());
            for session in 0..2 {
                let first = model.steps_ahead(&series, 1).unwrap();
                prop_assert_eq!(bits(first.of(session, 0)), bits(one.of(session, 0)));
                let all = model.steps_ahead(&series, usize::MAX).unwrap();
                prop_assert_eq!(bits(all.of(session, 0)), bits(free.of(session, 0)));
            }
        }
    }

    /// Where there is a forecast made that many steps before, it is the one that a log that ends
    /// there gives; only before the first of them may there be one of fewer steps.
    #[test]
    fn steps_ahead_are_forecasts_from_the_rows_before(series in two_sessions(), steps in 1..7_usize) {
        for model in models() {
            let ahead = model.steps_ahead(&series, steps).unwrap();
            for session in 0..2 {
                let expected = by_forecast(&model, &series, session, steps);
                for (row, (a, e)) in ahead.of(session, 0).iter().zip(&expected).enumerate() {
                    if !e.is_nan() {
                        prop_assert_eq!(a.to_bits(), e.to_bits(), "row {}", row);
                    }
                }
            }
        }
    }

    #[test]
    fn a_forecast_goes_on_as_a_free_run_would(
        rows in 5..30_usize, horizon in 0..25_usize, seed in 0..99_u64,
    ) {
        let (y, u) = (white(seed, rows), white(seed + 1, rows + horizon));
        for model in models() {
            let past = one_session(y.clone(), vec![u[..rows].to_vec()]);
            let forecast = model.forecast(&past, 0, horizon, &[u[rows..].to_vec()]).unwrap();
            let longer = [y.clone(), vec![NAN; horizon]].concat();
            let longer = one_session(longer, vec![u.clone()]);
            let free = model.free_run(&longer, rows).unwrap();
            prop_assert_eq!(bits(&forecast[0]), bits(&free.of(0, 0)[rows..]));
        }
    }
}

#[test]
fn one_step_is_no_run_of_its_own_forecasts_and_is_never_cut() {
    let model = quick(&[1], &[&[0]], 0, Skip::Linear);
    let (y, mut u) = (white(1, 20), white(2, 20));
    u[10] = 1e9;
    let series = one_session(y, vec![u]);
    let (one, first) = (
        one_step(&model, &series),
        model.steps_ahead(&series, 1).unwrap(),
    );
    assert!(one[10].abs() > 1e6);
    assert_eq!(bits(first.of(0, 0)), bits(&one));
    let free = model.free_run(&series, 0).unwrap();
    assert_eq!(free.ran_away(), [(0, 10)]);
    assert!(free.of(0, 0)[10..].iter().all(|f| f.is_nan()));
    let future = vec![series.sessions()[0].input(0)[8..].to_vec()];
    let past = one_session(white(1, 8), vec![white(2, 8)]);
    assert_eq!(
        model.forecast(&past, 0, 5, &future),
        Err(Error::RanAway { step: 2 })
    );
}

#[test]
fn an_impulse_of_an_input_arrives_in_its_row() {
    let rows = 400;
    let u = white(9, rows);
    let y = (0..rows)
        .map(|t| if t < 4 { 0.0 } else { 3.0 * u[t - 4] })
        .collect();
    let (model, _) = train(
        &one_session(y, vec![u]),
        &config(&[], &[&[0, 4]], 0).linear(),
    );
    let mut impulse = vec![0.0; 30];
    impulse[12] = 1.0;
    let series = one_session(vec![NAN; 30], vec![impulse]);
    for steps in [1, 2, 9, usize::MAX] {
        let forecasts = model.steps_ahead(&series, steps).unwrap();
        for (row, forecast) in forecasts.of(0, 0).iter().enumerate().skip(4) {
            let expected = if row == 16 { 3.0 } else { 0.0 };
            assert!((forecast - expected).abs() < 1e-6, "{steps} {row}");
        }
    }
}

#[test]
fn a_free_run_reads_no_output_after_its_first_rows() {
    let (y, u) = planted(5, 60);
    let (model, _) = train(&one_session(y.clone(), vec![u.clone()]), &planted_config());
    let series = one_session(y.clone(), vec![u.clone()]);
    for (initial, first) in [(0, 2), (1, 2), (2, 2), (7, 7), (59, 59)] {
        let free = model.free_run(&series, initial).unwrap();
        let free = free.of(0, 0);
        assert!(
            free[..first].iter().all(|f| f.is_nan()) && free[first..].iter().all(|f| f.is_finite())
        );
        let cut = [y[..first].to_vec(), vec![NAN; 60 - first]].concat();
        let cut = model
            .free_run(&one_session(cut, vec![u.clone()]), initial)
            .unwrap();
        assert_eq!(bits(cut.of(0, 0)), bits(free));
        assert_eq!(
            free[first].to_bits(),
            one_step(&model, &series)[first].to_bits()
        );
    }
    for initial in [60, usize::MAX] {
        let none = model.free_run(&series, initial).unwrap();
        assert!(none.of(0, 0).iter().all(|f| f.is_nan()));
    }
}

#[test]
fn after_a_gap_in_the_inputs_a_free_run_begins_anew() {
    let (y, mut u) = planted(5, 60);
    let (model, _) = train(&one_session(y.clone(), vec![u.clone()]), &planted_config());
    u[30] = NAN;
    let free = model
        .free_run(&one_session(y.clone(), vec![u.clone()]), 0)
        .unwrap();
    let missing: Vec<usize> = (0..60).filter(|&t| free.of(0, 0)[t].is_nan()).collect();
    assert_eq!(missing, [0, 1, 30, 31]);
    let rest = one_session(
        y[30..].to_vec(),
        vec![[vec![0.0], u[31..].to_vec()].concat()],
    );
    let rest = model.free_run(&rest, 0).unwrap();
    assert_eq!(bits(&free.of(0, 0)[32..]), bits(&rest.of(0, 0)[2..]));
}

#[test]
fn what_a_forecast_needs_is_asked_for() {
    // u0 is read at lag 0, u1 from lag 2 on; u2 is not read.
    let rows = 60;
    let inputs = vec![white(1, rows), white(2, rows), white(3, rows)];
    let series = one_session(linear(1, rows, 0.3).0, inputs);
    let (model, _) = train(&series, &config(&[1, 2], &[&[0], &[2, 5]], 2));
    let future = |a: usize, b: usize| vec![vec![0.1; a], vec![0.2; b]];
    let asked = |name: &str, needed, got| {
        let name = name.to_owned();
        Err(Error::FutureInputs { name, needed, got })
    };
    let enough = model.forecast(&series, 0, 6, &future(6, 4)).unwrap();
    assert_eq!(enough[0].len(), 6);
    assert_eq!(
        model.forecast(&series, 0, 6, &future(9, 9)).unwrap().len(),
        1
    );
    assert_eq!(
        model.forecast(&series, 0, 6, &future(5, 4)),
        asked("u0", 6, 5)
    );
    assert_eq!(
        model.forecast(&series, 0, 6, &future(6, 3)),
        asked("u1", 4, 3)
    );
    assert_eq!(model.forecast(&series, 0, 6, &[]), asked("u0", 6, 0));
    assert!(model.forecast(&series, 0, 0, &[]).unwrap()[0].is_empty());
    let error = model.forecast(&series, 1, 6, &future(6, 4)).unwrap_err();
    assert!(matches!(
        error,
        Error::Setting {
            name: "session",
            ..
        }
    ));
    let mut hole = future(6, 4);
    hole[1][2] = NAN;
    let error = Err(Error::NeedsHistory { rows: 5 });
    assert_eq!(model.forecast(&series, 0, 6, &hole), error);
    for (column, row) in [(0, 59), (0, 58), (2, 55)] {
        let it = &series.sessions()[0];
        let mut y = it.output(0).to_vec();
        let mut inputs = vec![
            it.input(0).to_vec(),
            it.input(1).to_vec(),
            it.input(2).to_vec(),
        ];
        *(if column == 0 {
            &mut y[row]
        } else {
            &mut inputs[column - 1][row]
        }) = NAN;
        let broken = one_session(y, inputs);
        assert_eq!(model.forecast(&broken, 0, 6, &future(6, 4)), error);
    }
    for rows in [0, 1, 4] {
        let short = one_session(white(1, rows), vec![white(1, rows); 3]);
        assert_eq!(model.forecast(&short, 0, 1, &future(1, 0)), error);
    }
    let error = model.steps_ahead(&series, 0).unwrap_err();
    assert!(matches!(error, Error::Setting { name: "steps", .. }));
    let nameless = Series::new(["z"], ["u0"]).unwrap();
    let nameless = nameless
        .with(Session::of(vec![1.0], vec![vec![1.0]]).unwrap())
        .unwrap();
    let missing = |error: Error| assert!(matches!(error, Error::MissingSeries { .. }));
    missing(model.one_step(&nameless).unwrap_err());
    missing(model.free_run(&nameless, 0).unwrap_err());
    missing(model.seen(&nameless).unwrap_err());
    missing(model.forecast(&nameless, 0, 0, &[]).unwrap_err());
    missing(model.covariance(&nameless, &nameless.all()).unwrap_err());
}

#[test]
fn a_horizon_beyond_all_bounds_is_refused() {
    let (model, _) = train(
        &one_session(white(1, 50), vec![]),
        &config(&[1], &[], 0).linear(),
    );
    let series = one_session(white(1, 50), vec![]);
    for horizon in [usize::MAX, usize::MAX - 60, 1 << 40] {
        let error = model.forecast(&series, 0, horizon, &[]).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Setting {
                    name: "horizon",
                    ..
                }
            ),
            "{error:?}"
        );
    }
    assert_eq!(
        model.forecast(&series, 0, 3_000, &[]).unwrap()[0].len(),
        3_000
    );
}

#[test]
fn forecasts_of_a_long_lag_are_made_row_by_row() {
    // Looking for a complete history must not copy as many values as the lag is long.
    let rows = 60_000;
    let mut settings = config(&[1, 30_000], &[], 0).linear();
    settings.training.max_epochs = 1;
    let mut y = white(1, rows);
    let (model, _) = train(&one_session(y.clone(), vec![]), &settings);
    y[29_999] = NAN;
    let series = one_session(y, vec![]);
    let free = model.free_run(&series, 0).unwrap();
    assert_eq!(
        free.of(0, 0).iter().position(|f| f.is_finite()),
        Some(30_001)
    );
}

#[test]
fn a_log_forecast_stays_a_number() {
    let u = white(6, 100);
    let y = u.iter().map(|u| (100.0 * u).exp()).collect();
    let settings = Config {
        target: Target::Log,
        ..config(&[], &[&[0]], 0).linear()
    };
    let (model, _) = train(&one_session(y, vec![u]), &settings);
    let series = one_session(vec![NAN; 3], vec![vec![50.0, -50.0, f64::MAX]]);
    let forecasts = one_step(&model, &series);
    assert_eq!(forecasts[..2], [f64::MAX, 0.0]);
    assert!(!forecasts[2].is_infinite());
    assert!(moved(&forecasts, &one_step(&model, &series)).is_empty());
}
