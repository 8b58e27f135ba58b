//! Replays, trainings and back-tests as SVG pictures.

mod forecast;
mod members;
mod residuals;
mod sizes;
mod training;
mod waiting;

use std::ops::Range;
use std::path::Path;

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::backtest;
use crate::error::Error;
use crate::files;
use crate::replay::Outcome;
use crate::series_file::Log;
use crate::training::History;

const FONT: &str = "sans-serif";
const TEXT_SIZE: i32 = 16;
const TITLE_SIZE: i32 = 22;
const GRID: RGBColor = RGBColor(225, 225, 225);

/// Around a picture, in points.
const MARGIN: i32 = 20;

type Canvas<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Draws both pictures of a replay into a folder and returns what was written.
pub(crate) fn write(outcome: &Outcome, folder: &Path) -> Result<String, Error> {
    files::make_folder(folder)?;
    let (sizes, waiting) = (folder.join("sizes.svg"), folder.join("waiting.svg"));
    save(&sizes, sizes::draw(outcome))?;
    save(&waiting, waiting::draw(outcome))?;
    Ok(format!("{}, {}", sizes.display(), waiting.display()))
}

/// Draws the pictures of a back-test into a folder and returns what was written.
pub(crate) fn write_backtest(
    outcome: &backtest::Outcome,
    members: Option<&backtest::Members>,
    log: &Log,
    folder: &Path,
) -> Result<String, Error> {
    files::make_folder(folder)?;
    let (forecast, residuals) = (folder.join("forecast.svg"), folder.join("residuals.svg"));
    write_forecast(outcome, log, &forecast)?;
    save(&residuals, residuals::draw(&outcome.checks))?;
    let mut written = format!("{}, {}", forecast.display(), residuals.display());
    if let Some(weights) = members {
        let path = folder.join("members.svg");
        save(&path, members::draw(weights, log))?;
        written.push_str(&format!(", {}", path.display()));
    }
    Ok(written)
}

/// Draws forecasts against the truth.
pub(crate) fn write_forecast(
    outcome: &backtest::Outcome,
    log: &Log,
    path: &Path,
) -> Result<(), Error> {
    save(path, forecast::draw(outcome, log))
}

/// Draws the errors over the epochs.
pub(crate) fn write_training(history: &History, path: &Path) -> Result<(), Error> {
    save(path, training::draw(history))
}

fn save(path: &Path, drawn: Result<String, DrawError>) -> Result<(), Error> {
    let drawn = drawn.map_err(|cause| Error::Picture {
        path: path.to_owned(),
        cause: cause.to_string(),
    })?;
    files::write(path, &drawn)
}

/// Colours that people with any kind of colour vision can tell apart (Okabe and Ito, "Color
/// universal design", 2008), yellow left out, which is too pale on white.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(213, 94, 0),
    RGBColor(0, 0, 0),
];

/// Why a picture could not be drawn.
type DrawError = Box<dyn std::error::Error>;

/// A white canvas of this size with what `paint` puts on it.
fn picture(
    size: (u32, u32),
    paint: impl FnOnce(&Canvas<'_>) -> Result<(), DrawError>,
) -> Result<String, DrawError> {
    let mut svg = String::new();
    {
        let canvas = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        canvas.fill(&WHITE)?;
        paint(&canvas)?;
        canvas.present()?;
    }
    Ok(svg)
}

/// Puts a text on the canvas, its left end and its middle height at a point.
fn put(canvas: &Canvas<'_>, text: &str, at: (i32, i32), style: Style) -> Result<(), DrawError> {
    let anchor = Pos::new(style.anchor, VPos::Center);
    let font = (FONT, style.size).into_font().color(&style.colour);
    canvas.draw_text(text, &font.pos(anchor), at)?;
    Ok(())
}

/// How a text looks.
#[derive(Clone, Copy)]
struct Style {
    size: i32,
    colour: RGBColor,
    anchor: HPos,
}

impl Style {
    const TITLE: Self = Self {
        size: TITLE_SIZE,
        ..Self::TEXT
    };
    const TEXT: Self = Self {
        size: TEXT_SIZE,
        colour: BLACK,
        anchor: HPos::Left,
    };
}

/// How wide a text is drawn at most, in pixels: the reader's font is not known.
fn width(text: &str, size: i32) -> i32 {
    const WIDEST: f64 = 0.54;
    (text.chars().count() as f64 * f64::from(size) * WIDEST) as i32
}

/// The number at a tick of an axis of whole numbers: nothing between two of them is one.
fn whole(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        String::new()
    }
}

fn label(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 || (v > 0.0 && v < 1e-2) => format!("{value:.1e}"),
        v if v >= 10.0 || v.fract() == 0.0 => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    }
}

/// A chart whose horizontal axis counts the lines of a file.
type LineChart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// The axes and the grid of such a chart, below a title and a key; `value` says what stands beside the
/// vertical axis.
fn by_line<'a>(
    canvas: &Canvas<'a>,
    lines: Range<f64>,
    values: Range<f64>,
    name: &str,
    value: &dyn Fn(&f64) -> String,
) -> Result<LineChart<'a>, DrawError> {
    let area = canvas.margin(80, MARGIN / 2, MARGIN / 2, MARGIN);
    let mut chart = ChartBuilder::on(&area)
        .x_label_area_size(48)
        .y_label_area_size(84)
        .build_cartesian_2d(lines, values)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .x_desc("line of the file")
        .y_desc(name)
        .x_labels(10)
        .y_labels(6)
        .x_label_formatter(&|x| whole(*x))
        .y_label_formatter(value)
        .label_style((FONT, TEXT_SIZE - 1))
        .axis_desc_style((FONT, TEXT_SIZE))
        .draw()?;
    Ok(chart)
}

/// What the lines of a picture are, one beside the other.
fn draw_key(
    canvas: &Canvas<'_>,
    (left, middle): (i32, i32),
    entries: &[(&str, RGBColor)],
) -> Result<(), DrawError> {
    const SWATCH: i32 = 18;
    const GAP: i32 = 24;
    let mut x = left;
    for (what, colour) in entries {
        let swatch = [(x, middle - 3), (x + SWATCH, middle + 3)];
        canvas.draw(&Rectangle::new(swatch, colour.filled()))?;
        put(canvas, what, (x + SWATCH + 8, middle), Style::TEXT)?;
        x += SWATCH + 8 + width(what, TEXT_SIZE) + GAP;
    }
    Ok(())
}
