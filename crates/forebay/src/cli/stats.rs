//! `forebay stats`: what has passed, and what was kept out of the context.

use std::{io::Write, process::ExitCode};

use anyhow::Result;
use clap::Args;
use forebay_store::{Counts, Usage};
use serde_json::{Value, json};

use crate::{
    assemble,
    cli::{
        SettingsArguments,
        figures::{counted, grouped, short, size},
        screen::Screen,
        table::{Column, Table, brief_name},
    },
};

/// Show how much has passed and been kept, by server and tool
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StatsArguments {
    /// Only the last days, today included (in UTC)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    days: Option<u16>,
    /// One JSON object, for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArguments,
}

const EXAMPLES: &str = "\
Tokens kept out are those of the results that were kept, less those of the summaries that stand in \
their place.

Examples:
  forebay stats --days 7
  forebay stats --json | jq .total.tokens_kept_out";

pub(crate) fn run(arguments: StatsArguments, screen: &mut Screen) -> Result<ExitCode> {
    let config = arguments.settings.load(Vec::new())?;
    let mut usage = assemble::store(&config)?.usage(arguments.days)?;
    usage.sort_by(|one, other| {
        let weight = |usage: &Usage| (usage.counts.tokens_kept_out(), usage.counts.results);
        weight(other)
            .cmp(&weight(one))
            .then_with(|| (&one.server, &one.tool).cmp(&(&other.server, &other.tool)))
    });
    let mut total = Counts::default();
    for usage in &usage {
        total += usage.counts;
    }
    if arguments.json {
        print_json(&usage, &total, screen)
    } else {
        print(&usage, &total, arguments.days, screen)
    }
}

fn print(
    usage: &[Usage],
    total: &Counts,
    days: Option<u16>,
    screen: &mut Screen,
) -> Result<ExitCode> {
    let Some(since) = usage.iter().map(|usage| usage.since).min() else {
        let in_days = |days: u16| format!("in {}", counted(days.into(), "day"));
        let when = days.map_or_else(|| "yet".to_owned(), in_days);
        writeln!(screen, "No result has been seen {when}; `forebay demo` shows what to expect.")?;
        return Ok(ExitCode::SUCCESS);
    };
    writeln!(
        screen,
        "{} seen since {since}; {} kept, {} tokens kept out of the context.\n",
        counted(total.results, "result"),
        grouped(total.captured),
        short(total.tokens_kept_out()),
    )?;
    let mut table = Table::new([
        Column::Flexible("SERVER"),
        Column::Flexible("TOOL"),
        Column::Right("RESULTS"),
        Column::Right("SIZE"),
        Column::Right("KEPT"),
        Column::Right("TOKENS KEPT OUT"),
    ]);
    let row = |server: &str, tool: &str, counts: &Counts| {
        [
            brief_name(server),
            brief_name(tool),
            grouped(counts.results),
            size(counts.bytes),
            grouped(counts.captured),
            grouped(counts.tokens_kept_out()),
        ]
    };
    for Usage { server, tool, counts, .. } in usage {
        table.push(row(server, tool, counts));
    }
    table.push(row("Total", "", total));
    table.print(screen)?;
    Ok(ExitCode::SUCCESS)
}

fn print_json(usage: &[Usage], total: &Counts, out: &mut dyn Write) -> Result<ExitCode> {
    let tools = usage.iter().map(|usage| {
        let mut tool = numbers(&usage.counts);
        tool["server"] = usage.server.as_str().into();
        tool["tool"] = usage.tool.as_str().into();
        tool["since"] = usage.since.to_string().into();
        tool
    });
    let stats = json!({
        "since": usage.iter().map(|usage| usage.since).min().map(|day| day.to_string()),
        "total": numbers(total),
        "tools": tools.collect::<Vec<Value>>(),
    });
    writeln!(out, "{}", serde_json::to_string_pretty(&stats)?)?;
    Ok(ExitCode::SUCCESS)
}

fn numbers(counts: &Counts) -> Value {
    json!({
        "results": counts.results,
        "bytes": counts.bytes,
        "captured": counts.captured,
        "captured_tokens": counts.captured_tokens,
        "given_tokens": counts.given_tokens,
        "tokens_kept_out": counts.tokens_kept_out(),
    })
}
