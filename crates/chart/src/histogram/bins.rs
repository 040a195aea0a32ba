//! Divides values into ranges of equal width, whose edges are numbers that people would choose.

use crate::{numbers, quantity::Span, times, unit::Unit};

const FEWEST: f64 = 10.0;
const MOST: f64 = 60.0;

#[derive(Debug)]
pub(crate) struct Bins {
    /// What is shown: all ranges, and more if they have no width of their own.
    pub(crate) span: Span,
    start: f64,
    width: f64,
    /// How many values are in each range; its lower edge is within it, the upper is not.
    pub(crate) counts: Vec<usize>,
}

impl Bins {
    /// Divides `values`; `None` if there are none.
    pub(crate) fn of(values: &[f64], unit: Unit) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let span = Span::of(sorted.iter().copied(), unit)?;
        let (first, last) = (*sorted.first()?, *sorted.last()?);
        let reach = span.max - span.min;
        let (start, width) = match unit {
            // One bar, in the middle.
            _ if first >= last => (first - reach / FEWEST / 2.0, reach / FEWEST),
            Unit::Time => {
                let width =
                    width(&sorted, reach, |count| times::nice_length(reach as i64, count) as f64);
                (times::floor(first as i64, width as i64) as f64, width)
            }
            Unit::Whole(_) | Unit::Number(_) => {
                let width = width(&sorted, reach, |count| numbers::nice_step(reach, count));
                match unit {
                    // Each number has a bar of its own, which stands over it.
                    Unit::Whole(_) if width <= 1.0 => (first - 0.5, 1.0),
                    _ => ((first / width + 1e-9).floor() * width, width),
                }
            }
        };
        let count = ((last - start) / width).floor() as usize + 1;
        let mut counts = vec![0; count];
        for value in sorted {
            let index = ((value - start) / width).floor() as usize;
            counts[index.min(count - 1)] += 1;
        }
        let end = start + width * count as f64;
        let span = if first >= last { span } else { Span { min: start, max: end, unit } };
        Some(Self { span, start, width, counts })
    }

    /// Returns the lower edge of the range at `index`.
    pub(crate) fn edge(&self, index: usize) -> f64 {
        self.start + self.width * index as f64
    }
}

/// Returns the width of ranges by the rule of Freedman and Diaconis, or of Sturges if half of the
/// values are the same: the nearest width that people would choose, by `nice`.
fn width(sorted: &[f64], reach: f64, nice: impl Fn(usize) -> f64) -> f64 {
    let values = sorted.len() as f64;
    let quartile = |part: f64| sorted[((values - 1.0) * part).round() as usize];
    let width = 2.0 * (quartile(0.75) - quartile(0.25)) / values.cbrt();
    let ranges = if width > 0.0 { reach / width } else { values.log2() + 1.0 };
    let ranges = ranges.clamp(FEWEST, MOST) as usize;
    let width = nice(ranges);
    // What people would choose can be more than twice as wide.
    if reach / width < FEWEST { nice(ranges * 2) } else { width }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::Grouping;

    const WHOLE: Unit = Unit::Whole(Grouping::Commas);
    const NUMBER: Unit = Unit::Number(Grouping::Commas);

    fn edges(bins: &Bins) -> Vec<f64> {
        (0..=bins.counts.len()).map(|index| bins.edge(index)).collect()
    }

    #[test]
    fn every_value_is_in_one_range() {
        let values: Vec<f64> = (0..1_000).map(|n| (f64::from(n) * 0.7).sin() * 3.0).collect();
        let bins = Bins::of(&values, NUMBER).unwrap();
        assert_eq!(bins.counts.iter().sum::<usize>(), 1_000);
        assert!((10..=61).contains(&bins.counts.len()));
        for (index, count) in bins.counts.iter().enumerate() {
            let range = bins.edge(index)..bins.edge(index + 1);
            assert_eq!(values.iter().filter(|value| range.contains(value)).count(), *count);
        }
    }

    #[test]
    fn few_whole_numbers_have_a_bar_each() {
        let bins = Bins::of(&[1.0, 2.0, 2.0, 5.0], WHOLE).unwrap();
        assert_eq!(bins.counts, [1, 2, 0, 0, 1]);
        assert_eq!(edges(&bins), [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
    }

    #[test]
    fn the_number_of_ranges_is_bounded() {
        let outlier = (0..10_000).map(f64::from).chain([1e12]).collect::<Vec<_>>();
        assert!(Bins::of(&outlier, WHOLE).unwrap().counts.len() <= 61);
        let mostly_equal = [vec![5.0; 1_000], vec![1.0, 9.5]].concat();
        assert!((5..=20).contains(&Bins::of(&mostly_equal, NUMBER).unwrap().counts.len()));
    }

    #[test]
    fn equal_values_are_one_bar_in_the_middle() {
        for (value, unit) in [(0.0, NUMBER), (7.0, WHOLE), (1e15, Unit::Time), (-1e300, NUMBER)] {
            let bins = Bins::of(&[value; 3], unit).unwrap();
            assert_eq!(bins.counts, [3]);
            assert!(bins.span.min <= value && value <= bins.span.max);
        }
        assert!(Bins::of(&[], NUMBER).is_none());
    }

    #[test]
    fn ranges_of_times_begin_where_days_do() {
        let day = times::DAY as f64;
        let values: Vec<f64> = (3..33).map(|n| f64::from(n) * day + 5.0).collect();
        let bins = Bins::of(&values, Unit::Time).unwrap();
        assert!(edges(&bins).iter().all(|edge| edge % day == 0.0));
        assert_eq!(bins.counts.iter().sum::<usize>(), 30);
    }
}
