//! A table of a web page in the making: its cells, then its columns.

use serde_json::{Map, Value};

use super::{Table, collapsed, is_inline, tokens::Tag};

/// Spans may make a few cells many; a table with more than this is left alone.
const MAX_CELLS: usize = 1_000_000;

/// The rows of a table, in the order of the page.
#[derive(Default)]
pub(super) struct Grid {
    /// Other tables are in its cells.
    pub(super) holds_tables: bool,
    pub(super) caption: String,
    rows: Vec<Row>,
    part: Part,
    /// Where text goes.
    place: Place,
}

#[derive(Default)]
struct Row {
    cells: Vec<Cell>,
    part: Part,
}

struct Cell {
    text: String,
    is_header: bool,
    columns: usize,
    rows: usize,
}

/// Which part of a table a row is in.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    Head,
    #[default]
    Body,
    Foot,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Nowhere,
    Caption,
    Cell,
}

impl Grid {
    pub(super) fn write(&mut self, text: &str) {
        match self.place {
            Place::Caption => self.caption.push_str(text),
            Place::Cell => {
                if let Some(cell) = self.rows.last_mut().and_then(|row| row.cells.last_mut()) {
                    cell.text.push_str(text);
                }
            }
            Place::Nowhere => {}
        }
    }

    pub(super) fn start(&mut self, name: &str, tag: &Tag<'_>) {
        match name {
            "thead" => self.part = Part::Head,
            "tbody" => self.part = Part::Body,
            "tfoot" => self.part = Part::Foot,
            "tr" => {
                self.rows.push(Row { cells: Vec::new(), part: self.part });
                self.place = Place::Nowhere;
            }
            "td" | "th" => {
                if self.rows.is_empty() {
                    self.rows.push(Row { cells: Vec::new(), part: self.part });
                }
                let cell = Cell {
                    text: String::new(),
                    is_header: name == "th",
                    columns: tag.span("colspan"),
                    rows: tag.span("rowspan"),
                };
                if let Some(row) = self.rows.last_mut() {
                    row.cells.push(cell);
                }
                self.place = Place::Cell;
            }
            "caption" => self.place = Place::Caption,
            name if !is_inline(name) => self.write(" "),
            _ => {}
        }
    }

    pub(super) fn end(&mut self, name: &str) {
        match name {
            "thead" | "tfoot" => self.part = Part::Body,
            "tr" | "td" | "th" | "caption" => self.place = Place::Nowhere,
            name if !is_inline(name) => self.write(" "),
            _ => {}
        }
    }

    /// How long what it says is.
    pub(super) fn text_length(&self) -> usize {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        cells.map(|cell| cell.text.trim().len()).sum()
    }

    /// What its foot says.
    pub(super) fn footer(&self) -> String {
        let rows = self.rows.iter().filter(|row| row.part == Part::Foot);
        let rows = rows.map(|row| {
            let cells: Vec<String> = row.cells.iter().map(|cell| collapsed(&cell.text)).collect();
            cells.join(" | ")
        });
        rows.collect::<Vec<_>>().join("\n")
    }

    /// The table, if it is one: with a header, or else of several columns and rows.
    pub(super) fn into_table(mut self) -> Option<Table> {
        self.rows.retain(|row| !row.cells.is_empty() && row.part != Part::Foot);
        let is_head =
            |row: &Row| row.part == Part::Head || row.cells.iter().all(|cell| cell.is_header);
        let heads = self.rows.iter().take_while(|row| is_head(row)).count();
        let spread = spread(&self.rows)?;
        let width = spread.iter().map(Vec::len).max()?;
        let is_across = |row: &Row| width > 1 && row.cells.len() == 1 && row.cells[0].columns > 1;
        let names = names(&self.rows[..heads], &spread[..heads], width, is_across);
        let mut table = Table { names, rows: Vec::new(), skipped: 0 };
        for (row, cells) in self.rows.iter().zip(spread).skip(heads) {
            if is_across(row) {
                table.skipped += 1;
                continue;
            }
            let members = table.names.iter().zip(&cells).map(|(name, cell)| {
                (String::from_utf8_lossy(name).into_owned(), Value::from(cell.as_str()))
            });
            let written = Value::from(members.collect::<Map<_, _>>()).to_string();
            table.rows.push((written, cells));
        }
        let is_table =
            if heads > 0 { !table.rows.is_empty() } else { width > 1 && table.rows.len() > 1 };
        is_table.then_some(table)
    }
}

/// The texts of all rows, each in every row and column that its cell spans.
fn spread(rows: &[Row]) -> Option<Vec<Vec<String>>> {
    let mut spread: Vec<Vec<String>> = Vec::with_capacity(rows.len());
    // For each column, what is still to come from rows above.
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut count = 0;
    for row in rows {
        let mut cells: Vec<String> = Vec::new();
        let mut waiting = row.cells.iter();
        loop {
            let column = cells.len();
            if let Some((left, text)) = above.get_mut(column).filter(|(left, _)| *left > 0) {
                *left -= 1;
                cells.push(text.clone());
                continue;
            }
            let Some(cell) = waiting.next() else {
                // Beyond the last cell there may be more from above.
                let is_done = above.iter().skip(column).all(|(left, _)| *left == 0);
                if is_done {
                    break;
                }
                cells.push(String::new());
                continue;
            };
            let text = collapsed(&cell.text);
            for column in column..column + cell.columns {
                above.resize(above.len().max(column + 1), (0, String::new()));
                above[column] = (cell.rows - 1, text.clone());
                cells.push(text.clone());
            }
        }
        count += cells.len();
        if count > MAX_CELLS {
            return None;
        }
        spread.push(cells);
    }
    Some(spread)
}

/// The names of the columns: what the rows of the head say, one below the other.
fn names(
    rows: &[Row],
    spread: &[Vec<String>],
    width: usize,
    is_across: impl Fn(&Row) -> bool,
) -> Vec<Vec<u8>> {
    let name = |column: usize| {
        let mut parts: Vec<&str> = Vec::new();
        for (_, cells) in rows.iter().zip(spread).filter(|(row, _)| !is_across(row)) {
            if let Some(part) = cells.get(column)
                && !part.is_empty()
                && parts.last() != Some(&part.as_str())
            {
                parts.push(part);
            }
        }
        parts.join(" ").into_bytes()
    };
    let names: Vec<Vec<u8>> = (0..width).map(name).collect();
    super::super::column_names(names.iter().map(Vec::as_slice))
}
