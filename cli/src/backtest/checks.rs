use lbbsp::narx::{self, Correlogram, LjungBox, Residuals};
use serde::Serialize;

/// What the errors of one model still have in them.
#[derive(Debug)]
pub(crate) struct Checks {
    /// Whose errors they are.
    pub(crate) model: String,
    horizon: usize,
    pub(crate) found: Result<Found, String>,
}

#[derive(Debug)]
pub(crate) struct Found {
    /// Lags of the test.
    lags: usize,
    ljung_box: LjungBox,
    pub(crate) correlogram: Correlogram,
}

/// Below that, the errors are taken to be correlated.
const SIGNIFICANT: f64 = 0.05;

impl Checks {
    pub(super) fn of(model: &str, residuals: &Residuals, horizon: usize) -> Self {
        let found = Found::of(residuals).map_err(|cause| cause.to_string());
        let model = model.to_owned();
        Self {
            model,
            horizon,
            found,
        }
    }

    pub(super) fn in_words(&self) -> String {
        let model = &self.model;
        let found = match &self.found {
            Ok(found) => found,
            Err(cause) => return format!("the errors of {model} cannot be checked: {cause}"),
        };
        let p = found.ljung_box.p_value;
        let verdict = match p {
            p if p >= SIGNIFICANT => "no sign that they go with earlier ones",
            _ if self.horizon > 1 => {
                "they go with earlier ones, as errors of several steps ahead do anyway"
            }
            _ => "they go with earlier ones: the past says more than the model takes from it",
        };
        let shown = if p < 1e-4 {
            "p < 0.0001".to_owned()
        } else {
            format!("p = {p:.4}")
        };
        format!(
            "errors of {model}: Ljung-Box test of lags 1 to {}: {shown}, {verdict}\n{}",
            found.lags,
            found.largest_in_words()
        )
    }

    pub(super) fn form(&self) -> ChecksForm<'_> {
        let found = self.found.as_ref().ok();
        let largest = found.map(Found::largest);
        ChecksForm {
            model: &self.model,
            lags: found.map(|found| found.lags),
            ljung_box_statistic: found.map(|found| found.ljung_box.statistic),
            ljung_box_p_value: found.map(|found| found.ljung_box.p_value),
            autocorrelation: found.map(|found| found.correlogram.values.as_slice()),
            limit_95: found.map(|found| found.correlogram.limit),
            largest_lag: largest.map(|(lag, _)| lag),
            largest: largest.map(|(_, value)| value),
            not_checked: self.found.as_ref().err().map(String::as_str),
        }
    }
}

/// The autocorrelation begins at lag 0. All but the model is null where it says why in the last key.
#[derive(Debug, Serialize)]
pub(super) struct ChecksForm<'a> {
    model: &'a str,
    lags: Option<usize>,
    ljung_box_statistic: Option<f64>,
    ljung_box_p_value: Option<f64>,
    autocorrelation: Option<&'a [f64]>,
    limit_95: Option<f64>,
    largest_lag: Option<usize>,
    largest: Option<f64>,
    not_checked: Option<&'a str>,
}

impl Found {
    fn of(residuals: &Residuals) -> Result<Self, narx::Error> {
        const MOST_TESTED: usize = 10;
        const MOST_SHOWN: usize = 40;
        let (rows, longest) = (rows(residuals), longest_stretch(residuals));
        let reach = longest.saturating_sub(1).max(1);
        // Hyndman and Athanasopoulos, "Forecasting: principles and practice", section 5.4: a fifth
        // of the rows, and ten at most.
        let lags = (rows / 5).clamp(1, MOST_TESTED).min(reach);
        let shown = (rows / 4).clamp(lags, MOST_SHOWN).min(reach);
        Ok(Self {
            lags,
            ljung_box: residuals.ljung_box(lags, 0)?,
            correlogram: residuals.autocorrelation(shown)?,
        })
    }

    /// The lag from 1 on with the autocorrelation farthest from 0.
    fn largest(&self) -> (usize, f64) {
        let lags = self.correlogram.values.iter().copied().enumerate().skip(1);
        let largest = lags.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        largest.expect("there is a lag above 0")
    }

    fn largest_in_words(&self) -> String {
        let (lag, value) = self.largest();
        let (limit, all) = (self.correlogram.limit, self.correlogram.values.len() - 1);
        let lags = self.correlogram.values.iter().skip(1);
        let beyond = lags.filter(|value| value.abs() > limit).count();
        if beyond == 0 {
            return format!(
                "no autocorrelation of lags 1 to {all} is beyond the 95 % limit of ±{limit:.3}; the largest is {value:.3} at lag {lag}"
            );
        }
        format!(
            "largest autocorrelation of lags 1 to {all}: {value:.3} at lag {lag}, beyond the 95 % limit of ±{limit:.3}; {beyond} of {all} lags are beyond it, by chance {:.1} would be",
            0.05 * all as f64
        )
    }
}

fn rows(residuals: &Residuals) -> usize {
    let all = residuals.runs().iter().flatten();
    all.filter(|error| error.is_finite()).count()
}

/// Rows of the longest stretch without a gap.
fn longest_stretch(residuals: &Residuals) -> usize {
    let stretches = residuals
        .runs()
        .iter()
        .flat_map(|run| run.split(|error| !error.is_finite()).map(<[f64]>::len));
    stretches.max().unwrap_or(0)
}
