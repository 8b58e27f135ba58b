//! A replay as SVG pictures.

mod sizes;
mod waiting;

use std::fmt::Display;
use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::error::Error;
use crate::files;
use crate::replay::Outcome;

const FONT: &str = "sans-serif";
const TEXT_SIZE: i32 = 16;
const TITLE_SIZE: i32 = 22;
const GRID: RGBColor = RGBColor(225, 225, 225);

type Canvas<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Draws both pictures into a folder and returns what was written.
pub(crate) fn write(outcome: &Outcome, folder: &Path) -> Result<String, Error> {
    files::make_folder(folder)?;
    let (sizes, waiting) = (folder.join("sizes.svg"), folder.join("waiting.svg"));
    let failed = |path: &Path, cause: &dyn Display| Error::Picture {
        path: path.to_owned(),
        cause: cause.to_string(),
    };
    let drawn = sizes::draw(outcome).map_err(|cause| failed(&sizes, &cause))?;
    files::write(&sizes, &drawn)?;
    let drawn = waiting::draw(outcome).map_err(|cause| failed(&waiting, &cause))?;
    files::write(&waiting, &drawn)?;
    Ok(format!("{}, {}", sizes.display(), waiting.display()))
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
