//! The labels to the left of a plot.

use crate::{
    axes::{Marks, Plot},
    font::Weight,
    page::Page,
    quantity::Tick,
    scene::{Anchor, LABEL, LABEL_SIZE, Text},
    texts::{self, Cut},
};

/// No name takes more of the page's width.
const NAME_ROOM: f64 = 230.0;
/// Lines of text are at least this far apart.
const LINE: f64 = 14.0;

pub(super) struct Left {
    /// Where lines go across the plot.
    pub(super) ticks: Vec<Tick>,
    pub(super) width: f64,
    labels: Vec<(f64, String)>,
}

/// Chooses the labels for a plot of about `height`.
pub(super) fn labels(page: &Page, marks: &Marks<'_>, height: f64) -> Left {
    let fonts = &page.scene.fonts;
    let (ticks, labels): (Vec<Tick>, Vec<(f64, String)>) = match marks {
        Marks::Quantity(span) => {
            let ticks = span.ticks(page.ticks_on_the_left());
            let labels = ticks.iter().map(|tick| (tick.value, tick.label.clone())).collect();
            (ticks, labels)
        }
        Marks::Names(names, _) => {
            // What the axis below takes is not known yet; 60 is about the least.
            let every = (LINE * names.len() as f64 / (height - 60.0)).ceil().max(1.0) as usize;
            let shown = names.iter().enumerate().step_by(every);
            let short = |name: &String| texts::shorten(fonts, name, LABEL, NAME_ROOM, Cut::Middle);
            (Vec::new(), shown.map(|(index, name)| (index as f64, short(name))).collect())
        }
    };
    let widths = labels.iter().map(|(_, label)| fonts.width(label, LABEL_SIZE, Weight::Regular));
    let width = widths.fold(0.0, f64::max);
    Left { ticks, width, labels }
}

impl Left {
    pub(super) fn place(self, page: &mut Page, plot: &Plot) {
        let mut above = f64::NEG_INFINITY;
        let mut placed: Vec<(f64, String)> =
            self.labels.into_iter().map(|(value, label)| (plot.y.at(value), label)).collect();
        placed.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (y, label) in placed {
            // Less room than foreseen, as below a slanted axis.
            if y - above < LINE - 0.5 {
                continue;
            }
            above = y;
            let x = plot.area.left - 8.0;
            page.scene.text(Text::label(label, x, y + LABEL_SIZE * 0.36, Anchor::End));
        }
    }
}
