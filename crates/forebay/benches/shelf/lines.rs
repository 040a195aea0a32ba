//! A table with a column for each shelf, and how each compares with the first.

use std::fmt::Write as _;

use crate::common::target;

/// How much more a full shelf may cost than the first one.
const GROWTH: &str = "≤ 1.5";

/// A line of the table.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) what: String,
    pub(crate) unit: &'static str,
    /// For each shelf.
    pub(crate) figures: Vec<f64>,
    pub(crate) growth: Growth,
}

/// Whether a figure may grow with the shelf.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growth {
    Judged,
    /// It has to look at everything.
    Free,
}

pub(crate) fn write(shelves: &[String], lines: &[Line], report: &mut String) {
    let _ = write!(report, "\n  {:<42}", "datasets on the shelf");
    for name in shelves {
        let _ = write!(report, "{name:>22}");
    }
    let _ = writeln!(report);
    for line in lines {
        let _ = write!(report, "  {:<42}", line.what);
        for (index, figure) in line.figures.iter().enumerate() {
            let figure_and_unit = format!("{figure:.1} {}", line.unit);
            let _ = match index {
                0 => write!(report, "{figure_and_unit:>22}"),
                _ => write!(report, "{figure_and_unit:>12} ({:>5.1} ×)", figure / line.figures[0]),
            };
        }
        let _ = writeln!(report);
    }
    for line in lines.iter().filter(|line| line.growth == Growth::Judged) {
        let most = line.figures.iter().copied().fold(0.0, f64::max);
        let what = format!("{}, the most / {}", line.what, shelves[0]);
        target(report, &what, most / line.figures[0], GROWTH);
    }
}
