//! Tables for people: aligned columns that fit the terminal.

use std::io::{self, Write};

use crate::cli::screen::{Screen, Style};

/// The space between two columns.
const GAP: &str = "  ";
/// A flexible column is not made narrower than this.
const MIN_WIDTH: usize = 8;

/// Rows under a heading.
pub(crate) struct Table<'h> {
    columns: Vec<Column<'h>>,
    rows: Vec<Vec<Cell>>,
}

/// A column's heading, and how its cells stand under it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column<'h> {
    /// To the left.
    Left(&'h str),
    /// To the left, and cut when there is not enough room.
    Flexible(&'h str),
    /// To the right, for numbers.
    Right(&'h str),
}

/// What stands in a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cell {
    /// A text or a number.
    Plain(String),
    /// What stands for something that is no text, such as a value that is missing.
    Dim(String),
}

impl<'h> Table<'h> {
    pub(crate) fn new(columns: impl Into<Vec<Column<'h>>>) -> Self {
        Self { columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row, which has a cell for each column.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item: Into<Cell>>) {
        let row: Vec<Cell> = row.into_iter().map(|cell| cell.into().harmless()).collect();
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// How wide it is when all that can be cut is cut.
    pub(crate) fn min_width(&self) -> usize {
        total(&self.widths(0))
    }

    pub(crate) fn print(&self, screen: &mut Screen) -> io::Result<()> {
        let dim = |text: &str| screen.styled(Style::Dim, text);
        let lines = self.lines(screen.width(), &dim);
        lines.iter().try_for_each(|line| writeln!(screen, "{line}"))
    }

    /// The heading and the rows, no wider than `width`.
    fn lines(&self, width: Option<usize>, dim: &dyn Fn(&str) -> String) -> Vec<String> {
        let heading = self.columns.iter().map(|column| Cell::Plain(harmless(column.heading())));
        let heading: Vec<Cell> = heading.collect();
        let widths = self.widths(width.unwrap_or(usize::MAX));
        let rows = std::iter::once(&heading).chain(&self.rows);
        rows.map(|row| {
            let mut line = String::new();
            // Blanks are written when something follows.
            let mut blanks = 0;
            for ((cell, column), width) in row.iter().zip(&self.columns).zip(&widths) {
                let text = cut(cell.text(), *width);
                let room = width.saturating_sub(text.chars().count());
                let (before, after) = match column {
                    Column::Left(_) | Column::Flexible(_) => (0, room),
                    Column::Right(_) => (room, 0),
                };
                if text.is_empty() {
                    blanks += room + GAP.len();
                    continue;
                }
                line.push_str(&" ".repeat(blanks + before));
                line.push_str(&match cell {
                    Cell::Plain(_) => text,
                    Cell::Dim(_) => dim(&text),
                });
                blanks = after + GAP.len();
            }
            line
        })
        .collect()
    }

    fn widths(&self, limit: usize) -> Vec<usize> {
        let mut widths: Vec<usize> =
            self.columns.iter().map(|column| column.heading().chars().count()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.text().chars().count());
            }
        }
        while total(&widths) > limit {
            let cuttable = |column: &usize| {
                matches!(self.columns[*column], Column::Flexible(_)) && widths[*column] > MIN_WIDTH
            };
            let all = 0..widths.len();
            let Some(widest) = all.filter(cuttable).max_by_key(|column| widths[*column]) else {
                break;
            };
            widths[widest] -= 1;
        }
        widths
    }
}

/// How wide columns of these widths are together.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

impl<'h> Column<'h> {
    fn heading(&self) -> &'h str {
        match self {
            Self::Left(heading) | Self::Flexible(heading) | Self::Right(heading) => heading,
        }
    }
}

impl Cell {
    /// What it says.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Plain(text) | Self::Dim(text) => text,
        }
    }

    fn harmless(self) -> Self {
        match self {
            Self::Plain(text) => Self::Plain(harmless(&text)),
            Self::Dim(text) => Self::Dim(harmless(&text)),
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Plain(text)
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

    fn table() -> Table<'static> {
        let mut table =
            Table::new([Column::Flexible("TOOL"), Column::Right("SEEN"), Column::Left("X")]);
        table.push(["list_the_orders".to_owned(), "1,204".to_owned(), "é".to_owned()]);
        table.push(["read\u{1b}[31m".to_owned(), "7".to_owned(), String::new()]);
        table
    }

    fn lines_of(table: &Table<'_>, width: Option<usize>) -> Vec<String> {
        table.lines(width, &|text| format!("<{text}>"))
    }

    #[test]
    fn cells_stand_under_their_heading() {
        let lines = [
            "TOOL              SEEN  X",
            "list_the_orders  1,204  é",
            "read\u{fffd}[31m            7",
        ];
        assert_eq!(lines_of(&table(), None), lines);
        assert_eq!(lines_of(&table(), Some(25)), lines);
    }

    #[test]
    fn only_what_may_be_cut_is_cut() {
        let lines = ["TOOL         SEEN  X", "list_the_…  1,204  é", "read\u{fffd}[31m       7"];
        assert_eq!(lines_of(&table(), Some(20)), lines);
        let narrow = lines_of(&table(), Some(1));
        assert_eq!(narrow[1], "list_th…  1,204  é");
        assert_eq!(table().min_width(), narrow[1].chars().count());
    }

    #[test]
    fn what_is_dim_takes_no_more_room_than_its_text() {
        let mut table = Table::new([Column::Right("N"), Column::Flexible("TEXT")]);
        table.push([Cell::Dim("null".to_owned()), Cell::Plain(String::new())]);
        table.push([Cell::Plain("7".to_owned()), Cell::Dim("\"\"".to_owned())]);
        assert_eq!(lines_of(&table, None), ["   N  TEXT", "<null>", "   7  <\"\">"]);
    }
}
