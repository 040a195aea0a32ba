//! `forebay search`: finds what was kept by its meaning, for people and for programs.

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::Result;
use clap::{Args, value_parser};
use forebay_query::Observer;
use forebay_search::{Counts, Search, SearchError};
use forebay_tools::{
    MAX_FOUND, Match, Matched, NO_VECTORS, Sought, ToolError, VECTORS_TO_COME, semantic_search,
    since,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    assemble,
    cli::{
        SettingsArguments,
        ask::ask_finding,
        exit::Exit,
        figures::counted,
        screen::{Screen, Style, wrapped},
        table::{brief_name, harmless},
    },
    observe,
};

/// Find what was kept, by its words and its meaning
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SearchArguments {
    /// What is looked for, in words or in a sentence
    query: String,
    /// At most this many datasets
    #[arg(long, default_value_t = 10, value_parser = value_parser!(u64).range(1..=MAX_FOUND))]
    limit: u64,
    /// Only those of this server
    #[arg(long)]
    server: Option<String>,
    /// Only those of this tool
    #[arg(long)]
    tool: Option<String>,
    /// Only those kept since then: `2h`, `7d`, a date or a time
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// One JSON array, for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArguments,
}

/// So many datasets are indexed before the search; whoever has more to index is told how.
const FEW: u64 = 200;
/// So long a person waits for that; what is not indexed by then is told.
const PATIENCE: Duration = Duration::from_secs(30);

const EXAMPLES: &str = "\
Examples:
  forebay search 'failed logins' --since 7d
  forebay search 'orders that were never paid' --server shop --json";

pub(crate) fn run(arguments: SearchArguments, screen: &mut Screen) -> Result<ExitCode> {
    let config = arguments.settings.load(Vec::new())?;
    let Some(search) = assemble::search(&config, &assemble::shelf(&config))? else {
        return Err(Exit::Refused.told("what is kept is not indexed: `search.enabled` is false"));
    };
    let found = ask_finding(&config, Some(search.clone()), |desk, observer| {
        let kept_since = arguments.since.as_deref();
        let sought = Sought {
            query: arguments.query,
            limit: Some(arguments.limit),
            server: arguments.server,
            tool: arguments.tool,
            since: kept_since.map(|text| since(text, Timestamp::now())).transpose()?,
            until: None,
            min_bytes: None,
            within: None,
        };
        catch_up(&search, observer)?;
        semantic_search(desk, &sought)
    })?;
    if arguments.json {
        let all: Vec<Value> = found.matches.iter().map(as_json).collect();
        writeln!(screen, "{}", serde_json::to_string_pretty(&all)?)?;
    } else {
        print(&found.matches, screen)?;
    }
    tell(&found);
    Ok(ExitCode::SUCCESS)
}

/// Indexes what is missing, if that takes a moment only.
fn catch_up(search: &Search, observer: &dyn Observer) -> Result<(), ToolError> {
    let Counts { waiting, without_vectors, .. } = search.counts()?;
    if !(1..=FEW).contains(&waiting) {
        return Ok(());
    }
    // On a terminal there is a bar.
    if !io::stderr().is_terminal() {
        let count = waiting + without_vectors;
        let are = if count == 1 { "is" } else { "are" };
        observe::say(&format!("waiting until {} {are} indexed", counted(count, "dataset")));
    }
    let until = Instant::now() + PATIENCE;
    let indexed = search.catch_up(&mut |done, total| {
        #[expect(clippy::cast_precision_loss, reason = "it is for a bar")]
        let share = done as f64 / total.max(1) as f64;
        observer.progress(share, "indexing what was kept");
        !observer.is_cancelled() && Instant::now() < until
    });
    match indexed {
        // What another process indexes, what cannot be indexed, and what is left, is told with what was found.
        Ok(_) | Err(SearchError::BeingIndexed) => Ok(()),
        Err(SearchError::Interrupted) if !observer.is_cancelled() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// What is to be known of the search itself.
fn tell(found: &Matched) {
    if found.waiting > 0 {
        let waiting = counted(found.waiting, "dataset");
        let are = if found.waiting == 1 { "is" } else { "are" };
        observe::say(&format!("{waiting} {are} not indexed yet: `forebay index rebuild` does it"));
    }
    for (count, how) in [(found.without_vectors, VECTORS_TO_COME), (found.refused, NO_VECTORS)] {
        if count > 0 {
            observe::say(&format!("{} {how}", counted(count, "dataset")));
        }
    }
    if let Some(why) = &found.by_words_alone {
        observe::say(&format!("found by words alone, not by meaning: {}", harmless(why)));
    }
}

fn as_json(found: &Match) -> Value {
    let Match { dataset, score, summary, passage, lines, block, age, .. } = found;
    let of = &dataset.metadata().description;
    json!({
        "id": dataset.id().as_str(), "score": score, "summary": summary, "server": of.server,
        "tool": of.tool, "timestamp": dataset.metadata().timestamp.to_string(), "age": age,
        "path": dataset.path(block.unwrap_or_else(|| dataset.main_part())), "passage": passage,
        "lines": lines.map(|(from, to)| format!("{from}-{to}")), "block": block,
    })
}

/// Each with what of it fits, below a line that says what it is.
fn print(found: &[Match], screen: &mut Screen) -> Result<()> {
    const INDENT: &str = "  ";
    if found.is_empty() {
        writeln!(screen, "Nothing was found.")?;
        return Ok(());
    }
    let width = screen.text_width().saturating_sub(INDENT.len());
    for (index, Match { dataset, score, summary, passage, lines, block, age, .. }) in
        found.iter().enumerate()
    {
        if index > 0 {
            writeln!(screen)?;
        }
        let of = &dataset.metadata().description;
        let (tool, server) = (brief_name(&of.tool), brief_name(&of.server));
        let name = screen.styled(Style::Bold, dataset.id().as_str());
        writeln!(
            screen,
            "{name}  {score:.2}  {}",
            harmless(&format!("{tool} of {server}, {age}"))
        )?;
        for line in wrapped(&harmless(summary), width) {
            writeln!(screen, "{INDENT}{line}")?;
        }
        if passage != summary {
            let block = block.map(|block| format!(" of block {block}")).unwrap_or_default();
            let place =
                lines.map(|(from, to)| format!("lines {from}-{to}{block}: ")).unwrap_or_default();
            for line in wrapped(&harmless(&format!("{place}{passage}")), width) {
                writeln!(screen, "{INDENT}{}", screen.styled(Style::Dim, &line))?;
            }
        }
    }
    Ok(())
}
