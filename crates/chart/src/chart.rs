//! What is to be drawn: a kind, a title, and a column for each role.

use std::{fmt, str::FromStr};

use crate::ChartError;

/// A chart to draw. All columns have the same number of rows.
#[derive(Debug, Clone)]
pub struct Chart {
    /// What it shows.
    pub kind: ChartKind,
    /// Stands above the chart.
    pub title: String,
    /// Stands below the title; such as which rows these are.
    pub subtitle: Option<String>,
    /// What lies along the bottom: categories, times or numbers. All that a histogram takes.
    pub x: Axis,
    /// The heights of bars, lines and dots; the categories of a heatmap's rows. Bars and
    /// lines without it count rows.
    pub y: Option<Axis>,
    /// What colours tell apart, in bars, lines and dots.
    pub series: Option<Axis>,
    /// The numbers that colour a heatmap's cells; without it they count rows.
    pub value: Option<Axis>,
    /// Whether the rows stand in an order that was asked for. If not, bars of texts are sorted.
    pub rows_are_sorted: bool,
}

/// The kinds of chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartKind {
    /// One bar for each category, which is a range if there are too many numbers or times: grouped
    /// by series, or stacked if there are many.
    Bar,
    /// One line for each series, over times, numbers or categories in the order of the rows: through
    /// the means, where there are many rows for each.
    Line,
    /// One dot for each row, or for rows that lie together if there are many.
    Scatter,
    /// How many rows fall into each range of `x`.
    Histogram,
    /// One coloured cell for each pair of categories.
    Heatmap,
}

/// A column with its name, which carries the unit if there is one.
#[derive(Debug, Clone)]
pub struct Axis {
    /// Stands beside the axis or above the legend.
    pub name: String,
    /// One value for each row.
    pub values: Column,
}

/// The values of a column. What is not finite counts as missing.
#[derive(Debug, Clone)]
pub enum Column {
    /// Numbers of any kind.
    Numbers(Vec<Option<f64>>),
    /// Microseconds since 1970, UTC.
    Times(Vec<Option<i64>>),
    /// Everything else, as text.
    Texts(Vec<Option<String>>),
}

impl ChartKind {
    /// Every kind, in the order in which they are listed for people.
    pub const ALL: [ChartKind; 5] = [
        ChartKind::Bar,
        ChartKind::Line,
        ChartKind::Scatter,
        ChartKind::Histogram,
        ChartKind::Heatmap,
    ];

    /// Returns the name that is also parsed.
    pub fn name(self) -> &'static str {
        match self {
            ChartKind::Bar => "bar",
            ChartKind::Line => "line",
            ChartKind::Scatter => "scatter",
            ChartKind::Histogram => "histogram",
            ChartKind::Heatmap => "heatmap",
        }
    }
}

impl fmt::Display for ChartKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for ChartKind {
    type Err = ChartError;

    fn from_str(name: &str) -> Result<Self, ChartError> {
        let kind = Self::ALL.into_iter().find(|kind| kind.name() == name);
        kind.ok_or_else(|| ChartError::UnknownKind(name.to_owned()))
    }
}

impl Column {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Numbers(values) => values.len(),
            Column::Times(values) => values.len(),
            Column::Texts(values) => values.len(),
        }
    }

    /// Tells whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Says what the column holds, for an error.
    pub(crate) fn holds(&self) -> &'static str {
        match self {
            Column::Numbers(_) => "numbers",
            Column::Times(_) => "times",
            Column::Texts(_) => "text",
        }
    }
}

impl Chart {
    /// Refuses what no kind of chart can draw, and columns that this kind has no place for.
    pub(crate) fn check(&self) -> Result<(), ChartError> {
        let takes: &[&str] = match self.kind {
            ChartKind::Bar | ChartKind::Line | ChartKind::Scatter => &["y", "series"],
            ChartKind::Histogram => &[],
            ChartKind::Heatmap => &["y", "value"],
        };
        let others = [("y", &self.y), ("series", &self.series), ("value", &self.value)];
        for (role, axis) in others {
            let Some(axis) = axis else { continue };
            if !takes.contains(&role) {
                return Err(ChartError::NotTaken { kind: self.kind, role });
            }
            if axis.values.len() != self.x.values.len() {
                return Err(ChartError::UnequalColumns {
                    name: axis.name.clone(),
                    rows: axis.values.len(),
                    x: self.x.name.clone(),
                    x_rows: self.x.values.len(),
                });
            }
        }
        if self.x.values.is_empty() { Err(ChartError::NoRows) } else { Ok(()) }
    }

    /// Returns `y`, which this kind cannot do without.
    pub(crate) fn required_y(&self, needs: &'static str) -> Result<&Axis, ChartError> {
        self.y.as_ref().ok_or(ChartError::Missing { kind: self.kind, role: "y", needs })
    }

    /// Says that `axis` does not hold what its role needs.
    pub(crate) fn wrong_type(
        &self,
        role: &'static str,
        axis: &Axis,
        needs: &'static str,
    ) -> ChartError {
        ChartError::WrongType {
            name: axis.name.clone(),
            holds: axis.values.holds(),
            role,
            kind: self.kind,
            needs,
        }
    }
}
