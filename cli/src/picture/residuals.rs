use plotters::prelude::*;

use super::{
    COLOURS, DrawError, FONT, GRID, MARGIN, Style, TEXT_SIZE, draw_key, picture, put, whole,
};
use crate::backtest::Checks;

const WIDTH: i32 = 1000;
const HEIGHT: i32 = 440;
const BAR: RGBColor = COLOURS[0];
const LIMIT: RGBColor = COLOURS[5];

/// How the errors of a model go with earlier ones.
pub(super) fn draw(checks: &Checks) -> Result<String, DrawError> {
    let title = format!("Autocorrelation of the errors of {}", checks.model);
    picture((WIDTH as u32, HEIGHT as u32), |canvas| {
        put(canvas, &title, (MARGIN, 28), Style::TITLE)?;
        let correlogram = match &checks.found {
            Ok(found) => &found.correlogram,
            Err(cause) => return put(canvas, cause, (MARGIN, 64), Style::TEXT),
        };
        let key = [("autocorrelation", BAR), ("95 % limits", LIMIT)];
        draw_key(canvas, (MARGIN, 64), &key)?;
        let limit = correlogram.limit;
        let values = &correlogram.values[1..];
        let largest: f64 = values.iter().map(|value| value.abs()).fold(limit, f64::max);
        let top = 1.15 * largest;
        let end = values.len() as f64 + 0.5;
        let area = canvas.margin(80, MARGIN / 2, MARGIN / 2, MARGIN);
        let mut chart = ChartBuilder::on(&area)
            .x_label_area_size(48)
            .y_label_area_size(84)
            .build_cartesian_2d(0.5..end, -top..top)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(WHITE)
            .bold_line_style(GRID)
            .x_desc("lag [rows]")
            .y_desc("autocorrelation")
            .x_labels(values.len().min(20))
            .y_labels(7)
            .x_label_formatter(&|x| whole(*x))
            .y_label_formatter(&|y| coefficient(*y))
            .label_style((FONT, TEXT_SIZE - 1))
            .axis_desc_style((FONT, TEXT_SIZE))
            .draw()?;
        let bar = |(place, &value): (usize, &f64)| {
            let lag = (place + 1) as f64;
            Rectangle::new([(lag - 0.3, 0.0), (lag + 0.3, value)], BAR.filled())
        };
        chart.draw_series(values.iter().enumerate().map(bar))?;
        for y in [-limit, 0.0, limit] {
            let colour = if y == 0.0 { BLACK } else { LIMIT };
            let ends = [(0.5, y), (end, y)];
            chart.draw_series(LineSeries::new(ends, colour.stroke_width(2)))?;
        }
        Ok(())
    })
}

/// Without the sign of a 0 that is rounded.
fn coefficient(value: f64) -> String {
    let text = format!("{value:.2}");
    if text == "-0.00" {
        "0".to_owned()
    } else {
        text
    }
}
