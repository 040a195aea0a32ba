//! Says what is wrong with a query, and what to try instead.

use std::fmt::Write as _;

use forebay_text::identifier;

use crate::{
    Column, QueryError,
    engine::{Engine, View, readable},
    near,
    plain::{plain, plain_lines},
};

/// How many columns of a table are named.
const SHOWN_COLUMNS: usize = 40;

/// DuckDB's error, with what helps to correct the query.
pub(crate) fn error(
    engine: &Engine,
    sql: &str,
    views: &[View],
    error: &duckdb::Error,
) -> QueryError {
    let text = readable(&error.to_string());
    let mut said = text.clone();
    let tables: Vec<(String, Vec<Column>)> = views
        .iter()
        .filter_map(|view| Some((view.name.clone(), engine.describe(&view.select).ok()?)))
        .collect();
    let names_a_column =
        text.contains("not found in FROM clause") || text.contains("does not have a column");
    if names_a_column && let Some(wrong) = wrong_name(&text) {
        let names = tables.iter().flat_map(|(_, columns)| columns).map(|it| it.name.as_str());
        let nearest = near::nearest(wrong, names);
        if let Some(nearest) = nearest {
            let _ = write!(said, "\nDid you mean {}?", shown(nearest));
            if let Some(corrected) = corrected(sql, wrong, &shown(nearest)) {
                let _ = write!(said, " Try: {corrected}");
            }
        }
    }
    if text.starts_with("Binder Error") || text.starts_with("Catalog Error") {
        for (name, columns) in &tables {
            let _ = write!(said, "\nColumns of {}: {}", plain(name), listed(columns));
        }
    }
    if text.contains("Out of Memory") {
        said.push_str(
            "\nAsk for less at a time: filter or aggregate first, select fewer columns, set a LIMIT.",
        );
    }
    let has_arrows = sql.contains("->");
    let is_of_types = text.starts_with("Conversion Error") || text.contains("No function matches");
    if has_arrows && is_of_types {
        said.push_str(
            "\n= and other operators bind more tightly than -> and ->>: put brackets around them, such \
             as (doc->>'$.a.b') = 'x'.",
        );
    }
    if text.contains("UNNEST()") && text.contains("JSON") {
        let is_json = |column: &&Column| column.kind == "JSON";
        let columns = tables.iter().flat_map(|(_, columns)| columns).filter(is_json);
        let names: Vec<String> = columns.map(|column| shown(&column.name)).collect();
        if let Some(name) = names.first() {
            let _ = write!(said, "\n{name} is JSON: write unnest({name}->'$[*]').");
        }
    }
    if text.contains("Permission Error") {
        said.push_str("\nOnly kept datasets can be read, by their names.");
    }
    QueryError::Refused(plain_lines(&said))
}

/// The columns of a table in words.
pub(crate) fn listed(columns: &[Column]) -> String {
    let names: Vec<String> = columns
        .iter()
        .take(SHOWN_COLUMNS)
        .map(|column| format!("{} ({})", shown(&column.name), plain(&column.kind)))
        .collect();
    let more = columns.len().saturating_sub(SHOWN_COLUMNS);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

/// A name as it can be written in SQL.
fn shown(name: &str) -> String {
    identifier(&plain(name))
}

/// The name in quotes that is not there; a table may be named before it.
fn wrong_name(text: &str) -> Option<&str> {
    let line = text.lines().next()?;
    let rest = match line.split_once("does not have a column named ") {
        Some((_, rest)) => rest,
        None => line,
    };
    rest.split('"').nth(1)
}

/// The query with one name in place of another, if it has that as a word.
fn corrected(sql: &str, wrong: &str, right: &str) -> Option<String> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let mut corrected = String::new();
    let mut rest = sql;
    let mut has_changed = false;
    while let Some(at) = rest.find(wrong) {
        let (before, found) = rest.split_at(at);
        let after = &found[wrong.len()..];
        let stands_alone =
            !before.ends_with(is_part) && !after.starts_with(is_part) && !before.ends_with('\'');
        corrected.push_str(before);
        corrected.push_str(if stands_alone { right } else { wrong });
        has_changed |= stands_alone;
        rest = after;
    }
    corrected.push_str(rest);
    (has_changed && corrected.len() <= 500).then_some(corrected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_corrected_where_it_stands_alone() {
        let sql = "SELECT stauts, 'stauts' FROM t WHERE my_stauts = 1";
        let expected = "SELECT status, 'stauts' FROM t WHERE my_stauts = 1";
        assert_eq!(corrected(sql, "stauts", "status").unwrap(), expected);
        assert_eq!(corrected("SELECT 1", "stauts", "status"), None);
    }
}
