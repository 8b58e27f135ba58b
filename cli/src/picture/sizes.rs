use lbbsp::sizing::replay::{Iteration, Run};
use plotters::prelude::*;

use super::{
    COLOURS, Canvas, DrawError, FONT, GRID, MARGIN, Style, TEXT_SIZE, label, picture, put, whole,
    width,
};
use crate::replay::Outcome;
use crate::unit::Unit;

/// More would be lines over lines.
const MOST_POLICIES: usize = 3;
const MOST_WORKERS: usize = COLOURS.len();
const MOST_ITERATIONS: usize = 120;

const MOST_LABELS: usize = 7;

const WIDTH: i32 = 1400;
const ROW_HEIGHT: i32 = 280;
const LEGEND_TOP: i32 = 64;
const LEGEND_LINE: i32 = 26;

/// What one worker did, as a value an iteration.
type Value<'a> = &'a dyn Fn(&Iteration, usize) -> f64;

/// Batch and time of every worker over the iterations, one row a policy.
pub(super) fn draw(outcome: &Outcome) -> Result<String, DrawError> {
    let policies = shown_policies(outcome);
    let legend = Legend::of(outcome);
    let top = LEGEND_TOP + legend.lines() * LEGEND_LINE;
    let height = top + ROW_HEIGHT * policies.len() as i32 + MARGIN / 2;
    picture((WIDTH as u32, height as u32), |canvas| {
        let (batch, all) = (outcome.global_batch, outcome.iterations());
        let title = match all.min(MOST_ITERATIONS) {
            first if first < all => {
                format!("Global batch {batch}, first {first} of {all} iterations")
            }
            _ => format!("Global batch {batch} over the iterations"),
        };
        put(canvas, &title, (MARGIN, 28), Style::TITLE)?;
        legend.draw(canvas)?;
        let scale = Scale::of(outcome, &policies);
        let below = canvas.margin(top, MARGIN / 2, 0, MARGIN);
        for (row, &policy) in below
            .split_evenly((policies.len(), 1))
            .iter()
            .zip(&policies)
        {
            draw_policy(row, outcome, policy, &scale)?;
        }
        Ok(())
    })
}

/// The three that tell the story, if they are there; else the first ones.
fn shown_policies(outcome: &Outcome) -> Vec<usize> {
    let summaries = &outcome.comparison.summaries;
    let place = |name| summaries.iter().position(|summary| summary.name == name);
    let mut shown: Vec<usize> = ["equal", "last", "ema"]
        .into_iter()
        .filter_map(place)
        .collect();
    for policy in 0..summaries.len() {
        if shown.len() < MOST_POLICIES && !shown.contains(&policy) {
            shown.push(policy);
        }
    }
    shown
}

/// Axes that all rows share, so that they can be compared.
struct Scale {
    unit: Unit,
    iterations: usize,
    largest_batch: f64,
    longest: f64,
}

impl Scale {
    fn of(outcome: &Outcome, policies: &[usize]) -> Self {
        let runs = || {
            policies
                .iter()
                .map(|&policy| &outcome.comparison.runs[policy])
        };
        let iterations = || runs().flat_map(shown);
        let batches = iterations().flat_map(|iteration| iteration.sizes.iter().copied());
        let times = iterations().flat_map(|iteration| iteration.times_s.iter().copied());
        let longest_s = times.fold(0.0, f64::max);
        let unit = Unit::of(longest_s);
        Self {
            unit,
            iterations: runs().map(|run| shown(run).len()).max().unwrap_or(0),
            largest_batch: f64::from(batches.max().unwrap_or(0)),
            longest: unit.convert(longest_s),
        }
    }
}

fn shown(run: &Run) -> &[Iteration] {
    &run.iterations[..run.iterations.len().min(MOST_ITERATIONS)]
}

fn draw_policy(
    row: &Canvas<'_>,
    outcome: &Outcome,
    policy: usize,
    scale: &Scale,
) -> Result<(), DrawError> {
    let name = &outcome.comparison.summaries[policy].name;
    let run = &outcome.comparison.runs[policy];
    let (left, right) = row.split_horizontally(WIDTH / 2 - MARGIN);
    let panel = Panel {
        title: format!(
            "{name}: batch of each worker{}",
            if alike(run) { " (all alike)" } else { "" }
        ),
        value_label: "batch [samples]".to_owned(),
        top: scale.largest_batch,
        iterations: scale.iterations,
    };
    panel.draw(&left, run, &|iteration, worker| {
        f64::from(iteration.sizes[worker])
    })?;
    let panel = Panel {
        title: format!("{name}: time of each worker until the barrier"),
        value_label: format!("time [{}]", scale.unit.name),
        top: scale.longest,
        iterations: scale.iterations,
    };
    panel.draw(&right, run, &|iteration, worker| {
        scale.unit.convert(iteration.times_s[worker])
    })
}

struct Panel {
    title: String,
    value_label: String,
    top: f64,
    iterations: usize,
}

impl Panel {
    fn draw(&self, area: &Canvas<'_>, run: &Run, value: Value<'_>) -> Result<(), DrawError> {
        // Room above the highest line; any top will do if there is none.
        let top = if self.top > 0.0 { 1.06 * self.top } else { 1.0 };
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, (FONT, TEXT_SIZE + 2))
            .margin_left(MARGIN / 2)
            .margin_right(MARGIN)
            .margin_bottom(MARGIN / 2)
            .x_label_area_size(44)
            .y_label_area_size(72)
            .build_cartesian_2d(0.0..self.iterations as f64, 0.0..top)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(WHITE)
            .bold_line_style(GRID)
            .x_desc("iteration")
            .y_desc(&self.value_label)
            .x_labels((self.iterations + 1).min(MOST_LABELS))
            .y_labels(5)
            .x_label_formatter(&|x| whole(*x))
            .y_label_formatter(&|y| label(*y))
            .label_style((FONT, TEXT_SIZE - 1))
            .axis_desc_style((FONT, TEXT_SIZE))
            .draw()?;
        for (worker, colour) in (0..workers(run)).zip(COLOURS) {
            let points = shown(run).iter().enumerate().flat_map(|(i, iteration)| {
                let y = value(iteration, worker);
                [(i as f64, y), ((i + 1) as f64, y)]
            });
            chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
        }
        Ok(())
    }
}

fn workers(run: &Run) -> usize {
    run.iterations.first().map_or(0, |first| first.sizes.len())
}

/// Whether the lines of all workers lie on each other: equal batches may differ by a sample.
fn alike(run: &Run) -> bool {
    let apart = |(a, b): (&u32, &u32)| a.abs_diff(*b) > 1;
    let alike = |sizes: &[u32]| !sizes.iter().zip(&sizes[1..]).any(apart);
    workers(run) > 1 && shown(run).iter().all(|iteration| alike(&iteration.sizes))
}

/// Which colour is which worker, in as many lines as it takes.
struct Legend {
    /// Each with the pixels where it starts.
    entries: Vec<(String, (i32, i32))>,
    note: Option<String>,
}

const SWATCH: i32 = 26;
const GAP: i32 = 24;

impl Legend {
    fn of(outcome: &Outcome) -> Self {
        let (mut x, mut y) = (MARGIN, LEGEND_TOP);
        let entry = |name: &String| {
            let name = short(name);
            let needed = SWATCH + width(&name, TEXT_SIZE) + GAP;
            if x + needed > WIDTH && x > MARGIN {
                (x, y) = (MARGIN, y + LEGEND_LINE);
            }
            let at = (x, y);
            x += needed;
            (name, at)
        };
        let shown = outcome.workers.iter().take(MOST_WORKERS);
        let entries = shown.map(entry).collect();
        let all = outcome.workers.len();
        let note = (all > MOST_WORKERS)
            .then(|| format!("the first {MOST_WORKERS} of {all} workers are shown"));
        Self { entries, note }
    }

    fn lines(&self) -> i32 {
        let last = self.entries.last().map_or(LEGEND_TOP, |(_, at)| at.1);
        let lines = (last - LEGEND_TOP) / LEGEND_LINE + 1;
        lines + i32::from(self.note.is_some())
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), DrawError> {
        for ((name, (x, y)), colour) in self.entries.iter().zip(COLOURS) {
            let swatch = [(*x, y - 3), (x + SWATCH - 8, y + 3)];
            canvas.draw(&Rectangle::new(swatch, colour.filled()))?;
            put(canvas, name, (x + SWATCH, *y), Style::TEXT)?;
        }
        if let Some(note) = &self.note {
            let y = LEGEND_TOP + (self.lines() - 1) * LEGEND_LINE;
            put(canvas, note, (MARGIN, y), Style::TEXT)?;
        }
        Ok(())
    }
}

/// The end of a name tells more than its beginning.
fn short(name: &str) -> String {
    const LONGEST: usize = 40;
    let long = name.chars().count().saturating_sub(LONGEST);
    if long == 0 {
        return name.to_owned();
    }
    let end: String = name.chars().skip(long).collect();
    format!("…{end}")
}
