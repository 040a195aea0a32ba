//! Queries to begin with: valid on the very dataset, whose name is the table's.
//!
//! They show how to get at what this dataset has: a member of a struct, the rows of a table inside, the
//! items of a list. Columns are named, unless records are short: an example must not be a flood itself.

use std::fmt::Write as _;

use forebay_records::{Count, Field, Kind, Outline, Profile, Table};
use forebay_store::DatasetId;

use super::names::{identifier, is_readable, literal};

const MAX_NAME_CHARS: usize = 60;
const MAX_VALUE_CHARS: usize = 40;
/// Records that may be longer than this are not shown whole.
const MAX_RECORD_BYTES: usize = 400;
const MAX_COLUMNS: usize = 4;
const MAX_DEPTH: usize = 3;

/// A field, and how a query names it.
struct Column<'t> {
    field: &'t Field,
    sql: String,
    depth: usize,
}

/// A few queries for a result.
pub(super) fn of(id: &DatasetId, profile: &Profile) -> Vec<String> {
    let name = id.as_str();
    let Some(table) = profile.main() else {
        return profile.outline.iter().map(|outline| of_text(name, outline)).collect();
    };
    let columns = columns(table);
    let mut queries = Vec::new();
    queries.extend(filtered(name, table, &columns));
    queries.extend(grouped(name, &columns));
    queries.extend(inside(name, profile).or_else(|| items(name, &columns)));
    if queries.is_empty() {
        queries.push(measured(name, &columns).unwrap_or_else(|| first(name, table, &columns)));
    }
    queries
}

/// The lines under a heading of a text, or those that hold a word of it.
fn of_text(name: &str, outline: &Outline) -> String {
    const MOST: u64 = 40;
    let select = format!("SELECT line, text FROM {name} WHERE");
    if let [(_, _), (start, _), rest @ ..] = outline.headings.as_slice() {
        let end = rest.first().map_or(outline.lines, |(next, _)| next - 1);
        return format!("{select} line BETWEEN {start} AND {}", end.min(start + MOST));
    }
    let lines = outline.head.iter().chain(&outline.tail);
    let words = lines.flat_map(|line| line.split(|letter: char| !letter.is_alphabetic()));
    let is_fit = |word: &&str| (4..=20).contains(&word.chars().count());
    match words.filter(is_fit).max_by_key(|word| word.len()) {
        Some(word) => format!("{select} text ILIKE '%{word}%' LIMIT 20"),
        None => format!("{select} line <= 20"),
    }
}

/// The columns of a table that a query can name, members of structs included.
fn columns(table: &Table) -> Vec<Column<'_>> {
    let mut columns = Vec::new();
    add_columns(&mut columns, &table.fields, "", 0);
    columns
}

fn add_columns<'t>(columns: &mut Vec<Column<'t>>, fields: &'t [Field], path: &str, depth: usize) {
    for field in fields {
        if field.column.is_empty() || !is_readable(&field.column, MAX_NAME_CHARS) {
            continue;
        }
        let name = identifier(&field.column);
        let sql = if path.is_empty() { name } else { format!("{path}.{name}") };
        if field.kind == Kind::Struct && depth < MAX_DEPTH {
            add_columns(columns, &field.inside.members, &sql, depth + 1);
        } else {
            columns.push(Column { field, sql, depth });
        }
    }
}

/// Records that have a value which many have.
fn filtered(name: &str, table: &Table, columns: &[Column<'_>]) -> Option<String> {
    let of = columns.iter().filter(|column| is_category(column.field));
    let column = of.min_by_key(|column| column.depth)?;
    let (value, _) = column.field.top.first()?;
    let value = value_in_sql(column.field.kind, value)?;
    let shown = shown(table, columns);
    Some(format!("SELECT {shown} FROM {name} WHERE {} = {value} LIMIT 10", column.sql))
}

/// How many records fall into each group, by something inside if there is anything.
fn grouped(name: &str, columns: &[Column<'_>]) -> Option<String> {
    let of = || columns.iter().filter(|column| is_category(column.field));
    let column = of().find(|column| column.depth > 0).or_else(|| of().next())?;
    let mut query = format!("SELECT {}, count(*)", column.sql);
    if let Some(measure) = measure(columns) {
        let _ = write!(query, ", avg({})", measure.sql);
    }
    let _ = write!(query, " FROM {name} GROUP BY {} ORDER BY count(*) DESC", column.sql);
    if !matches!(column.field.distinct, Some(Count::Exactly(..=20))) {
        query.push_str(" LIMIT 20");
    }
    Some(query)
}

/// The rows of a table inside.
fn inside(name: &str, profile: &Profile) -> Option<String> {
    let tables = profile.tables.iter().zip(profile.table_names());
    let inner = tables.filter(|(table, _)| table.within.as_ref().is_some_and(|it| it.parent == 0));
    let (table, suffix) = inner.max_by_key(|(table, _)| table.records)?;
    let columns = columns(table);
    let by = columns.iter().find(|column| is_category(column.field)).map(|it| it.sql.clone());
    let carried = || table.within.as_ref()?.columns().next().map(identifier);
    let by = by.or_else(carried)?;
    Some(format!(
        "SELECT {by}, count(*) FROM {name}_{suffix} GROUP BY {by} ORDER BY count(*) DESC LIMIT 10"
    ))
}

/// The items of a list of texts or numbers.
fn items(name: &str, columns: &[Column<'_>]) -> Option<String> {
    let is_list = |column: &&Column<'_>| {
        let items = column.field.inside.items.as_ref();
        column.field.kind == Kind::List && items.is_some_and(|items| is_category(&items.item))
    };
    let column = columns.iter().find(is_list)?;
    Some(format!(
        "SELECT item, count(*) FROM (SELECT unnest({}) AS item FROM {name}) GROUP BY item \
         ORDER BY count(*) DESC LIMIT 10",
        column.sql
    ))
}

fn measured(name: &str, columns: &[Column<'_>]) -> Option<String> {
    let column = &measure(columns)?.sql;
    Some(format!("SELECT min({column}), avg({column}), max({column}) FROM {name}"))
}

fn first(name: &str, table: &Table, columns: &[Column<'_>]) -> String {
    format!("SELECT {} FROM {name} LIMIT 10", shown(table, columns))
}

/// What is selected of records: all, if they are short.
fn shown(table: &Table, columns: &[Column<'_>]) -> String {
    let longest: usize = table.fields.iter().map(|field| field.longest).sum();
    if longest <= MAX_RECORD_BYTES || columns.is_empty() {
        return "*".to_owned();
    }
    let is_short = |column: &&Column<'_>| {
        let is_plain = !matches!(
            column.field.kind,
            Kind::Struct | Kind::List | Kind::Map | Kind::Json | Kind::Null
        );
        is_plain && column.field.longest <= MAX_RECORD_BYTES / MAX_COLUMNS
    };
    let chosen: Vec<&str> =
        columns.iter().filter(is_short).take(MAX_COLUMNS).map(|it| it.sql.as_str()).collect();
    if chosen.is_empty() { "count(*)".to_owned() } else { chosen.join(", ") }
}

/// What is worth an average: a fraction before a whole number.
fn measure<'c, 't>(columns: &'c [Column<'t>]) -> Option<&'c Column<'t>> {
    let fraction = columns.iter().find(|column| column.field.kind == Kind::Float);
    fraction.or_else(|| columns.iter().find(|column| is_measure(column.field)))
}

/// True if records fall into few groups by this field.
fn is_category(field: &Field) -> bool {
    let is_plain = matches!(field.kind, Kind::String | Kind::Boolean | Kind::Integer | Kind::Url);
    is_plain && !field.top.is_empty() && field.distinct != Some(Count::Exactly(1))
}

/// True if a field is a number that is not merely a name for something.
fn is_measure(field: &Field) -> bool {
    let is_name = field.is_unique() || field.name.to_lowercase().ends_with("id");
    field.kind == Kind::Integer && field.top.is_empty() && !is_name
}

fn value_in_sql(kind: Kind, value: &str) -> Option<String> {
    match kind {
        Kind::Integer | Kind::Boolean => Some(value.to_lowercase()),
        _ => is_readable(value, MAX_VALUE_CHARS).then(|| literal(value)),
    }
}

#[cfg(test)]
mod tests;
