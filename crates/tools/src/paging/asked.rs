//! What a call asks of us, apart from what it asks of the upstream.

use serde_json::{Map, Value, json};

use super::{raw::RawArguments, style::Style};
use crate::{
    ToolError,
    arguments::Arguments,
    error::refuse,
    pages::{DEFAULT_LIMIT, MAX_LIMIT, Part},
};

/// Our parameters, in the order in which they are listed.
pub(crate) const OURS: [&str; 6] = ["page", "limit", "offset", "fields", REFRESH, "fetch_all"];
/// The one that the cache has, too.
pub(crate) const REFRESH: &str = "refresh";

/// What is wanted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Which records.
    pub(crate) part: Part,
    /// Which of their members; all, if none is named.
    pub(crate) fields: Vec<String>,
    /// Whether what was fetched before does not count.
    pub(crate) refreshes: bool,
    /// Whether all pages are to be fetched.
    pub(crate) wants_all: bool,
    /// Those of our parameters that the tool has not itself.
    pub(crate) offered: Vec<&'static str>,
}

impl Asked {
    /// Takes what is for us out of a call's arguments; `None` if none of it is.
    pub(crate) fn take(
        arguments: &mut RawArguments,
        offered: &[&'static str],
        style: &Style,
    ) -> Result<Option<Self>, ToolError> {
        let mut given = arguments.take(offered);
        let is_for_us = given.values().any(|value| !value.is_null());
        if !is_for_us {
            return Ok(None);
        }
        if let Some(name) = style.position_parameter().filter(|name| arguments.get(name).is_some())
        {
            return refuse!(
                "{name} is the tool's own way to its pages, which Forebay uses when one of {} is \
                 given: leave {name} out, or leave these out.",
                offered.join(", ")
            );
        }
        // A tool with a limit of its own has pages of that size.
        if !offered.contains(&"limit")
            && let Some(size) = style.size_parameter().and_then(|name| arguments.get(name))
        {
            let size: Value = serde_json::from_slice(size).unwrap_or_default();
            given.insert("limit".to_owned(), size);
        }
        let given = Arguments::among_others(given);
        Ok(Some(Self {
            part: Part::of(&given)?,
            fields: given.texts("fields")?,
            refreshes: given.flag("refresh")?,
            wants_all: given.flag("fetch_all")?,
            offered: offered.to_vec(),
        }))
    }

    /// True if a parameter of this name is ours.
    pub(crate) fn offers(&self, name: &str) -> bool {
        self.offered.contains(&name)
    }
}

/// The schemas of our parameters that a tool has none of its own of, by their names.
pub(crate) fn schemas(offered: &[&str]) -> Map<String, Value> {
    let schema = |name: &str| match name {
        "page" => {
            json!({"type": "integer", "minimum": 1, "description": "Page of all records, from 1"})
        }
        "limit" => json!({
            "type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT,
            "description": "Records per page",
        }),
        "offset" => json!({
            "type": "integer", "minimum": 0, "description": "Records to skip, in place of page",
        }),
        "fields" => json!({
            "type": "array", "items": {"type": "string"},
            "description": "Only these members of each record; a.b for nested ones",
        }),
        "refresh" => {
            json!({"type": "boolean", "description": "Fetch again what was fetched before"})
        }
        _ => json!({
            "type": "boolean", "description": "Fetch all pages into one dataset, for SQL",
        }),
    };
    offered.iter().map(|name| ((*name).to_owned(), schema(name))).collect()
}

#[cfg(test)]
impl Asked {
    /// This part and nothing else, of a tool that has no parameters of our names.
    pub(crate) fn of(part: Part) -> Self {
        let offered = OURS.to_vec();
        Self { part, fields: Vec::new(), refreshes: false, wants_all: false, offered }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paging::settings::PagingSettings;

    fn take(arguments: &str, schema: &Value) -> Result<Option<Asked>, String> {
        let style = Style::of(schema, &PagingSettings::default());
        let has = |name: &str| schema["properties"].get(name).is_some();
        let offered: Vec<&'static str> = OURS.into_iter().filter(|name| !has(name)).collect();
        Asked::take(&mut RawArguments::read(arguments.as_bytes()), &offered, &style)
            .map_err(|error| error.told())
    }

    #[test]
    fn what_is_asked_of_us_is_read_with_care() {
        let none = json!({});
        assert_eq!(take(r#"{"q": "x", "page": null}"#, &none), Ok(None));
        let asked =
            take(r#"{"page": "3", "limit": 10, "fields": "a, b"}"#, &none).unwrap().unwrap();
        assert_eq!(asked.part, Part { offset: 20, limit: 10 });
        assert_eq!(asked.fields, ["a", "b"]);
        let all = take(r#"{"fetch_all": true}"#, &none).unwrap().unwrap();
        assert!(all.wants_all && !all.refreshes);
        assert_eq!(all.part, Part { offset: 0, limit: 20 });
    }

    #[test]
    fn what_cannot_be_is_told_with_what_to_write() {
        let error = |arguments: &str| take(arguments, &json!({})).unwrap_err();
        assert!(error(r#"{"page": 1, "offset": 0}"#).contains("not both"));
        assert_eq!(
            error(r#"{"limit": 1001}"#),
            "limit must be a whole number from 1 to 1000, not 1001."
        );
        assert!(error(r#"{"page": 0}"#).contains("1 or more"));
    }

    #[test]
    fn a_parameter_of_the_tools_own_stays_its_own() {
        let own = json!({"properties": {
            "page": {"type": "integer"}, "limit": {"type": "integer"}, "q": {"type": "string"},
        }});
        assert_eq!(take(r#"{"page": 3, "limit": 50}"#, &own), Ok(None));
        let asked = take(r#"{"offset": 100, "limit": 50}"#, &own).unwrap().unwrap();
        assert_eq!(asked.part, Part { offset: 100, limit: 50 });
        let both = take(r#"{"page": 3, "offset": 100}"#, &own).unwrap_err();
        assert!(both.starts_with("page is the tool's own way to its pages"), "{both}");
    }
}
