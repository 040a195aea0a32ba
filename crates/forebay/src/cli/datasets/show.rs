//! `forebay datasets show`: what is known of a dataset, for people.

use std::io::Write;

use anyhow::Result;
use forebay_store::Dataset;
use forebay_tools::brief;
use serde_json::Value;

use crate::cli::{
    figures::{counted, grouped, size},
    screen::Screen,
    table::{Column, Table, cut, harmless},
};

/// How many of a field's most frequent values are shown, and how long each may be.
const SHOWN_VALUES: usize = 4;
const MAX_VALUE_CHARS: usize = 32;
/// How much is shown of the arguments of a call; `--json` shows all that is kept.
const MAX_ARGUMENTS_CHARS: usize = 2_000;

/// Prints a dataset's origin, size, records, fields and file.
pub(crate) fn print(dataset: &Dataset, screen: &mut Screen) -> Result<()> {
    let metadata = dataset.metadata();
    let description = &metadata.description;
    let tokens = description.more.get("tokens").and_then(Value::as_u64);
    let tokens = tokens.map(|tokens| format!(", about {}", counted(tokens, "token")));
    let mut facts = vec![
        ("Server", harmless(&description.server)),
        ("Tool", harmless(&description.tool)),
        ("Captured", metadata.timestamp.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()),
        ("Size", size(metadata.bytes()) + &tokens.unwrap_or_default()),
    ];
    let arguments = description.more.get("arguments");
    facts.extend(arguments.map(|arguments| {
        ("Arguments", harmless(&brief(arguments, MAX_ARGUMENTS_CHARS).to_string()))
    }));
    facts.extend(description.record_count.map(|records| ("Records", grouped(records))));
    facts.push(("File", dataset.path(dataset.main_part()).display().to_string()));
    writeln!(screen, "{}\n", dataset.id())?;
    for (name, fact) in facts {
        writeln!(screen, "{name:9}  {fact}")?;
    }
    if let Some(query) = description.more.get("query").and_then(Value::as_str) {
        let about = description.more.get("queryDataset").and_then(Value::as_str);
        print_query(query, about, screen)?;
    }
    match description.more.get("tables").and_then(Value::as_array) {
        Some(tables) => tables.iter().try_for_each(|table| print_table(dataset, table, screen)),
        None => print_schema(&description.schema["fields"], screen),
    }
}

/// Prints the query that a dataset is the result of.
fn print_query(query: &str, about: Option<&str>, screen: &mut Screen) -> Result<()> {
    let about = about.map(|id| format!(", with {} as `dataset`", harmless(id)));
    writeln!(screen, "\nThe result of a query{}:\n", about.unwrap_or_default())?;
    query.lines().try_for_each(|line| writeln!(screen, "  {}", harmless(line)))?;
    Ok(())
}

/// Prints the facts of each field.
fn print_table(dataset: &Dataset, table: &Value, screen: &mut Screen) -> Result<()> {
    let path = harmless(table["path"].as_str().unwrap_or_default());
    let records = table["records"].as_u64().unwrap_or_default();
    let name = match table["name"].as_str() {
        None | Some("") => String::new(),
        Some(name) => format!(", as {}_{name}", dataset.id()),
    };
    writeln!(screen, "\n{} at {path}{name}", counted(records, "record"))?;
    let mut facts = Table::new([
        Column::Flexible("FIELD"),
        Column::Left("TYPE"),
        Column::Right("NULLS"),
        Column::Right("DISTINCT"),
        Column::Flexible("RANGE"),
        Column::Flexible("MOST FREQUENT"),
    ]);
    add_fields(&mut facts, &table["fields"], "");
    writeln!(screen)?;
    Ok(facts.print(screen)?)
}

/// Adds the fields of a table and, by their paths, the members of structs.
fn add_fields(facts: &mut Table<'_>, fields: &Value, within: &str) {
    for field in fields.as_array().into_iter().flatten() {
        let name = format!("{within}{}", text(&field["name"]));
        facts.push([
            name.clone(),
            kind(field),
            field["nulls"].as_u64().map(grouped).unwrap_or_default(),
            distinct(field),
            range(field),
            most_frequent(field),
        ]);
        if field["type"] == "struct" {
            add_fields(facts, &field["fields"], &format!("{name}."));
        }
    }
}

/// A field's type, with that of what is in it.
fn kind(field: &Value) -> String {
    match field["type"].as_str() {
        Some("list") => format!("list of {}", kind(&field["items"])),
        Some("map") => format!("map to {}", kind(&field["values"])),
        Some("timestamp") if field.get("localColumn").is_some() => {
            format!("timestamp, UTC in SQL, local in {}", text(&field["localColumn"]))
        }
        _ => text(&field["type"]),
    }
}

/// Prints the name and type of each field, where no more is known.
fn print_schema(fields: &Value, screen: &mut Screen) -> Result<()> {
    let Some(fields) = fields.as_array().filter(|fields| !fields.is_empty()) else {
        return Ok(());
    };
    let mut types = Table::new([Column::Flexible("FIELD"), Column::Left("TYPE")]);
    for field in fields {
        types.push([text(&field["name"]), text(&field["type"])]);
    }
    writeln!(screen)?;
    Ok(types.print(screen)?)
}

fn distinct(field: &Value) -> String {
    let about = if field["distinctIsExact"] == false { "~" } else { "" };
    let count = field["distinct"].as_u64();
    count.map(|count| format!("{about}{}", grouped(count))).unwrap_or_default()
}

/// From the least to the greatest value, or how long the longest is.
fn range(field: &Value) -> String {
    let (min, max) = (text(&field["min"]), text(&field["max"]));
    if !min.is_empty() || !max.is_empty() {
        return format!("{} .. {}", cut(&min, MAX_VALUE_CHARS), cut(&max, MAX_VALUE_CHARS));
    }
    let longest = field["longest"].as_u64();
    longest.map(|longest| format!("up to {} long", grouped(longest))).unwrap_or_default()
}

fn most_frequent(field: &Value) -> String {
    let values = field["top"].as_array().into_iter().flatten().take(SHOWN_VALUES);
    let shown = values.map(|pair| {
        let count = pair[1].as_u64().unwrap_or_default();
        format!("{} {}", cut(&text(&pair[0]), MAX_VALUE_CHARS), grouped(count))
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
