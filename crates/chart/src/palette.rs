//! Colours that people with any kind of colour vision can tell apart, on white.

/// A colour: red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Colour(pub(crate) u8, pub(crate) u8, pub(crate) u8);

impl Colour {
    pub(crate) const WHITE: Colour = Colour(0xff, 0xff, 0xff);
    pub(crate) const TITLE: Colour = Colour(0x1f, 0x24, 0x2b);
    pub(crate) const INK: Colour = Colour(0x45, 0x4d, 0x58);
    pub(crate) const AXIS: Colour = Colour(0x8a, 0x93, 0x9f);
    pub(crate) const GRID: Colour = Colour(0xe4, 0xe7, 0xeb);
    /// A cell without a value.
    pub(crate) const BLANK: Colour = Colour(0xf3, 0xf4, 0xf6);
    /// Series that have no colour of their own.
    pub(crate) const OTHERS: Colour = Colour(0xbd, 0xc3, 0xcb);
}

/// The colours of series: those of Okabe and Ito without yellow and black, then of Tol.
pub(crate) const SERIES: [Colour; 10] = [
    Colour(0x00, 0x72, 0xb2),
    Colour(0xe6, 0x9f, 0x00),
    Colour(0x00, 0x9e, 0x73),
    Colour(0xd5, 0x5e, 0x00),
    Colour(0xcc, 0x79, 0xa7),
    Colour(0x56, 0xb4, 0xe9),
    Colour(0x33, 0x22, 0x88),
    Colour(0x99, 0x99, 0x33),
    Colour(0x88, 0x22, 0x55),
    Colour(0x4d, 0x4d, 0x4d),
];

/// From little to much: yellow, green, blue (by Brewer).
const RISING: [Colour; 7] = [
    Colour(0xff, 0xff, 0xd9),
    Colour(0xd9, 0xf0, 0xb6),
    Colour(0x95, 0xd5, 0xb9),
    Colour(0x41, 0xb6, 0xc4),
    Colour(0x22, 0x84, 0xba),
    Colour(0x25, 0x4a, 0x9f),
    Colour(0x08, 0x1d, 0x58),
];

/// From below zero to above: red, white, blue (by Brewer).
const AROUND_ZERO: [Colour; 7] = [
    Colour(0xb2, 0x18, 0x2b),
    Colour(0xef, 0x8a, 0x62),
    Colour(0xfd, 0xdb, 0xc7),
    Colour(0xf7, 0xf7, 0xf7),
    Colour(0xd1, 0xe5, 0xf0),
    Colour(0x67, 0xa9, 0xcf),
    Colour(0x21, 0x66, 0xac),
];

/// How values become colours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gradient {
    stops: &'static [Colour; 7],
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Gradient {
    /// Returns the gradient for values from `min` to `max`; zero is in its middle if it lies
    /// between them.
    pub(crate) fn between(min: f64, max: f64) -> Self {
        if min < 0.0 && max > 0.0 {
            let reach = max.max(-min);
            Self { stops: &AROUND_ZERO, min: -reach, max: reach }
        } else {
            Self { stops: &RISING, min, max }
        }
    }

    pub(crate) fn colour(&self, value: f64) -> Colour {
        let last = self.stops.len() - 1;
        let place = ((value - self.min) / (self.max - self.min)).clamp(0.0, 1.0) * last as f64;
        let below = (place.floor() as usize).min(last - 1);
        let (from, to) = (self.stops[below], self.stops[below + 1]);
        let part = place - below as f64;
        let mix = |from: u8, to: u8| {
            (f64::from(from) + (f64::from(to) - f64::from(from)) * part).round() as u8
        };
        Colour(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
    }
}

/// Returns the colour in which a text can be read on `background`.
pub(crate) fn ink_on(background: Colour) -> Colour {
    let Colour(red, green, blue) = background;
    let brightness = 0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue);
    if brightness > 150.0 { Colour::TITLE } else { Colour::WHITE }
}
