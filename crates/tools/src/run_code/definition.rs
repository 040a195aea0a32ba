//! What a tool's definition says, as far as it can be read. A server may have written a part of it that cannot be, such
//! as a description that ends within an emoji, or a schema that is nested without end; the rest holds nevertheless.

use forebay_wire::scan;
use serde_json::{Value, json};

/// True if the server marks the tool as destructive.
pub(super) fn is_destructive(definition: &[u8]) -> bool {
    let [annotations] = scan::members(definition, ["annotations"]);
    let hints = annotations.map(|it| scan::members(it, ["destructiveHint", "readOnlyHint"]));
    let [destroys, only_reads] = hints.unwrap_or_default();
    destroys == Some(b"true") && only_reads != Some(b"true")
}

/// The parts of a definition that can be read.
pub(super) fn readable(definition: &[u8]) -> Value {
    let [description, takes, gives, annotations] =
        scan::members(definition, ["description", "inputSchema", "outputSchema", "annotations"]);
    let read = |part: Option<&[u8]>| part.map_or(Ok(Value::Null), serde_json::from_slice::<Value>);
    json!({
        "description": read(description).unwrap_or_default(),
        // It takes something, but nobody knows what.
        "inputSchema": read(takes).unwrap_or_else(|_| json!({"additionalProperties": true, "type": "object"})),
        "outputSchema": read(gives).unwrap_or_default(),
        "annotations": read(annotations).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A definition with annotations, and with a part that cannot be read.
    fn definitions(annotations: &str) -> [String; 3] {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        [
            r#""description":"Deletes.""#.to_owned(),
            r#""description":"Deletes \ud83d""#.to_owned(),
            format!(r#""description":"Deletes.","inputSchema":{{"enum":{deep}}}"#),
        ]
        .map(|part| format!(r#"{{"name":"rm",{part},"annotations":{annotations}}}"#))
    }

    #[test]
    fn a_tool_is_destructive_whatever_else_of_it_cannot_be_read() {
        for (annotations, expected) in [
            (r#"{"title":"Remove","destructiveHint":true}"#, true),
            (r#"{"title":"\ud83d","destructiveHint":true}"#, true),
            (r#"{"destructiveHint":true,"readOnlyHint":true}"#, false),
            (r#"{"destructiveHint":false}"#, false),
            ("{}", false),
            ("null", false),
        ] {
            for definition in definitions(annotations) {
                assert_eq!(is_destructive(definition.as_bytes()), expected, "{definition}");
            }
        }
    }

    #[test]
    fn what_can_be_read_of_a_definition_is() {
        let [sound, cut, deep] = definitions(r#"{"title":"Remove"}"#);
        let description = |json: &str| readable(json.as_bytes())["description"].clone();
        assert_eq!([description(&sound), description(&deep)], ["Deletes.", "Deletes."]);
        assert_eq!(description(&cut), Value::Null);
        let takes =
            |json: &str| super::super::types::parameter(&readable(json.as_bytes())["inputSchema"]);
        assert_eq!((takes(&sound).as_str(), takes(&deep).as_str()), ("", "args?: object"));
        assert_eq!(readable(cut.as_bytes())["annotations"]["title"], "Remove");
    }
}
