//! `forebay read`: records by pages, texts by lines, bytes or matches.

mod filter;
mod show;

use std::{io::Write, process::ExitCode};

use anyhow::Result;
use clap::{Args, value_parser};
use forebay_tools::{
    Budget, Condition, DEFAULT_LIMIT, Order, Page, Part, Range, Reading, Request, What,
};

use crate::{
    cli::{
        SettingsArguments,
        ask::{ask, in_our_words},
        datasets,
        screen::Screen,
        table::harmless,
    },
    observe,
};

/// Read what was kept: records by pages, or the text by lines or matches
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReadArguments {
    /// Its name, with or without `dataset_`, or that of the tool whose latest result it is; another
    /// table of it has its own name behind that
    id: String,
    /// Which page, from 1 on
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    page: Option<u64>,
    /// How many come before
    #[arg(long, value_name = "N", conflicts_with = "page")]
    offset: Option<u64>,
    /// At most this many records, lines or matches
    #[arg(
        long, value_name = "N", default_value_t = DEFAULT_LIMIT,
        value_parser = value_parser!(u64).range(1..)
    )]
    limit: u64,
    /// What the tool `read-saved-dataset` would reply, for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArguments,
    #[command(flatten)]
    records: RecordArguments,
    #[command(flatten)]
    text: TextArguments,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Of records")]
struct RecordArguments {
    /// Only these fields
    #[arg(long, value_name = "A,B", value_delimiter = ',', conflicts_with = "way")]
    fields: Vec<String>,
    /// Only records for which this holds, such as `status=open`; also !=, >, >=, <, <= and ~REGEX
    /// (may be repeated)
    #[arg(
        long = "filter", value_name = "FIELD=VALUE", value_parser = filter::parse,
        conflicts_with = "way"
    )]
    conditions: Vec<Condition>,
    /// Sort by this field; with `-` before it the largest first (may be repeated)
    #[arg(long, value_name = "[-]FIELD", allow_hyphen_values = true, conflicts_with = "way")]
    sort: Vec<String>,
    /// Only what is known of it: its origin, its fields, their facts
    #[arg(long, group = "way")]
    summary: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Of the text")]
struct TextArguments {
    /// These lines, from 1 on
    #[arg(long, value_name = "A-B", value_parser = |text: &str| range(text, 1), group = "way")]
    lines: Option<Range>,
    /// These bytes, from 0 on
    #[arg(long, value_name = "A-B", value_parser = |text: &str| range(text, 0), group = "way")]
    bytes: Option<Range>,
    /// Lines that match
    #[arg(long, value_name = "REGEX", group = "way")]
    grep: Option<String>,
    /// How many lines around each match
    #[arg(long, value_name = "N", default_value_t = 0, requires = "grep")]
    context: usize,
    /// Which block of the result, from 0 on [default: the one with the data]
    #[arg(long, value_name = "N")]
    block: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  forebay read k3v9x2ma --fields id,title --filter 'stars>=100' --sort -stars
  forebay read list_issues
  forebay read dataset_k3v9x2ma_authors --page 2
  forebay read k3v9x2ma --grep '(?i)timeout' --context 2";

pub(crate) fn run(arguments: ReadArguments, screen: &mut Screen) -> Result<ExitCode> {
    let what = what(&arguments);
    let config = arguments.settings.load(Vec::new())?;
    let (dataset, reading) = ask(&config, |desk, observer| {
        let (dataset, table) = desk.named(&arguments.id)?;
        let (block, what) = (arguments.text.block, what.clone());
        let request = Request { dataset, table, block, what };
        let reading = forebay_tools::read(desk, &request, Budget::NONE, observer)?;
        Ok((desk.dataset(&request.dataset)?, reading))
    })?;
    let Reading { json, note } = reading;
    if arguments.json {
        writeln!(screen, "{json}")?;
        if let Some(note) = note {
            observe::say(&in_our_words(&note));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let block = arguments.text.block.unwrap_or_else(|| dataset.main_part());
    let is_file = dataset.facts().files.iter().any(|file| file.block == block);
    if let Some(file) = dataset.artifact(block).filter(|_| is_file) {
        return match what {
            What::Summary => datasets::show::print(&dataset, screen),
            What::Bytes(_) => show::base64(&json, screen),
            What::Page(_) | What::Lines(_) | What::Matches { .. } => {
                writeln!(screen, "{}", harmless(&datasets::show::told(&file)))?;
                Ok(writeln!(screen, "{}", dataset.path(block).display())?)
            }
        }
        .map(|()| ExitCode::SUCCESS);
    }
    match what {
        What::Summary => datasets::show::print(&dataset, screen)?,
        What::Page(page) => show::page(&json, &page, screen)?,
        What::Lines(_) => show::lines(&json, screen)?,
        What::Bytes(_) => show::bytes(&json, screen)?,
        What::Matches { part, .. } => show::matches(&json, part, screen)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn what(arguments: &ReadArguments) -> What {
    let ReadArguments { records, text, limit, .. } = arguments;
    let part = match (arguments.page, arguments.offset) {
        (Some(page), _) => Part::page(page, *limit),
        (None, offset) => Part { offset: offset.unwrap_or_default(), limit: *limit },
    };
    if records.summary {
        return What::Summary;
    }
    match (text.lines, text.bytes, &text.grep) {
        (Some(range), _, _) => What::Lines(range),
        (None, Some(range), _) => What::Bytes(range),
        (None, None, Some(pattern)) => {
            What::Matches { pattern: pattern.clone(), context: text.context, part }
        }
        (None, None, None) => What::Page(Page {
            part,
            fields: records.fields.clone(),
            filter: records.conditions.clone(),
            sort: records.sort.iter().map(|text| Order::read(text)).collect(),
        }),
    }
}

fn range(text: &str, first: u64) -> Result<Range, String> {
    let example = format!("write a range that begins at {first} or later, for example {first}-20");
    Range::parse(text, first).ok_or(example)
}
