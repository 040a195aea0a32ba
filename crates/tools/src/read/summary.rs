//! What is known of a dataset, without any of it.

use forebay_store::Dataset;
use serde_json::Value;

use super::Reading;
use crate::{budget::Budget, json, list::moment_of};

/// How much is told of each field, the most first.
const FACTS: [&[&str]; 4] = [
    &["name", "type", "nulls", "distinct", "min", "max", "top"],
    &["name", "type", "nulls", "distinct", "min", "max"],
    &["name", "type", "min", "max"],
    &["name", "type"],
];

/// How much of a query is told.
const QUERY_CHARS: usize = 500;

/// What is known, as much as fits: with fewer and fewer facts, then fewer fields.
pub(super) fn of(dataset: &Dataset, budget: Budget) -> Reading {
    let fields = fields(dataset);
    let mut versions: Vec<(&[&str], usize)> =
        FACTS.iter().map(|facts| (*facts, fields.len())).collect();
    let mut shown = fields.len();
    while shown > 0 {
        shown /= 2;
        versions.push((FACTS[FACTS.len() - 1], shown));
    }
    let mut said = String::new();
    for (facts, shown) in versions {
        said = told(dataset, &fields, facts, shown);
        if budget.holds(&said) {
            break;
        }
    }
    Reading { json: said, note: None }
}

fn told(dataset: &Dataset, fields: &[Value], facts: &[&str], shown: usize) -> String {
    let metadata = dataset.metadata();
    let description = &metadata.description;
    let mut members = vec![
        json::member("dataset_id", &Value::from(dataset.id().as_str()).to_string()),
        json::member("tool", &Value::from(description.tool.as_str()).to_string()),
        json::member("server", &Value::from(description.server.as_str()).to_string()),
        json::member("captured_at", &Value::from(moment_of(metadata.timestamp)).to_string()),
        json::member("bytes", &metadata.bytes().to_string()),
    ];
    for name in ["format", "tokens", "envelope"] {
        let value = description.more.get(name).filter(|value| !is_empty(value));
        members.extend(value.map(|value| json::member(name, &value.to_string())));
    }
    if let Some(query) = description.more.get("query").and_then(Value::as_str) {
        let beginning: String = query.chars().take(QUERY_CHARS).collect();
        members.push(json::member("query", &Value::from(beginning).to_string()));
    }
    if let Some(records) = description.record_count {
        members.push(json::member("records", &records.to_string()));
    }
    if !fields.is_empty() {
        let fields: Vec<String> = fields[..shown].iter().map(|field| one(field, facts)).collect();
        members.push(json::member("fields", &format!("[{}]", fields.join(","))));
    }
    if shown < fields.len() {
        members.push(json::member("fields_left_out", &(fields.len() - shown).to_string()));
    }
    format!("{{{}}}", members.join(","))
}

/// The fields of the main table, with their facts if they are known.
fn fields(dataset: &Dataset) -> Vec<Value> {
    let description = &dataset.metadata().description;
    let main = description.more.get("tables").map_or(&Value::Null, |tables| &tables[0]["fields"]);
    let fields = main.as_array().or_else(|| description.schema["fields"].as_array());
    fields.cloned().unwrap_or_default()
}

fn one(field: &Value, facts: &[&str]) -> String {
    let known = facts.iter().filter_map(|fact| {
        let value = field.get(fact)?;
        // Nothing missing is nothing to tell.
        let is_left_out = is_empty(value) || (*fact == "nulls" && *value == 0);
        (!is_left_out).then(|| (*fact, value.clone()))
    });
    json::object(known)
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty)
}
