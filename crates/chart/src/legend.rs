//! What stands to the right of a plot: which colour is which series, or which number.

use crate::{
    font::Weight,
    page::Page,
    palette::{Colour, Gradient},
    quantity::Span,
    scene::{Anchor, Area, LABEL, LABEL_SIZE, Text},
    texts::{self, Cut},
    unit::Unit,
};

/// No name takes more of the page's width.
const ROOM: f64 = 170.0;
const ROW: f64 = 20.0;
const SWATCH: f64 = 12.0;
const GAP: f64 = 24.0;

/// Draws the names of series with their colours.
pub(crate) fn series(page: &mut Page, title: &str, entries: &[(String, Colour)]) {
    let fonts = &page.scene.fonts;
    let title = texts::shorten(fonts, title, (LABEL_SIZE, Weight::Bold), ROOM, Cut::End);
    let short = |name: &str| texts::shorten(fonts, name, LABEL, ROOM, Cut::Middle);
    let entries: Vec<(String, Colour)> =
        entries.iter().map(|(name, colour)| (short(name), *colour)).collect();
    let widths = entries.iter().map(|(name, _)| fonts.width(name, LABEL_SIZE, Weight::Regular));
    let width = widths.fold(0.0, f64::max) + SWATCH + 8.0;
    let width = width.max(fonts.width(&title, LABEL_SIZE, Weight::Bold));
    let left = page.free.right - width;
    let mut y = page.free.top + LABEL_SIZE;
    page.scene.text(Text::label(title, left, y, Anchor::Start).bold());
    for (name, colour) in entries {
        y += ROW;
        let swatch = Area { left, top: y - SWATCH + 2.0, right: left + SWATCH, bottom: y + 2.0 };
        page.scene.fill(swatch, colour);
        page.scene.text(Text::label(name, left + SWATCH + 8.0, y, Anchor::Start));
    }
    page.free.right = left - GAP;
}

/// Draws a bar with the colours of `gradient` and the numbers that they stand for.
pub(crate) fn gradient(page: &mut Page, title: &str, gradient: Gradient, unit: Unit) {
    const STRIPES: usize = 80;
    let fonts = &page.scene.fonts;
    let title = texts::shorten(fonts, title, (LABEL_SIZE, Weight::Bold), ROOM, Cut::End);
    let ticks = Span { min: gradient.min, max: gradient.max, unit }.ticks(6);
    let widths = ticks.iter().map(|tick| fonts.width(&tick.label, LABEL_SIZE, Weight::Regular));
    let bar_width = SWATCH * 1.3;
    let width = widths.fold(0.0, f64::max) + bar_width + 10.0;
    let width = width.max(fonts.width(&title, LABEL_SIZE, Weight::Bold));
    let left = page.free.right - width;
    let top = page.free.top + LABEL_SIZE * 2.0;
    let height = (page.free.bottom - top - 40.0).min(260.0);
    page.scene.text(Text::label(title, left, page.free.top + LABEL_SIZE, Anchor::Start).bold());
    for stripe in 0..STRIPES {
        let from_top = |place: f64| place / STRIPES as f64;
        let value = 1.0 - from_top(stripe as f64 + 0.5);
        let colour = gradient.colour(gradient.min + value * (gradient.max - gradient.min));
        let stripe = Area {
            left,
            top: top + height * from_top(stripe as f64),
            right: left + bar_width,
            // Over the stripes below, so that no seam shows.
            bottom: top + height,
        };
        page.scene.fill(stripe, colour);
    }
    for tick in ticks {
        let part = (gradient.max - tick.value) / (gradient.max - gradient.min);
        let y = top + height * part;
        let end = left + bar_width;
        page.scene.line(vec![(end, y), (end + 4.0, y)], Colour::AXIS, 1.0);
        page.scene.text(Text::label(tick.label, end + 8.0, y + LABEL_SIZE * 0.36, Anchor::Start));
    }
    page.free.right = left - GAP;
}
