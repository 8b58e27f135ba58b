//! The live forecaster against the batch forecasts.

use narx::{Config, Forecaster, Narx, Predictor, Series, Skip};
use proptest::prelude::*;

use crate::judge_noise::white;
use crate::plants::{bits, config, one_session, sessions, train, unjudged};

const NAN: f64 = f64::NAN;

const fn is_send_and_sync<T: Send + Sync>() {}
const _: () = is_send_and_sync::<Predictor>();
const _: () = is_send_and_sync::<Narx>();

fn quick(settings: Config, inputs: usize) -> Narx {
    let rows = 90;
    let u: Vec<Vec<f64>> = (0..inputs).map(|k| white(40 + k as u64, rows)).collect();
    let mut settings = unjudged(settings);
    settings.training.max_epochs = 2;
    train(&one_session(white(39, rows), u), &settings).0
}

/// The one-step forecasts of a session, made live.
fn live(model: &Narx, series: &Series, session: usize) -> Vec<f64> {
    let mut predictor = model.predictor().unwrap();
    let it = &series.sessions()[session];
    let used: Vec<usize> = model
        .inputs()
        .map(|(name, _)| {
            series
                .inputs()
                .iter()
                .position(|other| other == name)
                .unwrap()
        })
        .collect();
    assert_eq!(predictor.inputs(), used.len());
    let mut said = Vec::new();
    for row in 0..it.len() {
        let now: Vec<f64> = used.iter().map(|&input| it.input(input)[row]).collect();
        let mut out = [NAN];
        predictor.forecast(&now, &mut out);
        said.push(out[0]);
        predictor.observe(it.output(0)[row], &now);
    }
    said
}

fn lags(least: usize) -> impl Strategy<Value = Vec<usize>> {
    let some = prop::collection::btree_set(least..20, 1..5);
    some.prop_map(|lags| lags.into_iter().collect())
}

fn column(rows: usize) -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![
        30 => -3.0..3.0_f64, 1 => Just(NAN), 1 => Just(f64::NEG_INFINITY), 1 => Just(1e300)
    ];
    prop::collection::vec(value, rows)
}

fn skips() -> impl Strategy<Value = Skip> {
    prop_oneof![Just(Skip::None), Just(Skip::Linear), Just(Skip::LastValue)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn live_and_batch_forecasts_agree_to_the_last_bit(
        mut output_lags in prop_oneof![4 => lags(1), 1 => Just(Vec::new())],
        input_lags in prop::collection::vec(lags(0), 1..4),
        hidden in 1..19_usize,
        skip in skips(),
        columns in prop::collection::vec(column(50), 4),
        cut in 0..50_usize,
    ) {
        if skip == Skip::LastValue && output_lags.first() != Some(&1) {
            output_lags.insert(0, 1);
        }
        let of_inputs: Vec<&[usize]> = input_lags.iter().map(Vec::as_slice).collect();
        let settings = Config { skip, ..config(&output_lags, &of_inputs, hidden) };
        let model = quick(settings, input_lags.len());
        let part = |from: usize, to: usize| {
            let inputs = columns[1..=input_lags.len()].iter();
            (columns[0][from..to].to_vec(), inputs.map(|u| u[from..to].to_vec()).collect())
        };
        let series = sessions(vec![part(0, cut), part(cut, 50)]);
        let batch = model.one_step(&series).unwrap();
        for session in 0..2 {
            prop_assert_eq!(bits(batch.of(session, 0)), bits(&live(&model, &series, session)));
        }
    }

    #[test]
    fn several_live_steps_are_those_of_the_batch_with_held_inputs(
        output_lags in lags(1), input_lags in lags(0), horizon in 1..40_usize, seed in 0..500_u64,
        hidden in 0..5_usize,
    ) {
        let model = quick(config(&output_lags, &[&input_lags], hidden), 1);
        let rows = 25;
        let (y, u) = (white(seed, rows), white(seed + 1, rows));
        let mut predictor = model.predictor().unwrap();
        for row in 0..rows {
            predictor.observe(y[row], &[u[row]]);
        }
        let before = predictor.clone();
        let mut said = vec![NAN; horizon];
        predictor.forecast(&[0.4], &mut said);
        let series = one_session(y, vec![u]);
        if let Ok(forecasts) = model.forecast(&series, 0, horizon, &[vec![0.4; horizon]]) {
            prop_assert_eq!(bits(&said), bits(&forecasts[0]));
        }
        // The first step is the same whoever asks for more, and asking changes nothing.
        let mut first = [NAN];
        predictor.forecast(&[0.4], &mut first);
        prop_assert_eq!(first[0].to_bits(), said[0].to_bits());
        let mut again = vec![NAN; horizon];
        before.forecast(&[0.4], &mut again);
        prop_assert_eq!(bits(&again), bits(&said));
    }
}

#[test]
fn a_model_without_inputs_or_with_nothing_to_learn_lives_too() {
    let y = white(1, 60);
    let (alone, _) = train(&one_session(y.clone(), vec![]), &config(&[2, 7], &[], 3));
    let series = one_session(y, vec![]);
    assert_eq!(
        bits(alone.one_step(&series).unwrap().of(0, 0)),
        bits(&live(&alone, &series, 0))
    );
    let constant = one_session(vec![3.5; 60], vec![]);
    let (model, _) = train(&constant, &config(&[1], &[], 2));
    let mut out = [NAN; 4];
    model.predictor().unwrap().forecast(&[], &mut out);
    assert_eq!(out, [3.5; 4]);
}

#[test]
fn dropped_inputs_are_not_asked_for() {
    let series = one_session(white(1, 60), vec![vec![1.0; 60], white(2, 60)]);
    let (model, _) = train(&series, &config(&[1], &[&[0], &[0, 1]], 2));
    assert_eq!(model.predictor().unwrap().inputs(), 1);
    assert_eq!(
        bits(model.one_step(&series).unwrap().of(0, 0)),
        bits(&live(&model, &series, 0))
    );
}

#[test]
fn a_predictor_says_nothing_before_it_has_seen_enough_and_takes_whatever_it_is_given() {
    let model = quick(config(&[1, 3], &[&[0, 2]], 2), 1);
    let mut predictor = model.predictor().unwrap();
    let next = |predictor: &Predictor, inputs: &[f64]| {
        let mut out = [0.5];
        predictor.forecast(inputs, &mut out);
        out[0]
    };
    for seen in 0..6 {
        assert_eq!(next(&predictor, &[0.3]).is_nan(), seen < 3);
        predictor.observe(0.1, &[0.2]);
    }
    // Too few inputs are missing ones, too many are not read, no step is no forecast.
    assert!(next(&predictor, &[]).is_nan());
    assert_eq!(
        next(&predictor, &[0.3]).to_bits(),
        next(&predictor, &[0.3, NAN]).to_bits()
    );
    predictor.forecast(&[0.3], &mut []);
    predictor.observe(f64::MAX, &[]);
    assert!(next(&predictor, &[0.3]).is_finite());
    predictor.observe(NAN, &[0.1, 0.2, 0.3]);
    assert!(next(&predictor, &[0.3]).is_nan());
}

#[test]
fn several_steps_of_a_model_that_runs_away_are_never_infinite() {
    // y(t) = 1.5 y(t−1).
    let y: Vec<f64> = (0..40).map(|t| 1.5_f64.powi(t)).collect();
    let (model, _) = train(&one_session(y, vec![]), &config(&[1], &[], 0).linear());
    let mut predictor = model.predictor().unwrap();
    predictor.observe(1.0, &[]);
    let mut out = vec![0.0; 3_000];
    predictor.forecast(&[], &mut out);
    assert!(out.iter().all(|forecast| !forecast.is_infinite()));
}

#[test]
fn a_live_step_allocates_nothing() {
    for (settings, inputs) in [
        (
            config(&[1, 2, 3], &[&[0, 1, 2], &[1, 2], &[0], &[5]], 10),
            4,
        ),
        (config(&[1], &[], 0).linear(), 0),
        (config(&[1, 2], &[&[1]], 33), 1),
    ] {
        let mut predictor = quick(settings, inputs).predictor().unwrap();
        let now = vec![0.3; inputs];
        let mut one = [NAN; 1];
        let mut several = [NAN; 20];
        let counted = allocation_counter::measure(|| {
            for _ in 0..50 {
                predictor.forecast(&now, &mut one);
                predictor.forecast(&now, &mut several);
                predictor.observe(0.2, &now);
            }
        });
        assert_eq!(counted.count_total, 0);
        assert!(one[0].is_finite());
    }
}
