use lbbsp::narx::Member;
use plotters::prelude::*;

use super::{COLOURS, DrawError, MARGIN, Style, by_line, draw_key, picture, put};
use crate::backtest::Members;
use crate::series_file::Log;

const WIDTH: i32 = 1400;
const HEIGHT: i32 = 520;

/// More points would be closer to each other than pixels.
const MOST_POINTS: usize = 600;

const FIRST_SCORED: RGBColor = BLACK;

/// The weights of the members of `guarded` over the rows, one on top of the other.
pub(super) fn draw(members: &Members, log: &Log) -> Result<String, DrawError> {
    let lines = &log.lines[members.session];
    let title = format!(
        "{}: what guarded is made of, by row",
        log.names[members.session]
    );
    let first = lines.first().map_or(0.0, |&line| line as f64);
    let last = lines
        .last()
        .map_or(1.0, |&line| line as f64)
        .max(first + 1.0);
    let points = points(&members.weights, lines, last);
    let mut key: Vec<(&str, RGBColor)> = Member::ALL
        .map(Member::name)
        .into_iter()
        .zip(COLOURS)
        .collect();
    let split = (members.first_scored > 0)
        .then(|| lines.get(members.first_scored))
        .flatten();
    if split.is_some() {
        key.push(("first row scored", FIRST_SCORED));
    }
    picture((WIDTH as u32, HEIGHT as u32), |canvas| {
        put(canvas, &title, (MARGIN, 28), Style::TITLE)?;
        draw_key(canvas, (MARGIN, 64), &key)?;
        let weight = |y: &f64| format!("{y:.1}");
        let name = "weight in the forecast";
        let mut chart = by_line(canvas, first..last, 0.0..1.0, name, &weight)?;
        // From the uppermost area down to 0, each over the one before: no gaps between neighbours.
        for place in (0..Member::ALL.len()).rev() {
            let top = points.iter().map(|(x, tops)| (*x, tops[place]));
            let bottom = [(last, 0.0), (first, 0.0)];
            let area: Vec<(f64, f64)> = top.chain(bottom).collect();
            chart.draw_series([Polygon::new(area, COLOURS[place].filled())])?;
        }
        if let Some(&line) = split {
            let ends = [(line as f64, 0.0), (line as f64, 1.0)];
            chart.draw_series(LineSeries::new(ends, FIRST_SCORED.stroke_width(2)))?;
        }
        Ok(())
    })
}

type Tops = [f64; Member::ALL.len()];

/// Where the areas end above, from the first line to the end of the axis; of many rows the means of some.
fn points(weights: &[Tops], lines: &[usize], end: f64) -> Vec<(f64, Tops)> {
    let step = weights.len().div_ceil(MOST_POINTS).max(1);
    let mean = |(rows, lines): (&[Tops], &[usize])| {
        let mut sum = 0.0;
        let tops = std::array::from_fn(|place| {
            sum += rows.iter().map(|row| row[place]).sum::<f64>() / rows.len() as f64;
            sum.min(1.0)
        });
        (lines[0] as f64, tops)
    };
    let chunks = weights.chunks(step).zip(lines.chunks(step));
    let mut points: Vec<(f64, Tops)> = chunks.map(mean).collect();
    if let Some(&(_, tops)) = points.last() {
        points.push((end, tops));
    }
    points
}
