//! `forebay config`: tells which settings hold, and where each comes from.

use std::{io::Write, process::ExitCode};

use anyhow::Result;
use clap::Args;
use serde_json::json;

use crate::{
    cli::{
        SettingsArguments,
        exit::Exit,
        screen::Screen,
        table::{Column, Table},
    },
    config::{
        Config, Problem, Problems, Sources,
        in_force::{self, InForce},
        reference,
    },
};

/// Show the settings that hold, and where each comes from
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct ConfigArguments {
    /// What can be set, and what it does, as Markdown
    #[arg(long, conflicts_with = "schema")]
    reference: bool,
    /// What can be set, as a JSON Schema with which editors check the file
    #[arg(long)]
    schema: bool,
    /// Only tell what is wrong with them, all at once; ends with 2 if nothing would start
    #[arg(long, conflicts_with_all = ["reference", "schema"])]
    check: bool,
    /// One JSON object, for programs
    #[arg(long, conflicts_with_all = ["reference", "schema"])]
    json: bool,
    #[command(flatten)]
    settings: SettingsArguments,
}

const EXAMPLES: &str = "\
Examples:
  forebay config
  forebay config --check
  FOREBAY_THRESHOLD=2000 forebay config --config work.toml
  forebay config --schema > ~/.forebay/forebay.schema.json";

pub(crate) fn run(arguments: ConfigArguments, screen: &mut Screen) -> Result<ExitCode> {
    if arguments.schema {
        writeln!(screen, "{}", serde_json::to_string_pretty(&reference::schema())?)?;
    } else if arguments.reference {
        write!(screen, "{}", reference::page())?;
    } else if arguments.check {
        let form = if arguments.json { Form::Json } else { Form::Text };
        return check(&arguments.settings.sources(Vec::new()), form, screen);
    } else {
        let held = in_force::of(&arguments.settings.sources(Vec::new()))?;
        if arguments.json {
            writeln!(screen, "{}", serde_json::to_string_pretty(&held)?)?;
        } else {
            print(held, screen)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print(held: InForce, screen: &mut Screen) -> Result<()> {
    writeln!(screen, "{}\n", held.file)?;
    let mut table =
        Table::new([Column::Left("SETTING"), Column::Flexible("VALUE"), Column::Left("FROM")]);
    for setting in held.settings {
        table.push([setting.key, setting.value, setting.from]);
    }
    table.print(screen)?;
    writeln!(screen, "\n`forebay config --reference` tells what each does.")?;
    Ok(())
}

/// Whom something is told.
#[derive(Debug, Clone, Copy)]
enum Form {
    Text,
    Json,
}

/// Tells all that is wrong.
fn check(sources: &Sources, form: Form, screen: &mut Screen) -> Result<ExitCode> {
    let problems = match Config::read(sources) {
        Ok((_, problems)) => problems,
        Err(Problems(problems)) => problems,
    };
    let is_refused = problems.iter().any(Problem::is_grave);
    match form {
        Form::Json => {
            let told = |problem: &Problem| {
                json!({
                    "place": problem.place(), "what": problem.what(), "is_grave": problem.is_grave(),
                })
            };
            let told: Vec<_> = problems.iter().map(told).collect();
            let told = json!({ "is_usable": !is_refused, "problems": told });
            writeln!(screen, "{}", serde_json::to_string_pretty(&told)?)?;
        }
        Form::Text => {
            for problem in &problems {
                let passed_over = if problem.is_grave() { "" } else { "; passed over" };
                writeln!(screen, "{problem}{passed_over}")?;
            }
            let verdict = match (problems.is_empty(), is_refused) {
                (true, _) => "All settings are in order.",
                (false, false) => "All other settings hold.",
                (false, true) => "With these settings nothing starts.",
            };
            writeln!(screen, "{verdict}")?;
        }
    }
    Ok(if is_refused { ExitCode::from(Exit::Usage as u8) } else { ExitCode::SUCCESS })
}
