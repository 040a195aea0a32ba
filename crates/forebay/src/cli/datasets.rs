//! `forebay datasets`: looks at what was kept, and tidies up.

pub(crate) mod show;

use std::{io::Write, process::ExitCode};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use forebay_intercept::CaptureError;
use forebay_store::{Collected, Dataset, DatasetId, Entry, Filter, Store};
use forebay_tools::brief;
use serde_json::{Value, json};

use crate::{
    assemble,
    cli::{
        SettingsArguments,
        exit::Exit,
        figures::{grouped, size},
        screen::Screen,
        table::{Column, Table},
    },
    config::DAY,
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
        /// At most this many [default: 50, or all with `--json`]
        #[arg(long)]
        limit: Option<u64>,
        /// One JSON array, for programs
        #[arg(long)]
        json: bool,
    },
    /// Show what is known of one: its origin, its fields, its facts
    Show {
        /// Its name, with or without `dataset_`
        id: String,
        /// The metadata file, for programs
        #[arg(long)]
        json: bool,
    },
    /// Print where its data lies; compressed data is unpacked first
    Path {
        /// Its name
        id: String,
    },
    /// Write the result that it was made of, as JSON
    Original {
        /// Its name
        id: String,
    },
    /// Keep one for good
    Pin {
        /// Its name
        id: String,
    },
    /// Let age and quota take it again
    Unpin {
        /// Its name
        id: String,
    },
    /// Remove some
    Rm {
        /// Their names
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Remove and compress what is old, as the settings say, and clean up
    Gc {
        /// How many days a dataset that is not pinned is kept [default: `cleanup_after_days`]
        #[arg(long)]
        days: Option<u32>,
        /// One JSON object, for programs
        #[arg(long)]
        json: bool,
    },
}

/// How many datasets are listed for people who do not say how many they want.
const SHOWN: u64 = 50;
/// How much of a call's arguments is listed for them.
const ARGUMENTS_CHARS: usize = 200;

const EXAMPLES: &str = "\
Examples:
  forebay datasets list --server github --limit 10
  forebay datasets show k3v9x2ma
  jq '.[0]' \"$(forebay datasets path k3v9x2ma)\"";

pub(crate) fn run(arguments: DatasetsArguments, out: &mut Screen) -> Result<ExitCode> {
    let config = arguments.settings.load(Vec::new())?;
    let store = assemble::store(&config)?;
    match arguments.action {
        Action::List { tool, server, limit, json } => {
            let limit = limit.or((!json).then_some(SHOWN));
            let filter = Filter { tool, server, limit, ..Filter::default() };
            if json {
                list_json(&store, &filter, out)?;
            } else {
                list(&store, &filter, out)?;
            }
        }
        Action::Show { id, json: false } => show::print(&find(&store, &id)?, out)?,
        Action::Show { id, json: true } => {
            let metadata = serde_json::to_string_pretty(find(&store, &id)?.metadata())?;
            writeln!(out, "{metadata}")?;
        }
        Action::Path { id } => {
            let dataset = find(&store, &id)?;
            let payload = dataset.main_part();
            let path = store.plain_file(&dataset, payload)?;
            writeln!(out, "{}", path.display())?;
        }
        Action::Original { id } => {
            let dataset = find(&store, &id)?;
            restore(&dataset, out).with_context(|| format!("cannot read `{}`", dataset.id()))?;
        }
        Action::Pin { id } => {
            let dataset = find(&store, &id)?;
            store.pin(dataset.id())?;
            writeln!(out, "{} is kept for good.", dataset.id())?;
        }
        Action::Unpin { id } => {
            let dataset = find(&store, &id)?;
            store.unpin(dataset.id())?;
            writeln!(out, "{} is no longer pinned.", dataset.id())?;
        }
        Action::Rm { ids } => {
            // A name that is wrong is found before anything is gone.
            let datasets: Vec<Dataset> =
                ids.iter().map(|id| find(&store, id)).collect::<Result<_>>()?;
            for dataset in datasets {
                if !store.remove(dataset.id())? {
                    bail!("`{}` is being read; try again later", dataset.id());
                }
                writeln!(out, "{} is removed.", dataset.id())?;
            }
        }
        Action::Gc { days, json } => {
            let mut retention = config.retention();
            if let Some(days) = days {
                retention.max_age = Some(DAY.saturating_mul(days));
            }
            let Collected { removed, compressed, in_use } = store.collect_now(&retention)?;
            if json {
                let counts =
                    json!({"removed": removed, "compressed": compressed, "in_use": in_use});
                writeln!(out, "{counts}")?;
            } else {
                writeln!(out, "{removed} removed, {compressed} compressed, {in_use} in use")?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn find(store: &Store, name: &str) -> Result<Dataset> {
    let id = DatasetId::parse(name).ok_or_else(|| {
        let shows = "`forebay datasets list` shows them";
        Exit::NotFound.told(format!("`{name}` is not the name of a dataset; {shows}"))
    })?;
    Ok(store.dataset(&id)?)
}

/// Writes the result that a dataset was made of, as a line.
fn restore(dataset: &Dataset, out: &mut dyn Write) -> Result<()> {
    if dataset.metadata().description.more.contains_key("query") {
        let id = dataset.id();
        return Err(Exit::Refused.told(format!(
            "it is the result of a query; `forebay export {id}` writes it to a file"
        )));
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
    let mut table = Table::new([
        Column::Left("DATASET"),
        Column::Left("CAPTURED (UTC)"),
        Column::Flexible("SERVER"),
        Column::Flexible("TOOL"),
        Column::Right("RECORDS"),
        Column::Right("SIZE"),
        Column::Flexible("ARGUMENTS"),
    ]);
    for entry in &entries {
        let pin = if entry.is_pinned { " (pinned)" } else { "" };
        table.push([
            format!("{}{pin}", entry.id),
            entry.timestamp.strftime("%Y-%m-%d %H:%M").to_string(),
            entry.server.clone(),
            entry.tool.clone(),
            entry.records.map_or_else(|| "-".to_owned(), grouped),
            size(entry.bytes),
            arguments(store, entry)
                .map(|arguments| brief(&arguments, ARGUMENTS_CHARS).to_string())
                .unwrap_or_default(),
        ]);
    }
    table.print(screen)?;
    if (entries.len() as u64) < fitting {
        let (shown, fitting) = (grouped(entries.len() as u64), grouped(fitting));
        writeln!(screen, "\nThe newest {shown} of {fitting}; `--limit` shows more.")?;
    }
    Ok(())
}

/// The arguments of the call that gave a dataset, if they are kept.
fn arguments(store: &Store, entry: &Entry) -> Option<Value> {
    store.dataset(&entry.id).ok()?.metadata().description.more.get("arguments").cloned()
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
                "pinned": entry.is_pinned, "arguments": arguments(store, entry),
            })
        })
        .collect();
    writeln!(out, "{}", serde_json::to_string_pretty(&entries)?)?;
    Ok(())
}
