//! The command line as it is typed. What a command does is in the file of its name.

pub(crate) mod datasets;
pub(crate) mod demo;
mod figures;
pub(crate) mod screen;
pub(crate) mod stats;
mod table;
pub(crate) mod wrap;

use clap::{Parser, Subcommand};

use crate::observe::LogArguments;

/// Stands between a model's client and its MCP servers.
///
/// Forebay runs an MCP server for you and passes every message on, byte for byte. Put it in front
/// of a server's own command in your client's configuration; neither side needs to change.
#[derive(Debug, Parser)]
#[command(name = "forebay", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Wrap(wrap::WrapArguments),
    Datasets(datasets::DatasetsArguments),
    Stats(stats::StatsArguments),
    Demo(demo::DemoArguments),
    /// The demo's MCP server
    #[command(hide = true)]
    DemoServer,
}

const EXAMPLES: &str = "\
Examples:
  In a client's configuration, in place of `npx -y @modelcontextprotocol/server-everything`:
      forebay wrap -- npx -y @modelcontextprotocol/server-everything

  `forebay demo` shows what it does; `forebay help wrap` tells about the options.";
