use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};
use lbbsp::prelude::Plan;
use lbbsp::sizing::replay::Summary;

use crate::json;
use crate::replay::Outcome;
use crate::unit::Unit;

/// What `lbbsp size` prints.
pub(crate) fn of_plan(plan: &Plan, workers: &[String]) -> String {
    let unit = Unit::of(plan.iteration_s());
    let time = format!("time [{}]", unit.name);
    let mut table = aligned(&["worker", "batch", "weight", &time, "limit"]);
    for (i, weight) in plan.weights().enumerate() {
        table.add_row([
            workers[i].clone(),
            plan.sizes()[i].to_string(),
            format!("{weight:.4}"),
            unit.format(plan.times_s()[i]),
            json::limit(plan.limits()[i]).to_owned(),
        ]);
    }
    align_left(&mut table, 4);
    let with_unit = |seconds| format!("{} {}", unit.format(seconds), unit.name);
    let pace = format!(
        "iteration time {}, set by worker {}",
        with_unit(plan.iteration_s()),
        workers[plan.binding()]
    );
    let bound = plan.lower_bound_s().map_or(String::new(), |bound| {
        format!("lower bound    {}\n", with_unit(bound))
    });
    format!("{table}\n\n{pace}\n{bound}")
}

/// What `lbbsp replay` prints.
pub(crate) fn of_replay(outcome: &Outcome) -> String {
    let summaries = &outcome.comparison.summaries;
    let slowest_s = summaries.iter().map(|s| s.mean_iteration_s);
    let unit = Unit::of(slowest_s.fold(0.0, f64::max));
    let named = |what: &str| format!("{what} [{}]", unit.name);
    let mut table = aligned(&[
        "policy",
        &named("mean"),
        &named("median"),
        &named("p95"),
        "waiting [%]",
        "speed-up",
        "time saved [%]",
        "oracle share [%]",
        "size changes",
    ]);
    for summary in summaries {
        table.add_row(cells(summary, unit));
    }
    let head = format!(
        "{}, global batch {}, {}",
        counted(outcome.workers.len(), "worker"),
        outcome.global_batch,
        counted(outcome.iterations(), "iteration")
    );
    format!("{head}\n\n{table}\n")
}

fn cells(summary: &Summary, unit: Unit) -> [String; 9] {
    let share = summary.oracle_share;
    [
        summary.name.clone(),
        unit.format(summary.mean_iteration_s),
        unit.format(summary.median_iteration_s),
        unit.format(summary.p95_iteration_s),
        format!("{:.1}", 100.0 * summary.waiting_share),
        format!("{:.3} ×", summary.speedup),
        format!("{:.1}", summary.time_saved_pct),
        share.map_or("–".to_owned(), |share| format!("{:.1}", 100.0 * share)),
        summary.size_changes.to_string(),
    ]
}

pub(crate) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// A table of numbers whose first column is text.
pub(crate) fn aligned(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(header.to_vec());
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

pub(crate) fn align_left(table: &mut Table, index: usize) {
    if let Some(column) = table.column_mut(index) {
        column.set_cell_alignment(CellAlignment::Left);
    }
}
