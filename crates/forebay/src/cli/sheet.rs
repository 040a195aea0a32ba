//! Records as people read them: a table, or one field on each line where a table would be too wide.

use std::io::{self, Write};

use serde_json::value::RawValue;
use unicode_width::UnicodeWidthStr;

use crate::cli::{
    screen::{Screen, Style},
    table::{Cell, Column, Table, cut, harmless},
};

/// No more of a value is shown.
const MAX_CELL_CHARS: usize = 1_000;
/// No more of a name is shown beside its value.
const MAX_NAME_CHARS: usize = 32;

/// Records with the same columns.
pub(crate) struct Sheet {
    columns: Vec<Field>,
    rows: Vec<Vec<Cell>>,
    /// What the first record is counted as, where they are counted.
    first: u64,
}

struct Field {
    name: String,
    values: Values,
}

/// What the values of a column are so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    None,
    Numbers,
    Others,
}

impl Sheet {
    /// A sheet without records, the first of which is to be counted as `first`.
    pub(crate) fn new<'n>(names: impl IntoIterator<Item = &'n str>, first: u64) -> Self {
        let field = |name: &str| Field { name: harmless(name), values: Values::None };
        Self { columns: names.into_iter().map(field).collect(), rows: Vec::new(), first }
    }

    /// Adds a record: the value of each column, if it has one.
    pub(crate) fn push<'v>(&mut self, values: impl IntoIterator<Item = Option<&'v RawValue>>) {
        let mut row = Vec::new();
        for (column, value) in self.columns.iter_mut().zip(values) {
            let json = value.map_or("", RawValue::get);
            match json.as_bytes().first() {
                None | Some(b'n') => {}
                Some(b'0'..=b'9' | b'-') if column.values != Values::Others => {
                    column.values = Values::Numbers;
                }
                Some(_) => column.values = Values::Others,
            }
            row.push(cell(json));
        }
        self.rows.push(row);
    }

    pub(crate) fn print(&self, screen: &mut Screen) -> io::Result<()> {
        let columns = self.columns.iter().map(|field| match field.values {
            Values::Numbers => Column::Right(&field.name),
            Values::None | Values::Others => Column::Flexible(&field.name),
        });
        let mut table = Table::new(columns.collect::<Vec<_>>());
        for row in &self.rows {
            table.push(row.iter().cloned());
        }
        match screen.width() {
            Some(width) if table.min_width() > width => {
                let lines = self.list(width, &|style, text| screen.styled(style, text));
                lines.iter().try_for_each(|line| writeln!(screen, "{line}"))
            }
            _ => table.print(screen),
        }
    }

    /// Each field on a line of its own, beside the number of its record.
    fn list(&self, width: usize, styled: &dyn Fn(Style, &str) -> String) -> Vec<String> {
        let last = self.first + self.rows.len() as u64;
        let margin = last.to_string().len();
        let longest = self.columns.iter().map(|field| field.name.width()).max();
        let beside = longest.unwrap_or_default().min(MAX_NAME_CHARS);
        let room = width.saturating_sub(margin + beside + 4).max(1);
        let mut lines = Vec::new();
        for (number, row) in (self.first..).zip(&self.rows) {
            let mut number = number.to_string();
            if !lines.is_empty() {
                lines.push(String::new());
            }
            for (field, cell) in self.columns.iter().zip(row) {
                let value = match cell {
                    // The record has no such field.
                    Cell::Plain(text) if text.is_empty() => continue,
                    Cell::Plain(text) => cut(text, room),
                    Cell::Dim(text) => styled(Style::Dim, text),
                };
                let name = cut(&field.name, beside);
                let name = format!("{name}{}", " ".repeat(beside.saturating_sub(name.width())));
                lines.push(format!("{number:>margin$}  {}  {value}", styled(Style::Bold, &name)));
                number.clear();
            }
        }
        lines
    }
}

/// A value, which is given as JSON, as it is shown.
fn cell(json: &str) -> Cell {
    match json.as_bytes().first() {
        Some(b'n') => Cell::Dim("null".to_owned()),
        Some(b'"') => match serde_json::from_str::<String>(json) {
            Ok(text) if text.is_empty() => Cell::Dim("\"\"".to_owned()),
            Ok(text) => Cell::Plain(shown(&text)),
            Err(_) => Cell::Plain(shown(json)),
        },
        _ => Cell::Plain(shown(json)),
    }
}

/// A text on one line.
fn shown(text: &str) -> String {
    let text = cut(text, MAX_CELL_CHARS);
    harmless(&text.replace("\r\n", "↵").replace(['\n', '\r'], "↵").replace('\t', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_not_an_empty_text_and_lines_stay_one() {
        assert_eq!(cell("null"), Cell::Dim("null".to_owned()));
        assert_eq!(cell("\"\""), Cell::Dim("\"\"".to_owned()));
        assert_eq!(cell("\"null\""), Cell::Plain("null".to_owned()));
        assert_eq!(cell(""), Cell::Plain(String::new()));
        assert_eq!(cell("12345678901234567890"), Cell::Plain("12345678901234567890".to_owned()));
        assert_eq!(cell("{\"a\":[1]}"), Cell::Plain("{\"a\":[1]}".to_owned()));
        assert_eq!(cell("\"a\\r\\nb\\tc\\u001b[2J\""), Cell::Plain("a↵b c\u{fffd}[2J".to_owned()));
    }

    #[test]
    fn a_list_numbers_its_records_and_leaves_out_what_they_lack() {
        let mut sheet = Sheet::new(["id", "a name"], 9);
        let values: Vec<&RawValue> = serde_json::from_str("[1, \"a long text\", null]").unwrap();
        sheet.push([Some(values[0]), Some(values[1])]);
        sheet.push([Some(values[2]), None]);
        let plain = |_: Style, text: &str| text.to_owned();
        let lines = [" 9  id      1", "    a name  a lon…", "", "10  id      null"];
        assert_eq!(sheet.list(18, &plain), lines);
    }
}
