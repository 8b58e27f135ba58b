use lbbsp::narx::{self, Backtest, Part, Scores, naive_mae};
use serde::Serialize;

use super::checks::{Checks, ChecksForm};
use super::contender::Contender;
use super::split::Split;
use crate::error::Error;
use crate::json::FORMAT;
use crate::series_file::Log;
use crate::table::aligned;
use crate::unit::number;

/// A finished back-test.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) target: String,
    pub(crate) horizon: usize,
    pub(crate) split: Split,
    /// The best one first.
    pub(crate) ranked: Vec<Ranked>,
    /// Of the model in question.
    pub(crate) checks: Checks,
}

#[derive(Debug)]
pub(crate) struct Ranked {
    pub(crate) name: String,
    pub(crate) scores: Scores,
    /// NaN for rows that are not scored.
    pub(crate) forecasts: Vec<Vec<f64>>,
    pub(crate) truth: Vec<Vec<f64>>,
}

/// What a back-test is about.
#[derive(Debug)]
pub(crate) struct Trial<'a> {
    pub(crate) log: &'a Log,
    pub(crate) trained: &'a Part,
    pub(crate) scored: &'a Part,
    pub(crate) horizon: usize,
    pub(crate) allow_seen: bool,
    /// The model in question; the best one without.
    pub(crate) model: Option<&'a str>,
}

impl Outcome {
    /// Scores all contenders on the same rows.
    pub(crate) fn of(trial: &Trial<'_>, contenders: &[Contender]) -> Result<Self, Error> {
        let tests = contenders.iter().map(|contender| tested(trial, contender));
        let mut tests = tests.collect::<Result<Vec<Backtest>, Error>>()?;
        let kept = common(&tests);
        for test in &mut tests {
            leave_out(&mut test.forecasts, &kept);
        }
        let naive = naive(trial);
        let mut ranked = Vec::new();
        for (contender, test) in contenders.iter().zip(tests) {
            let scores = Scores::of(&test.truth.concat(), &test.forecasts.concat(), naive);
            ranked.push(Ranked {
                name: contender.name.clone(),
                scores: scores.map_err(|_| Error::NothingInCommon)?,
                forecasts: test.forecasts,
                truth: test.truth,
            });
        }
        ranked.sort_by(|a, b| a.scores.rmse.total_cmp(&b.scores.rmse));
        let in_question = |ranked: &&Ranked| trial.model.is_none_or(|name| name == ranked.name);
        let model = ranked.iter().find(in_question);
        let model = model.expect("there is a contender, the model among them");
        let split = Split::of(
            trial.log,
            trial.trained,
            trial.scored,
            &kept,
            trial.allow_seen,
        );
        let checks = Checks::of(&model.name, &model.residuals(), trial.horizon);
        Ok(Self {
            target: trial.log.series.outputs()[0].clone(),
            horizon: trial.horizon,
            split,
            checks,
            ranked,
        })
    }

    /// The contender whose errors are checked.
    pub(crate) fn model(&self) -> &Ranked {
        let found = self.ranked.iter().find(|it| it.name == self.checks.model);
        found.expect("it was taken from these")
    }

    /// The scores, the best one first.
    pub(crate) fn table(&self) -> String {
        let mut table = aligned(&[
            "model", "RMSE", "MAE", "NRMSE", "fit [%]", "R²", "MASE", "rows",
        ]);
        let or_none = |value: Option<f64>, digits: usize| {
            value.map_or("–".to_owned(), |value| match value.abs() {
                v if v >= 1e5 => number(value),
                _ => format!("{value:.digits$}"),
            })
        };
        for Ranked { name, scores, .. } in &self.ranked {
            table.add_row([
                name.clone(),
                number(scores.rmse),
                number(scores.mae),
                or_none(scores.nrmse, 4),
                or_none(scores.fit_pct, 1),
                or_none(scores.r2, 4),
                or_none(scores.mase, 3),
                scores.rows.to_string(),
            ]);
        }
        table.to_string()
    }

    /// What `lbbsp backtest` prints.
    pub(crate) fn text(&self) -> String {
        let steps = match self.horizon {
            1 => "1 step".to_owned(),
            steps => format!("{steps} steps"),
        };
        format!(
            "`{}`, {steps} ahead; {}\n\n{}\n\n{}\n{}\n",
            self.target,
            self.split.in_words(),
            self.table(),
            self.verdict(),
            self.checks.in_words()
        )
    }

    /// Where the model in question stands, in a sentence.
    pub(crate) fn verdict(&self) -> String {
        let [best, others @ ..] = self.ranked.as_slice() else {
            return String::new();
        };
        let model = self.model();
        let next = match model.name == best.name {
            true => others.first(),
            false => Some(model),
        };
        let Some(next) = next else {
            return format!("{} was compared with nothing", best.name);
        };
        let (least, other) = (best.scores.rmse, next.scores.rmse);
        if least == other {
            return format!("{} and {} have the same RMSE", best.name, next.name);
        }
        let more = match other / least {
            ratio if ratio.is_finite() => format!("{:.1} %", 100.0 * (ratio - 1.0)),
            _ => "beyond all measure".to_owned(),
        };
        let next = match model.name == best.name {
            true => format!("the next one, {},", next.name),
            false => next.name.clone(),
        };
        format!("{} is best; the RMSE of {next} is {more} higher", best.name)
    }

    /// What `lbbsp backtest --json` prints.
    pub(crate) fn form(&self) -> Form<'_> {
        let model = |ranked: &'_ Ranked| ModelForm {
            name: ranked.name.clone(),
            scores: ranked.scores.clone(),
        };
        Form {
            format: FORMAT,
            target: &self.target,
            horizon: self.horizon,
            split: &self.split,
            models: self.ranked.iter().map(model).collect(),
            residuals: self.checks.form(),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Form<'a> {
    format: u32,
    target: &'a str,
    horizon: usize,
    split: &'a Split,
    models: Vec<ModelForm>,
    residuals: ChecksForm<'a>,
}

#[derive(Debug, Serialize)]
struct ModelForm {
    name: String,
    #[serde(flatten)]
    scores: Scores,
}

impl Ranked {
    fn residuals(&self) -> narx::Residuals {
        let sessions = self.truth.iter().zip(&self.forecasts);
        let run = |(truth, forecasts): (&Vec<f64>, &Vec<f64>)| {
            let pairs = truth.iter().zip(forecasts);
            pairs.map(|(truth, forecast)| truth - forecast).collect()
        };
        narx::Residuals::new(sessions.map(run).collect())
    }
}

fn tested(trial: &Trial<'_>, contender: &Contender) -> Result<Backtest, Error> {
    let series = &trial.log.series;
    let tested = contender.backtest(series, trial.scored, trial.horizon);
    tested.map_err(|cause| match cause {
        narx::Error::TooFewRows { .. } => Error::NothingScored {
            name: contender.name.clone(),
        },
        cause => Error::narx(cause),
    })
}

/// The rows with a value and a forecast of each contender.
fn common(tests: &[Backtest]) -> Vec<Vec<bool>> {
    let truth = tests.first().map_or(&[][..], |test| test.truth.as_slice());
    let is_kept = |session: usize, row: usize, truth: f64| {
        let forecasts = tests.iter().map(|test| test.forecasts[session][row]);
        truth.is_finite() && forecasts.into_iter().all(f64::is_finite)
    };
    let of_session = |(session, truth): (usize, &Vec<f64>)| {
        let rows = truth.iter().enumerate();
        rows.map(|(row, truth)| is_kept(session, row, *truth))
            .collect()
    };
    truth.iter().enumerate().map(of_session).collect()
}

fn leave_out(forecasts: &mut [Vec<f64>], kept: &[Vec<bool>]) {
    let rows = forecasts.iter_mut().flatten().zip(kept.iter().flatten());
    for (forecast, _) in rows.filter(|(_, kept)| !**kept) {
        *forecast = f64::NAN;
    }
}

/// The error of the last value on the rows trained on; NaN if there are none.
fn naive(trial: &Trial<'_>) -> f64 {
    let sessions = trial
        .log
        .series
        .sessions()
        .iter()
        .zip(trial.trained.ranges());
    let rows = sessions.map(|(session, rows)| &session.output(0)[rows.clone()]);
    naive_mae(rows).unwrap_or(f64::NAN)
}
