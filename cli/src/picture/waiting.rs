use lbbsp::sizing::replay::Summary;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::{Canvas, DrawError, MARGIN, Style, TEXT_SIZE, picture, put, width};
use crate::replay::Outcome;
use crate::unit::Unit;

const WIDTH: i32 = 1100;
const TOP: i32 = 100;
const BAR: i32 = 34;
const STEP: i32 = 52;
/// What stands behind a bar.
const TOTAL_WIDTH: i32 = 330;

const BUSY: RGBColor = RGBColor(0, 114, 178);
const WAITING: RGBColor = RGBColor(230, 159, 0);

/// One policy's mean iteration, as a worker sees it on average.
struct Bar {
    name: String,
    mean_s: f64,
    busy_s: f64,
    waiting_share: f64,
    speedup: f64,
}

/// Mean iteration time by policy, as a part busy and a part waiting.
pub(super) fn draw(outcome: &Outcome) -> Result<String, DrawError> {
    let bars = bars(outcome);
    let longest_s = bars.iter().map(|bar| bar.mean_s).fold(0.0, f64::max);
    let unit = Unit::of(longest_s);
    let names = bars.iter().map(|bar| width(&bar.name, TEXT_SIZE));
    let left = 2 * MARGIN + names.max().unwrap_or(0);
    let room = (WIDTH - left - TOTAL_WIDTH).max(1);
    let height = TOP + STEP * bars.len() as i32 + MARGIN / 2;
    picture((WIDTH as u32, height as u32), |canvas| {
        let title = format!(
            "Mean iteration time by policy [{}], global batch {}",
            unit.name, outcome.global_batch
        );
        put(canvas, &title, (MARGIN, 28), Style::TITLE)?;
        draw_key(canvas)?;
        for (i, bar) in bars.iter().enumerate() {
            let scale = f64::from(room) / if longest_s > 0.0 { longest_s } else { 1.0 };
            bar.draw(canvas, (left, TOP + STEP * i as i32), scale, unit)?;
        }
        Ok(())
    })
}

fn bars(outcome: &Outcome) -> Vec<Bar> {
    let bar = |summary: &Summary| Bar {
        name: summary.name.clone(),
        mean_s: summary.mean_iteration_s,
        busy_s: summary.mean_iteration_s * (1.0 - summary.waiting_share),
        waiting_share: summary.waiting_share,
        speedup: summary.speedup,
    };
    outcome.comparison.summaries.iter().map(bar).collect()
}

fn draw_key(canvas: &Canvas<'_>) -> Result<(), DrawError> {
    const Y: i32 = 64;
    let mut x = MARGIN;
    for (what, colour) in [("busy", BUSY), ("waiting", WAITING)] {
        let swatch = [(x, Y - 7), (x + 14, Y + 7)];
        canvas.draw(&Rectangle::new(swatch, colour.filled()))?;
        put(canvas, what, (x + 22, Y), Style::TEXT)?;
        x += 22 + width(what, TEXT_SIZE) + MARGIN;
    }
    Ok(())
}

impl Bar {
    /// Draws the bar from a point to the right, at so many pixels a second.
    fn draw(
        &self,
        canvas: &Canvas<'_>,
        (left, top): (i32, i32),
        scale: f64,
        unit: Unit,
    ) -> Result<(), DrawError> {
        let middle = top + BAR / 2;
        let at = |seconds: f64| left + (seconds * scale).round() as i32;
        let (barrier, end) = (at(self.busy_s), at(self.mean_s));
        let name = Style {
            anchor: HPos::Right,
            ..Style::TEXT
        };
        put(canvas, &self.name, (left - MARGIN / 2, middle), name)?;
        let waiting_s = (self.mean_s - self.busy_s).max(0.0);
        for (from, to, seconds, fill, ink) in [
            (left, barrier, self.busy_s, BUSY, WHITE),
            (barrier, end, waiting_s, WAITING, BLACK),
        ] {
            canvas.draw(&Rectangle::new(
                [(from, top), (to, top + BAR)],
                fill.filled(),
            ))?;
            let text = unit.short(seconds);
            if width(&text, TEXT_SIZE) + 6 < to - from {
                let inside = Style {
                    colour: ink,
                    anchor: HPos::Center,
                    ..Style::TEXT
                };
                put(canvas, &text, ((from + to) / 2, middle), inside)?;
            }
        }
        let text = format!(
            "{} {}, waiting {:.1} %, {:.2} × as fast",
            unit.short(self.mean_s),
            unit.name,
            100.0 * self.waiting_share,
            self.speedup
        );
        put(canvas, &text, (end + MARGIN / 2, middle), Style::TEXT)
    }
}
