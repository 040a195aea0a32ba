//! Queries to begin with: valid on the very dataset, whose name is the table's.

use std::{collections::HashMap, fmt::Write as _};

use forebay_store::DatasetId;

use super::harmless::harmless;
use crate::profile::{Count, Field, Kind, Table};

const MAX_NAME_CHARS: usize = 60;
const MAX_VALUE_CHARS: usize = 40;

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

/// A few queries for a table.
pub(super) fn of(id: &DatasetId, table: &Table) -> Vec<String> {
    // SQL does not tell capitals from small letters.
    let mut namesakes = HashMap::<String, usize>::new();
    for field in &table.fields {
        *namesakes.entry(field.name.to_lowercase()).or_default() += 1;
    }
    let is_alone = |field: &Field| namesakes.get(&field.name.to_lowercase()) == Some(&1);
    let usable = || table.fields.iter().filter(|field| is_usable(field) && is_alone(field));
    let grouped = usable().find(|field| is_category(field));
    let measured = usable()
        .find(|field| field.kind == Kind::Float)
        .or_else(|| usable().find(|field| is_measure(field)));
    let mut queries = Vec::new();
    if let Some(field) = grouped {
        if let Some(value) = field.top.first().and_then(|(value, _)| literal(field.kind, value)) {
            queries.push(format!(
                "SELECT * FROM {id} WHERE {} = {value} LIMIT 10",
                identifier(&field.name)
            ));
        }
        let column = identifier(&field.name);
        let mut query = format!("SELECT {column}, count(*)");
        if let Some(measured) = measured {
            let _ = write!(query, ", avg({})", identifier(&measured.name));
        }
        let _ = write!(query, " FROM {id} GROUP BY {column} ORDER BY count(*) DESC");
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
    !field.name.is_empty() && is_readable(&field.name, MAX_NAME_CHARS)
}

/// True if `text` can be shown as it is.
fn is_readable(text: &str, max_chars: usize) -> bool {
    harmless(text, max_chars) == text
}

/// True if records fall into few groups by this field.
fn is_category(field: &Field) -> bool {
    let is_plain = matches!(field.kind, Kind::String | Kind::Boolean | Kind::Integer | Kind::Url);
    is_plain && !field.top.is_empty() && field.distinct != Count::Exactly(1)
}

/// True if a field is a number that is not merely a name for something.
fn is_measure(field: &Field) -> bool {
    let is_name = field.is_unique() || field.name.to_lowercase().ends_with("id");
    field.kind == Kind::Integer && field.top.is_empty() && !is_name
}

fn literal(kind: Kind, value: &str) -> Option<String> {
    match kind {
        Kind::Integer | Kind::Boolean => Some(value.to_lowercase()),
        _ => is_readable(value, MAX_VALUE_CHARS).then(|| quoted('\'', value)),
    }
}

fn identifier(name: &str) -> String {
    let is_word = |(index, byte): (usize, u8)| {
        byte.is_ascii_alphabetic() || byte == b'_' || (index > 0 && byte.is_ascii_digit())
    };
    let is_plain = name.bytes().enumerate().all(is_word)
        && !RESERVED.split_whitespace().any(|word| name.eq_ignore_ascii_case(word));
    if is_plain { name.to_owned() } else { quoted('"', name) }
}

fn quoted(quote: char, text: &str) -> String {
    format!("{quote}{}{quote}", text.replace(quote, &format!("{quote}{quote}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, kind: Kind, top: &[&str]) -> Field {
        Field {
            name: name.to_owned(),
            kind,
            present: 100,
            nulls: 0,
            distinct: Count::Exactly(50),
            range: None,
            top: top.iter().map(|value| ((*value).to_owned(), 2)).collect(),
            longest: 10,
        }
    }

    fn queries(fields: Vec<Field>) -> Vec<String> {
        let table = Table {
            path: "$".to_owned(),
            kind: "list",
            header: None,
            records: 100,
            observed: 100,
            fields,
            other_fields: 0,
            skipped: 0,
            samples: Vec::new(),
        };
        let id = DatasetId::parse("dataset_k3v9x2ma").unwrap();
        of(&id, &table).into_iter().map(|query| query.replace(id.as_str(), "d")).collect()
    }

    #[test]
    fn names_and_values_are_quoted_where_they_must_be() {
        let cases = [
            ("status", "open", "status = 'open'"),
            ("Last_Name2", "O'Brien", "Last_Name2 = 'O''Brien'"),
            ("group", "''", "\"group\" = ''''''"),
            ("LEFT", "", "\"LEFT\" = ''"),
            ("2nd name", "a \"b\"", "\"2nd name\" = 'a \"b\"'"),
            ("say \"hi\"", "\\'; DROP", "\"say \"\"hi\"\"\" = '\\''; DROP'"),
            ("Straße", "日本語 ✓", "\"Straße\" = '日本語 ✓'"),
            ("a.b", "50%", "\"a.b\" = '50%'"),
            ("-- x", "/* */", "\"-- x\" = '/* */'"),
        ];
        for (name, value, condition) in cases {
            let column = condition.split(" = ").next().unwrap();
            let expected = [
                format!("SELECT * FROM d WHERE {condition} LIMIT 10"),
                format!(
                    "SELECT {column}, count(*) FROM d GROUP BY {column} ORDER BY count(*) DESC"
                ),
            ];
            assert_eq!(queries(vec![field(name, Kind::String, &[value])]), expected);
        }
        for (kind, value, literal) in [(Kind::Integer, "-7", "-7"), (Kind::Boolean, "TRUE", "true")]
        {
            let query = queries(vec![field("flag", kind, &[value])]).remove(0);
            assert_eq!(query, format!("SELECT * FROM d WHERE flag = {literal} LIMIT 10"));
        }
    }

    #[test]
    fn what_cannot_be_shown_as_it_is_stands_in_no_query() {
        let long = "x".repeat(61);
        for name in ["", "a\nb", "a\u{1b}[31m", "a\u{202e}b", "a\u{2028}b", "a  b", &long] {
            let fields = vec![field(name, Kind::String, &["x"]), field(name, Kind::Float, &[])];
            assert_eq!(queries(fields), ["SELECT * FROM d LIMIT 10"], "{name:?}");
        }
        for value in ["a\nb", "a\u{200b}b", &long] {
            let found = queries(vec![field("status", Kind::String, &[value])]);
            let grouping = "SELECT status, count(*) FROM d GROUP BY status ORDER BY count(*) DESC";
            assert_eq!(found, [grouping], "{value:?}");
        }
    }

    #[test]
    fn fields_that_differ_in_their_capitals_stand_in_no_query() {
        let namesakes = ["Status", "status", "x"].map(|name| field(name, Kind::String, &["v"]));
        assert_eq!(queries(namesakes.into())[0], "SELECT * FROM d WHERE x = 'v' LIMIT 10");
    }

    #[test]
    fn a_fraction_is_measured_before_a_whole_number_and_an_id_never() {
        let measured = |names: &[(&str, Kind)]| {
            let fields = names.iter().map(|(name, kind)| field(name, *kind, &[])).collect();
            queries(fields).remove(0)
        };
        let (id, name, whole) =
            (("id", Kind::Integer), ("customerID", Kind::Integer), ("items", Kind::Integer));
        let total = ("total", Kind::Float);
        let found = measured(&[id, name, whole, total]);
        assert_eq!(found, "SELECT min(total), avg(total), max(total) FROM d");
        let found = measured(&[id, name, whole]);
        assert_eq!(found, "SELECT min(items), avg(items), max(items) FROM d");
        assert_eq!(measured(&[id, name]), "SELECT * FROM d LIMIT 10");
    }
}
