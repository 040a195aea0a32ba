//! `forebay datasets show`: what is known of a dataset, for people.

use std::io::Write;

use anyhow::Result;
use forebay_store::{
    Artifact, CAUTION, Dataset, Insight, Metadata,
    facts::{self, Field, Kind, Type},
};
use forebay_tools::brief;
use serde::Serialize;

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
    let tokens = description.facts.tokens;
    let tokens = tokens.map(|tokens| format!(", about {}", counted(tokens, "token")));
    let mut facts = vec![
        ("Server", harmless(&description.server)),
        ("Tool", harmless(&description.tool)),
        ("Captured", metadata.timestamp.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()),
        ("Size", size(metadata.bytes()) + &tokens.unwrap_or_default()),
    ];
    let arguments = description.facts.arguments.as_ref();
    facts.extend(arguments.map(|arguments| {
        ("Arguments", harmless(&brief(arguments, MAX_ARGUMENTS_CHARS).to_string()))
    }));
    if description.facts.edition.is_some() {
        facts.push(("Holds", forebay_tools::SO_FAR.to_owned()));
    }
    let made_from = &description.facts.made_from;
    if !made_from.is_empty() {
        facts.push(("Made from", harmless(&made_from.join(", "))));
    }
    facts.extend(description.record_count.map(|records| ("Records", grouped(records))));
    let own: Vec<String> = dataset.own_tags().iter().map(ToString::to_string).collect();
    if !own.is_empty() {
        facts.push(("Tags", own.join(", ")));
    }
    facts.push(("File", dataset.path(dataset.main_part()).display().to_string()));
    let files = description.facts.files.iter().filter_map(|file| dataset.artifact(file.block));
    facts.extend(files.map(|file| ("Holds", harmless(&told(&file)))));
    writeln!(screen, "{}\n", dataset.id())?;
    for (name, fact) in facts {
        writeln!(screen, "{name:9}  {fact}")?;
    }
    if let Some(query) = &description.facts.query {
        print_query(query, description.facts.query_dataset.as_deref(), screen)?;
    }
    match (&description.facts.tables, &description.schema) {
        (Some(tables), _) => {
            tables.iter().try_for_each(|table| print_table(dataset, table, screen))?;
        }
        (None, Some(schema)) => print_schema(&schema.fields, screen)?,
        (None, None) => {}
    }
    dataset.findings().map_or(Ok(()), |insight| print_findings(&insight, screen))
}

/// Prints what a model has said of a dataset.
fn print_findings(insight: &Insight, screen: &mut Screen) -> Result<()> {
    writeln!(screen, "\n{CAUTION}\nKey findings ({}):", harmless(&insight.by()))?;
    for line in &insight.key_findings {
        writeln!(screen, "- {}", harmless(line))?;
    }
    if !insight.actionable_insights.is_empty() {
        writeln!(screen, "Actionable insights:")?;
    }
    for line in &insight.actionable_insights {
        writeln!(screen, "- {}", harmless(line))?;
    }
    Ok(())
}

/// Prints the metadata file as JSON, with the tags and the findings that stand beside it.
pub(crate) fn print_json(dataset: &Dataset, screen: &mut Screen) -> Result<()> {
    #[derive(Serialize)]
    struct Tagged<'d> {
        #[serde(flatten)]
        metadata: &'d Metadata,
        tags: Vec<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        findings: Option<Insight>,
    }
    let tagged =
        Tagged { metadata: dataset.metadata(), tags: dataset.tags(), findings: dataset.findings() };
    Ok(writeln!(screen, "{}", serde_json::to_string_pretty(&tagged)?)?)
}

/// A file that a dataset holds, in a line.
pub(crate) fn told(file: &Artifact) -> String {
    let Artifact { block, name, media_type, bytes, description, .. } = file;
    let more = description.as_ref().map(|it| format!(", {it}")).unwrap_or_default();
    format!("{name} ({media_type}, {}{more}), block {block}", counted(*bytes, "byte"))
}

/// Prints the query that a dataset is the result of.
fn print_query(query: &str, about: Option<&str>, screen: &mut Screen) -> Result<()> {
    let about = about.map(|id| format!(", with {} as `dataset`", harmless(id)));
    writeln!(screen, "\nThe result of a query{}:\n", about.unwrap_or_default())?;
    query.lines().try_for_each(|line| writeln!(screen, "  {}", harmless(line)))?;
    Ok(())
}

/// Prints the facts of each field.
fn print_table(dataset: &Dataset, table: &facts::Table, screen: &mut Screen) -> Result<()> {
    let path = harmless(&table.path);
    let name = match table.name.as_deref() {
        None | Some("") => String::new(),
        Some(name) => format!(", as {}_{name}", dataset.id()),
    };
    writeln!(screen, "\n{} at {path}{name}", counted(table.records, "record"))?;
    let mut facts = Table::new([
        Column::Flexible("FIELD"),
        Column::Left("TYPE"),
        Column::Right("NULLS"),
        Column::Right("DISTINCT"),
        Column::Flexible("RANGE"),
        Column::Flexible("MOST FREQUENT"),
    ]);
    add_fields(&mut facts, &table.fields, "");
    writeln!(screen)?;
    Ok(facts.print(screen)?)
}

/// Adds the fields of a table and, by their paths, the members of structs.
fn add_fields(facts: &mut Table<'_>, fields: &[Field], within: &str) {
    for field in fields {
        let name = format!("{within}{}", field.name());
        facts.push([
            name.clone(),
            kind(field),
            field.nulls.map(grouped).unwrap_or_default(),
            distinct(field),
            range(field),
            most_frequent(field),
        ]);
        if field.kind == Type::Known(Kind::Struct) {
            add_fields(facts, &field.fields, &format!("{name}."));
        }
    }
}

/// A field's type, with that of what is in it.
fn kind(field: &Field) -> String {
    let inside = |field: &Option<Box<Field>>| field.as_deref().map(kind).unwrap_or_default();
    match (&field.kind, &field.local_column) {
        (Type::Known(Kind::List), _) => format!("list of {}", inside(&field.items)),
        (Type::Known(Kind::Map), _) => format!("map to {}", inside(&field.values)),
        (Type::Known(Kind::Timestamp), Some(local)) => {
            format!("timestamp, UTC in SQL, local in {local}")
        }
        (other, _) => other.name().to_owned(),
    }
}

/// Prints the name and type of each field, where no more is known.
fn print_schema(fields: &[Field], screen: &mut Screen) -> Result<()> {
    if fields.is_empty() {
        return Ok(());
    }
    let mut types = Table::new([Column::Flexible("FIELD"), Column::Left("TYPE")]);
    for field in fields {
        types.push([field.name().to_owned(), field.kind.name().to_owned()]);
    }
    writeln!(screen)?;
    Ok(types.print(screen)?)
}

fn distinct(field: &Field) -> String {
    let about = if field.distinct_is_exact == Some(false) { "~" } else { "" };
    field.distinct.map(|count| format!("{about}{}", grouped(count))).unwrap_or_default()
}

/// From the least to the greatest value, or how long the longest is.
fn range(field: &Field) -> String {
    if [&field.min, &field.max].into_iter().flatten().any(|end| !end.is_empty()) {
        let end = |end: &Option<String>| cut(end.as_deref().unwrap_or_default(), MAX_VALUE_CHARS);
        return format!("{} .. {}", end(&field.min), end(&field.max));
    }
    let longest = field.longest.map(|longest| grouped(longest as u64));
    longest.map(|longest| format!("up to {longest} long")).unwrap_or_default()
}

fn most_frequent(field: &Field) -> String {
    let shown = field.top.iter().take(SHOWN_VALUES);
    let shown =
        shown.map(|(value, count)| format!("{} {}", cut(value, MAX_VALUE_CHARS), grouped(*count)));
    shown.collect::<Vec<_>>().join(", ")
}
