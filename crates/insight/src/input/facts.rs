//! What is known of the whole result, in lines.

use std::fmt::Write as _;

use forebay_store::{
    Dataset,
    facts::{Field, Summary, Table, Type},
};
use forebay_text::is_secret_name;

use super::{as_many_as_fit, masked};

const MAX_VALUE_CHARS: usize = 60;
const MAX_FIELDS: usize = 80;
const MAX_HEADINGS: usize = 40;

/// The facts of a dataset, as many as fit.
pub(super) fn within(budget: u64, dataset: &Dataset) -> String {
    let description = &dataset.metadata().description;
    let mut lines = vec![
        "FACTS OF THE WHOLE RESULT".to_owned(),
        format!("Tool: {} of server {}", short(&description.tool), short(&description.server)),
    ];
    let facts = dataset.facts();
    for (index, table) in facts.tables().iter().enumerate() {
        lines.push(of_table(table, index));
        lines.extend(table.fields.iter().take(MAX_FIELDS).map(of_field));
    }
    if let Some(envelope) = &facts.envelope {
        let values = envelope.iter().take(MAX_FIELDS);
        lines.extend(
            values.map(|(at, value)| format!("Beside: {at} = {}", short(&value.to_string()))),
        );
    }
    match &description.summary {
        Some(Summary::Text(text)) => {
            lines.push(format!("Text of {} lines", text.lines));
            let headings = text.headings.iter().take(MAX_HEADINGS);
            lines.extend(
                headings.map(|it| format!("Heading, line {}: {}", it.line, short(&it.text))),
            );
        }
        Some(Summary::Records(_) | Summary::Other(_)) | None => {}
    }
    as_many_as_fit(&lines, budget)
}

fn of_table(table: &Table, index: usize) -> String {
    let what = if index == 0 { "Records" } else { "Another table, records" };
    let observed = match table.observed {
        Some(observed) if observed < table.records => format!(" (fields of the first {observed})"),
        Some(_) | None => String::new(),
    };
    format!("{what}: {} at {}{observed}", table.records, short(&table.path))
}

/// `- status: string, 3 distinct, active 3000, inactive 1500, 2 null`
fn of_field(field: &Field) -> String {
    let kind = match &field.kind {
        Type::Known(kind) => kind.name(),
        Type::Other(name) => name.as_str(),
    };
    let name = field.name.as_deref().unwrap_or_default();
    let mut line = format!("- {}: {kind}", short(name));
    if is_secret_name(name) {
        // Its values are nobody's to see.
        return line;
    }
    if let (Some(min), Some(max)) = (&field.min, &field.max) {
        let _ = write!(line, ", {} to {}", short(min), short(max));
    }
    if let Some(distinct) = field.distinct {
        let about = if field.distinct_is_exact == Some(true) { "" } else { "about " };
        let _ = write!(line, ", {about}{distinct} distinct");
    }
    for (value, count) in &field.top {
        let _ = write!(line, ", {} {count}", short(value));
    }
    if let Some(nulls) = field.nulls.filter(|nulls| *nulls > 0) {
        let _ = write!(line, ", {nulls} null or missing");
    }
    if let (Some(lists), Some(elements)) = (field.lists, field.elements) {
        let _ = write!(line, ", {elements} elements in {lists} lists");
    }
    line
}

/// A text in one line, without secrets, and not too long.
fn short(text: &str) -> String {
    let line: String =
        masked(text).chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    match line.char_indices().nth(MAX_VALUE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
