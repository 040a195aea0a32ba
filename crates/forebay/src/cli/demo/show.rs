//! How the demo looks on a terminal.

use std::{io::Write, path::Path};

use anyhow::Result;
use forebay_tools::Tool;
use serde_json::Value;

use super::Exchange;
use crate::cli::{
    figures::{counted, grouped, size},
    screen::{Screen, Style, wrapped},
};

/// How far a summary stands from the edge.
const MARGIN: usize = 5;

pub(super) fn introduction(screen: &mut Screen) -> Result<()> {
    say(
        "A coffee shop's MCP server is asked for the same things twice: on its own, and behind \
         Forebay. This is what the model would have to read.",
        screen,
    )
}

/// A request, what the model would have got, and what it gets now.
pub(super) fn exchange(number: usize, exchange: &Exchange, screen: &mut Screen) -> Result<()> {
    let request = screen.styled(Style::Bold, &exchange.request);
    writeln!(screen, "\n{number}. {request}\n")?;
    let (before, after) = (text(&exchange.on_its_own), text(&exchange.with_forebay));
    if exchange.passed() {
        writeln!(screen, "   either way    {}: what is small passes as it is", weight(after))?;
        return Ok(());
    }
    let after_size = screen.styled(Style::Good, &weight(after));
    writeln!(screen, "   on its own    {}", weight(before))?;
    writeln!(screen, "   with Forebay  {after_size}\n")?;
    quote(after, screen)
}

/// What a model asks about what was kept, and what it gets to read.
pub(super) fn question(
    number: usize,
    query: &str,
    answer: &Value,
    screen: &mut Screen,
) -> Result<()> {
    writeln!(screen)?;
    say("The next question goes to what was kept; this one joins two of the results:", screen)?;
    let request = screen.styled(Style::Bold, Tool::Analyze.name());
    writeln!(screen, "\n{number}. {request}\n")?;
    quote(query, screen)?;
    let answer = text(answer);
    let answer_size = screen.styled(Style::Good, &weight(answer));
    writeln!(screen, "\n   the answer    {answer_size}\n")?;
    quote(answer, screen)
}

/// A text beside a line.
fn quote(text: &str, screen: &mut Screen) -> Result<()> {
    let width = screen.text_width().saturating_sub(MARGIN);
    for line in wrapped(text, width) {
        let margin = screen.styled(Style::Dim, "│");
        writeln!(screen, "{}", format!("   {margin} {line}").trim_end())?;
    }
    Ok(())
}

/// What was saved, and that nothing was lost.
pub(super) fn total(exchanges: &[Exchange], screen: &mut Screen) -> Result<()> {
    let sum = |side: fn(&Exchange) -> &Value| -> u64 {
        exchanges.iter().map(|exchange| forebay_records::tokens(text(side(exchange)))).sum()
    };
    let before = sum(|exchange| &exchange.on_its_own);
    let after = sum(|exchange| &exchange.with_forebay);
    let kept = exchanges.iter().filter(|exchange| !exchange.passed()).count();
    let per_mille = before.saturating_sub(after) * 1_000 / before.max(1);
    let total = format!(
        "{} tokens → {}: {}.{} % less.",
        grouped(before),
        grouped(after),
        per_mille / 10,
        per_mille % 10
    );
    writeln!(screen, "\n{}", screen.styled(Style::Bold, &total))?;
    say(
        &format!(
            "Every record is kept and can be had back: {} read from the disk again, each equal \
             to what the server had sent.",
            counted(kept as u64, "result")
        ),
        screen,
    )
}

/// What to do now.
pub(super) fn what_next(kept_in: Option<&Path>, screen: &mut Screen) -> Result<()> {
    writeln!(screen)?;
    if let Some(home) = kept_in {
        say("Look at what the demo has kept:", screen)?;
        for command in ["datasets list", "query 'FROM list_orders'"] {
            say_command(&format!("FOREBAY_HOME={} forebay {command}", home.display()), screen)?;
        }
    }
    say("Put Forebay in front of a server of yours, in your client's configuration:", screen)?;
    say_command("forebay wrap -- npx -y @modelcontextprotocol/server-filesystem ~/notes", screen)?;
    say("Then see what it keeps, ask about it yourself, and see what that saves:", screen)?;
    say_command("forebay datasets list", screen)?;
    say_command("forebay query 'SELECT count(*) FROM dataset_…'", screen)?;
    say_command("forebay stats", screen)
}

fn say(text: &str, screen: &mut Screen) -> Result<()> {
    for line in wrapped(text, screen.text_width()) {
        writeln!(screen, "{line}")?;
    }
    Ok(())
}

fn say_command(command: &str, screen: &mut Screen) -> Result<()> {
    let command = screen.styled(Style::Good, command);
    Ok(writeln!(screen, "    {command}")?)
}

/// What a model reads of a result of this server.
fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

/// How long a text is, in bytes and in tokens.
fn weight(text: &str) -> String {
    let tokens = grouped(forebay_records::tokens(text));
    format!("{:>8}  {tokens:>8} tokens", size(text.len() as u64))
}
