//! `forebay config`: tells what can be set.

use std::{io::Write, process::ExitCode};

use anyhow::Result;
use clap::Args;

use crate::config::reference;

/// Print what can be set in `forebay.toml` and the environment
#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    /// As a JSON Schema, with which editors check the file
    #[arg(long)]
    schema: bool,
}

pub(crate) fn run(arguments: &ConfigArguments, out: &mut dyn Write) -> Result<ExitCode> {
    if arguments.schema {
        writeln!(out, "{}", serde_json::to_string_pretty(&reference::schema())?)?;
    } else {
        write!(out, "{}", reference::page())?;
    }
    Ok(ExitCode::SUCCESS)
}
