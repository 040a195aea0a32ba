//! What of a dataset a reference means: all of it as it was kept, or a selection.
//!
//! `fields` and `rows` go together; `pointer` and `sql` go alone. `format` says how records are written.

use serde_json::{Map, Value};

use super::percent::{decoded, is_encoded};
use crate::{
    ToolError,
    arguments::{listed, shown},
    error::refuse,
    read::Range,
};

/// What of a dataset is meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Selection {
    pub(super) what: What,
    /// How it is written; as the parameter wants it if nothing is said.
    pub(super) format: Option<Format>,
}

/// What of a dataset is meant, however it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// A payload as it was kept; the one that the summary is about if none is given.
    Payload(Option<usize>),
    /// Records: of these fields, if any are given, and in this range, counted from 0.
    Records { fields: Vec<String>, rows: Option<Range> },
    /// The value that a JSON pointer leads to.
    Pointer(String),
    /// What a query gives, in which `dataset` stands for this one.
    Sql(String),
}

impl Default for What {
    fn default() -> Self {
        Self::Payload(None)
    }
}

/// How what was selected is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Records as a list of objects.
    Json,
    /// Records with commas, and a header.
    Csv,
    /// A payload as it was kept; of records with one field, a line for each.
    Text,
}

const KEYS: [&str; 6] = ["fields", "rows", "pointer", "sql", "format", "block"];
const FORMATS: [(&str, Format); 3] =
    [("json", Format::Json), ("csv", Format::Csv), ("text", Format::Text)];

impl Selection {
    /// Reads what stands behind a question mark.
    pub(super) fn of_query(query: &str) -> Result<Self, ToolError> {
        let mut pairs: Vec<(&str, String)> = Vec::new();
        for piece in query.split('&').filter(|piece| !piece.is_empty()) {
            let (key, value) = piece.split_once('=').unwrap_or((piece, ""));
            match pairs.last_mut() {
                // SQL may have an & that nobody has encoded.
                Some(("sql", sql)) if !KEYS.contains(&key) => {
                    sql.push('&');
                    sql.push_str(piece);
                }
                _ => pairs.push((key, value.to_owned())),
            }
        }
        let mut selected = Map::new();
        for (key, value) in pairs {
            // A comma that is encoded is part of a name.
            let value = if key == "fields" {
                let names = value.split(',').filter(|name| !name.is_empty());
                names.map(|name| Value::from(decoded(name).trim())).collect()
            } else if key == "sql" && !is_encoded(&value) {
                Value::from(value)
            } else {
                Value::from(&*decoded(&value))
            };
            if selected.insert(key.to_owned(), value).is_some() {
                return refuse!("{key} stands there twice: write it once.");
            }
        }
        Self::of_members(&selected)
    }

    /// Reads what stands in `select`.
    pub(super) fn of_value(selected: &Value) -> Result<Self, ToolError> {
        match selected {
            Value::Object(selected) => Self::of_members(selected),
            other => refuse!(
                "select must be an object, such as {{\"rows\": \"0-99\"}}, not {}.",
                shown(other)
            ),
        }
    }

    fn of_members(selected: &Map<String, Value>) -> Result<Self, ToolError> {
        let unknown = selected.keys().find(|key| !KEYS.contains(&key.as_str()));
        if let Some(unknown) = unknown {
            let meant = forebay_query::nearest(unknown, KEYS.into_iter());
            let meant = meant.map(|name| format!(" Did you mean {name}?")).unwrap_or_default();
            return refuse!(
                "Nothing is selected with {}.{meant} There are {}.",
                shown(&Value::from(unknown.as_str())),
                KEYS.join(", ")
            );
        }
        let get = |key: &str| selected.get(key).filter(|value| !value.is_null());
        let ways: Vec<&str> =
            ["pointer", "sql", "block"].into_iter().filter(|key| get(key).is_some()).collect();
        let of_records: Vec<&str> =
            ["fields", "rows"].into_iter().filter(|key| get(key).is_some()).collect();
        if let [one, other, ..] = [ways.as_slice(), &of_records].concat().as_slice()
            && !ways.is_empty()
        {
            return refuse!("Give {one} or {other}, not both.");
        }
        let what = if let Some(pointer) = get("pointer") {
            What::Pointer(read_pointer(pointer)?)
        } else if let Some(sql) = get("sql") {
            match sql.as_str().filter(|sql| !sql.trim().is_empty()) {
                Some(sql) => What::Sql(sql.to_owned()),
                None => return refuse!("sql must be a SELECT, not {}.", shown(sql)),
            }
        } else if let Some(block) = get("block") {
            What::Payload(Some(read_block(block)?))
        } else if of_records.is_empty() {
            What::Payload(None)
        } else {
            let rows = get("rows").map(|rows| Range::read("rows", rows, 0)).transpose()?;
            What::Records { fields: get("fields").map_or(Ok(Vec::new()), read_fields)?, rows }
        };
        let format = get("format").map(read_format).transpose()?;
        if let (What::Pointer(_), Some(_)) = (&what, format) {
            return refuse!("pointer gives a value as it is written: leave format out.");
        }
        Ok(Self { what, format })
    }
}

fn read_pointer(given: &Value) -> Result<String, ToolError> {
    match given.as_str().filter(|text| text.is_empty() || text.starts_with('/')) {
        Some(text) => Ok(text.to_owned()),
        None => {
            refuse!("pointer must be a JSON pointer, such as /items/0/name, not {}.", shown(given))
        }
    }
}

fn read_block(given: &Value) -> Result<usize, ToolError> {
    let number = given.as_u64().or_else(|| given.as_str()?.trim().parse().ok());
    match number.and_then(|number| usize::try_from(number).ok()) {
        Some(block) => Ok(block),
        None => refuse!("block must be a number, counted from 0, not {}.", shown(given)),
    }
}

fn read_fields(given: &Value) -> Result<Vec<String>, ToolError> {
    let names = match given {
        Value::String(text) => Some(listed(text)),
        Value::Array(list) => {
            list.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        }
        _ => None,
    };
    match names.filter(|names| !names.is_empty()) {
        Some(names) => Ok(names),
        None => refuse!(
            "fields must be a list of names, such as [\"id\", \"name\"], not {}.",
            shown(given)
        ),
    }
}

fn read_format(given: &Value) -> Result<Format, ToolError> {
    let named = |text: &str| FORMATS.iter().find(|(word, _)| text.eq_ignore_ascii_case(word));
    match given.as_str().and_then(named) {
        Some((_, format)) => Ok(*format),
        None => refuse!("format must be json, csv or text, not {}.", shown(given)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let read = |query: &str| Selection::of_query(query).unwrap();
        assert_eq!(read(""), Selection::default());
        let records = read("fields=id,%20name&rows=10-&format=CSV");
        let rows = Some(Range { from: 10, to: None });
        let fields = vec!["id".to_owned(), "name".to_owned()];
        assert_eq!(records.what, What::Records { fields, rows });
        assert_eq!(records.format, Some(Format::Csv));
        assert_eq!(read("pointer=").what, What::Pointer(String::new()));
        let sql = read("sql=SELECT%20a%20%26%202%20FROM%20data%20WHERE%20b%20%3D%20'x&y=z'").what;
        assert_eq!(sql, What::Sql("SELECT a & 2 FROM data WHERE b = 'x&y=z'".to_owned()));
        let lenient = Selection::of_value(&json!({"fields": "a, b", "block": null})).unwrap();
        let fields = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(lenient.what, What::Records { fields, rows: None });
    }

    #[test]
    fn sql_with_a_blank_keeps_its_percent_signs() {
        let read = |query: &str| Selection::of_query(query).unwrap();
        for written in ["SELECT '%20%'", "SELECT a\nLIKE'%41'", "SELECT'%3C%'<a"] {
            let sql = read(&format!("sql={written}&format=csv")).what;
            assert_eq!(sql, What::Sql(written.to_owned()), "it was not encoded");
        }
        let encoded = read("sql=SELECT%20'%2520%25'").what;
        assert_eq!(encoded, What::Sql("SELECT '%20%'".to_owned()));
    }

    #[test]
    fn what_cannot_be_read_is_told_with_what_to_write() {
        for (query, expected) in [
            ("field=a", "Did you mean fields?"),
            ("x", "There are fields, rows, pointer, sql, format, block."),
            ("rows=9-3", "rows must be a range such as \"0-20\", counted from 0"),
            ("rows=1&rows=2", "rows stands there twice"),
            ("fields=", "fields must be a list"),
            ("pointer=a", "such as /items/0/name, not \"a\"."),
            ("sql=", "sql must be a SELECT"),
            ("block=x", "block must be a number"),
            ("format=xml", "format must be json, csv or text, not \"xml\"."),
            ("pointer=/a&sql=SELECT 1", "Give pointer or sql, not both."),
            ("sql=SELECT 1&rows=1", "Give sql or rows, not both."),
            ("pointer=/a&format=csv", "leave format out"),
        ] {
            let told = Selection::of_query(query).unwrap_err().told();
            assert!(told.contains(expected), "{query}: {told}");
        }
    }
}
