//! Charts of small tables, drawn as SVG and PNG.
//!
//! A [`Chart`] names its columns, [`draw`] lays it out into a scene of rectangles, lines, dots and
//! texts, and the scene is written as SVG or painted as PNG. It needs nothing of the machine: the
//! font is part of the program, and the same chart always gives the same bytes. Values are
//! untrusted, so every text is cleaned before it is placed. Where the rows come from, and how many
//! of them, is for the caller to say.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts are between counts of rows, data and positions on a page; they saturate"
)]

mod axes;
mod bar;
mod categories;
mod chart;
mod drawing;
mod error;
mod font;
mod heatmap;
mod histogram;
mod legend;
mod line;
mod numbers;
mod page;
mod paint;
mod palette;
mod pivot;
mod quantity;
mod ranges;
mod scatter;
mod scene;
mod series;
mod svg;
mod texts;
mod times;
mod unit;

#[cfg(test)]
mod tests;

pub use chart::{Axis, Chart, ChartKind, Column};
pub use drawing::Drawing;
pub use error::ChartError;

/// Draws `chart`, or says why it cannot be drawn and what to do about it.
pub fn draw(chart: &Chart) -> Result<Drawing, ChartError> {
    chart.check()?;
    let scene = match chart.kind {
        ChartKind::Bar => bar::draw(chart),
        ChartKind::Line => line::draw(chart),
        ChartKind::Scatter => scatter::draw(chart),
        ChartKind::Histogram => histogram::draw(chart),
        ChartKind::Heatmap => heatmap::draw(chart),
    }?;
    Ok(Drawing::of(scene))
}
