//! `forebay datasets`: looks at what was kept, and tidies up.

use std::{io::Write, process::ExitCode};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use forebay_store::{Dataset, DatasetId, Entry, Filter, Store};
use serde_json::{Value, json};

use crate::{assemble, cli::SettingsArguments, config::DAY};

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
        /// At most this many
        #[arg(long, default_value_t = 50)]
        limit: u64,
        /// One JSON array, for programs
        #[arg(long)]
        json: bool,
    },
    /// Show what is known of one: its origin, its fields, its facts
    Show {
        /// Its name, with or without `dataset_`
        id: String,
    },
    /// Print where its data lies
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
    },
}

const EXAMPLES: &str = "\
Examples:
  forebay datasets list --server github --limit 10
  forebay datasets show k3v9x2ma
  jq '.[0]' \"$(forebay datasets path k3v9x2ma)\"";

pub(crate) fn run(arguments: DatasetsArguments, out: &mut dyn Write) -> Result<ExitCode> {
    let config = arguments.settings.load(Vec::new())?;
    let store = assemble::store(&config)?;
    match arguments.action {
        Action::List { tool, server, limit, json } => {
            let filter = Filter { tool, server, limit: Some(limit), ..Filter::default() };
            let entries = store.list(&filter)?;
            if json { list_json(&entries, out)? } else { list(&entries, out)? }
        }
        Action::Show { id } => {
            let metadata = serde_json::to_string_pretty(find(&store, &id)?.metadata())?;
            writeln!(out, "{metadata}")?;
        }
        Action::Path { id } => writeln!(out, "{}", find(&store, &id)?.path(0).display())?,
        Action::Original { id } => {
            forebay_intercept::restore(&find(&store, &id)?, out)?;
            writeln!(out)?;
        }
        Action::Pin { id } => store.pin(find(&store, &id)?.id())?,
        Action::Unpin { id } => store.unpin(find(&store, &id)?.id())?,
        Action::Rm { ids } => {
            for id in ids {
                if !store.remove(find(&store, &id)?.id())? {
                    bail!("`{id}` is being read; try again later");
                }
            }
        }
        Action::Gc { days } => {
            let mut retention = config.retention();
            if let Some(days) = days {
                retention.max_age = Some(DAY.saturating_mul(days));
            }
            let collected = store.collect_now(&retention)?;
            writeln!(
                out,
                "{} removed, {} compressed, {} in use",
                collected.removed, collected.compressed, collected.in_use
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn find(store: &Store, name: &str) -> Result<Dataset> {
    let id = DatasetId::parse(name).with_context(|| {
        format!("`{name}` is not the name of a dataset; `forebay datasets list` shows them")
    })?;
    Ok(store.dataset(&id)?)
}

fn list(entries: &[Entry], out: &mut dyn Write) -> Result<()> {
    if entries.is_empty() {
        writeln!(out, "Nothing has been kept yet.")?;
        return Ok(());
    }
    let rows: Vec<[String; 6]> = entries
        .iter()
        .map(|entry| {
            let pin = if entry.is_pinned { " (pinned)" } else { "" };
            [
                format!("{}{pin}", entry.id),
                entry.timestamp.strftime("%Y-%m-%d %H:%M").to_string(),
                entry.server.clone(),
                entry.tool.clone(),
                entry.records.map_or_else(|| "-".to_owned(), |records| records.to_string()),
                size(entry.bytes),
            ]
        })
        .collect();
    let heading = ["DATASET", "CAPTURED (UTC)", "SERVER", "TOOL", "RECORDS", "SIZE"];
    let heading = heading.map(str::to_owned);
    let width = |column: usize| {
        let cells = rows.iter().chain([&heading]).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    for row in std::iter::once(&heading).chain(&rows) {
        let cells = row.iter().enumerate().map(|(column, cell)| match column {
            // Numbers to the right.
            4.. => format!("{cell:>0$}", width(column)),
            _ => format!("{cell:0$}", width(column)),
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  "))?;
    }
    Ok(())
}

fn list_json(entries: &[Entry], out: &mut dyn Write) -> Result<()> {
    let entries: Vec<Value> = entries
        .iter()
        .map(|entry| {
            json!({
                "id": entry.id.as_str(), "timestamp": entry.timestamp.to_string(),
                "server": entry.server, "tool": entry.tool, "records": entry.records,
                "bytes": entry.bytes, "stored_bytes": entry.stored_bytes,
                "pinned": entry.is_pinned,
            })
        })
        .collect();
    writeln!(out, "{}", serde_json::to_string_pretty(&entries)?)?;
    Ok(())
}

/// A size for people: `7.3 MB`.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut tenths = bytes / 100;
    let mut unit = 0;
    while tenths >= 10_000 && unit < UNITS.len() - 1 {
        tenths /= 1000;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}
