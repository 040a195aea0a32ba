//! Which arguments of a tool are said again in headers (modern): what its definition asks for with
//! `x-mcp-header`, learnt from the lists of tools that have passed. The bridge adds these headers, the
//! endpoint in front of a command checks them, for its upstream does not see any.

use std::collections::HashMap;

use forebay_wire::{Envelope, Kind, scan, walk};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::{
    headers::PROTOCOL_VERSION,
    modern::{self, METHOD, Mistake, NAME, encoded},
};
use crate::{body::Source, limits, protocol::methods};

/// The largest integer that every client and server can read exactly.
const MAX_INTEGER: i64 = (1 << 53) - 1;

/// The tools that want some of their arguments in headers.
#[derive(Debug, Default)]
pub(crate) struct ToolHeaders(HashMap<String, Vec<Mirrored>>);

/// An argument that is said again in a header.
#[derive(Debug, PartialEq, Eq)]
struct Mirrored {
    header: HeaderName,
    /// The keys that lead to it.
    path: Vec<String>,
}

impl ToolHeaders {
    /// Takes note of the tools in a result of `tools/list`.
    pub(crate) fn learn(&mut self, result: &[u8]) {
        let [tools] = scan::members(result, ["tools"]);
        for tool in tools.and_then(walk::elements).into_iter().flatten() {
            let [name, schema] = scan::members(tool, ["name", "inputSchema"]);
            let Some(name) = name.and_then(scan::string) else { continue };
            let schema = schema.and_then(|schema| serde_json::from_slice(schema).ok());
            let mut mirrored = Vec::new();
            collect(&schema.unwrap_or(Value::Null), &mut Vec::new(), &mut mirrored);
            if mirrored.is_empty() {
                self.0.remove(&*name);
            } else if let Some(known) = self.0.get_mut(&*name) {
                *known = mirrored;
            } else if self.0.len() < limits::TOOLS_WITH_HEADERS {
                self.0.insert(name.into_owned(), mirrored);
            }
        }
    }

    /// Adds what a message of the modern era says in headers; `false` if it is none of that era.
    pub(crate) fn say_again(
        &self,
        envelope: &Envelope,
        source: Source<'_>,
        headers: &mut HeaderMap,
    ) -> bool {
        let Some(params) = &envelope.params else { return false };
        let [meta, name, uri, task_id, arguments] =
            source.members(params, ["_meta", "name", "uri", "taskId", "arguments"]);
        let version = meta.and_then(|meta| {
            let [version] = source.members(&meta.span, [methods::PROTOCOL_VERSION]);
            HeaderValue::from_str(&scan::string(&version?.scalar?)?).ok()
        });
        let (Some(version), Some(method)) = (version, &envelope.method) else { return false };
        headers.insert(PROTOCOL_VERSION, version);
        if let Ok(method) = HeaderValue::from_str(method) {
            headers.insert(METHOD, method);
        }
        let subject = match method.as_str() {
            "tools/call" | "prompts/get" => name,
            "resources/read" => uri,
            "tasks/get" | "tasks/update" | "tasks/cancel" => task_id,
            _ => None,
        };
        let subject = subject.and_then(|value| value.scalar);
        let Some(subject) = subject.as_deref().and_then(scan::string) else { return true };
        headers.insert(NAME, encoded(&subject));
        if method == "tools/call" {
            // Arguments of many megabytes are in no memory to be looked into; the upstream says so if
            // it misses something.
            let arguments = arguments.as_ref().and_then(|value| source.slice(&value.span));
            self.add(&subject, arguments, headers);
        }
        true
    }

    /// Adds what a call of `tool` says in headers.
    fn add(&self, tool: &str, arguments: Option<&[u8]>, headers: &mut HeaderMap) {
        for (header, argument) in self.said_again(tool, arguments) {
            headers.insert(header, encoded(&argument.text));
        }
    }

    /// Says which header of a request does not say what the argument does, if any. One whose argument
    /// is absent or null is not looked at, as the specification wishes.
    pub(crate) fn check(
        &self,
        headers: &HeaderMap,
        envelope: &Envelope,
        source: Source<'_>,
    ) -> Result<(), Mistake> {
        let Kind::Request { method: "tools/call", .. } = envelope.kind() else { return Ok(()) };
        let Some(params) = &envelope.params else { return Ok(()) };
        let [name, arguments] = source.members(params, ["name", "arguments"]);
        let name = name.and_then(|name| name.scalar);
        let Some(tool) = name.as_deref().and_then(scan::string) else { return Ok(()) };
        // Arguments of many megabytes are in no memory to be looked into.
        let arguments = arguments.as_ref().and_then(|value| source.slice(&value.span));
        for (header, argument) in self.said_again(&tool, arguments) {
            let text = &argument.text;
            let Some(written) = modern::written(headers, header) else {
                let what = format!("{header} is missing; the body says '{text}'");
                return Err(Mistake::of_headers(&what));
            };
            if !modern::decoded(&written).is_some_and(|given| argument.is(&given)) {
                let what =
                    format!("{header} header value '{written}' does not match body value '{text}'");
                return Err(Mistake::of_headers(&what));
            }
        }
        Ok(())
    }

    /// The arguments of a call of `tool` that are said again, each with its header.
    fn said_again<'a>(
        &'a self,
        tool: &str,
        arguments: Option<&[u8]>,
    ) -> Vec<(&'a HeaderName, Argument)> {
        let Some(mirrored) = self.0.get(tool) else { return Vec::new() };
        let Some(arguments) = arguments.and_then(|json| serde_json::from_slice(json).ok()) else {
            return Vec::new();
        };
        let arguments: Value = arguments;
        let said = |mirrored: &'a Mirrored| {
            let Mirrored { header, path } = mirrored;
            let value = path.iter().try_fold(&arguments, |value, key| value.get(key))?;
            Some((header, Argument { text: shown(value)?, is_number: value.is_number() }))
        };
        mirrored.iter().filter_map(said).collect()
    }
}

/// An argument as a header says it.
struct Argument {
    text: String,
    is_number: bool,
}

impl Argument {
    /// True if a header says this: the same text, or the same number in other digits (`42.0`).
    fn is(&self, given: &str) -> bool {
        let is_plain = |text: &str| text.bytes().all(|it| matches!(it, b'-' | b'.' | b'0'..=b'9'));
        let number = |text: &str| text.parse::<f64>().ok();
        given == self.text
            || (self.is_number && is_plain(given) && number(given) == number(&self.text))
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
    use forebay_wire::Line;
    use serde_json::json;

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

    fn checked(arguments: &str, pairs: &[(&str, &str)]) -> Result<(), String> {
        let mut tools = ToolHeaders::default();
        tools.learn(LIST.as_bytes());
        let json = format!(
            r#"{{"id":1,"method":"tools/call","params":{{"name":"sql","arguments":{arguments}}}}}"#
        );
        let Line::Message(envelope) = Line::of(json.as_bytes()) else { panic!("{json}") };
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        let checked = tools.check(&headers, &envelope, Source::Line(json.as_bytes()));
        checked.map_err(|mistake| {
            assert_eq!(mistake.status, http::StatusCode::BAD_REQUEST);
            mistake.what
        })
    }

    #[test]
    fn a_header_says_what_its_argument_says() {
        let region = |text: &str| json!({ "region": text }).to_string();
        let header = |value| checked(&region("Hello"), &[("Mcp-Param-Region", value)]);
        for said in ["Hello", "  Hello  ", "=?base64?SGVsbG8=?="] {
            assert_eq!(header(said), Ok(()), "{said}");
        }
        for wrong in ["hello", "", "=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "SGVsbG8="] {
            let told = header(wrong).unwrap_err();
            let expected = "does not match body value 'Hello'";
            assert!(told.starts_with("Header mismatch: ") && told.ends_with(expected), "{told}");
        }
        let told = checked(&region("Hello"), &[]).unwrap_err();
        assert_eq!(told, "Header mismatch: mcp-param-region is missing; the body says 'Hello'");
        // What only looks encoded is meant as it is written.
        for literal in ["SGVsbG8=", "=?base64?SGVsbG8="] {
            assert_eq!(checked(&region(literal), &[("Mcp-Param-Region", literal)]), Ok(()));
        }
        // Who reads the first of two headers must not see something else than who reads the last.
        let twice = [("Mcp-Param-Region", "Hello"), ("Mcp-Param-Region", "Hallo")];
        assert!(checked(&region("Hello"), &twice).is_err());
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_what_is_absent_is_not_expected() {
        let rows = |header| checked(r#"{"limits":{"rows":42}}"#, &[("Mcp-Param-Rows", header)]);
        assert_eq!((rows("42"), rows("42.0")), (Ok(()), Ok(())));
        assert!(rows("43").is_err() && rows("4.2e1").is_err() && rows("").is_err());
        for absent in ["{}", r#"{"region":null}"#, r#"{"region":["a"]}"#] {
            assert_eq!(checked(absent, &[("Mcp-Param-Region", "ignored")]), Ok(()), "{absent}");
        }
    }

    #[test]
    fn a_tool_that_is_listed_anew_is_learnt_anew() {
        let mut tools = ToolHeaders::default();
        tools.learn(LIST.as_bytes());
        assert!(tools.0.contains_key("sql"));
        tools.learn(br#"{"tools":[{"name":"sql","inputSchema":{}}]}"#);
        assert!(tools.0.is_empty());
    }

    #[test]
    fn a_tool_that_is_known_is_learnt_anew_when_there_is_room_for_no_other() {
        let list = |name: &str, header: &str| {
            let property = json!({ "a": { "type": "string", "x-mcp-header": header } });
            let tool = json!({ "name": name, "inputSchema": { "properties": property } });
            json!({ "tools": [tool] }).to_string()
        };
        let mut tools = ToolHeaders::default();
        for number in 0..limits::TOOLS_WITH_HEADERS {
            tools.learn(list(&format!("tool {number}"), "Before").as_bytes());
        }
        tools.learn(list("one too many", "Before").as_bytes());
        tools.learn(list("tool 7", "After").as_bytes());
        assert_eq!(tools.0.len(), limits::TOOLS_WITH_HEADERS);
        assert_eq!(tools.0["tool 7"][0].header, "mcp-param-after");
    }
}
