use lbbsp::narx::{self, IntervalScores, Part, Scores, naive_mae};
use serde::Serialize;

use super::checks::{Checks, ChecksForm};
use super::contender::Contender;
use super::split::Split;
use super::tested::{Tested, common};
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
    /// The share of the values that intervals were to hold, if there were any.
    intervals: Option<f64>,
    /// The best one first.
    pub(crate) ranked: Vec<Ranked>,
    /// Of the model in question.
    pub(crate) checks: Checks,
}

#[derive(Debug)]
pub(crate) struct Ranked {
    pub(crate) name: String,
    pub(crate) scores: Scores,
    intervals: Option<IntervalScores>,
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
    /// The forecasters go on from a state.
    pub(crate) resumed: bool,
    /// The share of the values that intervals are to hold, if there are to be any.
    pub(crate) intervals: Option<f64>,
    /// The model in question; the best one without.
    pub(crate) model: Option<&'a str>,
}

impl Outcome {
    /// Scores all contenders on the same rows.
    pub(crate) fn of(trial: &Trial<'_>, contenders: &[Contender]) -> Result<Self, Error> {
        let tests = contenders
            .iter()
            .map(|contender| Tested::of(trial, contender));
        let mut tests = tests.collect::<Result<Vec<Tested>, Error>>()?;
        let kept = common(&tests);
        for test in &mut tests {
            test.leave_out(&kept);
        }
        let naive = naive(trial);
        let mut ranked = Vec::new();
        for (contender, test) in contenders.iter().zip(tests) {
            let truth = test.truth.concat();
            let scores = Scores::of(&truth, &test.forecasts.concat(), naive);
            let intervals = trial
                .intervals
                .map(|coverage| IntervalScores::of(&truth, &test.intervals.concat(), coverage));
            let intervals = intervals.transpose();
            ranked.push(Ranked {
                name: contender.name.clone(),
                scores: scores.map_err(|_| Error::NothingInCommon)?,
                intervals: intervals.map_err(|_| Error::NothingInCommon)?,
                forecasts: test.forecasts,
                truth: test.truth,
            });
        }
        ranked.sort_by(|a, b| a.scores.rmse.total_cmp(&b.scores.rmse));
        let in_question = |ranked: &&Ranked| trial.model.is_none_or(|name| name == ranked.name);
        let model = ranked.iter().find(in_question);
        let model = model.expect("there is a contender, the model among them");
        let split = Split::of(trial, &kept);
        let checks = Checks::of(&model.name, &model.residuals(), trial.horizon);
        Ok(Self {
            target: trial.log.series.outputs()[0].clone(),
            horizon: trial.horizon,
            split,
            intervals: trial.intervals,
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
        let mut header = vec![
            "model", "RMSE", "MAE", "NRMSE", "fit [%]", "R²", "MASE", "rows",
        ];
        if self.intervals.is_some() {
            header.extend(["coverage [%]", "interval score"]);
        }
        let mut table = aligned(&header);
        let or_none = |value: Option<f64>, digits: usize| {
            value.map_or("–".to_owned(), |value| match value.abs() {
                v if v >= 1e5 => number(value),
                _ => format!("{value:.digits$}"),
            })
        };
        for ranked in &self.ranked {
            let Ranked { name, scores, .. } = ranked;
            let mut row = vec![
                name.clone(),
                number(scores.rmse),
                number(scores.mae),
                or_none(scores.nrmse, 4),
                or_none(scores.fit_pct, 1),
                or_none(scores.r2, 4),
                or_none(scores.mase, 3),
                scores.rows.to_string(),
            ];
            if let Some(scores) = &ranked.intervals {
                row.push(format!("{:.1}", 100.0 * scores.coverage));
                row.push(scores.interval_score.map_or("–".to_owned(), number));
            }
            table.add_row(row);
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
            "`{}`, {steps} ahead; {}\n\n{}\n\n{}{}\n{}\n",
            self.target,
            self.split.in_words(),
            self.table(),
            self.of_intervals(),
            self.verdict(),
            self.checks.in_words()
        )
    }

    fn of_intervals(&self) -> String {
        self.intervals.map_or(String::new(), |coverage| {
            format!(
                "coverage and interval score are those of intervals made to hold {} % of the values, which learn from every row with a forecast,\nscored or not; the smaller the score, the better\n",
                (1000.0 * coverage).round() / 10.0
            )
        })
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
            intervals: ranked.intervals.clone(),
        };
        Form {
            format: FORMAT,
            target: &self.target,
            horizon: self.horizon,
            split: &self.split,
            intervals: self.intervals,
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
    /// The share of the values that they are to hold.
    intervals: Option<f64>,
    models: Vec<ModelForm>,
    residuals: ChecksForm<'a>,
}

#[derive(Debug, Serialize)]
struct ModelForm {
    name: String,
    #[serde(flatten)]
    scores: Scores,
    intervals: Option<IntervalScores>,
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
