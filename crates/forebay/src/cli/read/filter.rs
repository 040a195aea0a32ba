//! Conditions as they are typed: `status=open`, `size>=5`.

use forebay_tools::Condition;
use serde_json::Value;

/// How conditions are written, and what each stands for; the longer ones first.
const OPERATORS: [(&str, &str); 9] = [
    (">=", "gte"),
    ("<=", "lte"),
    ("!=", "ne"),
    ("<>", "ne"),
    ("==", "eq"),
    (">", "gt"),
    ("<", "lt"),
    ("=", "eq"),
    ("~", "matches"),
];

/// Reads a field, an operator and a value.
pub(super) fn parse(text: &str) -> Result<Condition, String> {
    let (field, name, given) = split(text)
        .ok_or("write FIELD=VALUE, for example status=open; also !=, >, >=, <, <= and ~REGEX")?;
    Condition::read(field, name, value(given)).map_err(|error| error.told())
}

/// The field, the operator's name and the value. What comes first in the text is the operator.
fn split(text: &str) -> Option<(&str, &'static str, &str)> {
    let (at, _) = text.char_indices().find(|(at, _)| operator(&text[*at..]).is_some())?;
    let (written, name) = operator(&text[at..])?;
    let field = text[..at].trim();
    (!field.is_empty()).then(|| (field, name, text[at + written.len()..].trim()))
}

fn operator(text: &str) -> Option<(&'static str, &'static str)> {
    OPERATORS.into_iter().find(|(written, _)| text.starts_with(written))
}

/// A value as it is compared. Numbers are texts, too: the column says what they are. What is in
/// quotes is a text in any case.
fn value(given: &str) -> Value {
    match serde_json::from_str(given) {
        Ok(Value::Null) => Value::Null,
        Ok(Value::String(text)) => text.into(),
        _ => given.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_a_field_an_operator_and_a_value() {
        assert_eq!(split("status=open"), Some(("status", "eq", "open")));
        assert_eq!(split("status == open"), Some(("status", "eq", "open")));
        assert_eq!(split("size>=5"), Some(("size", "gte", "5")));
        assert_eq!(split("size > 5"), Some(("size", "gt", "5")));
        assert_eq!(split("size<=-1.5"), Some(("size", "lte", "-1.5")));
        assert_eq!(split("name!=a=b"), Some(("name", "ne", "a=b")));
        assert_eq!(split("name<>x"), Some(("name", "ne", "x")));
        assert_eq!(split("größe~^a|b$"), Some(("größe", "matches", "^a|b$")));
        assert_eq!(split("name="), Some(("name", "eq", "")));
        assert_eq!((split("open"), split("=open"), split("")), (None, None, None));
    }

    #[test]
    fn null_is_no_text_unless_it_is_in_quotes() {
        assert_eq!(value("null"), Value::Null);
        assert_eq!(value("\"null\""), Value::from("null"));
        assert_eq!(value("1e5"), Value::from("1e5"));
        assert_eq!(value("\"unclosed"), Value::from("\"unclosed"));
    }

    #[test]
    fn what_cannot_be_compared_is_told() {
        let error = parse("size>null").unwrap_err();
        assert!(error.contains("a number or a text"), "{error}");
        assert!(parse("open").unwrap_err().contains("status=open"));
        parse("size=null").unwrap();
    }
}
