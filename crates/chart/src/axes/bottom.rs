//! The labels below a plot.

use crate::{
    axes::{Crowded, Marks, Plot, Scale},
    font::{ASCENT, DESCENT, Fonts, Weight},
    page::Page,
    quantity::{Span, Tick},
    scene::{Anchor, Area, LABEL, LABEL_SIZE, Text},
    texts::{self, Cut},
};

/// Labels side by side are at least this far apart.
const GAP: f64 = 10.0;
/// Slanted labels are at least this far apart, along the axis.
const SLANTED_STEP: f64 = 19.0;
/// No slanted name is longer.
const SLANTED_ROOM: f64 = 130.0;
const LINE: f64 = LABEL_SIZE * 1.25;

pub(super) struct Bottom {
    /// Where lines go up the plot.
    pub(super) ticks: Vec<Tick>,
    pub(super) height: f64,
    /// Placed as if the plot ended at zero.
    labels: Vec<Text>,
}

/// Chooses and places the labels along `scale`, all within `free`.
pub(super) fn labels(page: &Page, marks: &Marks<'_>, scale: Scale, free: Area) -> Bottom {
    let fonts = &page.scene.fonts;
    match marks {
        Marks::Quantity(span) => quantity(fonts, *span, scale, free),
        Marks::Names(names, crowded) => {
            let widest = widest(fonts, names);
            if widest + GAP <= scale.step() {
                level(fonts, names, 1, scale, free)
            } else if *crowded == Crowded::Slanted {
                slanted(fonts, names, scale, free)
            } else {
                let every = ((widest + GAP) / scale.step()).ceil() as usize;
                level(fonts, names, every, scale, free)
            }
        }
    }
}

/// Tells whether `names` can stand side by side in `room`.
pub(crate) fn has_room(fonts: &Fonts, names: &[String], room: f64) -> bool {
    widest(fonts, names) + GAP <= room / names.len() as f64
}

impl Bottom {
    pub(super) fn place(self, page: &mut Page, plot: &Plot) {
        for label in self.labels {
            let y = label.y + plot.area.bottom;
            page.scene.text(Text { y, ..label });
        }
    }
}

fn widest(fonts: &Fonts, names: &[String]) -> f64 {
    let widths = names.iter().map(|name| fonts.width(name, LABEL_SIZE, Weight::Regular));
    widths.fold(0.0, f64::max)
}

/// Takes as many ticks as have room.
fn quantity(fonts: &Fonts, span: Span, scale: Scale, free: Area) -> Bottom {
    let most = ((scale.places.1 - scale.places.0) / 56.0) as usize;
    for count in (1..=most.max(1)).rev() {
        let ticks = span.ticks(count);
        let first_line = |tick: &Tick| Some((tick.value, tick.label.clone()));
        let second_line = |tick: &Tick| Some((tick.value, tick.context.clone()?));
        let above = line(fonts, ticks.iter().filter_map(first_line), 0, scale, free);
        let below = line(fonts, ticks.iter().filter_map(second_line), 1, scale, free);
        if count == 1 || (are_apart(fonts, &above) && are_apart(fonts, &below)) {
            let lines = if below.is_empty() { 1.0 } else { 2.0 };
            let labels = above.into_iter().chain(below).collect();
            return Bottom { ticks, height: lines * LINE, labels };
        }
    }
    Bottom { ticks: Vec::new(), height: 0.0, labels: Vec::new() }
}

fn level(fonts: &Fonts, names: &[String], every: usize, scale: Scale, free: Area) -> Bottom {
    let shown = names.iter().enumerate().step_by(every);
    let room = free.width() / 3.0;
    let labelled = shown
        .map(|(index, name)| (index as f64, texts::shorten(fonts, name, LABEL, room, Cut::Middle)));
    let mut end = f64::NEG_INFINITY;
    let mut labels = line(fonts, labelled, 0, scale, free);
    // The first and the last one may have been moved to stay on the page.
    labels.retain(|label| {
        let area = label.area(fonts);
        let has_room = end + GAP <= area.left + 1e-6;
        end = if has_room { area.right } else { end };
        has_room
    });
    Bottom { ticks: Vec::new(), height: LINE, labels }
}

/// Places labels on one line, moving those at its ends so that they stay within `free`.
fn line(
    fonts: &Fonts,
    labels: impl Iterator<Item = (f64, String)>,
    line: usize,
    scale: Scale,
    free: Area,
) -> Vec<Text> {
    let y = 8.0 + LABEL_SIZE * ASCENT + line as f64 * LINE;
    let place = |(value, label): (f64, String)| {
        let half = fonts.width(&label, LABEL_SIZE, Weight::Regular) / 2.0;
        let x = scale.at(value).min(free.right - half).max(free.left + half);
        Text::label(label, x, y, Anchor::Middle)
    };
    labels.map(place).collect()
}

fn are_apart(fonts: &Fonts, labels: &[Text]) -> bool {
    labels.is_sorted_by(|a, b| a.area(fonts).right + GAP <= b.area(fonts).left)
}

fn slanted(fonts: &Fonts, names: &[String], scale: Scale, free: Area) -> Bottom {
    let every = (SLANTED_STEP / scale.step()).ceil().max(1.0) as usize;
    let mut longest = 0.0_f64;
    let mut labels = Vec::new();
    for (index, name) in names.iter().enumerate().step_by(every) {
        let x = scale.at(index as f64) + LABEL_SIZE * 0.3;
        // It must not reach beyond the left edge of the page.
        let to_the_edge = (x - free.left) * std::f64::consts::SQRT_2 - LABEL_SIZE;
        let room = SLANTED_ROOM.min(to_the_edge);
        let name = texts::shorten(fonts, name, LABEL, room, Cut::Middle);
        let label = Text::label(name, x, 8.0 + LABEL_SIZE * ASCENT, Anchor::End).rising();
        longest = longest.max(label.width(fonts));
        labels.push(label);
    }
    let height = (longest + LABEL_SIZE * DESCENT) * std::f64::consts::FRAC_1_SQRT_2 + LABEL_SIZE;
    Bottom { ticks: Vec::new(), height, labels }
}
