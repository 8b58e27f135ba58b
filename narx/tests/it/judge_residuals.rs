//! What residuals tell about a model.

use approx::assert_relative_eq;
use narx::{Error, Residuals};
use proptest::prelude::*;

use crate::judge_noise::white;

const NAN: f64 = f64::NAN;

/// Sums over a few dozen rows, and a p-value from another library.
const ROUNDING: f64 = 1e-9;

/// Yearly sunspot numbers, 1700 to 1739.
const SUNSPOTS: [f64; 40] = [
    5.0, 11.0, 16.0, 23.0, 36.0, 58.0, 29.0, 20.0, 10.0, 8.0, 3.0, 0.0, 0.0, 2.0, 11.0, 27.0, 47.0,
    63.0, 60.0, 39.0, 28.0, 26.0, 22.0, 11.0, 21.0, 40.0, 78.0, 122.0, 103.0, 73.0, 47.0, 35.0,
    11.0, 5.0, 16.0, 34.0, 70.0, 81.0, 111.0, 101.0,
];

fn one_run(values: &[f64]) -> Residuals {
    Residuals::new(vec![values.to_vec()])
}

fn assert_close(left: &[f64], right: &[f64]) {
    assert_eq!(left.len(), right.len());
    for (a, b) in left.iter().zip(right) {
        assert_relative_eq!(a, b, max_relative = ROUNDING);
    }
}

#[test]
fn autocorrelation_agrees_with_statsmodels() {
    // statsmodels 0.15.0: tsa.stattools.acf(sunspots[:40], nlags=5, fft=False)
    let expected = [
        1.0,
        0.7889388771091482,
        0.4208860663080601,
        0.056152349643277956,
        -0.22597722861205624,
        -0.34574890833148303,
    ];
    let found = one_run(&SUNSPOTS).autocorrelation(5).unwrap();
    assert_eq!((found.rows, found.first_lag), (40, 0));
    assert_eq!(found.at(0), Some(1.0));
    assert_close(&found.values, &expected);
    assert_relative_eq!(found.limit, 0.30990, max_relative = 1e-4); // 1.96 / sqrt(40)
}

#[test]
fn ljung_box_agrees_with_statsmodels() {
    // statsmodels 0.15.0: stats.diagnostic.acorr_ljungbox(.., lags=[..], model_df=..)
    let mixed: Vec<f64> = (0..60)
        .map(|k| f64::from(k * 7 % 11 + k * 5 % 13))
        .collect();
    for (values, lags, fitted, statistic, p_value) in [
        (
            SUNSPOTS.to_vec(),
            1,
            0,
            26.8121345396905,
            2.2422495004115557e-07,
        ),
        (
            SUNSPOTS.to_vec(),
            10,
            0,
            71.89661558218346,
            1.905418944488502e-11,
        ),
        (
            SUNSPOTS.to_vec(),
            10,
            2,
            71.89661558218346,
            2.058027646368812e-12,
        ),
        (mixed.clone(), 1, 0, 9.309240464090484, 0.002280009825817004),
        (mixed, 8, 0, 60.726817029933684, 3.35589464498262e-10),
    ] {
        let test = one_run(&values).ljung_box(lags, fitted).unwrap();
        assert_relative_eq!(test.statistic, statistic, max_relative = ROUNDING);
        assert_eq!(test.degrees_of_freedom, lags - fitted);
        assert_relative_eq!(test.p_value, p_value, max_relative = ROUNDING);
    }
}

#[test]
fn no_pair_reaches_across_a_border_or_gap() {
    // Mean 0, squares 1 + 1 + 4 + 4 = 10; the only neighbours are (1, -1) and (2, -2).
    for residuals in [
        Residuals::new(vec![vec![1.0, -1.0], vec![], vec![2.0, -2.0]]),
        one_run(&[1.0, -1.0, NAN, 2.0, -2.0]),
        one_run(&[f64::INFINITY, 1.0, -1.0, NAN, NAN, 2.0, -2.0, NAN]),
    ] {
        let found = residuals.autocorrelation(1).unwrap();
        assert_eq!(found.rows, 4);
        assert_close(&found.values, &[1.0, -0.5]);
        // Two pairs: 4 * 6 * 0.25 / 2.
        let test = residuals.ljung_box(1, 0).unwrap();
        assert_relative_eq!(test.statistic, 3.0, max_relative = ROUNDING);
        let too_far = residuals.autocorrelation(2);
        assert!(matches!(
            too_far,
            Err(Error::Setting {
                name: "max_lag",
                ..
            })
        ));
    }
}

#[test]
fn a_past_input_shows_at_a_positive_lag() {
    let input = white(1, 2000);
    let late: Vec<f64> = (0..2000)
        .map(|t: usize| if t < 3 { 0.0 } else { input[t - 3] })
        .collect();
    let found = one_run(&late).cross_correlation(&[&input], 5).unwrap();
    assert_eq!((found.first_lag, found.values.len()), (-5, 11));
    for lag in -5..=5 {
        let value = found.at(lag).unwrap();
        match lag {
            3 => assert!(value > 0.99, "{value}"),
            _ => assert!(value.abs() < 2.0 * found.limit, "lag {lag}: {value}"),
        }
    }
    assert_eq!(
        (found.at(6), found.at(-6), found.at(i64::MIN)),
        (None, None, None)
    );
}

#[test]
fn cross_correlation_follows_its_formula() {
    // e = (-1, 1, 0), u = (1, 0, -1): lag 0: -1, lag 1: e1 u0 + e2 u1 = 1, lag -1: e0 u1 + e1 u2 = -1,
    // each over sqrt(2 * 2).
    let residuals = Residuals::new(vec![vec![NAN, 4.0, 6.0, 5.0, 7.0]]);
    let input = [3.0, 8.0, 7.0, 6.0, NAN];
    let found = residuals.cross_correlation(&[&input], 1).unwrap();
    assert_eq!(found.rows, 3);
    assert_close(&found.values, &[-0.5, -0.5, 0.5]);
}

#[test]
fn what_does_not_vary_or_fit_is_refused() {
    let constant = one_run(&[0.1; 30]);
    let what = "residuals";
    assert_eq!(constant.autocorrelation(1), Err(Error::Constant { what }));
    assert_eq!(constant.ljung_box(5, 0), Err(Error::Constant { what }));
    let what = "values of the input";
    let sunspots = one_run(&SUNSPOTS);
    let flat = sunspots.cross_correlation(&[&[2.0; 40]], 1);
    assert_eq!(flat, Err(Error::Constant { what }));
    for input in [&[][..], &[&[1.0][..]]] {
        let refused = sunspots.cross_correlation(input, 1);
        assert!(matches!(refused, Err(Error::Count { .. })));
    }
    for (lags, fitted) in [(0, 0), (3, 3), (40, 0), (usize::MAX, 0)] {
        let refused = sunspots.ljung_box(lags, fitted);
        assert!(
            matches!(refused, Err(Error::Setting { name: "lags", .. })),
            "{lags}"
        );
    }
    for few in [vec![], vec![vec![]], vec![vec![NAN, 1.0]]] {
        let refused = Residuals::new(few).autocorrelation(0);
        assert!(matches!(refused, Err(Error::TooFewRows { needed: 2, .. })));
    }
}

#[test]
fn white_noise_passes_in_about_95_of_100_cases() {
    let seeds = 1000;
    let passed = (0..seeds)
        .filter(|&seed| one_run(&white(seed, 200)).ljung_box(10, 0).unwrap().p_value > 0.05)
        .count();
    // Three standard deviations of the binomial count are 21; the test itself is a little off at
    // 200 rows.
    assert!((920..=980).contains(&passed), "{passed}");
}

#[test]
fn white_noise_in_pieces_passes_as_often() {
    let passed = (0..1000)
        .filter(|&seed| {
            let noise = white(seed, 240);
            let runs = noise.chunks(24).map(<[f64]>::to_vec).collect();
            Residuals::new(runs).ljung_box(10, 0).unwrap().p_value > 0.05
        })
        .count();
    assert!((920..=980).contains(&passed), "{passed}");
}

#[test]
fn correlated_residuals_fail() {
    for seed in 0..50 {
        let mut last = 0.0;
        let walk: Vec<f64> = white(seed, 300)
            .iter()
            .map(|noise| {
                last = 0.6 * last + noise;
                last
            })
            .collect();
        let p_value = one_run(&walk).ljung_box(10, 3).unwrap().p_value;
        assert!(p_value < 1e-6, "seed {seed}: {p_value}");
    }
}

#[test]
fn a_spike_of_1e12_leaves_numbers() {
    let mut noise = white(3, 100);
    noise[40] = 1e12;
    noise[41] = -1e300;
    let residuals = one_run(&noise);
    let found = residuals.autocorrelation(10).unwrap();
    assert!(found.values.iter().all(|r| (-1.0..=1.0).contains(r)));
    assert!(residuals.ljung_box(10, 0).unwrap().p_value.is_finite());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn coefficients_never_exceed_one(
        runs in prop::collection::vec(
            prop::collection::vec(prop_oneof![4 => -1e3..1e3f64, 1 => Just(NAN)], 0..20), 1..4,
        ),
        lag in 0..6usize,
    ) {
        let residuals = Residuals::new(runs.clone());
        let reversed: Vec<Vec<f64>> = runs.iter().map(|r| r.iter().rev().copied().collect()).collect();
        let inputs: Vec<&[f64]> = reversed.iter().map(Vec::as_slice).collect();
        let found = [residuals.autocorrelation(lag), residuals.cross_correlation(&inputs, lag)];
        for value in found.into_iter().flatten().flat_map(|found| found.values) {
            prop_assert!(value.abs() <= 1.0 + ROUNDING);
        }
    }
}
