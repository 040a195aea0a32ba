//! Queries to begin with: valid on the very dataset, whose name is the table's.

use std::fmt::Write as _;

use forebay_store::DatasetId;

use crate::profile::{Count, Field, Kind, Table};

const MAX_NAME_CHARS: usize = 60;
const MAX_VALUE_CHARS: usize = 40;

/// Words that stand for themselves in SQL, so that a column of that name needs quotes.
const RESERVED: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "constraint",
    "create",
    "default",
    "deferrable",
    "desc",
    "describe",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "false",
    "fetch",
    "for",
    "foreign",
    "from",
    "grant",
    "group",
    "having",
    "in",
    "initially",
    "intersect",
    "into",
    "lambda",
    "lateral",
    "leading",
    "limit",
    "not",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "pivot",
    "placing",
    "primary",
    "qualify",
    "references",
    "returning",
    "select",
    "show",
    "some",
    "summarize",
    "symmetric",
    "table",
    "then",
    "to",
    "trailing",
    "true",
    "union",
    "unique",
    "unpivot",
    "using",
    "variadic",
    "when",
    "where",
    "window",
    "with",
];

/// A few queries for a table.
pub(super) fn of(id: &DatasetId, table: &Table) -> Vec<String> {
    let usable = || table.fields.iter().filter(|field| is_usable(field));
    let grouped = usable().find(|field| is_category(field));
    let measured = usable().find(|field| matches!(field.kind, Kind::Float) || is_measure(field));
    let mut queries = Vec::new();
    if let Some(field) = grouped {
        if let Some(value) = field.top.first().and_then(|(value, _)| literal(field.kind, value)) {
            queries.push(format!(
                "SELECT * FROM {id} WHERE {} = {value} LIMIT 10",
                identifier(&field.name)
            ));
        }
        let column = identifier(&field.name);
        let mut query = format!("SELECT {column}, count(*) AS n");
        if let Some(measured) = measured {
            let _ = write!(query, ", avg({})", identifier(&measured.name));
        }
        let _ = write!(query, " FROM {id} GROUP BY {column} ORDER BY n DESC");
        queries.push(query);
    } else if let Some(field) = measured {
        let column = identifier(&field.name);
        queries.push(format!("SELECT min({column}), avg({column}), max({column}) FROM {id}"));
    }
    if queries.is_empty() {
        queries.push(format!("SELECT * FROM {id} LIMIT 10"));
    }
    queries
}

fn is_usable(field: &Field) -> bool {
    field.name.chars().count() <= MAX_NAME_CHARS
        && !field.name.is_empty()
        && !field.name.chars().any(char::is_control)
}

/// True if records fall into few groups by this field.
fn is_category(field: &Field) -> bool {
    let is_plain = matches!(field.kind, Kind::String | Kind::Boolean | Kind::Integer | Kind::Url);
    is_plain && !field.top.is_empty() && field.distinct != Count::Exactly(1)
}

/// True if a field is a number that is not merely a name for the record.
fn is_measure(field: &Field) -> bool {
    field.kind == Kind::Integer && !field.is_unique() && field.top.is_empty()
}

fn literal(kind: Kind, value: &str) -> Option<String> {
    let is_short = value.chars().count() <= MAX_VALUE_CHARS;
    let is_safe = is_short && !value.chars().any(char::is_control);
    match kind {
        Kind::Integer | Kind::Boolean => Some(value.to_lowercase()),
        _ => is_safe.then(|| format!("'{}'", value.replace('\'', "''"))),
    }
}

fn identifier(name: &str) -> String {
    let is_word = |(index, byte): (usize, u8)| {
        byte.is_ascii_alphabetic() || byte == b'_' || (index > 0 && byte.is_ascii_digit())
    };
    let is_plain = name.bytes().enumerate().all(is_word)
        && !RESERVED.iter().any(|word| name.eq_ignore_ascii_case(word));
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
