use lbbsp::prelude::Plan;
use lbbsp::sizing::Limit;
use lbbsp::sizing::replay::Summary;
use serde::Serialize;

use crate::backtest;
use crate::replay::Outcome;

/// Changes when a key is renamed, dropped or changes its meaning; a new key changes nothing.
pub(crate) const FORMAT: u32 = 1;

#[derive(Serialize)]
struct PlanForm<'a> {
    format: u32,
    global_batch: u32,
    workers: &'a [String],
    sizes: &'a [u32],
    weights: Vec<f64>,
    times_s: &'a [f64],
    iteration_time_s: f64,
    binding_worker: usize,
    lower_bound_s: Option<f64>,
    limits: Vec<&'static str>,
}

#[derive(Serialize)]
struct ReplayForm<'a> {
    format: u32,
    global_batch: u32,
    workers: &'a [String],
    iterations: usize,
    policies: &'a [Summary],
}

#[derive(Serialize)]
struct DemoForm<'a> {
    #[serde(flatten)]
    replay: ReplayForm<'a>,
    forecast: backtest::Form<'a>,
}

impl<'a> ReplayForm<'a> {
    fn of(outcome: &'a Outcome) -> Self {
        Self {
            format: FORMAT,
            global_batch: outcome.global_batch,
            workers: &outcome.workers,
            iterations: outcome.iterations(),
            policies: &outcome.comparison.summaries,
        }
    }
}

/// What `lbbsp size --json` prints.
pub(crate) fn of_plan(plan: &Plan, workers: &[String]) -> String {
    text(&PlanForm {
        format: FORMAT,
        global_batch: plan.global_batch(),
        workers,
        sizes: plan.sizes(),
        weights: plan.weights().collect(),
        times_s: plan.times_s(),
        iteration_time_s: plan.iteration_s(),
        binding_worker: plan.binding(),
        lower_bound_s: plan.lower_bound_s(),
        limits: plan.limits().iter().copied().map(limit).collect(),
    })
}

/// What `lbbsp replay --json` prints.
pub(crate) fn of_replay(outcome: &Outcome) -> String {
    text(&ReplayForm::of(outcome))
}

/// What `lbbsp demo --json` prints.
pub(crate) fn of_demo(outcome: &Outcome, forecast: &backtest::Outcome) -> String {
    text(&DemoForm {
        replay: ReplayForm::of(outcome),
        forecast: forecast.form(),
    })
}

/// The word for a limit, in JSON and in tables.
pub(crate) fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Free => "free",
        Limit::Minimum => "minimum",
        Limit::Maximum => "maximum",
        Limit::Both => "both",
    }
}

/// A form as it is printed and written.
pub(crate) fn text(form: &impl Serialize) -> String {
    let mut json = serde_json::to_string_pretty(form)
        .expect("structs with text keys are always representable as JSON");
    json.push('\n');
    json
}
