//! A tool's definition with our parameters in it.

use forebay_wire::scan;
use serde_json::Value;

use super::asked::{self, OURS};
use crate::parameters::{self, schema};

/// The names of our parameters that a tool with this input schema gets: those that it has not itself.
pub(crate) fn offered(schema: &Value) -> Vec<&'static str> {
    OURS.into_iter().filter(|name| schema["properties"].get(name).is_none()).collect()
}

/// True if a tool's definition says that it only reads.
pub(crate) fn only_reads(definition: &[u8]) -> bool {
    let [annotations] = scan::members(definition, ["annotations"]);
    let hint = annotations.map(|annotations| scan::members(annotations, ["readOnlyHint"]));
    hint == Some([Some(b"true")])
}

/// The definition with our parameters.
pub(crate) fn widened(definition: &[u8]) -> Vec<u8> {
    let offered = offered(&schema(definition));
    parameters::added(definition, &asked::schemas(&offered))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_gains_what_it_has_not_itself() {
        let definition = json!({
            "name": "list", "outputSchema": {"type": "object"},
            "inputSchema": {"type": "object", "properties": {
                "page": {"type": "integer", "description": "its own"}, "q": {"type": "string"},
            }, "required": ["q"]},
        });
        let widened = widened(definition.to_string().as_bytes());
        let widened: Value = serde_json::from_slice(&widened).unwrap();
        let properties = widened["inputSchema"]["properties"].as_object().unwrap();
        assert_eq!(properties["page"]["description"], "its own");
        assert_eq!(properties["limit"]["maximum"], 1000);
        for name in ["q", "offset", "fields", "refresh", "fetch_all"] {
            assert!(properties.contains_key(name), "{name}");
        }
        assert_eq!(widened["inputSchema"]["required"], json!(["q"]));
        assert_eq!(widened.get("outputSchema"), None);
    }

    #[test]
    fn the_parameters_cost_as_much_as_is_said() {
        let definition = r#"{"name":"a","inputSchema":{"type":"object","properties":{}}}"#;
        let widened = String::from_utf8(widened(definition.as_bytes())).unwrap();
        let cost = forebay_records::tokens(&widened) - forebay_records::tokens(definition);
        assert!((120..=140).contains(&cost), "docs/paging.md says about 130 tokens: {cost}");
    }

    #[test]
    fn a_tool_without_parameters_gains_all() {
        for definition in [r#"{"name":"a"}"#, r#"{"name":"a","inputSchema":{"type":"object"}}"#] {
            let widened: Value = serde_json::from_slice(&widened(definition.as_bytes())).unwrap();
            let properties = widened["inputSchema"]["properties"].as_object().unwrap();
            assert_eq!(properties.len(), OURS.len(), "{definition}");
            assert_eq!(widened["inputSchema"]["type"], "object");
        }
    }
}
