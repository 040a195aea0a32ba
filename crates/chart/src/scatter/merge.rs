//! Makes one dot of those that lie together on the page.

use std::collections::BTreeMap;

use crate::palette::Colour;

/// How long the sides are at first of the squares whose dots become one.
const FINEST: f64 = 4.0;

pub(super) struct Merged {
    pub(super) dots: Vec<Dot>,
    /// How long the sides are of the squares that they stand for.
    pub(super) size: f64,
}

pub(super) struct Dot {
    /// The middle of all that it stands for.
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) colour: Colour,
    /// How many it stands for.
    pub(super) rows: usize,
}

/// Merges dots of one colour that lie in the same square, in squares that are so large that there
/// are at most `most`.
pub(super) fn merged(dots: &[(f64, f64, Colour)], most: usize) -> Merged {
    let mut size = FINEST;
    loop {
        let mut squares: BTreeMap<(usize, i64, i64), Dot> = BTreeMap::new();
        let mut colours: Vec<Colour> = Vec::new();
        for (x, y, colour) in dots {
            let layer = colours.iter().position(|known| known == colour).unwrap_or_else(|| {
                colours.push(*colour);
                colours.len() - 1
            });
            let square = (layer, (x / size).floor() as i64, (y / size).floor() as i64);
            let none = Dot { x: 0.0, y: 0.0, colour: *colour, rows: 0 };
            let dot = squares.entry(square).or_insert(none);
            dot.rows += 1;
            dot.x += (x - dot.x) / dot.rows as f64;
            dot.y += (y - dot.y) / dot.rows as f64;
        }
        if squares.len() <= most {
            return Merged { dots: squares.into_values().collect(), size };
        }
        size *= 1.25;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::SERIES;

    #[test]
    fn every_row_is_in_one_dot_and_the_dots_are_few() {
        let place = |n: u32| (f64::from(n * 7_919 % 900), f64::from(n * 104_729 % 500));
        let dots: Vec<(f64, f64, Colour)> =
            (0..20_000).map(place).enumerate().map(|(n, (x, y))| (x, y, SERIES[n % 3])).collect();
        let merged = merged(&dots, 2_500);
        assert!((1_000..=2_500).contains(&merged.dots.len()), "{}", merged.dots.len());
        assert_eq!(merged.dots.iter().map(|dot| dot.rows).sum::<usize>(), 20_000);
    }
}
