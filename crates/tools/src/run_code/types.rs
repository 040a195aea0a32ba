//! Types as TypeScript writes them, of the JSON Schemas that tools have.

use serde_json::Value;

/// Deeper than this, a type is told as `object` or `unknown`.
const DEPTH: usize = 5;

/// The type that a schema describes. `root` is where its references lead to.
pub(super) fn type_of(schema: &Value, root: &Value) -> String {
    written(schema, root, 0)
}

/// The arguments of a tool, as a parameter of a function.
pub(super) fn parameter(schema: &Value) -> String {
    let properties = schema["properties"].as_object().map_or(0, serde_json::Map::len);
    if properties == 0 && schema["additionalProperties"].is_null() {
        return String::new();
    }
    let has_required = schema["required"].as_array().is_some_and(|names| !names.is_empty());
    let optional = if has_required { "" } else { "?" };
    format!("args{optional}: {}", type_of(schema, schema))
}

fn written(schema: &Value, root: &Value, depth: usize) -> String {
    if depth > DEPTH {
        return "unknown".to_owned();
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return target.map_or_else(|| "unknown".to_owned(), |it| written(it, root, depth + 1));
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(values) = schema["enum"].as_array() {
        return union(values.iter().map(ToString::to_string));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(schemas) = schema[key].as_array() {
            return union(schemas.iter().map(|it| written(it, root, depth + 1)));
        }
    }
    if let Some(schemas) = schema["allOf"].as_array() {
        let parts: Vec<String> = schemas.iter().map(|it| written(it, root, depth + 1)).collect();
        return parts.join(" & ");
    }
    match &schema["type"] {
        Value::String(kind) => of_kind(kind, schema, root, depth),
        Value::Array(kinds) => {
            let kinds = kinds.iter().filter_map(Value::as_str);
            union(kinds.map(|kind| of_kind(kind, schema, root, depth)))
        }
        _ if schema["properties"].is_object() => of_kind("object", schema, root, depth),
        _ => "unknown".to_owned(),
    }
}

fn of_kind(kind: &str, schema: &Value, root: &Value, depth: usize) -> String {
    match kind {
        "integer" | "number" => "number".to_owned(),
        "string" | "boolean" | "null" => kind.to_owned(),
        "array" => {
            let items = written(&schema["items"], root, depth + 1);
            if is_union(&items) { format!("({items})[]") } else { format!("{items}[]") }
        }
        "object" => object(schema, root, depth),
        _ => "unknown".to_owned(),
    }
}

fn object(schema: &Value, root: &Value, depth: usize) -> String {
    let Some(properties) = schema["properties"].as_object().filter(|it| !it.is_empty()) else {
        return match &schema["additionalProperties"] {
            values @ Value::Object(_) => {
                format!("Record<string, {}>", written(values, root, depth + 1))
            }
            _ => "object".to_owned(),
        };
    };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let members = properties.iter().map(|(name, it)| {
        let optional = if required.contains(&name.as_str()) { "" } else { "?" };
        format!("{}{optional}: {}", key(name), written(it, root, depth + 1))
    });
    format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
}

/// A name as what stands behind an object: `.name`, or `["another name"]`.
pub(super) fn step(name: &str) -> String {
    let key = key(name);
    if key == name { format!(".{key}") } else { format!("[{key}]") }
}

/// A name as a key of an object.
pub(super) fn key(name: &str) -> String {
    let is_plain = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_' || it == '$')
        && !name.starts_with(|it: char| it.is_ascii_digit())
        && !name.is_empty();
    if is_plain { name.to_owned() } else { Value::from(name).to_string() }
}

/// True if a type is one of several, as it is written.
fn is_union(written: &str) -> bool {
    let mut depth = 0;
    written.char_indices().any(|(at, letter)| {
        match letter {
            '{' | '(' | '<' => depth += 1,
            '}' | ')' | '>' => depth -= 1,
            _ => {}
        }
        depth == 0 && (written[at..].starts_with(" | ") || written[at..].starts_with(" & "))
    })
}

fn union(types: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for one in types {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    if all.is_empty() { "unknown".to_owned() } else { all.join(" | ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_read_as_typescript() {
        let cases = [
            (json!({"type": "string"}), "string"),
            (json!({"type": ["integer", "null"]}), "number | null"),
            (json!({"enum": ["a", 1]}), r#""a" | 1"#),
            (json!({"type": "array", "items": {"type": "string"}}), "string[]"),
            (json!({"type": "array", "items": {"enum": ["a", "b"]}}), r#"("a" | "b")[]"#),
            (
                json!({"type": "array", "items": {"anyOf": [
                    {"properties": {"a": {"enum": [1, 2]}}}, {"type": "object"}]}}),
                "({ a?: 1 | 2 } | object)[]",
            ),
            (
                json!({"type": "array", "items": {"properties": {"a": {"enum": [1, 2]}}}}),
                "{ a?: 1 | 2 }[]",
            ),
            (json!({"type": "array"}), "unknown[]"),
            (json!({"type": "object"}), "object"),
            (
                json!({"type": "object", "additionalProperties": {"type": "number"}}),
                "Record<string, number>",
            ),
            (
                json!({"properties": {"a": {"type": "integer"}, "b-c": {}}, "required": ["a"]}),
                r#"{ a: number, "b-c"?: unknown }"#,
            ),
            (
                json!({"$ref": "#/$defs/x", "$defs": {"x": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}),
                "string | null",
            ),
            (json!({"$ref": "elsewhere"}), "unknown"),
            (json!({}), "unknown"),
        ];
        for (schema, expected) in cases {
            assert_eq!(type_of(&schema, &schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({"$ref": "#/$defs/n", "$defs": {
            "n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}}});
        let written = type_of(&schema, &schema);
        assert!(written.starts_with("{ next?: { next?: ") && written.len() < 100, "{written}");
    }

    #[test]
    fn arguments_may_be_left_out_if_none_is_required() {
        assert_eq!(parameter(&json!({"type": "object", "properties": {}})), "");
        let one = json!({"properties": {"a": {"type": "string"}}});
        assert_eq!(parameter(&one), "args?: { a?: string }");
        let required = json!({"properties": {"a": {"type": "string"}}, "required": ["a"]});
        assert_eq!(parameter(&required), "args: { a: string }");
    }
}
