//! The definition of an upstream's tool, with parameters of ours in it.

use forebay_wire::{scan, walk};
use serde_json::{Map, Value};

use crate::json;

/// The input schema in a tool's definition.
pub(crate) fn schema(definition: &[u8]) -> Value {
    let [schema] = scan::members(definition, ["inputSchema"]);
    schema.and_then(|schema| serde_json::from_slice(schema).ok()).unwrap_or_default()
}

/// The name in a tool's definition.
pub(crate) fn name(definition: &[u8]) -> Option<String> {
    let [name] = scan::members(definition, ["name"]);
    scan::string(name?).map(Into::into)
}

/// The definition with these parameters. What it promises of its output holds no longer for all calls, and is
/// left out: strict clients hold results against it.
pub(crate) fn added(definition: &[u8], added: &Map<String, Value>) -> Vec<u8> {
    let has_schema = walk::members(definition)
        .is_some_and(|mut members| members.any(|(key, _)| key == b"inputSchema"));
    let mut members: Vec<Vec<u8>> = Vec::new();
    for (key, value) in walk::members(definition).into_iter().flatten() {
        match key {
            b"outputSchema" => {}
            b"inputSchema" if !added.is_empty() => {
                members.push(member(key, &with_properties(value, added)));
            }
            _ => members.push(member(key, value)),
        }
    }
    if !has_schema && !added.is_empty() {
        members.push(member(b"inputSchema", &with_properties(b"{\"type\":\"object\"}", added)));
    }
    object(&members)
}

/// An input schema with more properties, whose own stay as they are written.
fn with_properties(schema: &[u8], added: &Map<String, Value>) -> Vec<u8> {
    let ours =
        added.iter().map(|(name, schema)| member(name.as_bytes(), schema.to_string().as_bytes()));
    let ours: Vec<Vec<u8>> = ours.collect();
    let mut members: Vec<Vec<u8>> = Vec::new();
    let mut has_properties = false;
    for (key, value) in walk::members(schema).into_iter().flatten() {
        if json::name(key) == "properties" && value.starts_with(b"{") {
            has_properties = true;
            let own =
                walk::members(value).into_iter().flatten().map(|(key, value)| member(key, value));
            let all: Vec<Vec<u8>> = own.chain(ours.iter().cloned()).collect();
            members.push(member(key, &object(&all)));
        } else {
            members.push(member(key, value));
        }
    }
    if !has_properties {
        members.push(member(b"properties", &object(&ours)));
    }
    object(&members)
}

fn member(key: &[u8], value: &[u8]) -> Vec<u8> {
    [b"\"", key, b"\":", value].concat()
}

fn object(members: &[Vec<u8>]) -> Vec<u8> {
    [b"{".as_slice(), &members.join(&b","[..]), b"}"].concat()
}
