//! `forebay datasets rm` and `gc`: what goes, by choice or by age and quota.

use std::{io::Write, process::ExitCode};

use anyhow::{Result, bail};
use clap::Args;
use forebay_query::Observer;
use forebay_store::{Collected, Dataset, Entry, Filter, Retention, Store};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{
    cli::{
        ask::Interrupted,
        confirm::is_confirmed,
        datasets::find,
        exit::Exit,
        figures::{counted, grouped, size},
        progress::Progress,
        screen::Screen,
        table::{Column, Table, brief_name},
    },
    config::DAY,
};

/// Remove some
#[derive(Debug, Args)]
#[command(override_usage = "forebay datasets rm [OPTIONS] <IDS>...\n       \
                      forebay datasets rm [OPTIONS] --all\n       \
                      forebay datasets rm [--tool NAME] [--server NAME] [--older-than AGE] [-y]")]
pub(crate) struct RmArguments {
    /// Their names
    #[arg(required_unless_present_any = ["all", "tool", "server", "older_than"])]
    ids: Vec<String>,
    /// All that are not pinned
    #[arg(long, conflicts_with_all = ["ids", "tool", "server", "older_than"])]
    all: bool,
    /// Those of this tool that are not pinned
    #[arg(long, value_name = "NAME", conflicts_with = "ids")]
    tool: Option<String>,
    /// Those of this server that are not pinned
    #[arg(long, value_name = "NAME", conflicts_with = "ids")]
    server: Option<String>,
    /// Those that are not pinned and older than this, such as `12h`, `7d` or `4w`
    #[arg(long, value_name = "AGE", value_parser = age, conflicts_with = "ids")]
    older_than: Option<SignedDuration>,
    /// Do not ask first
    #[arg(long, short)]
    yes: bool,
}

/// Remove and compress what is old, as the settings say, and clean up
#[derive(Debug, Args)]
pub(crate) struct GcArguments {
    /// How many days a dataset that is not pinned is kept; 0 keeps all [default: `cleanup_after_days`]
    #[arg(long)]
    days: Option<u32>,
    /// Remove nothing, and show what would go
    #[arg(long)]
    dry_run: bool,
    /// One JSON object, for programs
    #[arg(long)]
    json: bool,
}

pub(super) fn rm(arguments: &RmArguments, store: &Store, out: &mut Screen) -> Result<ExitCode> {
    if arguments.ids.is_empty() {
        return rm_fitting(arguments, store, out);
    }
    // A name that is wrong is found before anything is gone.
    let datasets: Vec<Dataset> =
        arguments.ids.iter().map(|id| find(store, id)).collect::<Result<_>>()?;
    for dataset in datasets {
        if !store.remove(dataset.id())? {
            bail!("`{}` is being read; try again later", dataset.id());
        }
        writeln!(out, "{} is removed.", dataset.id())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes all that fit and are not pinned.
fn rm_fitting(arguments: &RmArguments, store: &Store, out: &mut Screen) -> Result<ExitCode> {
    let filter = Filter {
        tool: arguments.tool.clone(),
        server: arguments.server.clone(),
        until: arguments.older_than.map(|age| Timestamp::now() - age),
        ..Filter::default()
    };
    let (pinned, going): (Vec<Entry>, Vec<Entry>) =
        store.list(&filter)?.into_iter().partition(|entry| entry.is_pinned);
    let staying = match pinned.len() as u64 {
        0 => String::new(),
        count => format!("; {} pinned stay", grouped(count)),
    };
    if going.is_empty() {
        let named = Filter { until: None, ..filter };
        let is_named = named.tool.is_some() || named.server.is_some();
        if is_named && store.count(&named)? == 0 {
            let said = "nothing of that name has been kept; `forebay datasets list` shows what has";
            return Err(Exit::NotFound.told(said));
        }
        writeln!(out, "Nothing that fits has been kept{staying}.")?;
        return Ok(ExitCode::SUCCESS);
    }
    let what = format!("{} ({})", counted(going.len() as u64, "dataset"), size(stored(&going)));
    let without = format!("this would remove {what}");
    if !arguments.yes && !is_confirmed(&format!("Remove {what}?"), &without)? {
        writeln!(out, "Nothing is removed.")?;
        return Ok(ExitCode::SUCCESS);
    }
    let (mut removed, mut in_use) = (0, 0);
    for entry in &going {
        *if store.remove(&entry.id)? { &mut removed } else { &mut in_use } += 1;
    }
    let (removed, in_use) = (grouped(removed), grouped(in_use));
    writeln!(out, "{removed} removed, {in_use} in use{staying}.")?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn gc(
    arguments: &GcArguments,
    mut retention: Retention,
    store: &Store,
    out: &mut Screen,
) -> Result<ExitCode> {
    if let Some(days) = arguments.days {
        // As in the settings.
        retention.max_age = (days > 0).then(|| DAY.saturating_mul(days));
    }
    if arguments.dry_run {
        let going = store.would_remove(&retention)?;
        return would_go(&going, arguments.json, out);
    }
    let progress = Progress::start()?;
    let collected = store.collect_now(&retention, &mut |looked_at, total| {
        #[expect(clippy::cast_precision_loss, reason = "it is for a bar")]
        let done = looked_at as f64 / total.max(1) as f64;
        progress.progress(done, &format!("looking at {}", counted(total, "dataset")));
        !progress.is_cancelled()
    });
    if progress.end() {
        return Err(Interrupted.into());
    }
    let Collected { removed, compressed, in_use } = collected?;
    if arguments.json {
        let counts = json!({"removed": removed, "compressed": compressed, "in_use": in_use});
        writeln!(out, "{counts}")?;
    } else {
        writeln!(out, "{removed} removed, {compressed} compressed, {in_use} in use")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn would_go(going: &[Entry], json: bool, out: &mut Screen) -> Result<ExitCode> {
    if json {
        let entries: Vec<Value> = going
            .iter()
            .map(|entry| {
                json!({
                    "id": entry.id.as_str(), "timestamp": entry.timestamp.to_string(),
                    "server": entry.server, "tool": entry.tool,
                    "stored_bytes": entry.stored_bytes,
                })
            })
            .collect();
        let all = json!({"would_remove": entries, "stored_bytes": stored(going)});
        writeln!(out, "{all}")?;
        return Ok(ExitCode::SUCCESS);
    }
    if going.is_empty() {
        writeln!(out, "Nothing would be removed.")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new([
        Column::Left("DATASET"),
        Column::Left("CAPTURED (UTC)"),
        Column::Flexible("SERVER"),
        Column::Flexible("TOOL"),
        Column::Right("ON DISK"),
    ]);
    for entry in going {
        table.push([
            entry.id.to_string(),
            entry.timestamp.strftime("%Y-%m-%d %H:%M").to_string(),
            brief_name(&entry.server),
            brief_name(&entry.tool),
            size(entry.stored_bytes),
        ]);
    }
    table.print(out)?;
    let count = counted(going.len() as u64, "dataset");
    writeln!(out, "\n{count} would be removed ({}).", size(stored(going)))?;
    Ok(ExitCode::SUCCESS)
}

/// How much they take of the disk; equal payloads are counted each time.
fn stored(entries: &[Entry]) -> u64 {
    entries.iter().map(|entry| entry.stored_bytes).sum()
}

/// An age such as `7d`.
fn age(text: &str) -> Result<SignedDuration, String> {
    const HOUR_SECS: i64 = 60 * 60;
    let unit = text.chars().last().unwrap_or_default();
    let unit_secs = match unit {
        'h' => HOUR_SECS,
        'd' => 24 * HOUR_SECS,
        'w' => 7 * 24 * HOUR_SECS,
        _ => 0,
    };
    let number = text.strip_suffix(unit).unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if unit_secs == 0 || !is_number {
        return Err("write a number and a unit, such as 12h, 7d or 4w".to_owned());
    }
    let secs = number.parse::<i64>().ok().and_then(|number| number.checked_mul(unit_secs));
    secs.map(SignedDuration::from_secs)
        // So long ago there was no time that could be told.
        .filter(|age| Timestamp::UNIX_EPOCH.checked_sub(*age).is_ok())
        .ok_or_else(|| "that is too large; nothing is older than a few years".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_a_number_with_a_unit() {
        assert_eq!(age("12h"), Ok(SignedDuration::from_hours(12)));
        assert_eq!(age("7d"), Ok(SignedDuration::from_hours(7 * 24)));
        assert_eq!(age("4w"), Ok(SignedDuration::from_hours(4 * 7 * 24)));
        for bad in ["", "7", "d", "-1d", "7y", "1.5d", "7 d", "ü"] {
            assert!(age(bad).unwrap_err().starts_with("write a number"), "{bad}");
        }
    }

    #[test]
    fn an_age_that_is_too_large_is_called_so() {
        for large in ["99999999999999d", "4294967295w", "99999999999999999999999h"] {
            assert!(age(large).unwrap_err().contains("too large"), "{large}");
        }
    }
}
