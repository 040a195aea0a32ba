//! What records must be like, and their order: as it is written, and as SQL.

use forebay_query::{Column, literal, quoted};
use forebay_text::Time;
use serde_json::{Map, Value};

use crate::{ToolError, arguments::shown, error::refuse, render::is_nested};

/// What must hold for a field.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The field.
    pub field: String,
    operator: Operator,
    value: Value,
}

/// A field by which records are sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    pub(super) field: String,
    pub(super) is_descending: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    In,
    NotIn,
    Contains,
    StartsWith,
    EndsWith,
    Matches,
    IsNull,
}

/// What operators are called; the first name of each is the one that is told.
const OPERATORS: [(&str, Operator); 24] = [
    ("eq", Operator::Equal),
    ("=", Operator::Equal),
    ("==", Operator::Equal),
    ("ne", Operator::NotEqual),
    ("!=", Operator::NotEqual),
    ("<>", Operator::NotEqual),
    ("gt", Operator::Greater),
    (">", Operator::Greater),
    ("gte", Operator::GreaterOrEqual),
    ("ge", Operator::GreaterOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("lt", Operator::Less),
    ("<", Operator::Less),
    ("lte", Operator::LessOrEqual),
    ("le", Operator::LessOrEqual),
    ("<=", Operator::LessOrEqual),
    ("in", Operator::In),
    ("not_in", Operator::NotIn),
    ("contains", Operator::Contains),
    ("starts_with", Operator::StartsWith),
    ("ends_with", Operator::EndsWith),
    ("matches", Operator::Matches),
    ("regex", Operator::Matches),
    ("is_null", Operator::IsNull),
];

/// Reads `{"status": "open", "size": {"gt": 9}}`.
pub(super) fn read(filter: &Map<String, Value>) -> Result<Vec<Condition>, ToolError> {
    let mut conditions = Vec::new();
    for (field, wanted) in filter {
        match wanted {
            Value::Object(operators) => {
                for (name, value) in operators {
                    conditions.push(Condition::read(field, name, value.clone())?);
                }
            }
            Value::Array(_) => {
                conditions.push(Condition::new(field, Operator::In, wanted.clone())?);
            }
            simple => conditions.push(Condition::new(field, Operator::Equal, simple.clone())?),
        }
    }
    Ok(conditions)
}

fn operator(name: &str) -> Result<Operator, ToolError> {
    let plain = name.trim().trim_start_matches('$').to_lowercase();
    if let Some((_, operator)) = OPERATORS.iter().find(|(known, _)| *known == plain) {
        return Ok(*operator);
    }
    let mut told: Vec<(&str, Operator)> = OPERATORS.to_vec();
    told.dedup_by_key(|(_, operator)| *operator);
    let names: Vec<&str> = told.into_iter().map(|(name, _)| name).collect();
    refuse!("There is no operator {name}: write one of {}.", names.join(", "))
}

impl Condition {
    fn new(field: &str, operator: Operator, value: Value) -> Result<Self, ToolError> {
        let is_fine = match operator {
            Operator::In | Operator::NotIn => value.is_array(),
            Operator::IsNull => value.is_boolean(),
            Operator::Equal | Operator::NotEqual => true,
            Operator::Contains | Operator::StartsWith | Operator::EndsWith | Operator::Matches => {
                value.is_string() || value.is_number()
            }
            Operator::Greater
            | Operator::GreaterOrEqual
            | Operator::Less
            | Operator::LessOrEqual => value.is_string() || value.is_number(),
        };
        if !is_fine {
            return refuse!(
                "The filter of {field} cannot be held against {}: in takes a list, is_null true or \
                 false, the others a number or a text.",
                shown(&value)
            );
        }
        Ok(Self { field: field.to_owned(), operator, value })
    }

    /// A field, the name of an operator such as `gte`, and what the field is held against.
    pub fn read(field: &str, name: &str, value: Value) -> Result<Self, ToolError> {
        Self::new(field, operator(name)?, value)
    }

    /// True if the field is held against a regular expression.
    pub(super) fn is_pattern(&self) -> bool {
        self.operator == Operator::Matches
    }

    /// What the field is held against, as a text.
    pub(super) fn held_against(&self) -> String {
        plain(&self.value)
    }

    pub(super) fn sql(&self, column: &Column) -> String {
        let name = comparable(column);
        let value = |value: &Value| typed(column, value);
        let text = || literal(&plain(&self.value));
        match (self.operator, &self.value) {
            (Operator::Equal, Value::Null) | (Operator::IsNull, Value::Bool(true)) => {
                format!("{name} IS NULL")
            }
            (Operator::NotEqual, Value::Null) | (Operator::IsNull, _) => {
                format!("{name} IS NOT NULL")
            }
            (Operator::Equal, given) => format!("{name} = {}", value(given)),
            // What has no value is not equal to one.
            (Operator::NotEqual, given) => format!("{name} IS DISTINCT FROM {}", value(given)),
            (Operator::Greater, given) => compared(column, ">", given),
            (Operator::GreaterOrEqual, given) => compared(column, ">=", given),
            (Operator::Less, given) => compared(column, "<", given),
            (Operator::LessOrEqual, given) => compared(column, "<=", given),
            (Operator::In, list) => is_among(&name, column, list),
            (Operator::NotIn, list) => {
                format!("({}) IS NOT TRUE", is_among(&name, column, list))
            }
            (Operator::Contains, _) => format!("contains({}, {})", as_text(column), text()),
            (Operator::StartsWith, _) => format!("starts_with({}, {})", as_text(column), text()),
            (Operator::EndsWith, _) => format!("suffix({}, {})", as_text(column), text()),
            (Operator::Matches, _) => format!("regexp_matches({}, {})", as_text(column), text()),
        }
    }
}

impl Order {
    /// By a field as it is called.
    pub fn by(field: String, is_descending: bool) -> Self {
        Self { field, is_descending }
    }

    /// Reads `field`, `-field` or `field desc`.
    pub fn read(text: &str) -> Self {
        let text = text.trim();
        let lower = text.to_lowercase();
        let (field, is_descending) = match text.strip_prefix('-') {
            Some(field) => (field, true),
            None if lower.ends_with(" desc") => (&text[..text.len() - 5], true),
            None if lower.ends_with(" asc") => (&text[..text.len() - 4], false),
            None => (text.strip_prefix('+').unwrap_or(text), false),
        };
        Self { field: field.trim().to_owned(), is_descending }
    }

    pub(super) fn sql(&self, column: &Column) -> String {
        let direction = if self.is_descending { "DESC" } else { "ASC" };
        format!("{} {direction} NULLS LAST", comparable(column))
    }
}

/// The column that a field is in; one that is not there is told with those that are.
pub(super) fn column<'c>(columns: &'c [Column], field: &str) -> Result<&'c Column, ToolError> {
    const SHOWN: usize = 60;
    let exact = columns.iter().find(|column| column.name == field);
    let found = exact.or_else(|| columns.iter().find(|it| it.name.eq_ignore_ascii_case(field)));
    if let Some(column) = found {
        return Ok(column);
    }
    let names = || columns.iter().map(|column| column.name.as_str());
    let meant = forebay_query::nearest(field, names());
    let meant = meant.map(|name| format!(" Did you mean {}?", forebay_query::plain(name)));
    let mut known: Vec<String> = names().take(SHOWN).map(forebay_query::plain).collect();
    if columns.len() > SHOWN {
        known.push("…".to_owned());
    }
    refuse!(
        "There is no field {}.{} The fields are {}. For a value within a field use \
         analyze-with-duckdb.",
        forebay_query::plain(field),
        meant.unwrap_or_default(),
        known.join(", ")
    )
}

/// Which comes first; a number is compared as one, also with texts.
fn compared(column: &Column, operator: &str, value: &Value) -> String {
    let is_text = column.kind == "VARCHAR" || is_nested(column);
    if is_text && let Some(digits) = large_whole(value) {
        let text = as_text(column);
        // Beyond these a DOUBLE takes numbers for equal that are not.
        return format!(
            "coalesce(TRY_CAST({text} AS DECIMAL(38, 9)) {operator} TRY_CAST('{digits}' AS DECIMAL(38, 9)), \
             TRY_CAST({text} AS DOUBLE) {operator} {digits})"
        );
    }
    if value.is_number() && is_text {
        return format!("TRY_CAST({} AS DOUBLE) {operator} {value}", as_text(column));
    }
    format!("{} {operator} {}", comparable(column), typed(column, value))
}

/// The digits of a whole number with more of them than a DOUBLE keeps. One that is too long for JSON's numbers is
/// a text.
fn large_whole(value: &Value) -> Option<String> {
    const EXACT_DIGITS: usize = 15;
    const MOST_DIGITS: usize = 300;
    let written = plain(value);
    let digits = written.strip_prefix('-').unwrap_or(&written);
    let is_whole = digits.bytes().all(|digit| digit.is_ascii_digit());
    let is_large = (EXACT_DIGITS + 1..=MOST_DIGITS).contains(&digits.len());
    let is_number = value.is_number() || is_beyond_json(&written);
    (is_whole && is_large && is_number).then_some(written)
}

/// True for a whole number that has more digits than JSON's numbers keep here.
fn is_beyond_json(digits: &str) -> bool {
    digits.parse::<i64>().is_err() && digits.parse::<u64>().is_err()
}

fn is_among(name: &str, column: &Column, list: &Value) -> String {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let values: Vec<String> =
        list.iter().filter(|it| !it.is_null()).map(|it| typed(column, it)).collect();
    let among = match values.as_slice() {
        [] => "false".to_owned(),
        values => format!("{name} IN ({})", values.join(", ")),
    };
    if list.iter().any(Value::is_null) { format!("({among} OR {name} IS NULL)") } else { among }
}

/// A column as something that can be compared.
fn comparable(column: &Column) -> String {
    if is_nested(column) { as_text(column) } else { quoted(&column.name) }
}

fn as_text(column: &Column) -> String {
    let name = quoted(&column.name);
    match column.kind.as_str() {
        "VARCHAR" => name,
        // A text in JSON is compared as the text that it is.
        "JSON" => format!("coalesce({name}->>'$', CAST({name} AS VARCHAR))"),
        _ if is_nested(column) => format!("CAST(to_json({name}) AS VARCHAR)"),
        _ => format!("CAST({name} AS VARCHAR)"),
    }
}

/// A value as a column of that type can be held against it.
fn typed(column: &Column, value: &Value) -> String {
    match value {
        Value::Bool(_) | Value::Number(_) if column.kind != "VARCHAR" && !is_nested(column) => {
            value.to_string()
        }
        _ if column.kind == "TIMESTAMP" && !column.name.ends_with("_local") => {
            let given = plain(value);
            let time = Time::read(&given).filter(Time::has_offset);
            literal(&time.and_then(|time| time.utc()).unwrap_or_else(|| given.clone()))
        }
        _ => literal(&plain(value)),
    }
}

/// A value as a text without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sql(kind: &str, filter: &Value) -> String {
        let column = Column { name: "a".to_owned(), kind: kind.to_owned() };
        let conditions = read(filter.as_object().unwrap()).unwrap();
        conditions.iter().map(|one| one.sql(&column)).collect::<Vec<_>>().join(" AND ")
    }

    #[test]
    fn conditions_become_sql() {
        assert_eq!(sql("BIGINT", &json!({"a": 5})), "\"a\" = 5");
        assert_eq!(sql("VARCHAR", &json!({"a": 5})), "\"a\" = '5'");
        assert_eq!(sql("VARCHAR", &json!({"a": "it's"})), "\"a\" = 'it''s'");
        assert_eq!(sql("BIGINT", &json!({"a": null})), "\"a\" IS NULL");
        assert_eq!(sql("BIGINT", &json!({"a": {"gte": 1, "lt": 9}})), "\"a\" >= 1 AND \"a\" < 9");
        assert_eq!(sql("BIGINT", &json!({"a": {"$ne": 1}})), "\"a\" IS DISTINCT FROM 1");
        assert_eq!(sql("BIGINT", &json!({"a": [1, null]})), "(\"a\" IN (1) OR \"a\" IS NULL)");
        assert_eq!(sql("VARCHAR", &json!({"a": {"in": []}})), "false");
        assert_eq!(sql("VARCHAR", &json!({"a": {"gt": 5}})), "TRY_CAST(\"a\" AS DOUBLE) > 5");
        assert_eq!(sql("VARCHAR", &json!({"a": {"gt": "b"}})), "\"a\" > 'b'");
        assert_eq!(
            sql("BIGINT", &json!({"a": {"contains": 1}})),
            "contains(CAST(\"a\" AS VARCHAR), '1')"
        );
    }

    #[test]
    fn large_whole_numbers_are_compared_to_the_last_digit() {
        let large = sql("VARCHAR", &json!({"a": {"gt": 9_007_199_254_740_992_u64}}));
        let exact =
            r#"TRY_CAST("a" AS DECIMAL(38, 9)) > TRY_CAST('9007199254740992' AS DECIMAL(38, 9))"#;
        assert!(large.contains(exact), "{large}");
        let beyond = sql("VARCHAR", &json!({"a": {"lte": "-18446744073709551616"}}));
        assert!(beyond.contains("<= TRY_CAST('-18446744073709551616' AS"), "{beyond}");
        // One that JSON has numbers for is a text if it stands as one.
        let text = sql("VARCHAR", &json!({"a": {"gt": "1234567890123456"}}));
        assert_eq!(text, "\"a\" > '1234567890123456'");
        let number = sql("DECIMAL(38,0)", &json!({"a": {"gt": "18446744073709551616"}}));
        assert_eq!(number, "\"a\" > '18446744073709551616'");
    }

    #[test]
    fn what_cannot_be_understood_is_told() {
        let error = |filter: Value| read(filter.as_object().unwrap()).unwrap_err().told();
        let unknown = error(json!({"a": {"above": 1}}));
        assert!(unknown.contains("eq, ne, gt, gte, lt, lte, in"), "{unknown}");
        assert!(error(json!({"a": {"in": 1}})).contains("in takes a list"));
        let columns = [Column { name: "status".into(), kind: "VARCHAR".into() }];
        let missing = column(&columns, "stauts").unwrap_err().told();
        assert!(missing.contains("Did you mean status?"), "{missing}");
    }

    #[test]
    fn an_order_may_be_written_in_several_ways() {
        let order = |text: &str| {
            let order = Order::read(text);
            (order.field, order.is_descending)
        };
        assert_eq!(order("a"), ("a".to_owned(), false));
        assert_eq!(order("-a"), ("a".to_owned(), true));
        assert_eq!(order("a DESC"), ("a".to_owned(), true));
        assert_eq!(order("a asc"), ("a".to_owned(), false));
    }
}
