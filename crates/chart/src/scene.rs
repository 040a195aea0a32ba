//! What a chart consists of once it is laid out: marks at fixed places on a page.
//!
//! Both outputs are made from this one list, so the SVG and the PNG show the same.

use crate::{
    ChartError,
    font::{ASCENT, DESCENT, Fonts, Weight},
    palette::Colour,
};

#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) title: String,
    /// What is not shown, or not shown as expected.
    pub(crate) notes: Vec<String>,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) marks: Vec<Mark>,
    pub(crate) fonts: Fonts,
}

#[derive(Debug)]
pub(crate) enum Mark {
    Box { area: Area, fill: Colour },
    Line { points: Vec<(f64, f64)>, colour: Colour, width: f64 },
    Dot { x: f64, y: f64, radius: f64, fill: Colour, opacity: f64 },
    Text(Text),
}

/// A rectangle, by its edges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) content: String,
    /// Where the anchor stands on the baseline.
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) anchor: Anchor,
    pub(crate) size: f64,
    pub(crate) weight: Weight,
    pub(crate) colour: Colour,
    pub(crate) slant: Slant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slant {
    Level,
    /// Rising to the anchor at its end, by 45 degrees.
    Rising,
}

impl Scene {
    pub(crate) fn new(width: f64, height: f64) -> Result<Self, ChartError> {
        let (title, notes) = (String::new(), Vec::new());
        Ok(Self { title, notes, width, height, marks: Vec::new(), fonts: Fonts::load()? })
    }

    pub(crate) fn fill(&mut self, area: Area, fill: Colour) {
        self.marks.push(Mark::Box { area, fill });
    }

    pub(crate) fn line(&mut self, points: Vec<(f64, f64)>, colour: Colour, width: f64) {
        self.marks.push(Mark::Line { points, colour, width });
    }

    pub(crate) fn dot(&mut self, (x, y): (f64, f64), radius: f64, fill: Colour, opacity: f64) {
        self.marks.push(Mark::Dot { x, y, radius, fill, opacity });
    }

    pub(crate) fn text(&mut self, text: Text) {
        if !text.content.is_empty() {
            self.marks.push(Mark::Text(text));
        }
    }
}

impl Area {
    pub(crate) fn width(self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(self) -> f64 {
        self.bottom - self.top
    }

    /// Returns the same rectangle whatever the order of its edges was.
    pub(crate) fn ordered(self) -> Self {
        Self {
            left: self.left.min(self.right),
            top: self.top.min(self.bottom),
            right: self.left.max(self.right),
            bottom: self.top.max(self.bottom),
        }
    }
}

impl Text {
    /// A label of the usual size; [`Self::bold`] and others change what is not usual.
    pub(crate) fn label(content: impl Into<String>, x: f64, y: f64, anchor: Anchor) -> Self {
        Self {
            content: content.into(),
            x,
            y,
            anchor,
            size: LABEL_SIZE,
            weight: Weight::Regular,
            colour: Colour::INK,
            slant: Slant::Level,
        }
    }

    pub(crate) fn bold(self) -> Self {
        Self { weight: Weight::Bold, ..self }
    }

    pub(crate) fn coloured(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }

    pub(crate) fn rising(self) -> Self {
        Self { slant: Slant::Rising, ..self }
    }

    pub(crate) fn width(&self, fonts: &Fonts) -> f64 {
        fonts.width(&self.content, self.size, self.weight)
    }

    /// Returns where the text begins on its baseline, before it is slanted.
    pub(crate) fn start(&self, fonts: &Fonts) -> f64 {
        match self.anchor {
            Anchor::Start => self.x,
            Anchor::Middle => self.x - self.width(fonts) / 2.0,
            Anchor::End => self.x - self.width(fonts),
        }
    }

    /// Returns the room that the text takes, before it is slanted.
    pub(crate) fn area(&self, fonts: &Fonts) -> Area {
        let left = self.start(fonts);
        Area {
            left,
            right: left + self.width(fonts),
            top: self.y - ASCENT * self.size,
            bottom: self.y + DESCENT * self.size,
        }
    }
}

/// The size of labels and of the names of axes.
pub(crate) const LABEL_SIZE: f64 = 12.0;
pub(crate) const LABEL: (f64, Weight) = (LABEL_SIZE, Weight::Regular);
