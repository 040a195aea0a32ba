//! The embedded font: how wide a text is, and the outlines of its letters.

use ttf_parser::{Face, GlyphId, OutlineBuilder};

use crate::ChartError;

/// The name by which viewers of an SVG know the font.
pub(crate) const FAMILY: &str = "Noto Sans";

/// How high letters reach above and below their baseline, in parts of the size.
pub(crate) const ASCENT: f64 = 0.8;
pub(crate) const DESCENT: f64 = 0.22;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

#[derive(Debug, Clone)]
pub(crate) struct Fonts {
    regular: Face<'static>,
    bold: Face<'static>,
}

impl Fonts {
    pub(crate) fn load() -> Result<Self, ChartError> {
        Ok(Self {
            regular: Face::parse(ttf_noto_sans::REGULAR, 0).map_err(ChartError::Font)?,
            bold: Face::parse(ttf_noto_sans::BOLD, 0).map_err(ChartError::Font)?,
        })
    }

    /// Returns the width of `text` at `size`.
    pub(crate) fn width(&self, text: &str, size: f64, weight: Weight) -> f64 {
        text.chars().map(|letter| self.advance(letter, weight)).sum::<f64>() * size
    }

    /// Returns how far `letter` moves the pen, in parts of the size.
    pub(crate) fn advance(&self, letter: char, weight: Weight) -> f64 {
        let face = self.face(weight);
        let Some(glyph) = face.glyph_index(letter) else {
            return advance_elsewhere(letter);
        };
        f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) / f64::from(face.units_per_em())
    }

    /// Draws the outline of `letter` in units of [`Self::units`]; a box if the font lacks it.
    pub(crate) fn outline(&self, letter: char, weight: Weight, pen: &mut dyn OutlineBuilder) {
        let face = self.face(weight);
        let glyph = face.glyph_index(letter).unwrap_or(GlyphId(0));
        // A space has no outline.
        let _ = face.outline_glyph(glyph, pen);
    }

    /// Returns the number of outline units in one size.
    pub(crate) fn units(&self, weight: Weight) -> f64 {
        f64::from(self.face(weight).units_per_em())
    }

    fn face(&self, weight: Weight) -> &Face<'static> {
        match weight {
            Weight::Regular => &self.regular,
            Weight::Bold => &self.bold,
        }
    }
}

/// Guesses the width of a letter that only the fonts of an SVG's viewer have: scripts from Hangul
/// Jamo on are mostly a whole size wide.
fn advance_elsewhere(letter: char) -> f64 {
    if letter >= '\u{1100}' { 1.0 } else { 0.6 }
}
