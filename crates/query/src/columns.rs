//! The columns of a table that is made from records: their names in SQL, and their types.

use std::collections::HashSet;

use serde_json::Value;

use crate::{NUMBER, PLACE};

/// A column in the making.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    /// What it is called in SQL.
    pub(crate) name: String,
    /// What its values are read as.
    pub(crate) kind: Type,
}

/// What values are read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Integer,
    /// An integer of more than 64 bits.
    Huge,
    Float,
    Boolean,
    Timestamp,
    Date,
    Text,
    /// Lists and structs, which have a type of their own if they are alike.
    Nested,
    /// Anything.
    Json,
}

impl Type {
    /// What values can be read as that may be anything.
    pub(crate) fn as_written(self) -> Self {
        match self {
            Self::Nested | Self::Json => Self::Json,
            Self::Integer
            | Self::Huge
            | Self::Float
            | Self::Boolean
            | Self::Timestamp
            | Self::Date
            | Self::Text => Self::Text,
        }
    }

    /// What DuckDB calls it.
    pub(crate) fn sql(self) -> &'static str {
        match self {
            Self::Integer => "BIGINT",
            Self::Huge => "HUGEINT",
            Self::Float => "DOUBLE",
            Self::Boolean => "BOOLEAN",
            Self::Timestamp => "TIMESTAMP",
            Self::Date => "DATE",
            Self::Text => "VARCHAR",
            Self::Nested | Self::Json => "JSON",
        }
    }
}

/// The columns of a table, of which `facts` are the metadata.
pub(crate) fn of(facts: &Value) -> Vec<Made> {
    let fields = facts["fields"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names = unique_names(fields.iter().map(|field| field["name"].as_str().unwrap_or_default()));
    names.into_iter().zip(fields).map(|(name, field)| Made { name, kind: kind(field) }).collect()
}

/// The columns of a text without records.
pub(crate) fn of_lines() -> Vec<Made> {
    let column = |name: &str, kind| Made { name: name.to_owned(), kind };
    vec![column("line", Type::Integer), column("text", Type::Text)]
}

fn kind(field: &Value) -> Type {
    let fits = |key: &str, fits: fn(&str) -> bool| field[key].as_str().is_none_or(fits);
    match field["type"].as_str() {
        Some("integer") => {
            let all = |is: fn(&str) -> bool| fits("min", is) && fits("max", is);
            if all(|text| text.parse::<i64>().is_ok()) {
                Type::Integer
            } else if all(|text| text.parse::<i128>().is_ok()) {
                Type::Huge
            } else {
                Type::Text
            }
        }
        Some("float") => Type::Float,
        Some("boolean") => Type::Boolean,
        Some("timestamp") => Type::Timestamp,
        Some("date") => Type::Date,
        Some("list" | "struct") => Type::Nested,
        Some("mixed") => Type::Json,
        _ => Type::Text,
    }
}

/// Columns that we add ourselves.
const RESERVED: [&str; 4] = [PLACE, NUMBER, "_dataset", "_captured_at"];

/// Names that SQL can tell apart, whatever the fields are called: it does not heed capitals.
pub(crate) fn unique_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken: HashSet<String> = RESERVED.iter().map(|name| (*name).to_owned()).collect();
    let mut unique = Vec::new();
    for (index, given) in names.enumerate() {
        // Some characters cannot be in a name.
        let given: String = given.chars().filter(|character| *character != '\0').collect();
        let given = if given.is_empty() { format!("column_{}", index + 1) } else { given };
        let mut name = given.clone();
        let mut number = 2;
        while !taken.insert(name.to_lowercase()) {
            name = format!("{given}_{number}");
            number += 1;
        }
        unique.push(name);
    }
    unique
}

/// A name in SQL.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text in SQL.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_told_apart_as_sql_does() {
        let names = ["id", "ID", "", "id_2", "Id", "column_3", "__at"];
        let unique = unique_names(names.into_iter());
        assert_eq!(unique, ["id", "ID_2", "column_3", "id_2_2", "Id_3", "column_3_2", "__at_2"]);
    }

    #[test]
    fn integers_have_as_many_bits_as_they_need() {
        let kind = |max: &str| kind(&json!({"type": "integer", "min": "0", "max": max}));
        assert_eq!(kind("9223372036854775807"), Type::Integer);
        assert_eq!(kind("9223372036854775808"), Type::Huge);
        assert_eq!(kind(&"9".repeat(60)), Type::Text);
    }
}
