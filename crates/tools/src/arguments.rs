//! The arguments of a call, read with care: a model wrote them.
//!
//! What can be understood is: a number in quotes, a list that is a single word. What cannot is told
//! with what to write instead.

use std::fmt::Display;

use forebay_store::{ADDRESS, DatasetId};
use serde_json::{Map, Value};

use crate::{ToolError, definitions::Tool, error::refuse};

/// The arguments of a call of a tool.
#[derive(Debug)]
pub(crate) struct Arguments {
    /// `None` if they stand among the arguments of somebody else's tool.
    tool: Option<Tool>,
    given: Map<String, Value>,
}

impl Arguments {
    /// The arguments, all of which the tool must know.
    pub(crate) fn new(tool: Tool, given: Value) -> Result<Self, ToolError> {
        let given = match given {
            Value::Null => Map::new(),
            Value::Object(given) => given,
            other => return refuse!("The arguments must be an object, not {}.", shown(&other)),
        };
        let known = tool.arguments();
        if let Some(unknown) = given.keys().find(|name| !known.contains(name)) {
            let meant = forebay_query::nearest(unknown, known.iter().map(String::as_str));
            let meant = meant.map(|name| format!(" Did you mean {name}?")).unwrap_or_default();
            return refuse!(
                "There is no argument {unknown}.{meant} {} takes {}.",
                tool.name(),
                known.join(", ")
            );
        }
        Ok(Self { tool: Some(tool), ..Self::among_others(given) })
    }

    /// Those arguments of a call that are for us.
    pub(crate) fn among_others(given: Map<String, Value>) -> Self {
        // What is null is as good as not given.
        let given = given.into_iter().filter(|(_, value)| !value.is_null()).collect();
        Self { tool: None, given }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        debug_assert!(
            self.tool.is_none_or(|tool| tool.arguments().iter().any(|known| known == name)),
            "{name}"
        );
        self.given.get(name)
    }

    /// A text that must be there.
    pub(crate) fn text(&self, name: &str, example: &str) -> Result<String, ToolError> {
        if let Some(text) = self.optional_text(name)? {
            return Ok(text);
        }
        let tool = self.tool.map_or("the call", Tool::name);
        refuse!("{tool} needs {name}, such as {example}.")
    }

    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<String>, ToolError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => refuse!("{name} must be a text, not {}.", shown(other)),
        }
    }

    /// One of a few words.
    pub(crate) fn word<T: Copy>(
        &self,
        name: &str,
        known: &[(&str, T)],
    ) -> Result<Option<T>, ToolError> {
        let Some(given) = self.optional_text(name)? else { return Ok(None) };
        if let Some((_, meaning)) = known.iter().find(|(word, _)| given.eq_ignore_ascii_case(word))
        {
            return Ok(Some(*meaning));
        }
        let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
        refuse!("There is no {name} {given}: write {}.", words.join(", "))
    }

    /// A whole number within limits.
    pub(crate) fn number(&self, name: &str, from: u64, to: u64) -> Result<Option<u64>, ToolError> {
        let Some(given) = self.get(name) else { return Ok(None) };
        let number = match given {
            Value::String(text) => text.trim().parse().ok(),
            // Some clients write every number with a fraction.
            Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
            _ => None,
        };
        match number.filter(|number| (from..=to).contains(number)) {
            Some(number) => Ok(Some(number)),
            None if to == u64::MAX => {
                refuse!("{name} must be a whole number, {from} or more, not {}.", shown(given))
            }
            None => {
                refuse!("{name} must be a whole number from {from} to {to}, not {}.", shown(given))
            }
        }
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, ToolError> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(on)) => Ok(*on),
            Some(Value::String(word)) if word == "true" => Ok(true),
            Some(Value::String(word)) if word == "false" => Ok(false),
            Some(other) => refuse!("{name} must be true or false, not {}.", shown(other)),
        }
    }

    /// A list of texts; a single text is a list of one.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>, ToolError> {
        let wrong = |value: &Value| {
            let shown = shown(value);
            ToolError::Refused(format!(
                "{name} must be a list of texts, such as [\"a\", \"b\"], not {shown}."
            ))
        };
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(listed(text)),
            Some(Value::Array(list)) => list
                .iter()
                .map(|one| match one.as_str() {
                    Some(text) => Ok(text.to_owned()),
                    None => Err(wrong(one)),
                })
                .collect(),
            Some(other) => Err(wrong(other)),
        }
    }

    /// A dataset, with the name of one of its tables if that stands behind it.
    pub(crate) fn dataset(&self, name: &str) -> Result<Option<(DatasetId, String)>, ToolError> {
        self.optional_text(name)?.map(|text| dataset_and_table(&text)).transpose()
    }

    /// An object.
    pub(crate) fn object(&self, name: &str) -> Result<Map<String, Value>, ToolError> {
        match self.get(name) {
            None => Ok(Map::new()),
            Some(Value::Object(object)) => Ok(object.clone()),
            // Some models write JSON within the JSON.
            Some(Value::String(text)) if text.trim_start().starts_with('{') => {
                match serde_json::from_str(text) {
                    Ok(object) => Ok(object),
                    Err(error) => refuse!("{name} must be an object: {error}."),
                }
            }
            Some(other) => refuse!("{name} must be an object, not {}.", shown(other)),
        }
    }
}

/// The names that a text lists, if it looks like a list.
pub(crate) fn listed(text: &str) -> Vec<String> {
    if let Some(list) = text.trim().strip_prefix('[')
        && list.ends_with(']')
        && let Ok(list) = serde_json::from_str(text)
    {
        return list;
    }
    text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Reads `dataset_k3v9x2ma`, or `dataset_k3v9x2ma_authors` for another of its tables; `dataset_` may
/// be left out.
pub(crate) fn dataset_and_table(text: &str) -> Result<(DatasetId, String), ToolError> {
    const PREFIX: &str = "dataset_";
    let text = text.trim();
    // What is written for other tools is understood here, too.
    let text = text.strip_prefix(ADDRESS).unwrap_or(text);
    let whole = format!("{PREFIX}{}", text.strip_prefix(PREFIX).unwrap_or(text));
    let known = whole.get(..DatasetId::LENGTH).and_then(DatasetId::parse);
    match known.map(|id| (id, &whole[DatasetId::LENGTH..])) {
        Some((id, "")) => Ok((id, String::new())),
        Some((id, rest)) if rest.starts_with('_') => Ok((id, rest[1..].to_owned())),
        _ => refuse!(
            "{} is not the name of a dataset; such a name is dataset_k3v9x2ma. \
             list-saved-datasets shows those that there are.",
            shown(&Value::from(text))
        ),
    }
}

/// A value, as short as it must be to be told.
pub(crate) fn shown(value: &Value) -> String {
    const LENGTH: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LENGTH) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// `1 record`, `2 records`.
pub(crate) fn counted(count: impl Display, what: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {what}{plural}")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be whole and within what a float holds exactly"
)]
fn whole(number: f64) -> Option<u64> {
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && (0.0..=MAX_EXACT).contains(&number)).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(given: Value) -> Arguments {
        Arguments::new(Tool::Read, given).unwrap()
    }

    fn error<T: std::fmt::Debug>(outcome: Result<T, ToolError>) -> String {
        outcome.unwrap_err().told()
    }

    #[test]
    fn what_can_be_understood_is() {
        assert_eq!(read(json!({"limit": "7"})).number("limit", 1, 10).unwrap(), Some(7));
        assert_eq!(read(json!({"limit": 7.0})).number("limit", 1, 10).unwrap(), Some(7));
        assert_eq!(read(json!({"limit": null})).number("limit", 1, 10).unwrap(), None);
        assert_eq!(read(json!({"fields": "a, b"})).texts("fields").unwrap(), ["a", "b"]);
        assert_eq!(read(json!({"fields": "[\"a,b\"]"})).texts("fields").unwrap(), ["a,b"]);
        assert_eq!(read(json!({"filter": "{\"a\":1}"})).object("filter").unwrap()["a"], 1);
        assert!(read(json!({"summary_only": "true"})).flag("summary_only").unwrap());
    }

    #[test]
    fn what_cannot_is_told_with_what_to_write() {
        assert_eq!(
            error(read(json!({"limit": 5000})).number("limit", 1, 1000)),
            "limit must be a whole number from 1 to 1000, not 5000."
        );
        let unknown = error(Arguments::new(Tool::Read, json!({"dataset": "x"})));
        assert!(unknown.contains("Did you mean dataset_id?"), "{unknown}");
        assert!(unknown.contains("summary_only"), "{unknown}");
        assert!(error(read(json!({"fields": [1]})).texts("fields")).contains("[\"a\", \"b\"]"));
        let bad = error(read(json!({"dataset_id": "../etc"})).dataset("dataset_id"));
        assert!(bad.contains("dataset_k3v9x2ma"), "{bad}");
    }

    #[test]
    fn a_dataset_may_be_named_with_one_of_its_tables() {
        let (id, table) = dataset_and_table("dataset_k3v9x2ma_authors").unwrap();
        assert_eq!((id.as_str(), table.as_str()), ("dataset_k3v9x2ma", "authors"));
        assert_eq!(dataset_and_table("k3v9x2ma").unwrap(), (id.clone(), String::new()));
        assert_eq!(dataset_and_table("k3v9x2ma_authors").unwrap(), (id, "authors".to_owned()));
        let passed_on = dataset_and_table("forebay://dataset/dataset_k3v9x2ma").unwrap();
        assert_eq!(passed_on, dataset_and_table("k3v9x2ma").unwrap());
        assert!(dataset_and_table("dataset_k3v9x2maauthors").is_err());
    }
}
