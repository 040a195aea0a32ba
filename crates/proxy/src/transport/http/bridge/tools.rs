//! Which arguments of a tool are said again in headers (modern): what its definition asks for with
//! `x-mcp-header`, learnt from the lists of tools that have passed.

use std::collections::HashMap;

use forebay_wire::{scan, walk};
use http::{HeaderMap, HeaderName};
use serde_json::Value;

use crate::transport::http::modern::encoded;

/// Tools whose arguments are remembered, at most.
const MAX_TOOLS: usize = 10_000;
/// The largest integer that every client and server can read exactly.
const MAX_INTEGER: i64 = (1 << 53) - 1;

/// The tools that want some of their arguments in headers.
#[derive(Debug, Default)]
pub(super) struct ToolHeaders(HashMap<String, Vec<Mirrored>>);

/// An argument that is said again in a header.
#[derive(Debug, PartialEq, Eq)]
struct Mirrored {
    header: HeaderName,
    /// The keys that lead to it.
    path: Vec<String>,
}

impl ToolHeaders {
    /// Takes note of the tools in a result of `tools/list`.
    pub(super) fn learn(&mut self, result: &[u8]) {
        let [tools] = scan::members(result, ["tools"]);
        for tool in tools.and_then(walk::elements).into_iter().flatten() {
            let [name, schema] = scan::members(tool, ["name", "inputSchema"]);
            let Some(name) = name.and_then(scan::string) else { continue };
            let schema = schema.and_then(|schema| serde_json::from_slice(schema).ok());
            let mut mirrored = Vec::new();
            collect(&schema.unwrap_or(Value::Null), &mut Vec::new(), &mut mirrored);
            if mirrored.is_empty() {
                self.0.remove(&*name);
            } else if self.0.len() < MAX_TOOLS {
                self.0.insert(name.into_owned(), mirrored);
            }
        }
    }

    /// Adds what a call of `tool` says in headers.
    pub(super) fn add(&self, tool: &str, arguments: Option<&[u8]>, headers: &mut HeaderMap) {
        let Some(mirrored) = self.0.get(tool) else { return };
        let Some(arguments) = arguments.and_then(|json| serde_json::from_slice(json).ok()) else {
            return;
        };
        let arguments: Value = arguments;
        for Mirrored { header, path } in mirrored {
            let value = path.iter().try_fold(&arguments, |value, key| value.get(key));
            if let Some(text) = value.and_then(shown) {
                headers.insert(header, encoded(&text));
            }
        }
    }
}

/// Finds annotations of properties, and of properties of these. One that the specification does not
/// allow is passed over: the upstream says what it thinks of the call.
fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Mirrored>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (key, property) in properties {
        path.push(key.clone());
        let is_primitive = matches!(
            property.get("type").and_then(Value::as_str),
            Some("string" | "integer" | "boolean")
        );
        let name = property.get("x-mcp-header").and_then(Value::as_str).filter(|_| is_primitive);
        let header = name
            .filter(|name| !name.is_empty())
            .and_then(|name| HeaderName::from_bytes(format!("mcp-param-{name}").as_bytes()).ok());
        if let Some(header) = header
            && found.iter().all(|other| other.header != header)
        {
            found.push(Mirrored { header, path: path.clone() });
        }
        collect(property, path, found);
        path.pop();
    }
}

/// A value as text; `None` for what is not said in headers.
fn shown(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Number(number) => {
            #[expect(clippy::cast_possible_truncation, reason = "checked to be a small integer")]
            #[expect(clippy::cast_precision_loss, reason = "exact up to that")]
            let whole = number.as_i64().or_else(|| {
                number
                    .as_f64()
                    .filter(|float| float.fract() == 0.0 && float.abs() <= MAX_INTEGER as f64)
                    .map(|float| float as i64)
            });
            whole.filter(|integer| integer.abs() <= MAX_INTEGER).map(|integer| integer.to_string())
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"{"tools":[
        {"name":"plain","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}},
        {"name":"sql","inputSchema":{"properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "zone":{"type":"string","x-mcp-header":"REGION"},
            "size":{"type":"number","x-mcp-header":"Size"},
            "bad":{"type":"string","x-mcp-header":"a b"},
            "none":{"type":"string","x-mcp-header":""},
            "limits":{"type":"object","properties":{
                "rows":{"type":"integer","x-mcp-header":"Rows"},
                "dry":{"type":"boolean","x-mcp-header":"Dry"}
            }}
        }}}
    ]}"#;

    fn headers(tool: &str, arguments: &str) -> Vec<(String, String)> {
        let mut tools = ToolHeaders::default();
        tools.learn(LIST.as_bytes());
        let mut headers = HeaderMap::new();
        tools.add(tool, Some(arguments.as_bytes()), &mut headers);
        let shown = |(name, value): (&HeaderName, &http::HeaderValue)| {
            (name.to_string(), value.to_str().unwrap().to_owned())
        };
        let mut shown: Vec<_> = headers.iter().map(shown).collect();
        shown.sort();
        shown
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn annotated_arguments_are_mirrored_wherever_they_stand() {
        let arguments =
            r#"{"region":"Zürich","size":1.5,"bad":"x","limits":{"rows":42.0,"dry":false}}"#;
        let expected = [
            ("mcp-param-dry", "false"),
            ("mcp-param-region", "=?base64?WsO8cmljaA==?="),
            ("mcp-param-rows", "42"),
        ];
        assert_eq!(headers("sql", arguments), pairs(&expected));
    }

    #[test]
    fn what_is_absent_null_or_no_plain_value_is_left_out() {
        let arguments = r#"{"region":null,"limits":{"rows":1.5}}"#;
        assert_eq!(headers("sql", arguments), []);
        assert_eq!(headers("sql", r#"{"limits":{"rows":9007199254740993}}"#), []);
        assert_eq!(headers("plain", r#"{"a":"x"}"#), []);
        assert_eq!(headers("unknown", r#"{"region":"x"}"#), []);
    }

    #[test]
    fn a_tool_that_is_listed_anew_is_learnt_anew() {
        let mut tools = ToolHeaders::default();
        tools.learn(LIST.as_bytes());
        assert!(tools.0.contains_key("sql"));
        tools.learn(br#"{"tools":[{"name":"sql","inputSchema":{}}]}"#);
        assert!(tools.0.is_empty());
    }
}
