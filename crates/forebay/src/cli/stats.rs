//! `forebay stats`: what has passed, and what was kept out of the context.

mod failures;
mod models;

use std::{io::Write, process::ExitCode};

use anyhow::Result;
use clap::Args;
use forebay_store::{Counts, Savings, SizeClass, Usage};
use serde_json::{Value, json};

use self::{failures::Failures, models::Models};
use crate::{
    assemble,
    cli::{
        SettingsArguments,
        figures::{counted, grouped, short, signed, size},
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
their place. Net is what is left of them without what Forebay's own tools replied, and without these \
tools' definitions, each time that a client listed them; the page says the same. Images, sounds and \
blobs have none: clients count them in ways of their own.

Examples:
  forebay stats --days 7
  forebay stats --json | jq .total.net_tokens";

pub(crate) fn run(arguments: StatsArguments, screen: &mut Screen) -> Result<ExitCode> {
    let config = arguments.settings.load(Vec::new())?;
    let store = assemble::store(&config)?;
    let by_size = store.usage_by_size(arguments.days)?;
    let mut usage = store.usage(arguments.days)?;
    let tallies = store.tallies(arguments.days)?;
    let failures = Failures::of(&tallies);
    let models = Models::of(tallies);
    usage.sort_by(|one, other| {
        let weight = |usage: &Usage| (usage.counts.tokens_kept_out(), usage.counts.results);
        weight(other)
            .cmp(&weight(one))
            .then_with(|| (&one.server, &one.tool).cmp(&(&other.server, &other.tool)))
    });
    let total = store.savings(arguments.days)?;
    if arguments.json {
        print_json((&usage, &total, &by_size), &models, failures, screen)
    } else {
        print(&usage, &total, &by_size, arguments.days, screen)?;
        models.print(screen)?;
        failures.print(screen)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn print(
    usage: &[Usage],
    savings: &Savings,
    by_size: &[(SizeClass, Counts)],
    days: Option<u16>,
    screen: &mut Screen,
) -> Result<()> {
    let Some(since) = usage.iter().map(|usage| usage.since).min() else {
        let in_days = |days: u16| format!("in {}", counted(days.into(), "day"));
        let when = days.map_or_else(|| "yet".to_owned(), in_days);
        writeln!(screen, "No result has been seen {when}; `forebay demo` shows what to expect.")?;
        return if savings.cost_tokens() == 0 { Ok(()) } else { print_sum(savings, screen) };
    };
    let total = &savings.counts;
    let cached = match total.cached {
        0 => String::new(),
        cached => format!(" {} given again without asking the server.", counted(cached, "result")),
    };
    writeln!(
        screen,
        "{} seen since {since}; {} kept, {} net tokens kept out of the context.{cached}\n",
        counted(total.results, "result"),
        grouped(total.captured),
        signed(savings.net_tokens(), short),
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
            signed(counts.tokens_kept_out(), grouped),
        ]
    };
    for Usage { server, tool, counts, .. } in usage {
        table.push(row(server, tool, counts));
    }
    table.push(row("Total", "", total));
    table.print(screen)?;
    print_sum(savings, screen)?;
    print_by_size(by_size, total, screen)
}

/// What is left of the tokens that were kept out.
fn print_sum(savings: &Savings, screen: &mut Screen) -> Result<()> {
    writeln!(
        screen,
        "\n{} kept out − {} that Forebay's tools replied − {} of their definitions, as often as they were \
         listed = {} net tokens kept out.",
        signed(savings.counts.tokens_kept_out(), grouped),
        grouped(savings.reply_tokens),
        grouped(savings.definition_tokens),
        signed(savings.net_tokens(), grouped),
    )?;
    Ok(())
}

/// How much less was given of what was kept, by how long it was.
fn print_by_size(
    by_size: &[(SizeClass, Counts)],
    total: &Counts,
    screen: &mut Screen,
) -> Result<()> {
    if total.captured == 0 {
        return Ok(());
    }
    let mut table = Table::new([
        Column::Flexible("RESULTS OF"),
        Column::Right("SEEN"),
        Column::Right("KEPT"),
        Column::Right("TOKENS OF THE KEPT"),
        Column::Right("GIVEN"),
        Column::Right("LESS"),
    ]);
    for (class, counts) in by_size.iter().filter(|(_, counts)| counts.results > 0) {
        let (from, until) = class.range();
        let range = match until {
            Some(until) if from == 0 => format!("under {}", size(until)),
            Some(until) => format!("{} to {}", size(from), size(until)),
            None => format!("{} and more", size(from)),
        };
        let less = reduction(counts).map_or_else(String::new, |less| format!("{less:.1} %"));
        table.push([
            range,
            grouped(counts.results),
            grouped(counts.captured),
            grouped(counts.captured_tokens),
            grouped(counts.given_tokens),
            less,
        ]);
    }
    writeln!(screen)?;
    table.print(screen)?;
    let sized: u64 = by_size.iter().map(|(_, counts)| counts.results).sum();
    if sized < total.results {
        let others = counted(total.results - sized, "result");
        writeln!(screen, "\n{others} seen before sizes were noted are not among these.")?;
    }
    Ok(())
}

/// By how many percent what was given has less tokens than what was kept, if anything was.
#[expect(clippy::cast_precision_loss, reason = "a percentage is told to a tenth")]
fn reduction(counts: &Counts) -> Option<f64> {
    let (kept, less) = (counts.captured_tokens as f64, counts.tokens_kept_out() as f64);
    (counts.captured_tokens > 0).then(|| 100.0 * less / kept)
}

fn print_json(
    (usage, savings, by_size): (&[Usage], &Savings, &[(SizeClass, Counts)]),
    models: &Models,
    failures: Failures,
    out: &mut dyn Write,
) -> Result<ExitCode> {
    let tools = usage.iter().map(|usage| {
        let mut tool = numbers(&usage.counts);
        tool["server"] = usage.server.as_str().into();
        tool["tool"] = usage.tool.as_str().into();
        tool["since"] = usage.since.to_string().into();
        tool
    });
    let sizes = by_size.iter().map(|(class, counts)| {
        let mut size = numbers(counts);
        let (from, until) = class.range();
        size["from_bytes"] = from.into();
        size["below_bytes"] = until.into();
        size["reduction_percent"] = reduction(counts).map(|it| (it * 10.0).round() / 10.0).into();
        size
    });
    let mut total = numbers(&savings.counts);
    total["reply_tokens"] = savings.reply_tokens.into();
    total["definition_tokens"] = savings.definition_tokens.into();
    total["net_tokens"] = savings.net_tokens().into();
    let mut stats = json!({
        "since": usage.iter().map(|usage| usage.since).min().map(|day| day.to_string()),
        "total": total,
        "tools": tools.collect::<Vec<Value>>(),
        "sizes": sizes.collect::<Vec<Value>>(),
    });
    if let Some(models) = models.json() {
        stats["summaries"] = models;
    }
    if let Some(failures) = failures.json() {
        stats["search"] = failures;
    }
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
        "cached": counts.cached,
    })
}
