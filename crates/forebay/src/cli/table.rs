//! Tables for people: aligned columns that fit the terminal.

use std::io::{self, Write};

use crate::cli::screen::Screen;

/// The space between two columns.
const GAP: &str = "  ";
/// A flexible column is not made narrower than this.
const MIN_WIDTH: usize = 8;

/// Rows under a heading.
pub(crate) struct Table<const N: usize> {
    columns: [Column; N],
    rows: Vec<[String; N]>,
}

/// A column's heading, and how its cells stand under it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column {
    /// To the left.
    Left(&'static str),
    /// To the left, and cut when there is not enough room.
    Flexible(&'static str),
    /// To the right, for numbers.
    Right(&'static str),
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(columns: [Column; N]) -> Self {
        Self { columns, rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: [String; N]) {
        self.rows.push(row.map(|cell| harmless(&cell)));
    }

    pub(crate) fn print(&self, screen: &mut Screen) -> io::Result<()> {
        self.lines(screen.width()).iter().try_for_each(|line| writeln!(screen, "{line}"))
    }

    /// The heading and the rows, no wider than `width`.
    fn lines(&self, width: Option<usize>) -> Vec<String> {
        let heading = self.columns.map(|column| column.heading().to_owned());
        let widths = self.widths(width.unwrap_or(usize::MAX));
        let rows = std::iter::once(&heading).chain(&self.rows);
        rows.map(|row| {
            let cells = row.iter().zip(self.columns).zip(widths).map(|((cell, column), width)| {
                let cell = cut(cell, width);
                match column {
                    Column::Left(_) | Column::Flexible(_) => format!("{cell:width$}"),
                    Column::Right(_) => format!("{cell:>width$}"),
                }
            });
            cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
        })
        .collect()
    }

    fn widths(&self, limit: usize) -> [usize; N] {
        let mut widths = self.columns.map(|column| column.heading().chars().count());
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let total = |widths: &[usize; N]| widths.iter().sum::<usize>() + GAP.len() * (N - 1);
        while total(&widths) > limit {
            let cuttable = |column: &usize| {
                matches!(self.columns[*column], Column::Flexible(_)) && widths[*column] > MIN_WIDTH
            };
            let Some(widest) = (0..N).filter(cuttable).max_by_key(|column| widths[*column]) else {
                break;
            };
            widths[widest] -= 1;
        }
        widths
    }
}

impl Column {
    fn heading(self) -> &'static str {
        match self {
            Self::Left(heading) | Self::Flexible(heading) | Self::Right(heading) => heading,
        }
    }
}

/// A text of at most `width` characters.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// A text from the data, with nothing in it that a terminal takes for more than text.
pub(crate) fn harmless(text: &str) -> String {
    let is_odd = |character: char| {
        character.is_control()
            || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    text.chars().map(|c| if is_odd(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table<3> {
        let mut table =
            Table::new([Column::Flexible("TOOL"), Column::Right("SEEN"), Column::Left("X")]);
        table.push(["list_the_orders".to_owned(), "1,204".to_owned(), "é".to_owned()]);
        table.push(["read\u{1b}[31m".to_owned(), "7".to_owned(), String::new()]);
        table
    }

    #[test]
    fn cells_stand_under_their_heading() {
        let lines = [
            "TOOL              SEEN  X",
            "list_the_orders  1,204  é",
            "read\u{fffd}[31m            7",
        ];
        assert_eq!(table().lines(None), lines);
        assert_eq!(table().lines(Some(25)), lines);
    }

    #[test]
    fn only_what_may_be_cut_is_cut() {
        let lines = ["TOOL         SEEN  X", "list_the_…  1,204  é", "read\u{fffd}[31m       7"];
        assert_eq!(table().lines(Some(20)), lines);
        let narrow = table().lines(Some(1));
        assert_eq!(narrow[1], "list_th…  1,204  é");
    }
}
