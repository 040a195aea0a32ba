//! What is known of a dataset, as its summary told it and further: every table, and every field by the path that SQL
//! has for it.

use forebay_query::{literal, table_name, table_names};
use forebay_store::Dataset;
use forebay_text::identifier;
use serde_json::Value;

use super::Reading;
use crate::{brief::brief, budget::Budget, json, list::moment_of};

/// How much is told of each field, the most first.
const FACTS: [&[&str]; 4] = [
    &["type", "nulls", "distinct", "min", "max", "top", "kinds", "shortestList", "longestList"],
    &["type", "nulls", "distinct", "min", "max"],
    &["type", "min", "max"],
    &["type"],
];

/// How much of a query is told.
const QUERY_CHARS: usize = 500;
/// How much is told of the arguments of a call, if that is no more than a quarter of the reply.
const ARGUMENTS_CHARS: u64 = 2_000;

/// A field by its path, with its facts.
struct Named<'a> {
    path: String,
    kind: String,
    facts: &'a Value,
}

/// A table with its fields.
struct Known<'a> {
    name: String,
    facts: &'a Value,
    fields: Vec<Named<'a>>,
}

/// How much is told.
#[derive(Clone, Copy)]
struct Extent {
    facts: &'static [&'static str],
    /// Of each table, or of the headings of a text.
    items: usize,
    /// Whether records, or the first and last lines, are shown.
    has_samples: bool,
}

/// What is known, as much as fits: without samples, with fewer and fewer facts, then fewer fields.
pub(super) fn of(dataset: &Dataset, budget: Budget) -> Reading {
    let tables = tables(dataset);
    let fields = tables.iter().map(|table| table.fields.len()).max().unwrap_or_default();
    let most = fields.max(headings(dataset).len());
    let whole = Extent { facts: FACTS[0], items: most, has_samples: true };
    let mut extents = vec![whole];
    extents.extend(FACTS.map(|facts| Extent { facts, has_samples: false, ..whole }));
    let mut items = most;
    while items > 0 {
        items /= 2;
        extents.push(Extent { facts: FACTS[FACTS.len() - 1], items, has_samples: false });
    }
    // Hardly a character has more than a token.
    let quarter = budget.tokens.min(budget.bytes.unwrap_or(u64::MAX)) / 4;
    let room = usize::try_from(ARGUMENTS_CHARS.min(quarter)).unwrap_or_default();
    let arguments = dataset.metadata().description.more.get("arguments").map(|it| brief(it, room));
    let mut said = String::new();
    for extent in extents {
        said = told(dataset, &tables, extent, arguments.as_ref());
        if budget.holds(&said) {
            break;
        }
    }
    Reading { json: said, note: None }
}

fn told(
    dataset: &Dataset,
    tables: &[Known<'_>],
    extent: Extent,
    arguments: Option<&Value>,
) -> String {
    let Extent { facts, items: shown, has_samples } = extent;
    let metadata = dataset.metadata();
    let description = &metadata.description;
    let mut members = vec![
        json::member("dataset_id", &Value::from(dataset.id().as_str()).to_string()),
        json::member("tool", &Value::from(description.tool.as_str()).to_string()),
        json::member("server", &Value::from(description.server.as_str()).to_string()),
        json::member("captured_at", &Value::from(moment_of(metadata.timestamp)).to_string()),
        json::member("bytes", &metadata.bytes().to_string()),
    ];
    members.extend(arguments.map(|value| json::member("arguments", &value.to_string())));
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
    if let Some((main, others)) = tables.split_first() {
        members.extend(fields_of(main, facts, shown));
        let others: Vec<String> = others.iter().map(|table| table.told(facts, shown)).collect();
        if !others.is_empty() {
            members.push(json::member("tables", &format!("[{}]", others.join(","))));
        }
    }
    if let Some(left_out) = description.more.get("otherTables") {
        members.push(json::member("tables_left_out", &left_out.to_string()));
    }
    members.extend(lines_of(dataset, shown));
    for (name, values) in samples(dataset).into_iter().filter(|_| has_samples) {
        let values = values.filter(|values| !is_empty(values));
        members.extend(values.map(|values| json::member(name, &values.to_string())));
    }
    format!("{{{}}}", members.join(","))
}

/// How many lines a text has, and where its parts begin.
fn lines_of(dataset: &Dataset, shown: usize) -> Vec<String> {
    let outline = &dataset.metadata().description.summary;
    let Some(lines) = outline.get("lines") else { return Vec::new() };
    let mut members = vec![json::member("lines", &lines.to_string())];
    let headings: Vec<Value> = headings(dataset)
        .iter()
        .take(shown)
        .map(|heading| {
            format!("{}: {}", heading["line"], heading["text"].as_str().unwrap_or_default()).into()
        })
        .collect();
    let count = outline["headingCount"].as_u64().unwrap_or_default();
    let left_out = count.saturating_sub(headings.len() as u64);
    if !headings.is_empty() {
        members.push(json::member("headings", &Value::from(headings).to_string()));
    }
    if left_out > 0 {
        members.push(json::member("headings_left_out", &left_out.to_string()));
    }
    members
}

/// The headings of a text.
fn headings(dataset: &Dataset) -> &[Value] {
    let headings = dataset.metadata().description.summary.get("headings");
    headings.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// What shows how the records, or the lines, are.
fn samples(dataset: &Dataset) -> [(&'static str, Option<&Value>); 3] {
    let description = &dataset.metadata().description;
    [
        ("samples", description.more.get("samples")),
        ("first_lines", description.summary.get("firstLines")),
        ("last_lines", description.summary.get("lastLines")),
    ]
}

/// The tables of a dataset, with their fields; of the result of a query, its columns.
fn tables(dataset: &Dataset) -> Vec<Known<'_>> {
    let description = &dataset.metadata().description;
    let facts =
        description.more.get("tables").and_then(Value::as_array).filter(|it| !it.is_empty());
    let Some(facts) = facts else {
        let facts = &description.schema;
        let name = dataset.id().to_string();
        return vec![Known { name, facts, fields: paths(&facts["fields"]) }];
    };
    let names = table_names(dataset).into_iter();
    let known = facts.iter().zip(names).map(|(facts, name)| Known {
        name: table_name(dataset.id(), &name),
        facts,
        fields: paths(&facts["fields"]),
    });
    known.collect()
}

/// The fields of a table and, by their paths, the members of structs.
fn paths(fields: &Value) -> Vec<Named<'_>> {
    let mut found = Vec::new();
    add_paths(&mut found, fields, "");
    found
}

fn add_paths<'a>(found: &mut Vec<Named<'a>>, fields: &'a Value, within: &str) {
    for field in fields.as_array().into_iter().flatten() {
        let name = field.get("column").unwrap_or(&field["name"]).as_str().unwrap_or_default();
        let path = format!("{within}{}", identifier(name));
        let inside = format!("{path}.");
        found.push(Named { path, kind: kind(field), facts: field });
        match field["type"].as_str() {
            Some("struct") => add_paths(found, &field["fields"], &inside),
            Some("json") => add_members(found, &field["fields"], &inside[..inside.len() - 1]),
            _ => {}
        }
    }
}

/// The members of objects among values that are JSON, by how to get there.
fn add_members<'a>(found: &mut Vec<Named<'a>>, fields: &'a Value, column: &str) {
    for field in fields.as_array().into_iter().flatten() {
        let name = field["name"].as_str().unwrap_or_default();
        // One that could be a path is written as one.
        let key = if name.is_empty() {
            "/".to_owned()
        } else if name.starts_with(['$', '/']) {
            format!("$.\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
        } else {
            name.to_owned()
        };
        let path = format!("({column}->>{})", literal(&key));
        found.push(Named { path, kind: kind(field), facts: field });
    }
}

/// A field's type, with that of what is in it.
fn kind(field: &Value) -> String {
    let name = field["type"].as_str().unwrap_or_default();
    match name {
        "list" => format!("list of {}", kind(&field["items"])),
        "map" => format!("map to {}", kind(&field["values"])),
        "timestamp" if field.get("localColumn").is_some() => "timestamp, UTC in SQL".to_owned(),
        other => other.to_owned(),
    }
}

impl Known<'_> {
    fn told(&self, facts: &[&str], shown: usize) -> String {
        let mut members = vec![json::member("name", &Value::from(self.name.as_str()).to_string())];
        for fact in ["path", "records"] {
            members.push(json::member(fact, &self.facts[fact].to_string()));
        }
        let mut with = self.facts["carried"].as_array().cloned().unwrap_or_default();
        if self.facts["hasNumber"] == true {
            with.insert(0, "_parent".into());
        }
        if !with.is_empty() {
            members.push(json::member("with", &Value::from(with).to_string()));
        }
        members.extend(fields_of(self, facts, shown));
        format!("{{{}}}", members.join(","))
    }
}

/// The fields of a table, and how many are left out.
fn fields_of(table: &Known<'_>, facts: &[&str], shown: usize) -> Vec<String> {
    let mut members = Vec::new();
    let told: Vec<String> =
        table.fields.iter().take(shown).map(|field| one(field, facts)).collect();
    if !told.is_empty() {
        members.push(json::member("fields", &format!("[{}]", told.join(","))));
    }
    let left_out = table.fields.len() - told.len();
    if left_out > 0 {
        members.push(json::member("fields_left_out", &left_out.to_string()));
    }
    members
}

fn one(field: &Named<'_>, facts: &[&str]) -> String {
    let mut known = vec![("name", Value::from(field.path.as_str()))];
    for fact in facts {
        let Some(value) = field.facts.get(fact) else { continue };
        // Nothing missing is nothing to tell.
        if is_empty(value) || (*fact == "nulls" && *value == 0) {
            continue;
        }
        match *fact {
            "type" => known.push(("type", field.kind.as_str().into())),
            "distinct" if field.facts["distinctIsExact"] == false => {
                known.push(("distinct_about", value.clone()));
            }
            fact => known.push((fact, value.clone())),
        }
    }
    if let Some(local) = field.facts.get("localColumn") {
        known.push(("local_time_in", local.clone()));
    }
    json::object(known)
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty)
}
