//! `forebay gateway`: a stdio client in front of many servers.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use anyhow::Result;
use clap::Args;
use forebay_proxy::{client::stdio::Settings, upstream::Upstream};

use crate::{
    assemble,
    cli::{
        keeping::KeepingArguments,
        session::{self, Prepared},
        upstream::seconds,
    },
    config::Config,
    gateway::Gateway,
};

/// Stand in front of many MCP servers, on standard input and output
///
/// The client sees one server with the tools of all: `git_log` of the server `git` is `git__git_log`. The
/// servers are those of the settings, or of a file that a client has. One that fails or is slow holds up no
/// other; it is started again, and comes into the list when it is there.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GatewayArguments {
    /// How long the servers may take to end once the client has closed, and again after SIGTERM
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    grace: Duration,

    #[command(flatten)]
    servers: FileArguments,

    #[command(flatten)]
    keeping: KeepingArguments,
}

/// Where the servers are named.
#[derive(Debug, Args)]
pub(crate) struct FileArguments {
    /// Take the servers from this file, as a client has it (`mcp.json`, `.claude.json`), and not from the
    /// settings
    #[arg(long, value_name = "FILE")]
    servers: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  forebay gateway
  forebay gateway --servers ~/.cursor/mcp.json

A server in forebay.toml:
  [servers.git]
  command = \"uvx\"
  args = [\"mcp-server-git\"]

`forebay servers` shows what there is; `forebay servers check NAME` starts one.";

impl FileArguments {
    /// True if a file is named.
    pub(crate) fn is_given(&self) -> bool {
        self.servers.is_some()
    }

    /// The settings with the servers of the file, if one is named.
    pub(crate) fn apply(self, config: &mut Config) -> Result<()> {
        let Some(path) = self.servers else { return Ok(()) };
        for problem in config.take_servers_of(&path)? {
            tracing::warn!("{problem}; passed over");
        }
        Ok(())
    }
}

pub(crate) fn run(arguments: GatewayArguments) -> Result<ExitCode> {
    session::run(prepare(arguments))
}

fn prepare(arguments: GatewayArguments) -> Result<Prepared> {
    let mut config = arguments.keeping.load()?;
    arguments.servers.apply(&mut config)?;
    let Gateway { router, group, remembered } = Gateway::of(&mut config)?;
    let settings = Settings { grace: arguments.grace, spool: assemble::spool(&config) };
    let (relay, usage) = assemble::relay(router, config, None, Some(remembered))?;
    Ok(Prepared { upstream: Upstream::Group(group), relay, usage, settings })
}
