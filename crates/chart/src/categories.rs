//! The distinct values of a column, named and in order.

use std::collections::HashMap;

use crate::{
    Column,
    numbers::{self, Grouping},
    quantity::{self, Unit},
    texts, times,
};

#[derive(Debug)]
pub(crate) struct Categories {
    pub(crate) names: Vec<String>,
    /// The index of each row's category.
    pub(crate) of_row: Vec<usize>,
    /// Numbers and times have an order of their own; texts are in the order of the rows.
    pub(crate) are_ordered: bool,
}

impl Categories {
    pub(crate) fn of(column: &Column) -> Self {
        match column {
            Column::Numbers(values) => {
                let grouping = match quantity::unit(column) {
                    Unit::Whole(grouping) | Unit::Number(grouping) => grouping,
                    Unit::Time => Grouping::Commas,
                };
                let names = |distinct: &[f64]| {
                    distinct.iter().map(|number| numbers::exact(*number, grouping)).collect()
                };
                let finite: Vec<Option<f64>> =
                    values.iter().map(|number| number.filter(|n| n.is_finite())).collect();
                ordered(&finite, f64::total_cmp, |number| (number + 0.0).to_bits(), names)
            }
            Column::Times(values) => ordered(values, i64::cmp, |time| time as u64, times::names),
            Column::Texts(values) => by_appearance(values),
        }
    }

    /// Returns the one category of a column that is not there.
    pub(crate) fn none(rows: usize) -> Self {
        Self { names: vec![String::new()], of_row: vec![0; rows], are_ordered: true }
    }
}

/// Returns the indexes of the `most` largest of `weights`, in their old order.
pub(crate) fn largest(weights: &[f64], most: usize) -> Vec<usize> {
    let mut indexes: Vec<usize> = (0..weights.len()).collect();
    // A stable sort: of equals the first are kept.
    indexes.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
    indexes.truncate(most);
    indexes.sort_unstable();
    indexes
}

fn by_appearance(values: &[Option<String>]) -> Categories {
    let mut names = Vec::new();
    let mut known: HashMap<Option<&str>, usize> = HashMap::new();
    let of_row = values.iter().map(|value| {
        *known.entry(value.as_deref()).or_insert_with(|| {
            names.push(texts::name(value.as_deref()));
            names.len() - 1
        })
    });
    Categories { of_row: of_row.collect(), names, are_ordered: false }
}

/// Sorts the distinct values; those that are missing come last. `key` is equal for equal values.
fn ordered<T: Copy>(
    values: &[Option<T>],
    order: fn(&T, &T) -> std::cmp::Ordering,
    key: fn(T) -> u64,
    names: impl Fn(&[T]) -> Vec<String>,
) -> Categories {
    let mut distinct: Vec<T> = values.iter().flatten().copied().collect();
    distinct.sort_by(order);
    distinct.dedup_by_key(|value| key(*value));
    let index: HashMap<u64, usize> =
        distinct.iter().enumerate().map(|(index, value)| (key(*value), index)).collect();
    let mut names = names(&distinct);
    let missing = distinct.len();
    let of_row: Vec<usize> = values
        .iter()
        .map(|value| value.and_then(|value| index.get(&key(value)).copied()).unwrap_or(missing))
        .collect();
    if of_row.contains(&missing) {
        names.push(texts::name(None));
    }
    Categories { names, of_row, are_ordered: true }
}
