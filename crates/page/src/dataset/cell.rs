//! A value of the data, as it stands in a table.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::visible::visible;

/// How much of a value is shown in a table.
const MAX_CHARS: usize = 240;
/// How much of a list or an object is: about three lines.
const MAX_NESTED_CHARS: usize = 120;

/// A value, as far as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) kind: CellKind,
    /// How many characters are left out.
    pub(crate) more: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) enum CellKind {
    Text,
    Number,
    Nothing,
    /// A list or an object.
    Nested,
}

impl Cell {
    /// Reads a JSON value.
    pub(crate) fn of(value: &RawValue) -> Self {
        let raw = value.get();
        let (text, kind) = match raw.as_bytes().first() {
            Some(b'"') => (serde_json::from_str(raw).unwrap_or_default(), CellKind::Text),
            Some(b'[' | b'{') => (raw.to_owned(), CellKind::Nested),
            Some(b'n') => (String::new(), CellKind::Nothing),
            Some(b't' | b'f') => (raw.to_owned(), CellKind::Text),
            _ => (raw.to_owned(), CellKind::Number),
        };
        let most = if kind == CellKind::Nested { MAX_NESTED_CHARS } else { MAX_CHARS };
        let count = text.chars().count();
        if count <= most {
            return Self { text, kind, more: 0 };
        }
        Self { text: text.chars().take(most).collect(), kind, more: count - most }
    }

    /// The text, with what cannot be seen in it.
    pub(crate) fn shown(&self) -> String {
        visible(&self.text)
    }

    pub(crate) fn class(&self) -> &'static str {
        match self.kind {
            // The style has a word for what would look like nothing.
            CellKind::Text if self.text.is_empty() => "text void",
            CellKind::Text if self.text.trim().is_empty() => "text blank",
            CellKind::Text if is_short(&self.text) => "text short",
            CellKind::Text => "text",
            CellKind::Number => "number",
            CellKind::Nothing => "nothing",
            CellKind::Nested => "nested",
        }
    }
}

/// True for a word, a day or a time, which would be hard to read in two lines.
fn is_short(text: &str) -> bool {
    const MAX_CHARS: usize = 24;
    text.chars().count() <= MAX_CHARS && !text.contains('\n')
}

/// The type of a column, as it stands below its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ColumnType {
    pub(crate) told: String,
    /// The same with all that is in it, if that is more.
    pub(crate) whole: Option<String>,
    pub(crate) class: &'static str,
}

impl ColumnType {
    /// Reads a type of SQL.
    pub(crate) fn of(kind: &str) -> Self {
        const NESTED: [&str; 4] = ["struct", "map", "union", "enum"];
        let plain = kind.to_lowercase();
        let outer = plain.split('(').next().unwrap_or_default();
        let told = if plain.ends_with(']') {
            "list"
        } else if NESTED.contains(&outer) {
            outer
        } else {
            &plain
        };
        // In it stand the names of fields, as they are written.
        let whole = (told != plain).then(|| visible(kind));
        Self { told: told.to_owned(), whole, class: heading_class(kind) }
    }

    pub(crate) fn is_number(&self) -> bool {
        self.class == "number"
    }
}

/// How the heading of a column stands: as its cells do.
fn heading_class(kind: &str) -> &'static str {
    let kind = kind.to_lowercase();
    let begins = ["integer", "double", "float", "decimal"].iter().any(|it| kind.starts_with(it));
    let is_number = (begins || kind.ends_with("int")) && !kind.ends_with(']');
    if is_number { "number" } else { "" }
}

/// The cells of a row, which is a JSON array.
pub(crate) fn cells(row: &str) -> Vec<Cell> {
    let values: Vec<&RawValue> = serde_json::from_str(row).unwrap_or_default();
    values.into_iter().map(Cell::of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_numbers_stand_above_them() {
        for kind in ["BIGINT", "DOUBLE", "INTEGER", "DECIMAL(18,3)", "HUGEINT", "UBIGINT"] {
            assert_eq!(heading_class(kind), "number", "{kind}");
        }
        for kind in ["VARCHAR", "INTEGER[]", "INTERVAL", "STRUCT(a BIGINT)", "TIMESTAMP"] {
            assert_eq!(heading_class(kind), "", "{kind}");
        }
    }

    #[test]
    fn a_type_is_told_in_a_word_however_much_is_in_it() {
        let told = |kind: &str| {
            let ColumnType { told, whole, .. } = ColumnType::of(kind);
            (told, whole.is_some())
        };
        assert_eq!(told("STRUCT(a BIGINT, b STRUCT(c VARCHAR)[])"), ("struct".to_owned(), true));
        assert_eq!(told("STRUCT(a BIGINT)[]"), ("list".to_owned(), true));
        assert_eq!(told("MAP(VARCHAR, BIGINT)"), ("map".to_owned(), true));
        assert_eq!(told("DECIMAL(18,3)"), ("decimal(18,3)".to_owned(), false));
        let whole = ColumnType::of("STRUCT(\"Na\u{202e}me\" VARCHAR)").whole;
        assert_eq!(whole.as_deref(), Some("STRUCT(\"Na⟨U+202E⟩me\" VARCHAR)"));
    }

    #[test]
    fn values_are_told_apart_and_long_ones_are_cut() {
        let long = "x".repeat(300);
        let row = format!("[1.50,\"a\\u003cb\",null,true,{{\"a\":[1]}},\"{long}\",[\"{long}\"]]");
        let cells = cells(&row);
        let told: Vec<_> = cells.iter().map(|cell| (cell.text.as_str(), cell.class())).collect();
        assert_eq!(told[..3], [("1.50", "number"), ("a<b", "text short"), ("", "nothing")]);
        assert_eq!(told[3..5], [("true", "text short"), ("{\"a\":[1]}", "nested")]);
        assert_eq!((cells[5].text.len(), cells[5].more), (MAX_CHARS, 60));
        assert_eq!((cells[6].text.len(), cells[6].more), (MAX_NESTED_CHARS, 184));
        let of = |text: &str| super::cells(&format!("[\"{text}\"]"))[0].class();
        assert_eq!((of(""), of("  "), of(&"x".repeat(30))), ("text void", "text blank", "text"));
    }
}
