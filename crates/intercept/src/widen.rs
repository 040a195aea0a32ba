//! Widens a tool's output schema, so that what stands in the place of a large result fits it too.

use serde_json::{Map, Value, json};

/// What may stand only at the root of a schema, or is referred to from there. References begin at
/// the nearest `$id`, so that it has to stay with the definitions.
const ROOT_KEYS: [&str; 4] = ["$schema", "$id", "$defs", "definitions"];

/// A schema for whatever fits `schema`, and for replacements; `None` if the schema cannot be put
/// inside another one.
pub(crate) fn schema(schema: &[u8]) -> Option<Vec<u8>> {
    let mut original: Map<String, Value> = serde_json::from_slice(schema).ok()?;
    if !original.values().all(can_be_moved) {
        return None;
    }
    let mut widened = Map::new();
    for key in ROOT_KEYS {
        widened.extend(original.remove(key).map(|value| (key.to_owned(), value)));
    }
    // Up to 2025-11-25 the protocol wants an object at the root. Later it may be anything.
    if original.get("type").is_some_and(|kind| kind == "object") {
        widened.insert("type".to_owned(), "object".into());
    }
    widened.insert("anyOf".to_owned(), json!([original, replacement()]));
    serde_json::to_vec(&widened).ok()
}

/// The schema of what stands in the place of structured content.
fn replacement() -> Value {
    json!({
        "type": "object",
        "description": "In place of a large result, which was saved as a dataset",
        "properties": {"dataset_id": {"type": "string"}, "hint": {"type": "string"}},
        "required": ["dataset_id", "hint"],
    })
}

/// True unless something in `value` refers to a place that is about to move.
fn can_be_moved(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().all(|(key, value)| match value {
            Value::String(target) if key.ends_with("Ref") || key == "$ref" => stays(target),
            _ => can_be_moved(value),
        }),
        Value::Array(elements) => elements.iter().all(can_be_moved),
        _ => true,
    }
}

/// True if a reference means the same after the move.
fn stays(target: &str) -> bool {
    let is_moved = target == "#" || target.starts_with("#/");
    !is_moved || target.starts_with("#/$defs/") || target.starts_with("#/definitions/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widened(original: &Value) -> Option<Value> {
        schema(original.to_string().as_bytes()).map(|json| serde_json::from_slice(&json).unwrap())
    }

    #[test]
    fn a_schema_moves_under_any_of_and_its_definitions_stay() {
        let original = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "$id": "https://example.com/list",
            "properties": {"next": {"$ref": "#/$defs/Node"}}, "required": ["next"],
            "$defs": {"Node": {"type": "object"}},
        });
        let widened = widened(&original).unwrap();
        for key in ["$schema", "$id", "$defs"] {
            assert_eq!(widened[key], original[key]);
        }
        assert_eq!(widened["type"], "object");
        let inner =
            json!({"type": "object", "properties": original["properties"], "required": ["next"]});
        assert_eq!(widened["anyOf"], json!([inner, replacement()]));
    }

    #[test]
    fn what_need_not_be_an_object_may_still_be_something_else() {
        for original in [json!({"type": "array"}), json!({"type": ["object", "null"]}), json!({})] {
            let widened = widened(&original).unwrap();
            assert_eq!(widened, json!({"anyOf": [original, replacement()]}));
        }
    }

    #[test]
    fn a_schema_that_refers_to_its_own_places_cannot_be_moved() {
        for target in ["#", "#/properties/a"] {
            let original = json!({"properties": {"a": {"items": [{"$ref": target}]}}});
            assert_eq!(widened(&original), None, "{target}");
        }
        assert_eq!(schema(b"true"), None);
        let elsewhere =
            json!({"properties": {"a": {"$ref": "https://example.com/a"}, "b": {"$ref": "#b"}}});
        assert!(widened(&elsewhere).is_some());
    }
}
