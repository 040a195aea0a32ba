//! Places the bars of a chart on its plot.

use crate::{
    axes::Plot,
    bar::{Arrangement, Bars, Direction},
    page::Page,
    scene::{Anchor, Area, LABEL_SIZE, Text},
};

const THICKEST: f64 = 96.0;
/// How much of its room a category's bars fill.
const FILLED: f64 = 0.74;

impl Bars {
    pub(super) fn place(&self, page: &mut Page, plot: &Plot) {
        let step = match self.direction {
            Direction::Upright => plot.x.step(),
            Direction::Lying => plot.y.step(),
        };
        let abreast = match self.arrangement {
            Arrangement::Grouped => self.colours.len() as f64,
            Arrangement::Stacked => 1.0,
        };
        let thickness = (step * FILLED / abreast).min(THICKEST);
        for across in 0..self.pivot.across.names.len() {
            let middle = match self.direction {
                Direction::Upright => plot.x.at(across as f64),
                Direction::Lying => plot.y.at(across as f64),
            };
            let first = middle - thickness * abreast / 2.0;
            let (mut below, mut above) = (0.0, 0.0);
            for (along, colour) in self.colours.iter().enumerate() {
                let Some(value) = self.pivot.value(across, along) else { continue };
                let (start, side) = match self.arrangement {
                    Arrangement::Grouped => (0.0, first + thickness * along as f64),
                    Arrangement::Stacked => (if value < 0.0 { below } else { above }, first),
                };
                *if value < 0.0 { &mut below } else { &mut above } = start + value;
                let area = self.area(plot, (start, start + value), (side, side + thickness));
                page.scene.fill(area, *colour);
            }
            if let (Some(label), Some(value)) =
                (self.labels.get(across), self.pivot.value(across, 0))
            {
                page.scene.text(self.label(plot, label, value, middle));
            }
        }
    }

    /// Returns the bar between two values that lies between `sides`.
    fn area(&self, plot: &Plot, (from, to): (f64, f64), sides: (f64, f64)) -> Area {
        let area = match self.direction {
            Direction::Upright => {
                Area { left: sides.0, top: plot.y.at(to), right: sides.1, bottom: plot.y.at(from) }
            }
            Direction::Lying => {
                Area { left: plot.x.at(from), top: sides.0, right: plot.x.at(to), bottom: sides.1 }
            }
        };
        area.ordered()
    }

    /// Writes `value` beyond the end of its bar.
    fn label(&self, plot: &Plot, label: &str, value: f64, middle: f64) -> Text {
        match self.direction {
            Direction::Upright if value < 0.0 => {
                Text::label(label, middle, plot.y.at(value) + LABEL_SIZE + 2.0, Anchor::Middle)
            }
            Direction::Upright => {
                Text::label(label, middle, plot.y.at(value) - 5.0, Anchor::Middle)
            }
            Direction::Lying => {
                let y = middle + LABEL_SIZE * 0.36;
                let end = plot.x.at(value);
                let (x, anchor) =
                    if value < 0.0 { (end - 5.0, Anchor::End) } else { (end + 5.0, Anchor::Start) };
                Text::label(label, x, y, anchor)
            }
        }
    }
}
