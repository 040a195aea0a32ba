//! The command line as it is typed. What a command does is in the file of its name.

pub(crate) mod ask;
pub(crate) mod auth;
pub(crate) mod config;
pub(crate) mod datasets;
pub(crate) mod demo;
pub(crate) mod exit;
pub(crate) mod export;
mod figures;
pub(crate) mod keeping;
pub(crate) mod plot;
mod progress;
pub(crate) mod query;
pub(crate) mod read;
pub(crate) mod screen;
pub(crate) mod serve;
mod sheet;
pub(crate) mod stats;
mod subject;
mod table;
pub(crate) mod upstream;
pub(crate) mod wrap;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

use crate::{
    config::{Config, Given, Sources},
    observe::LogArguments,
};

/// Stands between a model's client and its MCP servers.
///
/// Forebay runs an MCP server for you and passes every message on, byte for byte, except for tool
/// results that are too large for a model: these are kept on disk, and the model gets a summary. Put
/// it in front of a server's own command in your client's configuration; neither side needs to
/// change.
#[derive(Debug, Parser)]
#[command(name = "forebay", version, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Wrap(wrap::WrapArguments),
    Serve(serve::ServeArguments),
    Datasets(datasets::DatasetsArguments),
    Query(query::QueryArguments),
    Read(read::ReadArguments),
    Export(export::ExportArguments),
    Plot(plot::PlotArguments),
    Stats(stats::StatsArguments),
    Demo(demo::DemoArguments),
    Auth(auth::AuthArguments),
    Config(config::ConfigArguments),
    /// The demo's MCP server
    #[command(hide = true)]
    DemoServer,
    /// The process that queries run in
    #[command(hide = true)]
    QueryWorker(WorkerArguments),
}

/// How a worker runs.
#[derive(Debug, Args)]
pub(crate) struct WorkerArguments {
    /// Give way to everything else
    #[arg(long)]
    pub(crate) background: bool,
}

/// Where settings come from.
#[derive(Debug, Args)]
pub(crate) struct SettingsArguments {
    /// Read the settings from this file [default: `forebay.toml` in `FOREBAY_HOME` or `~/.forebay`]
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

impl SettingsArguments {
    /// Where all settings come from, with those that `flags` stand for.
    pub(crate) fn sources(self, flags: Vec<(&'static str, &'static str, Given)>) -> Sources {
        Sources { file: self.config, variables: std::env::vars_os().collect(), flags }
    }

    /// All settings, with those that `flags` stand for.
    pub(crate) fn load(self, flags: Vec<(&'static str, &'static str, Given)>) -> Result<Config> {
        let (config, warnings) = Config::load(&self.sources(flags))?;
        for warning in warnings {
            tracing::warn!("{warning}; passed over");
        }
        Ok(config)
    }
}

const EXAMPLES: &str = "\
Examples:
  In a client's configuration, in place of `npx -y @modelcontextprotocol/server-everything`:
      forebay wrap -- npx -y @modelcontextprotocol/server-everything

  `forebay demo` shows what it does; `forebay help wrap` tells about the options.

Exit status: 0 if all went well, 1 if something failed, 2 if the command line or the settings cannot be
understood, 3 if what is named is not there, 4 if what is asked for cannot be, 130 after Ctrl-C.";
