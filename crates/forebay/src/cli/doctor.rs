//! `forebay doctor`: whether all is well, and what to do if not.

use std::{io::Write, process::ExitCode};

use anyhow::Result;
use clap::Args;

use crate::{
    cli::{
        SettingsArguments, entry,
        screen::{Screen, Style, wrapped},
        table::harmless,
    },
    doctor::{self, Finding, Servers, State},
    version::Build,
};

/// Look at everything that Forebay needs, and say what is wrong and how it is mended
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DoctorArguments {
    /// Leave servers alone; else each of the settings, and each that Forebay stands in front of in a client's file, is
    /// started to see whether it answers
    #[arg(long)]
    no_start: bool,
    /// One JSON object, for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArguments,
}

const EXAMPLES: &str = "\
Examples:
  forebay doctor
  forebay doctor --no-start --json

Exit status: 0 if there is no problem, whatever else is noted; 1 if there is one.";

/// The column of the text, behind the longest state.
const MARGIN: usize = 11;

pub(crate) fn run(arguments: DoctorArguments, screen: &mut Screen) -> Result<ExitCode> {
    let servers = if arguments.no_start { Servers::Leave } else { Servers::Start };
    let findings = doctor::examine(&arguments.settings.sources(Vec::new()), servers, entry::read);
    let worst = findings.iter().map(|finding| finding.state).max();
    if arguments.json {
        let build = Build::of_this_program();
        let told = serde_json::json!({ "state": worst, "findings": findings, "build": build });
        writeln!(screen, "{}", serde_json::to_string_pretty(&told)?)?;
    } else {
        print(&findings, screen)?;
    }
    let is_well = worst < Some(State::Problem);
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Shows the findings under the names of their areas, and how many want to be looked at.
fn print(findings: &[Finding], screen: &mut Screen) -> Result<()> {
    let mut areas: Vec<_> = findings.iter().map(|finding| finding.area).collect();
    areas.sort_unstable();
    areas.dedup();
    for area in areas {
        writeln!(screen, "{}", screen.styled(Style::Bold, area.title()))?;
        for finding in findings.iter().filter(|finding| finding.area == area) {
            print_one(finding, screen)?;
        }
        writeln!(screen)?;
    }
    let count = |state| findings.iter().filter(|it| it.state == state).count() as u64;
    let (problems, warnings) = (count(State::Problem), count(State::Warning));
    let verdict = doctor::verdict(problems, warnings);
    let verdict =
        if problems + warnings == 0 { screen.styled(Style::Good, &verdict) } else { verdict };
    writeln!(screen, "{verdict}")?;
    Ok(())
}

fn print_one(finding: &Finding, screen: &mut Screen) -> Result<()> {
    let Finding { state, text, mend, advice, .. } = finding;
    let style = match state {
        State::Ok => Style::Good,
        State::Note => Style::Dim,
        State::Warning => Style::Warning,
        State::Problem => Style::Bad,
    };
    let width = screen.text_width().saturating_sub(MARGIN).max(20);
    let word = format!("{:<1$}", state.word(), MARGIN - 4);
    let mut margin = format!("  {}  ", screen.styled(style, &word));
    // One sentence each: breaks in what others have written are none.
    let sentence = |text: &str| harmless(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    for line in wrapped(&sentence(text), width) {
        writeln!(screen, "{margin}{line}")?;
        margin = " ".repeat(MARGIN);
    }
    for line in advice.iter().flat_map(|advice| wrapped(&sentence(advice), width)) {
        writeln!(screen, "{margin}{line}")?;
    }
    if let Some(mend) = mend {
        // Whole, to be copied.
        writeln!(screen, "{margin}{} {}", screen.styled(Style::Dim, "→"), harmless(mend))?;
    }
    Ok(())
}
