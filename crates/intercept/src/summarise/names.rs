//! Names and values from the data, as they can be written in SQL.

pub(super) use forebay_text::identifier;

use super::harmless::{harmless, harmless_name};

/// [`identifier`], made harmless: what could not be read as it is has a mark in it.
pub(super) fn shown(name: &str, max_chars: usize) -> String {
    identifier(&harmless_name(name, max_chars))
}

/// The key of a member of JSON, as `->>` takes it: one that could be a path is written as one.
pub(super) fn json_key(name: &str, max_chars: usize) -> String {
    let name = harmless_name(name, max_chars);
    if name.is_empty() {
        return literal("/");
    }
    if name.starts_with(['$', '/']) {
        let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
        return literal(&format!("$.\"{escaped}\""));
    }
    literal(&name)
}

/// A text in SQL.
pub(super) fn literal(text: &str) -> String {
    quoted('\'', text)
}

/// True if `text` can be shown as it is.
pub(super) fn is_readable(text: &str, max_chars: usize) -> bool {
    harmless(text, max_chars) == text
}

fn quoted(quote: char, text: &str) -> String {
    format!("{quote}{}{quote}", text.replace(quote, &format!("{quote}{quote}")))
}
