//! The page: its size, and what stands above every chart.

use crate::{
    Chart, ChartError,
    font::Weight,
    numbers,
    palette::Colour,
    scene::{Anchor, Area, Scene, Text},
    texts::{self, Cut},
};

pub(crate) const WIDTH: f64 = 960.0;
pub(crate) const HEIGHT: f64 = 540.0;
const MARGIN: f64 = 20.0;
const TITLE_SIZE: f64 = 18.0;
const SUBTITLE: (f64, Weight) = (12.5, Weight::Regular);

/// A scene, and the part of it that is still free.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) scene: Scene,
    pub(crate) free: Area,
}

/// Notes how many rows are not drawn because they have no `what`.
pub(crate) fn left_out(rows: usize, what: &str) -> Option<String> {
    match rows {
        0 => None,
        1 => Some(format!("left out: 1 row without {what}")),
        _ => Some(format!("left out: {} rows without {what}", numbers::count(rows))),
    }
}

impl Page {
    /// Begins a page with the title of `chart`, its subtitle, and `notes` on what is not shown or
    /// not shown as expected.
    pub(crate) fn begin(chart: &Chart, notes: &[String], height: f64) -> Result<Self, ChartError> {
        let scene = Scene::new(WIDTH, height)?;
        let free = Area {
            left: MARGIN,
            top: MARGIN - 6.0,
            right: WIDTH - MARGIN,
            bottom: height - MARGIN + 6.0,
        };
        let mut page = Self { scene, free };
        page.scene.title = texts::clean(&chart.title);
        page.scene.notes = notes.to_vec();
        page.heading(&page.scene.title.clone(), (TITLE_SIZE, Weight::Bold), Colour::TITLE);
        let subtitle = chart.subtitle.as_deref().map(texts::clean).unwrap_or_default();
        let mut line = String::new();
        for part in std::iter::once(&subtitle).chain(notes).filter(|part| !part.is_empty()) {
            let joined = if line.is_empty() { part.clone() } else { format!("{line} · {part}") };
            let (size, weight) = SUBTITLE;
            if page.scene.fonts.width(&joined, size, weight) <= free.width() {
                line = joined;
            } else {
                page.heading(&line, SUBTITLE, Colour::INK);
                line.clone_from(part);
            }
        }
        page.heading(&line, SUBTITLE, Colour::INK);
        page.free.top += 10.0;
        Ok(page)
    }

    /// Returns how many ticks there may be on the left. Charts round the span of `y` by it.
    pub(crate) fn ticks_on_the_left(&self) -> usize {
        ((self.free.height() / 58.0) as usize).max(2)
    }

    /// Places a line at the top of what is free.
    fn heading(&mut self, line: &str, (size, weight): (f64, Weight), colour: Colour) {
        if line.is_empty() {
            return;
        }
        let room = self.free.width();
        let line = texts::shorten(&self.scene.fonts, line, (size, weight), room, Cut::End);
        self.free.top += size * 1.4;
        let y = self.free.top - size * 0.3;
        let heading = Text::label(line, self.free.left, y, Anchor::Start);
        self.scene.text(Text { size, weight, colour, ..heading });
    }
}
