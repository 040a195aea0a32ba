//! What is known of a dataset, as its summary told it and further: every table, and every field by the path that SQL
//! has for it.

use forebay_query::{literal, table_name, table_names};
use forebay_store::{
    CAUTION, Dataset, Facts, Insight,
    facts::{self, Field, Kind, Summary, Type},
};
use forebay_text::identifier;
use serde_json::{Value, json};

use super::Reading;
use crate::{brief::brief, budget::Budget, json, list::moment_of, paging::SO_FAR};

/// How much is told of each field, the most first.
const FACTS: [&[Fact]; 4] = [
    &[Fact::Nulls, Fact::Distinct, Fact::Range, Fact::Top, Fact::Kinds, Fact::Lengths],
    &[Fact::Nulls, Fact::Distinct, Fact::Range],
    &[Fact::Range],
    &[],
];

/// What can be told of a field besides its name and type.
#[derive(Clone, Copy)]
enum Fact {
    Nulls,
    Distinct,
    /// The least and the greatest value.
    Range,
    Top,
    Kinds,
    /// Of lists.
    Lengths,
}

/// How many files are told.
const SHOWN_FILES: usize = 10;
/// How much of a query is told.
const QUERY_CHARS: usize = 500;
/// How much is told of the arguments of a call, if that is no more than a quarter of the reply.
const ARGUMENTS_CHARS: u64 = 2_000;

/// A field by its path, with its facts.
struct Named<'a> {
    path: String,
    kind: String,
    facts: &'a Field,
}

/// A table with its fields.
struct Known<'a> {
    name: String,
    /// Of the result of a query there are none.
    facts: Option<&'a facts::Table>,
    fields: Vec<Named<'a>>,
}

/// How much is told.
#[derive(Clone, Copy)]
struct Extent {
    facts: &'static [Fact],
    /// Of each table, or of the headings of a text.
    items: usize,
    /// Whether records, or the first and last lines, are shown.
    has_samples: bool,
}

/// What is known, and what a model has said, as much as fits: without samples, with fewer and fewer facts, then
/// fewer fields.
pub(super) fn of(dataset: &Dataset, budget: Budget) -> Reading {
    let insight = dataset.findings();
    Reading { json: with(insight.as_ref(), dataset, budget), note: None }
}

/// What is known alone, as much as fits.
pub(super) fn facts_of(dataset: &Dataset, budget: Budget) -> String {
    with(None, dataset, budget)
}

fn with(insight: Option<&Insight>, dataset: &Dataset, budget: Budget) -> String {
    let tables = tables(dataset);
    let fields = tables.iter().map(|table| table.fields.len()).max().unwrap_or_default();
    let most = fields.max(outline(dataset).map_or(0, |outline| outline.headings.len()));
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
    let arguments = dataset.facts().arguments.as_ref().map(|it| brief(it, room));
    let mut said = String::new();
    for extent in extents {
        // What a model said goes with the last facts.
        let insight = insight.filter(|_| !extent.facts.is_empty());
        said = told(dataset, &tables, extent, arguments.as_ref(), insight);
        if budget.holds(&said) {
            break;
        }
    }
    said
}

fn told(
    dataset: &Dataset,
    tables: &[Known<'_>],
    extent: Extent,
    arguments: Option<&Value>,
    insight: Option<&Insight>,
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
    members.extend(insight.map(|insight| {
        let Insight { key_findings, actionable_insights, metadata: _, model, reused } = insight;
        let mut said = json!({
            "caution": CAUTION, "keyFindings": key_findings,
            "actionableInsights": actionable_insights, "by": model,
        });
        if let Some(reused) = reused {
            said["reused"] = json!(reused);
        }
        json::member("insights", &said.to_string())
    }));
    let Facts {
        files,
        format,
        edition,
        made_from,
        tokens,
        envelope,
        query,
        other_tables,
        samples,
        ..
    } = &description.facts;
    if edition.is_some() {
        members.push(json::member("holds", &json!(SO_FAR).to_string()));
    }
    if !made_from.is_empty() {
        members.push(json::member("made_from", &json!(made_from).to_string()));
    }
    if !files.is_empty() {
        let shown: Vec<&facts::File> = files.iter().take(SHOWN_FILES).collect();
        members.push(json::member("files", &json!(shown).to_string()));
        let left_out = files.len().saturating_sub(SHOWN_FILES);
        if left_out > 0 {
            members.push(json::member("files_left_out", &left_out.to_string()));
        }
    }
    members
        .extend(format.as_deref().map(|it| json::member("format", &Value::from(it).to_string())));
    members.extend(tokens.map(|tokens| json::member("tokens", &tokens.to_string())));
    let envelope = envelope.as_ref().filter(|envelope| !envelope.is_empty());
    members.extend(envelope.map(|it| json::member("envelope", &json!(it).to_string())));
    if let Some(query) = query {
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
    if let Some(left_out) = other_tables {
        members.push(json::member("tables_left_out", &left_out.to_string()));
    }
    let outline = outline(dataset);
    members.extend(outline.into_iter().flat_map(|outline| lines_of(outline, shown)));
    if has_samples {
        let samples = samples.as_ref().map(|samples| ("samples", samples));
        let lines =
            outline.map(|it| [("first_lines", &it.first_lines), ("last_lines", &it.last_lines)]);
        let shown = samples.into_iter().chain(lines.into_iter().flatten());
        members.extend(shown.map(|(name, texts)| json::member(name, &json!(texts).to_string())));
    }
    format!("{{{}}}", members.join(","))
}

/// The outline of a text.
fn outline(dataset: &Dataset) -> Option<&facts::Text> {
    match &dataset.metadata().description.summary {
        Some(Summary::Text(text)) => Some(text),
        Some(Summary::Records(_) | Summary::Other(_)) | None => None,
    }
}

/// How many lines a text has, and where its parts begin.
fn lines_of(outline: &facts::Text, shown: usize) -> Vec<String> {
    let mut members = vec![json::member("lines", &outline.lines.to_string())];
    let headings = outline.headings.iter().take(shown);
    let headings: Vec<Value> =
        headings.map(|heading| format!("{}: {}", heading.line, heading.text).into()).collect();
    let left_out = outline.heading_count.saturating_sub(headings.len() as u64);
    if !headings.is_empty() {
        members.push(json::member("headings", &Value::from(headings).to_string()));
    }
    if left_out > 0 {
        members.push(json::member("headings_left_out", &left_out.to_string()));
    }
    members
}

/// The tables of a dataset, with their fields; of the result of a query, its columns.
fn tables(dataset: &Dataset) -> Vec<Known<'_>> {
    let tables = dataset.facts().tables();
    if tables.is_empty() {
        let schema = dataset.metadata().description.schema.as_ref();
        let fields = paths(schema.map(|schema| schema.fields.as_slice()).unwrap_or_default());
        return vec![Known { name: dataset.id().to_string(), facts: None, fields }];
    }
    let known = tables.iter().zip(table_names(dataset)).map(|(table, name)| Known {
        name: table_name(dataset.id(), &name),
        facts: Some(table),
        fields: paths(&table.fields),
    });
    known.collect()
}

/// The fields of a table and, by their paths, the members of structs.
fn paths(fields: &[Field]) -> Vec<Named<'_>> {
    let mut found = Vec::new();
    add_paths(&mut found, fields, "");
    found
}

fn add_paths<'a>(found: &mut Vec<Named<'a>>, fields: &'a [Field], within: &str) {
    for field in fields {
        let path = format!("{within}{}", identifier(field.column()));
        let inside = format!("{path}.");
        found.push(Named { path, kind: kind(field), facts: field });
        match field.kind {
            Type::Known(Kind::Struct) => add_paths(found, &field.fields, &inside),
            Type::Known(Kind::Json) => {
                add_members(found, &field.fields, &inside[..inside.len() - 1]);
            }
            _ => {}
        }
    }
}

/// The members of objects among values that are JSON, by how to get there.
fn add_members<'a>(found: &mut Vec<Named<'a>>, fields: &'a [Field], column: &str) {
    for field in fields {
        let name = field.name();
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
fn kind(field: &Field) -> String {
    let inside = |field: &Option<Box<Field>>| field.as_deref().map(kind).unwrap_or_default();
    match &field.kind {
        Type::Known(Kind::List) => format!("list of {}", inside(&field.items)),
        Type::Known(Kind::Map) => format!("map to {}", inside(&field.values)),
        Type::Known(Kind::Timestamp) if field.local_column.is_some() => {
            "timestamp, UTC in SQL".to_owned()
        }
        other => other.name().to_owned(),
    }
}

impl Known<'_> {
    fn told(&self, facts: &[Fact], shown: usize) -> String {
        let mut members = vec![json::member("name", &Value::from(self.name.as_str()).to_string())];
        if let Some(table) = self.facts {
            members.push(json::member("path", &Value::from(table.path.as_str()).to_string()));
            members.push(json::member("records", &table.records.to_string()));
        }
        if let Some(within) = self.facts.and_then(|table| table.within.as_ref()) {
            let number = within.has_number.then_some("_parent");
            let carried = within.carried.iter().map(String::as_str);
            let with: Vec<&str> = number.into_iter().chain(carried).collect();
            if !with.is_empty() {
                members.push(json::member("with", &json!(with).to_string()));
            }
        }
        members.extend(fields_of(self, facts, shown));
        format!("{{{}}}", members.join(","))
    }
}

/// The fields of a table, and how many are left out.
fn fields_of(table: &Known<'_>, facts: &[Fact], shown: usize) -> Vec<String> {
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

fn one(field: &Named<'_>, facts: &[Fact]) -> String {
    let Named { path, kind, facts: field } = field;
    let mut known = vec![("name", json!(path)), ("type", json!(kind))];
    for fact in facts {
        match fact {
            // Nothing missing is nothing to tell.
            Fact::Nulls => {
                known.extend(field.nulls.filter(|it| *it > 0).map(|it| ("nulls", json!(it))));
            }
            Fact::Distinct => {
                let is_about = field.distinct_is_exact == Some(false);
                let name = if is_about { "distinct_about" } else { "distinct" };
                known.extend(field.distinct.map(|count| (name, json!(count))));
            }
            Fact::Range => {
                known.extend(field.min.as_ref().map(|min| ("min", json!(min))));
                known.extend(field.max.as_ref().map(|max| ("max", json!(max))));
            }
            Fact::Top if field.top.is_empty() => {}
            Fact::Top => known.push(("top", json!(field.top))),
            Fact::Kinds if field.kinds.is_empty() => {}
            Fact::Kinds => known.push(("kinds", json!(field.kinds))),
            Fact::Lengths => {
                known.extend(field.shortest_list.map(|length| ("shortestList", json!(length))));
                known.extend(field.longest_list.map(|length| ("longestList", json!(length))));
            }
        }
    }
    known.extend(field.local_column.as_ref().map(|local| ("local_time_in", json!(local))));
    json::object(known)
}

#[cfg(test)]
mod tests {
    use forebay_store::{InsightMetadata, Reused};

    use super::*;
    use crate::testing::Stage;

    #[test]
    fn what_a_model_said_is_told_with_a_caution_and_where_it_comes_from() {
        let stage = Stage::new();
        let (first, second) = (stage.keep_records("list", 2), stage.keep_records("list", 2));
        let reused = Reused { from: first.id().clone(), similarity: 0.75, age_seconds: 60 };
        let mut insight = Insight {
            key_findings: vec!["Something is there.".to_owned()],
            actionable_insights: Vec::new(),
            metadata: InsightMetadata::of(&second),
            model: "a-model".to_owned(),
            reused: None,
        };
        let budget = Budget { tokens: 8_000, bytes: None };
        let mut told = |reused: Option<Reused>| -> Value {
            insight.reused = reused;
            assert!(stage.desk.store().unwrap().put_findings(&second, &insight).unwrap());
            let told: Value = serde_json::from_str(&of(&second, budget).json).unwrap();
            told["insights"].clone()
        };
        let own = told(None);
        assert_eq!((&own["caution"], &own["by"]), (&json!(CAUTION), &json!("a-model")));
        assert_eq!(own.get("reused"), None);
        let marked = json!({"from": first.id().as_str(), "similarity": 0.75, "ageSeconds": 60});
        assert_eq!(told(Some(reused))["reused"], marked);
    }
}
