//! Names and values from the data, as they can be written in SQL.

use super::harmless::{harmless, harmless_name};

/// Words that cannot stand for a column without quotes: those that `duckdb_keywords()` calls
/// reserved or a function's or type's.
const RESERVED: &str = "
    all analyse analyze and anti any array as asc asof asymmetric at authorization binary both by
    case cast check collate collation column columns concurrently constraint create cross default
    deferrable desc describe distinct do else end except false fetch for foreign freeze from full
    generated glob grant group having ilike in initially inner intersect into is isnull join lambda
    lateral leading left like limit map natural not notnull null offset on only or order outer
    overlaps pivot pivot_longer pivot_wider placing positional primary qualify references returning
    right select semi show similar some struct summarize symmetric table tablesample then to
    trailing true try_cast tuple union unique unpack unpivot using variadic verbose when where
    window with";

/// A column's or member's name as it stands in SQL.
pub(super) fn identifier(name: &str) -> String {
    let is_word = |(index, byte): (usize, u8)| {
        byte.is_ascii_alphabetic() || byte == b'_' || (index > 0 && byte.is_ascii_digit())
    };
    let is_plain = !name.is_empty()
        && name.bytes().enumerate().all(is_word)
        && !RESERVED.split_whitespace().any(|word| name.eq_ignore_ascii_case(word));
    if is_plain { name.to_owned() } else { quoted('"', name) }
}

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
