//! The distinct values of a column, named and in order.

mod known;

use std::collections::HashMap;

use crate::{
    Column,
    numbers::{self, Grouping},
    quantity,
    ranges::{self, Ranges, Room},
    texts, times,
    unit::Unit,
};

#[derive(Debug)]
pub(crate) struct Categories {
    pub(crate) names: Vec<String>,
    /// The index of each row's category.
    pub(crate) of_row: Vec<usize>,
    pub(crate) order: Order,
    /// What each category is a range of, such as `week`, if values that differ share one.
    pub(crate) range: Option<String>,
}

/// Why categories stand in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// They are numbers or times: each can be told from its neighbours.
    Scale,
    /// They are texts whose order readers know.
    Known,
    /// That of the rows.
    Rows,
}

impl Categories {
    /// Every distinct value on its own.
    pub(crate) fn of(column: &Column) -> Self {
        match column {
            Column::Numbers(values) => {
                let names = number_names(column);
                ordered(&finite(values), f64::total_cmp, number_key, names)
            }
            Column::Times(values) => ordered(values, i64::cmp, |time| time as u64, times::names),
            Column::Texts(values) => by_appearance(values),
        }
    }

    /// Numbers and times in ranges, where there is no room for each.
    pub(crate) fn within(room: Room, column: &Column) -> Self {
        match column {
            Column::Numbers(values) => {
                let each = Self::of(column);
                if each.names.len() <= room.values {
                    return each;
                }
                let finite = finite(values);
                let ends = finite
                    .iter()
                    .flatten()
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), value| {
                        (min.min(*value), max.max(*value))
                    });
                let unit = quantity::unit(column);
                let ranges = ranges::of_numbers(ends.0, ends.1, unit, room.ranges);
                let names = |starts: &[f64]| match starts {
                    [first, second, ..] => {
                        numbers::labels(starts, second - first, grouping(column))
                    }
                    _ => number_names(column)(starts),
                };
                gathered(&finite, ranges, names)
            }
            Column::Times(values) => {
                let known: Vec<Option<i64>> =
                    values.iter().map(|time| time.filter(|it| times::is_known(*it))).collect();
                let mut distinct: Vec<i64> = known.iter().flatten().copied().collect();
                distinct.sort_unstable();
                distinct.dedup();
                match times::ranges::ranges(&distinct, room) {
                    Some(ranges) => gathered(&known, ranges, times::names),
                    None => Self::of(column),
                }
            }
            Column::Texts(_) => Self::of(column),
        }
    }

    /// Returns the one category of a column that is not there.
    pub(crate) fn none(rows: usize) -> Self {
        let (names, of_row) = (vec![String::new()], vec![0; rows]);
        Self { names, of_row, order: Order::Scale, range: None }
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

/// Texts in the order of the rows, or in their own if they have one; one that is missing comes last
/// there.
fn by_appearance(values: &[Option<String>]) -> Categories {
    let mut distinct: Vec<Option<&str>> = Vec::new();
    let mut known: HashMap<Option<&str>, usize> = HashMap::new();
    let of_row = values.iter().map(|value| {
        *known.entry(value.as_deref()).or_insert_with(|| {
            distinct.push(value.as_deref());
            distinct.len() - 1
        })
    });
    let mut of_row: Vec<usize> = of_row.collect();
    let present: Vec<&str> = distinct.iter().flatten().copied().collect();
    let Some(keys) = known::keys(&present) else {
        let names = distinct.into_iter().map(texts::name).collect();
        return Categories { of_row, names, order: Order::Rows, range: None };
    };
    let key_of: HashMap<&str, Vec<u64>> = present.into_iter().zip(keys).collect();
    let mut places: Vec<usize> = (0..distinct.len()).collect();
    places.sort_by_key(|place| {
        let key = distinct[*place].map(|text| &key_of[text]);
        (key.is_none(), key)
    });
    let names = places.iter().map(|place| texts::name(distinct[*place])).collect();
    let mut new_place = vec![0; places.len()];
    for (new, old) in places.into_iter().enumerate() {
        new_place[old] = new;
    }
    for category in &mut of_row {
        *category = new_place[*category];
    }
    Categories { of_row, names, order: Order::Known, range: None }
}

fn finite(values: &[Option<f64>]) -> Vec<Option<f64>> {
    values.iter().map(|number| number.filter(|n| n.is_finite())).collect()
}

/// Equal for zero of either sign.
fn number_key(number: f64) -> u64 {
    (number + 0.0).to_bits()
}

fn number_names(column: &Column) -> impl Fn(&[f64]) -> Vec<String> {
    let grouping = grouping(column);
    move |values| values.iter().map(|number| numbers::exact(*number, grouping)).collect()
}

fn grouping(column: &Column) -> Grouping {
    match quantity::unit(column) {
        Unit::Whole(grouping) | Unit::Number(grouping) => grouping,
        Unit::Time => Grouping::Commas,
    }
}

/// One category for each range, named by its start; what is missing comes last.
fn gathered<T: PartialOrd + Copy>(
    values: &[Option<T>],
    ranges: Ranges<T>,
    names: impl Fn(&[T]) -> Vec<String>,
) -> Categories {
    let mut names = names(&ranges.starts);
    let missing = names.len();
    let index = |value: &Option<T>| value.map_or(missing, |value| ranges.index(value));
    let of_row: Vec<usize> = values.iter().map(index).collect();
    if of_row.contains(&missing) {
        names.push(texts::name(None));
    }
    Categories { names, of_row, order: Order::Scale, range: ranges.name }
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
    Categories { names, of_row, order: Order::Scale, range: None }
}
