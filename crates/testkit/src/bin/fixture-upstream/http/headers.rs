//! What a modern request repeats in its headers must be what it says.

use base64::{Engine, prelude::BASE64_STANDARD};
use forebay_wire::scan;
use hyper::HeaderMap;

use crate::request::{Params, text};

pub(crate) const HEADER_MISMATCH: i32 = -32020;

/// Says which header differs from the request, if one does.
pub(crate) fn mismatch(headers: &HeaderMap, method: &str, params: &Params<'_>) -> Option<String> {
    let name = match method {
        "tools/call" | "prompts/get" => Some(text(params.name)),
        "resources/read" => Some(text(params.uri)),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some(text(params.task_id)),
        _ => None,
    };
    let [region] = scan::members(params.arguments, ["region"]);
    let region = match &*text(params.name) {
        "region" => region.filter(|value| *value != b"null").map(|value| text(Some(value))),
        _ => None,
    };
    [
        ("MCP-Protocol-Version", Some(text(params.revision))),
        ("Mcp-Method", Some(method.to_owned())),
        ("Mcp-Name", name),
        ("Mcp-Param-Region", region),
    ]
    .into_iter()
    .find_map(|(header, expected)| {
        let expected = expected?;
        let given = headers.get(header).map(|value| decoded(value.as_bytes()));
        (given.as_ref() != Some(&expected)).then(|| {
            let given = given.unwrap_or_else(|| "nothing".to_owned());
            format!("Header mismatch: {header} is '{given}', the body says '{expected}'")
        })
    })
}

fn decoded(value: &[u8]) -> String {
    let encoded = value.strip_prefix(b"=?base64?").and_then(|rest| rest.strip_suffix(b"?="));
    let bytes = encoded.and_then(|encoded| BASE64_STANDARD.decode(encoded).ok());
    String::from_utf8_lossy(bytes.as_deref().unwrap_or(value)).into_owned()
}
