//! What a parameter takes, as its tool's schema tells.

use std::ptr;

use serde_json::Value;

use super::find::{Path, Step};

/// In which form a parameter takes what it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A text.
    Text,
    /// A text in base64.
    Base64,
    /// JSON that is no text.
    Json,
    /// A number or a truth value.
    Plain,
    /// The path of a file.
    Path,
    /// A value that HTTP clients say again in a header: what stands there must not change.
    Mirrored,
    /// Both a text and other JSON, or nothing is known.
    Any,
}

/// What the parameter at `path` takes, if `schema` is that of all arguments.
pub(super) fn at(schema: &Value, path: &Path) -> Wanted {
    let mut schemas = flat(schema, schema);
    for step in &path.0 {
        let inner = schemas.iter().filter_map(|outer| within(outer, step));
        schemas = inner.flat_map(|inner| flat(schema, inner)).collect();
    }
    let says = |key: &str, words: &[&str]| {
        let said = schemas.iter().filter_map(|schema| schema.get(key)?.as_str());
        said.into_iter().any(|word| words.contains(&word))
    };
    if schemas.iter().any(|schema| schema.get("x-mcp-header").is_some()) {
        return Wanted::Mirrored;
    }
    if says("format", &["path", "file-path"]) {
        return Wanted::Path;
    }
    if says("contentEncoding", &["base64"]) {
        return Wanted::Base64;
    }
    let types: Vec<&str> = schemas.iter().flat_map(|schema| types(schema)).collect();
    let has = |words: &[&str]| types.iter().any(|word| words.contains(word));
    match (has(&["string"]), has(&["object", "array"]), has(&["number", "integer", "boolean"])) {
        (true, false, false) => Wanted::Text,
        (false, true, _) => Wanted::Json,
        (false, false, true) => Wanted::Plain,
        (true, ..) | (false, false, false) => Wanted::Any,
    }
}

/// A schema and those that it refers to, each once: they may lead in a circle.
fn flat<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let mut all = vec![schema];
    let mut at = 0;
    while let Some(schema) = all.get(at).copied() {
        let referred = schema.get("$ref").and_then(Value::as_str);
        let referred = referred.and_then(|reference| root.pointer(reference.strip_prefix('#')?));
        let choices = ["anyOf", "oneOf", "allOf"];
        let choices = choices.iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
        for other in referred.into_iter().chain(choices) {
            if !all.iter().any(|known| ptr::eq(*known, other)) {
                all.push(other);
            }
        }
        at += 1;
    }
    all
}

/// The schemas of what a step leads to.
fn within<'a>(schema: &'a Value, step: &Step) -> Option<&'a Value> {
    match step {
        Step::Key(key) => schema
            .get("properties")
            .and_then(|properties| properties.get(key))
            .or_else(|| schema.get("additionalProperties")),
        Step::Index(index) => {
            let items = schema.get("items");
            let listed = schema.get("prefixItems").or(items).and_then(|list| list.get(index));
            listed.or_else(|| items.filter(|items| items.is_object()))
        }
    }
}

fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_parameter_takes_what_its_schema_says() {
        let schema = json!({
            "properties": {
                "text": {"type": "string"},
                "maybe": {"type": ["string", "null"]},
                "perhaps": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "optional": {"anyOf": [{"type": "array"}, {"type": "null"}]},
                "number": {"type": "integer"},
                "both": {"oneOf": [{"type": "string"}, {"type": "object"}]},
                "any": {},
                "region": {"type": "string", "x-mcp-header": "Region"},
                "file": {"type": "string", "format": "file-path"},
                "bytes": {"type": "string", "contentEncoding": "base64"},
                "referred": {"$ref": "#/$defs/rows"},
                "circle": {"$ref": "#/$defs/circle"},
                "pair": {"prefixItems": [{"type": "string"}], "items": {"type": "object"}},
                "more": {"additionalProperties": {"type": "string"}},
            },
            "$defs": {
                "rows": {"type": "array", "items": {"properties": {"x": {"type": "string"}}}},
                "circle": {"$ref": "#/$defs/circle"},
            },
        });
        let key = |key: &str| Step::Key(key.to_owned());
        for (steps, expected) in [
            (vec![key("text")], Wanted::Text),
            (vec![key("maybe")], Wanted::Text),
            (vec![key("perhaps")], Wanted::Text),
            (vec![key("optional")], Wanted::Json),
            (vec![key("number")], Wanted::Plain),
            (vec![key("both")], Wanted::Any),
            (vec![key("any")], Wanted::Any),
            (vec![key("region")], Wanted::Mirrored),
            (vec![key("unknown")], Wanted::Any),
            (vec![key("file")], Wanted::Path),
            (vec![key("bytes")], Wanted::Base64),
            (vec![key("referred")], Wanted::Json),
            (vec![key("referred"), Step::Index(7), key("x")], Wanted::Text),
            (vec![key("circle")], Wanted::Any),
            (vec![key("pair"), Step::Index(0)], Wanted::Text),
            (vec![key("pair"), Step::Index(1)], Wanted::Json),
            (vec![key("more"), key("x")], Wanted::Text),
        ] {
            assert_eq!(at(&schema, &Path(steps.clone())), expected, "{steps:?}");
        }
        assert_eq!(at(&Value::Null, &Path::default()), Wanted::Any);
    }
}
