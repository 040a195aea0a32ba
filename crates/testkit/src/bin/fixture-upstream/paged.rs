//! What there is with `--paged`: tools that give records in pages, each in a way of its own, and count how
//! often they are asked.
//!
//! - `public_records {page_number, page_size}`: 101,662 records, 10,000 a page whatever `page_size` says, with
//!   a total, as many public data APIs do
//! - `own_records {page, limit}`: 1,000 records; its parameters have the names that a proxy might like
//! - `cursor_records {cursor}`: 2,500 records, 1,000 a page, each with the cursor of the next
//! - `offset_records {skip, count}`: 5,000 records, as many as are asked for up to 500, with a total
//! - `next_url_records {seek}`: 2,500 records, 1,000 a page, each with the URL of the next
//! - `untotalled_records {page_number}`: 2,500 records, 1,000 a page, and nothing else; its definition says that
//!   pages count from 1
//! - `moving_total_records {page_number}`: 300 records a page and a total that grows with every page
//! - `failing_records {page_number}`: 5,000 records, 1,000 a page; the third is an error
//! - `all_records {status}`: 45 records at once, as structured content
//! - `no_records`: a result without a list
//! - `fetches {name}`: how often the tool of that name has been asked

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{Mutex, PoisonError},
};

use serde_json::{Value, json};

use crate::{json::Json, request::Era, tools};

/// The type of a number that counts from 1.
const COUNT: &str = "integer from 1";

/// The tools, with the names and types of their parameters.
const TOOLS: [(&str, &[(&str, &str)]); 11] = [
    ("public_records", &[("page_number", "integer"), ("page_size", "integer")]),
    ("own_records", &[("page", "integer"), ("limit", "integer")]),
    ("cursor_records", &[("cursor", "string")]),
    ("offset_records", &[("skip", "integer"), ("count", "integer")]),
    ("next_url_records", &[("seek", "integer")]),
    ("untotalled_records", &[("page_number", COUNT)]),
    ("moving_total_records", &[("page_number", "integer")]),
    ("failing_records", &[("page_number", "integer")]),
    ("all_records", &[("status", "string")]),
    ("no_records", &[]),
    ("fetches", &[("name", "string")]),
];

/// How often each tool has been asked.
#[derive(Default)]
pub(crate) struct Fetches(Mutex<BTreeMap<String, u64>>);

/// What a page of such a tool is.
enum Page {
    Text(Value),
    Structured(Value),
    Failed(&'static str),
}

/// Their definitions, each with a comma before it.
pub(crate) fn list() -> String {
    let definition = |(name, parameters): &(&str, &[(&str, &str)])| {
        let properties: Value = parameters
            .iter()
            .map(|(name, kind)| {
                let property = match *kind {
                    COUNT => json!({ "type": "integer", "minimum": 1 }),
                    kind => json!({ "type": kind }),
                };
                ((*name).to_owned(), property)
            })
            .collect();
        let schema = json!({ "type": "object", "properties": properties });
        let annotations = json!({ "readOnlyHint": true });
        format!(",{}", json!({ "name": name, "inputSchema": schema, "annotations": annotations }))
    };
    TOOLS.iter().map(definition).collect()
}

impl Fetches {
    /// The result of a tool, if it is one of these.
    pub(crate) fn result(&self, tool: &str, arguments: &[u8], era: Era) -> Option<Json> {
        TOOLS.iter().find(|(name, _)| *name == tool)?;
        let arguments: Value = serde_json::from_slice(arguments).unwrap_or_default();
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tool == "fetches" {
            let count = arguments["name"].as_str().and_then(|name| counts.get(name));
            return Some(tools::text(era, &count.copied().unwrap_or(0).to_string()));
        }
        *counts.entry(tool.to_owned()).or_default() += 1;
        let head = era.result_head();
        Some(match page(tool, &arguments) {
            Page::Text(document) => tools::text(era, &document.to_string()),
            Page::Structured(document) => {
                Json::whole(format!(r#"{head}"content":[],"structuredContent":{document}}}"#))
            }
            Page::Failed(why) => {
                let content = json!([{ "type": "text", "text": why }]);
                Json::whole(format!(r#"{head}"content":{content},"isError":true}}"#))
            }
        })
    }
}

fn page(tool: &str, arguments: &Value) -> Page {
    let number = |name: &str, otherwise: u64| arguments[name].as_u64().unwrap_or(otherwise);
    let numbered = |name: &str, size: u64, all: u64| {
        let start = (number(name, 1).max(1) - 1) * size;
        start.min(all)..(start + size).min(all)
    };
    Page::Text(match tool {
        "public_records" => {
            let records = records(numbered("page_number", 10_000, 101_662));
            json!({ "total": 101_662, "results": records })
        }
        "own_records" => {
            let size = number("limit", 10).clamp(1, 100);
            json!({ "total": 1_000, "items": records(numbered("page", size, 1_000)) })
        }
        "cursor_records" => {
            let cursor = arguments["cursor"].as_str().and_then(|cursor| cursor.strip_prefix("at-"));
            let start: u64 = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
            let end = (start + 1_000).min(2_500);
            let next = (end < 2_500).then(|| format!("at-{end}"));
            json!({ "records": records(start..end), "next_cursor": next })
        }
        "offset_records" => {
            let start = number("skip", 0).min(5_000);
            let end = (start + number("count", 10).min(500)).min(5_000);
            json!({ "items": records(start..end), "meta": { "total_count": 5_000 } })
        }
        "next_url_records" => {
            let start = number("seek", 0);
            let end = (start + 1_000).min(2_500);
            let next =
                (end < 2_500).then(|| format!("https://api.example.com/v1/records?seek={end}"));
            json!({ "data": records(start..end), "links": { "next": next } })
        }
        "untotalled_records" => Value::from(records(numbered("page_number", 1_000, 2_500))),
        "moving_total_records" => {
            let page = number("page_number", 1);
            let records = records(numbered("page_number", 300, 3_000));
            json!({ "total": 2_999 + page, "records": records })
        }
        "failing_records" if number("page_number", 1) == 3 => {
            return Page::Failed("the database behind page 3 is away");
        }
        "failing_records" => {
            json!({ "total": 5_000, "records": records(numbered("page_number", 1_000, 5_000)) })
        }
        "all_records" => return Page::Structured(json!({ "orders": records(0..45) })),
        _ => json!({ "status": "fine" }),
    })
}

fn records(numbers: Range<u64>) -> Vec<Value> {
    const CITIES: [&str; 3] = ["Berlin", "Lima", "Osaka"];
    let record = |number: u64| {
        let city = CITIES[usize::try_from(number % 3).unwrap_or(0)];
        json!({ "id": number, "name": format!("Record {number}"), "place": { "city": city } })
    };
    numbers.map(record).collect()
}
