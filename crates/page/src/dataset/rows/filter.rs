//! What must hold for the rows that are shown, as it stands in an address.

use forebay_tools::Condition;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde::Serialize;
use serde_json::Value;

use crate::{
    problem::Problem,
    visible::{named, visible},
};

/// What fields can be held against, with how it is told.
pub(super) const OPERATORS: [(&str, &str); 10] = [
    ("eq", "is"),
    ("ne", "is not"),
    ("contains", "contains"),
    ("starts_with", "begins with"),
    ("matches", "matches (regex)"),
    ("gt", ">"),
    ("gte", "≥"),
    ("lt", "<"),
    ("lte", "≤"),
    ("is_null", "has no value"),
];

/// What must hold for a field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Filter {
    pub(super) field: String,
    pub(super) operator: String,
    pub(super) value: String,
}

impl Filter {
    /// To have no value is true unless it is said to be false.
    pub(super) fn of(field: String, operator: &str, value: &str) -> Self {
        let value = if operator == "is_null" && value.is_empty() { "true" } else { value };
        Self { field, operator: operator.to_owned(), value: value.to_owned() }
    }

    /// Reads `gte:stars=10`, or `is_null:stars`.
    pub(super) fn read(text: &str) -> Result<Self, Problem> {
        let refused = || {
            Problem::refused(format!(
                "A filter is written as eq:status=open, gte:stars=10 or is_null:note; {text} is none."
            ))
        };
        let (operator, rest) = text.split_once(':').ok_or_else(refused)?;
        let (field, value) = match rest.split_once('=') {
            Some(pair) => pair,
            None if operator == "is_null" => (rest, ""),
            None => return Err(refused()),
        };
        let [field, value] =
            [field, value].map(|it| percent_decode_str(it).decode_utf8_lossy().into_owned());
        Ok(Self::of(field, operator, &value))
    }

    pub(super) fn written(&self) -> String {
        // A field of a form would change the line breaks of a value.
        format!("{}:{}={}", self.operator, encoded(&self.field), encoded(&self.value))
    }

    pub(super) fn condition(&self) -> Result<Condition, Problem> {
        let is_compared = ["gt", "gte", "lt", "lte"].contains(&self.operator.as_str());
        let number = exact(&self.value).filter(|_| is_compared);
        let value = match (self.operator.as_str(), number) {
            ("is_null", _) => Value::Bool(self.has_none()?),
            ("in" | "not_in", _) => self.list()?,
            (_, Some(number)) => Value::Number(number),
            (_, None) => Value::String(self.value.clone()),
        };
        Ok(Condition::read(&self.field, &self.operator, value)?)
    }

    /// Whether the field is to have no value, or one.
    fn has_none(&self) -> Result<bool, Problem> {
        match self.value.as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(Problem::refused(format!("is_null is true or false, not {other}."))),
        }
    }

    /// The values that the field is to be among.
    fn list(&self) -> Result<Value, Problem> {
        let list = serde_json::from_str(&self.value).ok().filter(Value::is_array);
        list.ok_or_else(|| {
            Problem::refused(format!(
                "{0} takes a list in JSON, such as {0}:status=[\"open\",\"new\"].",
                self.operator
            ))
        })
    }

    pub(super) fn told(&self) -> String {
        let known = OPERATORS.iter().find(|(name, _)| *name == self.operator);
        let told = known.map_or(self.operator.as_str(), |(_, told)| told);
        let field = named(&self.field);
        match (self.operator.as_str(), self.value.as_str()) {
            ("is_null", "false") => format!("{field} has a value"),
            ("is_null", _) => format!("{field} {told}"),
            (_, value) => format!("{field} {told} {}", visible(value)),
        }
    }
}

/// A field or a value as it stands in a filter.
pub(super) fn encoded(text: &str) -> String {
    const RESERVED: &AsciiSet = &CONTROLS.add(b'%').add(b'=');
    utf8_percent_encode(text, RESERVED).to_string()
}

/// A number, if it is the one that is written: what has too many digits would be another.
fn exact(written: &str) -> Option<serde_json::Number> {
    let number = written.parse::<serde_json::Number>().ok()?;
    let is_whole = written.bytes().all(|it| it.is_ascii_digit() || it == b'-');
    (!(is_whole && number.is_f64())).then_some(number)
}

/// Why a filter without a value was refused, if that was why.
pub(super) fn without_value(filters: &[Filter], refused: &str) -> Option<String> {
    const SAID: [&str; 3] = ["Conversion Error", "invalid timestamp", "invalid date"];
    let is_of_value = SAID.iter().any(|said| refused.contains(said));
    let empty = filters.iter().find(|it| it.value.is_empty());
    empty.filter(|_| is_of_value).map(|filter| {
        let field = named(&filter.field);
        format!("An empty value is none that the field {field} can have: write one, or choose “has no value”.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_reads_as_it_is_written() {
        for (field, value) in [
            ("stars", "10"),
            ("a=b%3D:c", "x=y:z & ü"),
            ("", ""),
            ("rate", "10% or %41"),
            ("note", "one\ntwo\r\n"),
        ] {
            let [field, value] = [field, value].map(str::to_owned);
            let filter = Filter { field, operator: "gte".to_owned(), value };
            assert_eq!(Filter::read(&filter.written()).unwrap(), filter);
            assert!(!filter.written().contains(char::is_control));
        }
        assert_eq!(exact("18446744073709551616"), None);
        assert!(exact("18446744073709551615").is_some() && exact("1e3").is_some());
        for (list, is_one) in [(r#"["a",1,null]"#, true), ("a,b", false), ("1", false), ("", false)]
        {
            let filter = Filter::of("status".to_owned(), "in", list);
            assert_eq!(filter.condition().is_ok(), is_one, "{list}");
        }
        assert!(Filter::read("nonsense").is_err() && Filter::read("eq:a").is_err());
        let empty = [Filter::read("eq:total=").unwrap()];
        let why = without_value(&empty, "Conversion Error: Could not convert string \"\" to INT64");
        assert!(why.is_some_and(|why| why.contains("An empty value") && why.contains("total")));
        assert_eq!(without_value(&empty, "There is no field total."), None);
        for same in ["is_null:note", "is_null:note=", "is_null:no%74e=true"] {
            assert_eq!(Filter::read(same).unwrap().written(), "is_null:note=true", "{same}");
        }
        let nothing = Filter::read("is_null:note").unwrap();
        assert_eq!(
            (nothing.told().as_str(), nothing.has_none().unwrap()),
            ("note has no value", true)
        );
    }
}
