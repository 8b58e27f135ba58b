use std::ops::Range;

use plotters::prelude::*;

use super::{COLOURS, DrawError, MARGIN, Style, by_line, draw_key, label, picture, put};
use crate::backtest::{Outcome, Ranked};
use crate::series_file::Log;
use crate::worker_names::plain;

const WIDTH: i32 = 1400;
const HEIGHT: i32 = 520;
const MOST_ROWS: usize = 200;
const TRUTH: RGBColor = BLACK;
const FORECAST: RGBColor = COLOURS[5];

/// The last scored rows of the first session that has any: what came true, and what the model in
/// question had said.
pub(super) fn draw(outcome: &Outcome, log: &Log) -> Result<String, DrawError> {
    let model = outcome.model();
    let (session, rows) = shown(model);
    let said = [&model.truth, &model.forecasts].map(|all| &all[session][rows.clone()]);
    let unit = unit(said);
    let [truth, forecast] = said.map(|values| values.iter().map(|value| value / unit).collect());
    let (truth, forecast): (Vec<f64>, Vec<f64>) = (truth, forecast);
    let lines = &log.lines[session];
    let lines = &lines[lines.len() - model.truth[session].len()..][rows];
    let steps = match outcome.horizon {
        1 => "1 step".to_owned(),
        steps => format!("{steps} steps"),
    };
    let title = format!(
        "{}: forecasts of `{}`, {steps} ahead, last {} rows scored",
        log.names[session],
        plain(&outcome.target),
        lines.len()
    );
    let (low, high) = limits(&truth, &forecast);
    let (first, last) = (lines.first().copied(), lines.last().copied());
    let (first, last) = (first.unwrap_or(0) as f64, last.unwrap_or(1) as f64);
    picture((WIDTH as u32, HEIGHT as u32), |canvas| {
        put(canvas, &title, (MARGIN, 28), Style::TITLE)?;
        let key = [("truth", TRUTH), (model.name.as_str(), FORECAST)];
        draw_key(canvas, (MARGIN, 64), &key)?;
        let lines_shown = first..last.max(first + 1.0);
        let name = plain(&outcome.target);
        let value = |y: &f64| label(*y * unit);
        let mut chart = by_line(canvas, lines_shown, low..high, &name, &value)?;
        for (values, colour) in [(&truth, TRUTH), (&forecast, FORECAST)] {
            for stretch in stretches(values) {
                let points = stretch.map(|row| (lines[row] as f64, values[row].clamp(low, high)));
                chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
            }
        }
        Ok(())
    })
}

/// The session, and which of its rows to score.
fn shown(model: &Ranked) -> (usize, Range<usize>) {
    let is_scored = |forecasts: &Vec<f64>| forecasts.iter().any(|value| value.is_finite());
    let session = model.forecasts.iter().position(is_scored).unwrap_or(0);
    let rows = &model.forecasts[session];
    let end = rows.iter().rposition(|value| value.is_finite());
    let end = end.map_or(0, |last| last + 1);
    (session, end.saturating_sub(MOST_ROWS)..end)
}

/// What values are divided by before they are drawn: 1, unless the arithmetic of an axis would have
/// no room for them.
fn unit(all: [&[f64]; 2]) -> f64 {
    let finite = all.into_iter().flatten().filter(|value| value.is_finite());
    let largest = finite.map(|value| value.abs()).fold(0.0, f64::max);
    match largest {
        0.0 | 1e-100..1e100 => 1.0,
        _ => largest,
    }
}

/// Those of the truth with some room; a wild forecast must not make the truth a flat line.
fn limits(truth: &[f64], forecast: &[f64]) -> (f64, f64) {
    /// A lower picture has no numbers between its ticks.
    const LOWEST: f64 = 1e-9;
    let range = |values: &[f64]| {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let (low, high) = (finite().reduce(f64::min)?, finite().reduce(f64::max)?);
        Some((low, high))
    };
    let (low, high) = range(truth).unwrap_or((0.0, 1.0));
    let size = low.abs().max(high.abs());
    let height = (high - low).max(LOWEST * size);
    let room = if height > 0.0 { height } else { 1.0 };
    let (least, most) = range(forecast).unwrap_or((low, high));
    (
        least.clamp(low - room / 2.0, low) - room / 20.0,
        most.clamp(high, high + room / 2.0) + room / 20.0,
    )
}

/// The rows in a row that have a value.
fn stretches(values: &[f64]) -> Vec<Range<usize>> {
    let mut stretches: Vec<Range<usize>> = Vec::new();
    for (row, value) in values.iter().enumerate() {
        if !value.is_finite() {
            continue;
        }
        match stretches.last_mut() {
            Some(stretch) if stretch.end == row => stretch.end += 1,
            _ => stretches.push(row..row + 1),
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_values_have_an_axis(
            truth in prop::collection::vec(any::<f64>(), 1..6),
            forecast in prop::collection::vec(any::<f64>(), 1..6),
        ) {
            let unit = unit([&truth, &forecast]);
            let scaled = |values: &[f64]| values.iter().map(|value| value / unit).collect::<Vec<f64>>();
            let (low, high) = limits(&scaled(&truth), &scaled(&forecast));
            prop_assert!(low.is_finite() && high.is_finite());
            prop_assert!(high - low > 1e-12 * low.abs().max(high.abs()), "{low} {high}");
        }
    }
}
