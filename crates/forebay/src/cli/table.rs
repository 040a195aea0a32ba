//! Tables for people: aligned columns that fit the terminal.

use std::{
    collections::HashMap,
    io::{self, Write},
};

use forebay_text::is_deceptive;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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
        let cuts: Vec<Cut> =
            (0..widths.len()).map(|place| self.cut(place, widths[place])).collect();
        let rows = std::iter::once(&heading).chain(&self.rows);
        rows.map(|row| {
            let mut line = String::new();
            // Blanks are written when something follows.
            let mut blanks = 0;
            for (place, (cell, column)) in row.iter().zip(&self.columns).enumerate() {
                let width = widths[place];
                let text = match cuts[place] {
                    Cut::End => cut(cell.text(), width),
                    Cut::Middle => cut_in_the_middle(cell.text(), width),
                };
                let room = width.saturating_sub(text.width());
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
            self.columns.iter().map(|column| column.heading().width()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.text().width());
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

    /// Where the cells of a column are cut, so that those that differ can still be told apart.
    fn cut(&self, place: usize, width: usize) -> Cut {
        let mut whole: HashMap<String, &str> = HashMap::new();
        for text in self.rows.iter().map(|row| row[place].text()) {
            if *whole.entry(cut(text, width)).or_insert(text) != text {
                return Cut::Middle;
            }
        }
        Cut::End
    }
}

/// Where a text is cut that is too wide.
#[derive(Debug, Clone, Copy)]
enum Cut {
    End,
    /// Paths and addresses tend to differ at their ends.
    Middle,
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

/// A text that takes at most `width` columns of a terminal.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    format!("{}…", fitting(text.chars(), width.saturating_sub(1)))
}

/// The name of a server or a tool, as much of it as a row has room for. Its own programs choose it, and
/// one that is very long would make all rows as wide.
pub(crate) fn brief_name(name: &str) -> String {
    const MOST: usize = 40;
    cut_in_the_middle(name, MOST)
}

fn cut_in_the_middle(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let end: String = fitting(text.chars().rev(), room - room / 3).chars().rev().collect();
    format!("{}…{end}", fitting(text.chars(), room / 3))
}

/// The first of `letters` that fit.
fn fitting(letters: impl Iterator<Item = char>, width: usize) -> String {
    let mut room = width;
    let fits = |letter: &char| match room.checked_sub(letter.width().unwrap_or_default()) {
        Some(rest) => {
            room = rest;
            true
        }
        None => false,
    };
    letters.take_while(fits).collect()
}

/// A text from the data, with nothing in it that a terminal takes for more than text.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().map(|c| if is_deceptive(c) { '\u{fffd}' } else { c }).collect()
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
    fn wide_letters_take_two_columns() {
        let mut table = Table::new([Column::Flexible("NAME"), Column::Left("N")]);
        for name in ["東京都庁", "Oslo", "🚀 start"] {
            table.push([name.to_owned(), "1".to_owned()]);
        }
        let lines = ["NAME      N", "東京都庁  1", "Oslo      1", "🚀 start  1"];
        assert_eq!(lines_of(&table, None), lines);
        assert_eq!(cut("東京都庁", 6), "東京…");
    }

    #[test]
    fn what_is_cut_can_still_be_told_apart() {
        let mut table = Table::new([Column::Flexible("FILE")]);
        for name in ["/home/me/notes/a.txt", "/home/me/notes/b.txt"] {
            table.push([name.to_owned()]);
        }
        assert_eq!(lines_of(&table, Some(12)), ["FILE", "/ho…es/a.txt", "/ho…es/b.txt"]);
    }

    #[test]
    fn a_name_that_is_very_long_is_cut() {
        let cut = brief_name(&format!("first_{}_last", "x".repeat(5_000)));
        assert_eq!(cut.width(), 40);
        assert!(
            cut.starts_with("first_x") && cut.contains('…') && cut.ends_with("x_last"),
            "{cut}"
        );
        assert_eq!(brief_name("list_issues"), "list_issues");
    }

    #[test]
    fn what_is_dim_takes_no_more_room_than_its_text() {
        let mut table = Table::new([Column::Right("N"), Column::Flexible("TEXT")]);
        table.push([Cell::Dim("null".to_owned()), Cell::Plain(String::new())]);
        table.push([Cell::Plain("7".to_owned()), Cell::Dim("\"\"".to_owned())]);
        assert_eq!(lines_of(&table, None), ["   N  TEXT", "<null>", "   7  <\"\">"]);
    }
}
