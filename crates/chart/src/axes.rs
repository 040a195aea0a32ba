//! The axes around a plot: ticks, names, grid, and where a value stands on the page.

mod bottom;
mod left;

pub(crate) use bottom::has_room;

use crate::{
    font::Weight,
    page::Page,
    palette::Colour,
    quantity::{Span, Tick},
    scene::{Anchor, Area, LABEL_SIZE, Text},
    texts::{self, Cut},
};

/// What stands along one side of a plot.
#[derive(Debug)]
pub(crate) struct Side<'a> {
    pub(crate) title: String,
    pub(crate) marks: Marks<'a>,
}

#[derive(Debug)]
pub(crate) enum Marks<'a> {
    Quantity(Span),
    /// Names at 0, 1, 2 and so on.
    Names(&'a [String], Crowded),
}

/// What becomes of names that have no room side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Crowded {
    /// Some are left out: a reader can tell them from their neighbours.
    Thinned,
    /// They are slanted.
    Slanted,
}

/// The place that the axes leave for the data.
#[derive(Debug)]
pub(crate) struct Plot {
    pub(crate) area: Area,
    pub(crate) x: Scale,
    pub(crate) y: Scale,
}

/// Takes values to places along one direction of the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    values: (f64, f64),
    places: (f64, f64),
}

impl Scale {
    pub(crate) fn at(&self, value: f64) -> f64 {
        let part = (value - self.values.0) / (self.values.1 - self.values.0);
        self.places.0 + part * (self.places.1 - self.places.0)
    }

    /// Returns the length on the page of one unit.
    pub(crate) fn step(&self) -> f64 {
        ((self.places.1 - self.places.0) / (self.values.1 - self.values.0)).abs()
    }
}

impl Marks<'_> {
    fn ends(&self) -> (f64, f64) {
        match self {
            Marks::Quantity(span) => (span.min, span.max),
            Marks::Names(names, _) => (-0.5, names.len() as f64 - 0.5),
        }
    }
}

/// Draws the axes into what is free of `page` and returns the plot between them.
pub(crate) fn draw(page: &mut Page, x: &Side<'_>, y: &Side<'_>) -> Plot {
    let free = page.free;
    let mut area = free;
    if !y.title.is_empty() {
        title(page, &y.title, (free.left, area.top + LABEL_SIZE), Anchor::Start);
        area.top += LABEL_SIZE * 2.3;
    }
    let left = left::labels(page, &y.marks, area.height());
    area.left += left.width + 10.0;
    // The last tick's label reaches over the end.
    area.right -= if matches!(x.marks, Marks::Quantity(_)) { 26.0 } else { 4.0 };
    if !x.title.is_empty() {
        let middle = f64::midpoint(area.left, area.right);
        title(page, &x.title, (middle, free.bottom - 4.0), Anchor::Middle);
        area.bottom -= LABEL_SIZE * 1.8;
    }
    let x_scale = Scale { values: x.marks.ends(), places: (area.left, area.right) };
    let bottom = bottom::labels(page, &x.marks, x_scale, free);
    area.bottom -= bottom.height + 8.0;
    let y_places = match y.marks {
        Marks::Quantity(_) => (area.bottom, area.top),
        Marks::Names(..) => (area.top, area.bottom),
    };
    let plot = Plot { area, x: x_scale, y: Scale { values: y.marks.ends(), places: y_places } };
    grid(page, &plot, &left.ticks, &bottom.ticks);
    left.place(page, &plot);
    bottom.place(page, &plot);
    plot
}

/// Writes the name of an axis.
fn title(page: &mut Page, title: &str, (x, y): (f64, f64), anchor: Anchor) {
    let fonts = &page.scene.fonts;
    let room = page.free.width() * 0.8;
    let title = texts::shorten(fonts, title, (LABEL_SIZE, Weight::Bold), room, Cut::End);
    page.scene.text(Text::label(title, x, y, anchor).bold());
}

/// Draws a line across the plot for each tick, and those that the data stands on darker.
fn grid(page: &mut Page, plot: &Plot, left: &[Tick], bottom: &[Tick]) {
    let Area { left: start, top, right: end, bottom: base } = plot.area;
    for tick in bottom {
        let x = plot.x.at(tick.value);
        let colour = if tick.value == 0.0 { Colour::AXIS } else { Colour::GRID };
        page.scene.line(vec![(x, top), (x, base + 4.0)], colour, 1.0);
    }
    for tick in left {
        let y = plot.y.at(tick.value);
        let colour = if tick.value == 0.0 { Colour::AXIS } else { Colour::GRID };
        page.scene.line(vec![(start, y), (end, y)], colour, 1.0);
    }
    if !left.is_empty() {
        page.scene.line(vec![(start, base), (end, base)], Colour::AXIS, 1.0);
    }
}
