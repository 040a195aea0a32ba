//! stub
use crate::{assemble, cli::SettingsArguments};
use anyhow::Result;
use clap::Args;
use forebay_query::{Patient, Query};
use std::{io::Write, process::ExitCode};
/// Run SQL over what was kept
#[derive(Debug, Args)]
pub(crate) struct QueryArguments {
    /// The query
    sql: String,
    #[command(flatten)]
    settings: SettingsArguments,
}
pub(crate) fn run(arguments: QueryArguments, out: &mut dyn Write) -> Result<ExitCode> {
    let config = arguments.settings.load(Vec::new())?;
    let desk = assemble::desk(&config, assemble::shelf(&config))?;
    let query = Query { sql: arguments.sql, ..Query::default() };
    let found = forebay_tools::select(&desk, &query, 100, &Patient)?;
    writeln!(out, "{:?}", found.columns)?;
    for row in found.rows {
        writeln!(out, "{row}")?;
    }
    Ok(ExitCode::SUCCESS)
}
