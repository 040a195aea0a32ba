//! Ranges that gather the values of an axis, where each value on its own would be too many.

use crate::{numbers, unit::Unit};

/// Ranges next to each other, in their order.
#[derive(Debug, PartialEq)]
pub(crate) struct Ranges<T> {
    /// Where each begins; it ends where the next one begins.
    pub(crate) starts: Vec<T>,
    /// What one is called, such as `week`, if values that differ share one.
    pub(crate) name: Option<String>,
}

/// How much of an axis has room.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// So many values that have an order, one by one.
    pub(crate) values: usize,
    /// So many where each one must be named.
    pub(crate) named: usize,
    /// So many ranges, if there are more values.
    pub(crate) ranges: usize,
}

impl<T: PartialOrd + Copy> Ranges<T> {
    /// Returns the index of the range that `value` lies in.
    pub(crate) fn index(&self, value: T) -> usize {
        self.starts.partition_point(|start| *start <= value).saturating_sub(1)
    }
}

/// Returns at most about `most` ranges from `min` to `max`.
pub(crate) fn of_numbers(min: f64, max: f64, unit: Unit, most: usize) -> Ranges<f64> {
    let step = numbers::nice_step(max - min, most);
    let step = match unit {
        Unit::Whole(_) => step.max(1.0),
        Unit::Number(_) | Unit::Time => step,
    };
    let first = (min / step + 1e-6).floor() * step;
    let name = format!("range of {}", numbers::compact(step));
    Ranges { starts: numbers::multiples(first, max, step), name: Some(name) }
}
