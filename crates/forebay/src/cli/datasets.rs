//! `forebay datasets`: looks at what was kept, and tidies up.

pub(crate) mod show;
mod tag;
mod tidy;
mod verify;

use std::{io::Write, process::ExitCode};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use forebay_intercept::CaptureError;
use forebay_store::{Dataset, DatasetId, Entry, Filter, Store, StoreError, Tag, Viewer};
use forebay_tools::brief;
use serde_json::{Value, json};

use crate::{
    assemble,
    cli::{
        SettingsArguments,
        ask::told,
        exit::Exit,
        figures::{grouped, size},
        screen::Screen,
        table::{Column, Table, brief_name},
    },
    observe,
};

/// Look at the results that were kept, and tidy up
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DatasetsArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List them, the newest first
    List {
        /// Only those of this tool
        #[arg(long)]
        tool: Option<String>,
        /// Only those of this server
        #[arg(long)]
        server: Option<String>,
        /// Only those that have this tag; may be given more than once
        #[arg(long, value_name = "TAG")]
        tag: Vec<String>,
        /// At most this many [default: 50, or all with `--json`]
        #[arg(long)]
        limit: Option<u64>,
        /// One JSON array, for programs
        #[arg(long)]
        json: bool,
    },
    /// Show what is known of one: its origin, its fields, its facts
    Show {
        /// Its name, with or without `dataset_`, or the tool whose latest result it is
        id: String,
        /// The metadata file, for programs
        #[arg(long)]
        json: bool,
    },
    /// Print where its data lies; compressed data is unpacked first
    Path {
        /// Its name, or the tool whose latest result it is
        id: String,
        /// Which block of the result, from 0 on [default: the one with the data]
        #[arg(long, value_name = "N")]
        block: Option<usize>,
    },
    /// Write the result that it was made of, as JSON
    Original {
        /// Its name, or the tool whose latest result it is
        id: String,
    },
    /// Keep one for good
    Pin {
        /// Its name, or the tool whose latest result it is
        id: String,
    },
    /// Let age and quota take it again
    Unpin {
        /// Its name, or the tool whose latest result it is
        id: String,
    },
    Tag(tag::TagArguments),
    Rm(tidy::RmArguments),
    Gc(tidy::GcArguments),
    Verify(verify::VerifyArguments),
}

/// How many datasets are listed for people who do not say how many they want.
const SHOWN: u64 = 50;
/// How much of a call's arguments is listed for them.
const ARGUMENTS_CHARS: usize = 200;

const EXAMPLES: &str = "\
Examples:
  forebay datasets list --server github --limit 10
  forebay datasets show k3v9x2ma
  forebay datasets pin list_issues
  forebay datasets tag k3v9x2ma --add invoices/2026
  jq '.[0]' \"$(forebay datasets path k3v9x2ma)\"";

pub(crate) fn run(arguments: DatasetsArguments, out: &mut Screen) -> Result<ExitCode> {
    let config = arguments.settings.load(Vec::new())?;
    let store = assemble::store(&config)?;
    match arguments.action {
        Action::List { tool, server, tag: tags, limit, json } => {
            let limit = limit.or((!json).then_some(SHOWN));
            let filter = Filter { tool, server, tags, limit, ..Filter::default() };
            if json {
                list_json(&store, &filter, out)?;
            } else {
                list(&store, &filter, out)?;
            }
        }
        Action::Show { id, json: false } => show::print(&named(&store, &id)?, out)?,
        Action::Show { id, json: true } => show::print_json(&named(&store, &id)?, out)?,
        Action::Path { id, block } => {
            let dataset = named(&store, &id)?;
            let payload = block.unwrap_or_else(|| dataset.main_part());
            let blocks = dataset.payload_count();
            if payload >= blocks {
                bail!("{} has no block {payload}: they go from 0 to {}", dataset.id(), blocks - 1);
            }
            let path = if store.is_writable() {
                store.plain_file(&dataset, payload)?
            } else {
                let spare = forebay_store::scratch(&config.persist_location)?;
                store.plain_file_or_copy(&dataset, payload, &spare)?
            };
            writeln!(out, "{}", path.display())?;
        }
        Action::Original { id } => {
            let dataset = named(&store, &id)?;
            restore(&dataset, out).with_context(|| format!("cannot read `{}`", dataset.id()))?;
        }
        Action::Pin { id } => {
            let dataset = named(&store, &id)?;
            store.pin(dataset.id())?;
            writeln!(out, "{} is kept for good.", dataset.id())?;
        }
        Action::Unpin { id } => {
            let dataset = named(&store, &id)?;
            store.unpin(dataset.id())?;
            writeln!(out, "{} is no longer pinned.", dataset.id())?;
        }
        Action::Tag(arguments) => {
            let dataset = named(&store, &arguments.id)?;
            return tag::run(&arguments, &dataset, &store, out);
        }
        Action::Rm(arguments) => {
            let removed = tidy::rm(&arguments, &store, out);
            assemble::forget_gone(&config);
            return removed;
        }
        Action::Gc(arguments) => {
            let collected = tidy::gc(&arguments, config.retention(), &store, out);
            assemble::forget_gone(&config);
            return collected;
        }
        Action::Verify(arguments) => return verify::run(&arguments, &store, out),
    }
    Ok(ExitCode::SUCCESS)
}

/// The dataset with this name, or the latest result of the tool with it; which that is, is said.
fn named(store: &Store, name: &str) -> Result<Dataset> {
    let own = find(store, name);
    let is_missing = own.as_ref().is_err_and(|error| Exit::of(error) == Exit::NotFound);
    let is_a_datasets = name.starts_with("dataset_") && DatasetId::parse(name).is_some();
    if !is_missing || is_a_datasets {
        return own;
    }
    let latest = forebay_query::latest(store, &Viewer::default(), name);
    let Some(id) = latest.map_err(|error| told(&error.into()))? else { return own };
    let dataset = store.dataset(&id)?;
    let when = dataset.metadata().timestamp.strftime("%Y-%m-%d %H:%M");
    observe::say(&format!("`{name}` stands for {id}, kept {when} UTC"));
    Ok(dataset)
}

/// The dataset with this name; one that is not there is told with the one that may be meant.
fn find(store: &Store, name: &str) -> Result<Dataset> {
    let what = match DatasetId::parse(name).map(|id| store.dataset(&id)) {
        None => format!("`{name}` is not the name of a dataset"),
        Some(Err(StoreError::Unknown(id))) => format!("there is no dataset `{id}`"),
        Some(other) => return Ok(other?),
    };
    let more = match forebay_tools::meant(store, &Viewer::default(), name) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`forebay datasets list` shows them".to_owned(),
    };
    Err(Exit::NotFound.told(format!("{what}; {more}")))
}

/// Writes the result that a dataset was made of, as a line.
fn restore(dataset: &Dataset, out: &mut dyn Write) -> Result<()> {
    if dataset.metadata().description.facts.query.is_some() {
        let id = dataset.id();
        return Err(Exit::Refused.told(format!(
            "it is the result of a query; `forebay export {id}` writes it to a file"
        )));
    }
    // Before any of it is written: what is damaged is not given out.
    for part in 0..dataset.metadata().parts.len() {
        dataset.verify(part)?;
    }
    match forebay_intercept::restore(dataset, out) {
        Ok(()) => Ok(writeln!(out)?),
        // Their own words are about keeping a result.
        Err(CaptureError::Store(error)) => Err(error.into()),
        Err(CaptureError::Io(error)) => Err(error.into()),
    }
}

fn list(store: &Store, filter: &Filter, screen: &mut Screen) -> Result<()> {
    let entries = store.list(filter)?;
    let fitting = store.count(filter)?;
    if fitting == 0 {
        let is_empty = store.count(&Filter::default())? == 0;
        let fits = if is_empty {
            "Nothing has been kept yet."
        } else {
            "Nothing that fits has been kept."
        };
        writeln!(screen, "{fits}")?;
        return Ok(());
    }
    let tags: Vec<String> = entries.iter().map(own_tags).collect();
    let has_tags = tags.iter().any(|tags| !tags.is_empty());
    let columns = [
        Column::Left("DATASET"),
        Column::Left("CAPTURED (UTC)"),
        Column::Flexible("SERVER"),
        Column::Flexible("TOOL"),
        Column::Right("RECORDS"),
        Column::Right("SIZE"),
    ];
    let others = has_tags.then_some(Column::Flexible("TAGS"));
    let others = others.into_iter().chain([Column::Flexible("ARGUMENTS")]);
    let mut table = Table::new(columns.into_iter().chain(others).collect::<Vec<_>>());
    for (entry, tags) in entries.iter().zip(tags) {
        let pin = if entry.is_pinned { " (pinned)" } else { "" };
        let cells = [
            format!("{}{pin}", entry.id),
            entry.timestamp.strftime("%Y-%m-%d %H:%M").to_string(),
            brief_name(&entry.server),
            brief_name(&entry.tool),
            entry.records.map_or_else(|| "-".to_owned(), grouped),
            size(entry.bytes),
        ];
        let arguments = arguments(store, entry)
            .map(|arguments| brief(&arguments, ARGUMENTS_CHARS).to_string())
            .unwrap_or_default();
        let others = has_tags.then_some(tags).into_iter().chain([arguments]);
        table.push(cells.into_iter().chain(others));
    }
    table.print(screen)?;
    if (entries.len() as u64) < fitting {
        let (shown, fitting) = (grouped(entries.len() as u64), grouped(fitting));
        writeln!(screen, "\nThe newest {shown} of {fitting}; `--limit` shows more.")?;
    }
    Ok(())
}

/// The tags that a dataset was given.
fn own_tags(entry: &Entry) -> String {
    let own = entry.tags.iter().filter(|tag| Tag::parse(tag).is_ok());
    own.map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// The arguments of the call that gave a dataset, if they are kept.
fn arguments(store: &Store, entry: &Entry) -> Option<Value> {
    store.dataset(&entry.id).ok()?.facts().arguments.clone()
}

fn list_json(store: &Store, filter: &Filter, out: &mut dyn Write) -> Result<()> {
    let entries: Vec<Value> = store
        .list(filter)?
        .iter()
        .map(|entry| {
            json!({
                "id": entry.id.as_str(), "timestamp": entry.timestamp.to_string(),
                "server": entry.server, "tool": entry.tool, "records": entry.records,
                "bytes": entry.bytes, "stored_bytes": entry.stored_bytes,
                "pinned": entry.is_pinned, "tags": entry.tags,
                "arguments": arguments(store, entry),
            })
        })
        .collect();
    writeln!(out, "{}", serde_json::to_string_pretty(&entries)?)?;
    Ok(())
}
