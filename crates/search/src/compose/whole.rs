//! What is said of a dataset as a whole: a sentence, and a passage with all that tells it from others.

use std::fmt::Write as _;

use forebay_store::{
    Dataset,
    facts::{Field, Summary, Table, Text},
};
use forebay_text::grouped;
use serde_json::Value;

/// No more is told of the whole: an embedder reads no further, and words that everything has tell nothing.
const MAX_BYTES: usize = 4_000;
/// How much of a value is told.
const MAX_VALUE_BYTES: usize = 200;
/// How many fields are told of.
const MAX_FIELDS: usize = 60;
/// How many fields the sentence names.
const FIELDS_IN_TITLE: usize = 6;
/// How many values of a field are told.
const MAX_VALUES: usize = 12;

/// One sentence: what it is, and where it came from.
pub(super) fn title(dataset: &Dataset) -> String {
    let description = &dataset.metadata().description;
    let facts = dataset.facts();
    let from = match (description.tool.as_str(), description.server.as_str()) {
        ("", "") => String::new(),
        (tool, "") => format!(" from {tool}"),
        ("", server) => format!(" from {server}"),
        (tool, server) => format!(" from {tool} of {server}"),
    };
    if let Some(file) = facts.files.iter().find(|file| file.block == dataset.main_part()) {
        let about = file.description.as_deref().map(|it| format!(", {it}")).unwrap_or_default();
        return format!("{}{about}{from}", file.name);
    }
    match (&description.summary, description.record_count) {
        (_, Some(records)) => {
            let (counted, fields) = (grouped(records), field_names(dataset));
            let shown: Vec<&str> = fields.iter().copied().take(FIELDS_IN_TITLE).collect();
            let more = if fields.len() > shown.len() { ", …" } else { "" };
            let named = if shown.is_empty() {
                String::new()
            } else {
                format!(" ({}{more})", shown.join(", "))
            };
            format!("{counted} records{named}{from}")
        }
        (Some(Summary::Text(text)), None) => {
            let beginning = beginning(text).map(|it| format!(": {it}")).unwrap_or_default();
            format!("Text of {} lines{from}{beginning}", grouped(text.lines))
        }
        (Some(Summary::Records(_) | Summary::Other(_)) | None, None) => {
            format!("Result{from}")
        }
    }
}

/// The first heading of a text, or its first line that says something.
fn beginning(text: &Text) -> Option<String> {
    let heading = text.headings.first().map(|heading| heading.text.as_str());
    let line = text.first_lines.iter().map(String::as_str).find(|line| !line.trim().is_empty());
    heading.or(line).map(|line| shortened(line.trim(), MAX_VALUE_BYTES / 2).to_owned())
}

fn field_names(dataset: &Dataset) -> Vec<&str> {
    let table = dataset.facts().tables().first();
    table.map(|table| table.fields.iter().map(Field::name).collect()).unwrap_or_default()
}

/// All that tells it from others.
pub(super) fn text(dataset: &Dataset) -> String {
    let description = &dataset.metadata().description;
    let facts = dataset.facts();
    let mut text = format!("{} {}", description.server, description.tool);
    if let Some(arguments) = facts.arguments.as_ref().filter(|it| !it.is_null()) {
        text.push_str("\nArguments: ");
        push_arguments(arguments, &mut text);
    }
    if let Some(query) = &facts.query {
        let _ = write!(text, "\nQuery: {}", shortened(query, MAX_BYTES / 2));
    }
    for file in &facts.files {
        let about = file.description.as_deref().unwrap_or_default();
        let _ = write!(text, "\nFile: {} {} {about}", file.name, file.media_type);
    }
    match &description.summary {
        Some(Summary::Text(outline)) => push_outline(outline, &mut text),
        Some(Summary::Records(_) | Summary::Other(_)) | None => {}
    }
    for table in facts.tables() {
        push_table(table, &mut text);
    }
    if let Some(envelope) = &facts.envelope {
        for (path, value) in envelope {
            let _ = write!(text, "\n{path}: ");
            push_value(value, &mut text);
        }
    }
    shortened(&text, MAX_BYTES).to_owned()
}

fn push_outline(outline: &Text, text: &mut String) {
    let headings = outline.headings.iter().map(|heading| heading.text.as_str());
    let lines = outline.first_lines.iter().map(String::as_str);
    let heading_count = outline.headings.len();
    for line in headings.chain(lines.take(if heading_count > 0 { 2 } else { 5 })) {
        let _ = write!(text, "\n{}", shortened(line.trim(), MAX_VALUE_BYTES));
    }
}

fn push_table(table: &Table, text: &mut String) {
    let name = table.name.as_deref().unwrap_or_default();
    let _ = write!(text, "\n{} records {name}", grouped(table.records));
    for field in table.fields.iter().take(MAX_FIELDS) {
        let _ = write!(text, "\n{}", field.name());
        if field.top.is_empty() {
            if let (Some(least), Some(greatest)) = (&field.min, &field.max) {
                let (least, greatest) = (
                    shortened(least, MAX_VALUE_BYTES / 4),
                    shortened(greatest, MAX_VALUE_BYTES / 4),
                );
                let _ = write!(text, ": {least} to {greatest}");
            }
        } else {
            let values = field.top.iter().take(MAX_VALUES);
            let values: Vec<&str> =
                values.map(|(value, _)| shortened(value, MAX_VALUE_BYTES / 4)).collect();
            let _ = write!(text, ": {}", values.join(", "));
        }
        for inner in field.fields.iter().take(MAX_VALUES) {
            let _ = write!(text, " {}", inner.name());
        }
        if text.len() > MAX_BYTES {
            return;
        }
    }
}

fn push_arguments(arguments: &Value, text: &mut String) {
    match arguments {
        Value::Object(members) => {
            for (place, (name, value)) in members.iter().enumerate() {
                let comma = if place > 0 { ", " } else { "" };
                let _ = write!(text, "{comma}{name} ");
                push_value(value, text);
            }
        }
        other => push_value(other, text),
    }
}

fn push_value(value: &Value, text: &mut String) {
    match value {
        Value::String(value) => text.push_str(shortened(value, MAX_VALUE_BYTES)),
        other => text.push_str(shortened(&other.to_string(), MAX_VALUE_BYTES)),
    }
}

/// A text, cut off before the character that would make it too long.
fn shortened(text: &str, max_bytes: usize) -> &str {
    let mut end = text.len().min(max_bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
