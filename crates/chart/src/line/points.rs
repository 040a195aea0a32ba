//! The points of lines: the rows themselves, their means where a line would be a block of ink, or how
//! many there are.

use crate::{
    Column, numbers,
    quantity::{self, Span},
    ranges::{self, Ranges, Room},
    series::Series,
    times,
};

/// All lines together have about so many points: more would not show on the page, but make its file
/// long.
const MOST_POINTS: usize = 15_000;
/// A line of so many points fills the width of the page.
const MOST_ON_A_LINE: usize = 1_000;
/// Where rows are counted: values one by one, unless there are more than these, then ranges. Ranges as
/// narrow as the page allows would hold a row or two each.
const COUNTED: Room = Room { values: 300, named: 40, ranges: 120 };

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    /// Missing where no row has one, which interrupts the line.
    pub(super) y: Option<f64>,
    /// How many rows it is the mean of.
    rows: usize,
}

#[derive(Debug)]
pub(super) struct Points {
    /// The points of each series, from the left to the right.
    pub(super) lines: Vec<Vec<Point>>,
    /// What rows share that are one point, if not the same value of `x`.
    range: Option<String>,
    /// Whether a point is a number of rows.
    are_counts: bool,
}

impl Points {
    /// Takes the mean of the rows of a series at the same `x`, or in the same range of `x` if there
    /// are more values than have room.
    pub(super) fn means(
        series: &[Series],
        x: &[Option<f64>],
        y: &[Option<f64>],
        column: &Column,
    ) -> Self {
        let most = (MOST_POINTS / series.len().max(1)).min(MOST_ON_A_LINE);
        let distinct = distinct(x);
        let is_crowded = distinct.len() > most;
        let ranges = is_crowded.then(|| ranges(&distinct, column, most));
        let line = |series: &Series| line(series, x, y, ranges.as_ref());
        let lines = series.iter().map(line).collect();
        Self { lines, range: ranges.and_then(|ranges| ranges.name), are_counts: false }
    }

    /// Counts the rows of a series at each value of `x`, or in each range of `x` if there are many
    /// values. Where a series has none, its line goes down to zero.
    pub(super) fn counts(series: &[Series], x: &[Option<f64>], column: &Column) -> Self {
        let most = MOST_POINTS / series.len().max(1);
        let Ranges { starts, name } = counted(distinct(x), column, most);
        let ranges = Ranges { starts, name: None };
        let line = |series: &Series| {
            let mut counts = vec![0.0; ranges.starts.len()];
            for x in series.rows.iter().filter_map(|row| x[*row]) {
                counts[ranges.index(x)] += 1.0;
            }
            let points = ranges.starts.iter().zip(counts);
            points.map(|(x, count)| Point { x: *x, y: Some(count), rows: 1 }).collect()
        };
        Self { lines: series.iter().map(line).collect(), range: name, are_counts: true }
    }

    /// True if no point is a mean.
    pub(super) fn are_exact(&self) -> bool {
        self.lines.iter().flatten().all(|point| point.rows <= 1)
    }

    /// Says what the points are, if they are no rows.
    pub(super) fn note(&self, x: &str) -> Option<String> {
        if self.are_counts {
            return self.range.as_ref().map(|range| format!("one point per {range}"));
        }
        if self.are_exact() {
            return None;
        }
        let counts =
            || self.lines.iter().flatten().map(|point| point.rows).filter(|rows| *rows > 0);
        let (least, most) = (counts().min()?, counts().max()?);
        let up_to = if least == most { "" } else { "up to " };
        let per = self.range.as_deref().unwrap_or(x);
        Some(format!("mean of {up_to}{} rows per {per}", numbers::count(most)))
    }
}

/// The values there are, in their order.
fn distinct(x: &[Option<f64>]) -> Vec<f64> {
    let mut distinct: Vec<f64> = x.iter().flatten().copied().collect();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    distinct
}

/// What rows are counted in, at most about `most`: ranges of the calendar, or of numbers if there are
/// too many, or each value by itself.
fn counted(distinct: Vec<f64>, column: &Column, most: usize) -> Ranges<f64> {
    let Room { values, named, ranges } = COUNTED;
    let room = Room { values: values.min(most), named, ranges: ranges.min(most) };
    if let Column::Times(_) = column {
        let times: Vec<i64> = distinct.iter().map(|time| *time as i64).collect();
        if let Some(Ranges { starts, name }) = times::ranges::ranges(&times, room) {
            return Ranges { starts: starts.into_iter().map(|start| start as f64).collect(), name };
        }
    }
    if distinct.len() <= room.values {
        return Ranges { starts: distinct, name: None };
    }
    self::ranges(&distinct, column, room.ranges)
}

fn ranges(distinct: &[f64], column: &Column, most: usize) -> Ranges<f64> {
    if let Column::Times(_) = column {
        let times: Vec<i64> = distinct.iter().map(|time| *time as i64).collect();
        let room = Room { values: 0, named: 0, ranges: most };
        if let Some(Ranges { starts, name }) = times::ranges::ranges(&times, room) {
            return Ranges { starts: starts.into_iter().map(|start| start as f64).collect(), name };
        }
    }
    let span = Span::of(distinct.iter().copied(), quantity::unit(column));
    span.map_or(Ranges { starts: Vec::new(), name: None }, |span| {
        ranges::of_numbers(span.min, span.max, span.unit, most)
    })
}

fn line(
    series: &Series,
    x: &[Option<f64>],
    y: &[Option<f64>],
    ranges: Option<&Ranges<f64>>,
) -> Vec<Point> {
    let rows = series.rows.iter().filter_map(|row| Some((x[*row]?, y[*row])));
    let mut rows: Vec<(f64, Option<f64>)> = rows.collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let are_one = |a: &(f64, Option<f64>), b: &(f64, Option<f64>)| match ranges {
        Some(ranges) => ranges.index(a.0) == ranges.index(b.0),
        None => a.0.total_cmp(&b.0).is_eq(),
    };
    rows.chunk_by(are_one).map(point).collect()
}

/// The mean of rows that have a value; the place of the rows if none has.
fn point(rows: &[(f64, Option<f64>)]) -> Point {
    let mut point = Point { x: rows[0].0, y: None, rows: 0 };
    for (x, y) in rows.iter().filter_map(|(x, y)| Some((*x, (*y)?))) {
        point.rows += 1;
        // Step by step, so that no sum is too large and the mean of equals is exact.
        let step = |mean: f64, value: f64| mean + (value - mean) / point.rows as f64;
        point.x = if point.rows == 1 { x } else { step(point.x, x) };
        point.y = Some(point.y.map_or(y, |mean| step(mean, y)));
    }
    point
}
