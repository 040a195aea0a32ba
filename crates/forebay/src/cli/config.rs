//! `forebay config`: tells which settings hold, and where each comes from.

use std::{io::Write, process::ExitCode};

use anyhow::Result;
use clap::Args;

use crate::{
    cli::{
        SettingsArguments,
        screen::Screen,
        table::{Column, Table},
    },
    config::{in_force, reference},
};

/// Show the settings that hold, and where each comes from
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConfigArguments {
    /// What can be set, and what it does, as Markdown
    #[arg(long, conflicts_with = "schema")]
    reference: bool,
    /// What can be set, as a JSON Schema with which editors check the file
    #[arg(long)]
    schema: bool,
    #[command(flatten)]
    settings: SettingsArguments,
}

const EXAMPLES: &str = "\
Examples:
  forebay config
  FOREBAY_THRESHOLD=2000 forebay config --config work.toml
  forebay config --schema > ~/.forebay/forebay.schema.json";

pub(crate) fn run(arguments: ConfigArguments, screen: &mut Screen) -> Result<ExitCode> {
    if arguments.schema {
        writeln!(screen, "{}", serde_json::to_string_pretty(&reference::schema())?)?;
    } else if arguments.reference {
        write!(screen, "{}", reference::page())?;
    } else {
        let held = in_force::of(&arguments.settings.sources(Vec::new()))?;
        writeln!(screen, "{}\n", held.file)?;
        let mut table =
            Table::new([Column::Left("SETTING"), Column::Flexible("VALUE"), Column::Left("FROM")]);
        for setting in held.settings {
            table.push([setting.key, setting.value, setting.from]);
        }
        table.print(screen)?;
        writeln!(screen, "\n`forebay config --reference` tells what each does.")?;
    }
    Ok(ExitCode::SUCCESS)
}
