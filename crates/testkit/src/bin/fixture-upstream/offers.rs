//! What there is with `--rich`: a prompt `greet {name}`, the resource `note://NAME`, where NAME is the variable
//! FIXTURE, the template `note://{name}`, and a list of all tools that a gateway's tests need: whoever sorts
//! calls by their names passes on those that are listed.

use std::env;

use forebay_wire::scan;
use serde_json::json;

use crate::request::{Era, Request, text};

/// What a client is told of it, as members of the capabilities.
pub(crate) const LEGACY: &str =
    r#","prompts":{},"resources":{"subscribe":true},"tasks":{"requests":{"tools":{"call":{}}}}"#;
pub(crate) const MODERN: &str =
    r#","prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true}"#;

const METHODS: [&str; 6] = [
    "tools/list",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

const TOOLS: [&str; 7] =
    ["echo", "records", "announce", "pid", "environment", "cancelled", "release"];

pub(crate) fn has(method: &str) -> bool {
    METHODS.contains(&method)
}

/// What such a request is answered with, as members of a result.
pub(crate) fn answer(request: &Request<'_>) -> String {
    let name = env::var("FIXTURE").unwrap_or_default();
    let mut result = match request.method {
        "tools/list" => {
            let tool = |name| json!({ "name": name, "inputSchema": { "type": "object" } });
            json!({ "tools": TOOLS.map(tool) })
        }
        "prompts/list" => json!({ "prompts": [{
            "name": "greet", "arguments": [{ "name": "name", "required": true }]
        }] }),
        "prompts/get" => {
            let [whom] = scan::members(request.params.arguments, ["name"]);
            let said = format!("Greet {} from {name}.", text(whom));
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": said } }] })
        }
        "resources/list" => {
            json!({ "resources": [{ "uri": format!("note://{name}"), "name": "note" }] })
        }
        "resources/templates/list" => {
            json!({ "resourceTemplates": [{ "uriTemplate": "note://{name}", "name": "notes" }] })
        }
        _ => {
            let uri = text(request.params.uri);
            let said = format!("{uri} as {name} has it");
            json!({ "contents": [{ "uri": uri, "mimeType": "text/plain", "text": said }] })
        }
    };
    let is_cacheable = !matches!(request.method, "prompts/get");
    if request.era == Era::Modern && is_cacheable {
        result["ttlMs"] = json!(60_000);
        result["cacheScope"] = json!("public");
    }
    let object = result.to_string();
    object[1..object.len() - 1].to_owned()
}
