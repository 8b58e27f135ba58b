use lbbsp::narx::{self, AdaptiveConformal, Backtest, Interval};

/// What stands for an interval where there is none.
pub(super) const MISSING: Interval = Interval {
    low: f64::NAN,
    high: f64::NAN,
};

/// Intervals around forecasts of all rows of all sessions that are to hold the share `coverage` of the
/// values, each made when its forecast was, from the errors known by then.
pub(super) fn around(all: &Backtest, coverage: f64) -> Result<Vec<Vec<Interval>>, narx::Error> {
    let fresh = AdaptiveConformal::new(coverage)?;
    let sessions = all.truth.iter().zip(&all.forecasts);
    let of = |(truth, forecasts): (&Vec<f64>, &Vec<f64>)| {
        of_session(truth, forecasts, all.horizon, fresh.clone())
    };
    Ok(sessions.map(of).collect())
}

fn of_session(
    truth: &[f64],
    forecasts: &[f64],
    horizon: usize,
    mut conformal: AdaptiveConformal,
) -> Vec<Interval> {
    let mut intervals = vec![MISSING; truth.len()];
    for row in 0..truth.len() {
        if let Some(forecast) = forecasts.get(row.saturating_add(horizon - 1)) {
            intervals[row + horizon - 1] = conformal.interval(*forecast);
        }
        conformal.observe_issued(truth[row], forecasts[row], f64::NAN, intervals[row]);
    }
    intervals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_interval_knows_an_error_that_was_not_known_when_its_forecast_was_made() {
        let forecasts = vec![10.0; 40];
        let truth: Vec<f64> = (0..40).map(|row| 10.0 + f64::from(row % 3)).collect();
        let mut changed = truth.clone();
        changed[30] = 1000.0;
        for horizon in [1, 4] {
            let of = |truth: &[f64]| {
                let conformal = AdaptiveConformal::new(0.9).unwrap();
                of_session(truth, &forecasts, horizon, conformal)
            };
            let (before, after) = (of(&truth), of(&changed));
            let first = 30 + horizon;
            assert!((horizon - 1..first).all(|row| before[row] == after[row]));
            assert!(before[first] != after[first]);
        }
    }
}
