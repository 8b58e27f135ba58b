use lbbsp::narx::Epoch;
use plotters::prelude::*;

use super::{
    COLOURS, Canvas, DrawError, FONT, GRID, MARGIN, Style, TEXT_SIZE, draw_key, label, picture,
    put, whole,
};
use crate::training::History;

const WIDTH: i32 = 1400;
const HEIGHT: i32 = 520;

/// An error below this is drawn as this: a logarithmic axis has no 0.
const LEAST: f64 = 1e-12;

type Value = fn(&Epoch) -> Option<f64>;

/// Root mean squared errors over the epochs, one line a start (and fold).
pub(super) fn draw(history: &History) -> Result<String, DrawError> {
    let trained: Value = |epoch| Some(epoch.train_rmse);
    let judged: Value = |epoch| epoch.validation_rmse;
    let epochs = || history.0.values().flatten();
    let validated = epochs().any(|epoch| epoch.validation_rmse.is_some());
    let several_horizons = epochs().any(|epoch| epoch.horizon != 1);
    let panels: &[(&str, Value)] = match validated {
        true => &[("rows learnt from", trained), ("rows that judge", judged)],
        false => &[("rows learnt from", trained)],
    };
    let scale = Scale::of(history, panels);
    let note = match several_horizons {
        true => ", in scaled units; rising where longer runs on the model's own forecasts begin",
        false => ", in scaled units",
    };
    let starts = 1 + history.0.keys().map(|(start, _)| *start).max().unwrap_or(0);
    let names: Vec<String> = (0..starts.min(COLOURS.len()))
        .map(|start| format!("start {}", start + 1))
        .collect();
    let key: Vec<(&str, RGBColor)> = names.iter().map(String::as_str).zip(COLOURS).collect();
    picture((WIDTH as u32, HEIGHT as u32), |canvas| {
        let title = format!("Root mean squared error over the epochs{note}");
        put(canvas, &title, (MARGIN, 28), Style::TITLE)?;
        draw_key(canvas, (MARGIN, 64), &key)?;
        let below = canvas.margin(80, MARGIN / 2, MARGIN / 2, MARGIN);
        let areas = below.split_evenly((1, panels.len()));
        for (area, (title, value)) in areas.iter().zip(panels) {
            draw_panel(area, title, history, &scale, *value)?;
        }
        Ok(())
    })
}

/// Room above the highest and below the lowest line.
const ROOM: f64 = 0.05;

/// Errors as decimal logarithms: a logarithmic axis would label powers of ten only.
struct Scale {
    epochs: usize,
    low: f64,
    high: f64,
}

impl Scale {
    fn of(history: &History, panels: &[(&str, Value)]) -> Self {
        let epochs = history.0.values().map(Vec::len).max().unwrap_or(1);
        let values = || {
            let all = history.0.values().flatten();
            let values = all.flat_map(|epoch| panels.iter().filter_map(|(_, of)| of(epoch)));
            values
                .filter(|value| value.is_finite())
                .map(|value| value.max(LEAST))
        };
        let low = values().reduce(f64::min).unwrap_or(0.1);
        let high = values().reduce(f64::max).unwrap_or(1.0);
        Self {
            epochs,
            low: low.log10() - ROOM,
            high: high.log10() + ROOM,
        }
    }
}

fn draw_panel(
    area: &Canvas<'_>,
    title: &str,
    history: &History,
    scale: &Scale,
    value: Value,
) -> Result<(), DrawError> {
    let end = scale.epochs.max(2) as f64;
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, TEXT_SIZE + 2))
        .margin_right(MARGIN)
        .x_label_area_size(48)
        .y_label_area_size(84)
        .build_cartesian_2d(1.0..end, scale.low..scale.high)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .x_desc("epoch")
        .y_desc("RMSE (logarithmic)")
        .x_labels(10)
        .y_labels(6)
        .x_label_formatter(&|x| whole(*x))
        .y_label_formatter(&|y| label(10_f64.powf(*y)))
        .label_style((FONT, TEXT_SIZE - 1))
        .axis_desc_style((FONT, TEXT_SIZE))
        .draw()?;
    for ((start, _), epochs) in &history.0 {
        let colour = COLOURS[start % COLOURS.len()];
        let points = epochs.iter().enumerate().filter_map(|(place, epoch)| {
            let value = value(epoch).filter(|value| value.is_finite())?;
            Some(((place + 1) as f64, value.max(LEAST).log10()))
        });
        chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
    }
    Ok(())
}
