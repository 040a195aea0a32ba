//! `forebay gateway`: a stdio client in front of many servers.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::Result;
use clap::Args;
use forebay_proxy::{
    client::stdio::Settings,
    relay::Relay,
    upstream::{GroupSettings, Upstream},
};
use forebay_tools::Behind;

use crate::{
    assemble::{self, Beside, Notes},
    cli::{
        keeping::KeepingArguments,
        outputs::OutputsArguments,
        session::{self, Prepared},
        upstream::seconds,
    },
    config::Config,
    gateway::{Gateway, Watched},
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
    outputs: OutputsArguments,

    #[command(flatten)]
    servers: FileArguments,

    /// Stand in front of no server, whatever the settings name, and offer the tools for what was kept
    #[arg(long, conflicts_with = "servers")]
    no_servers: bool,

    #[command(flatten)]
    keeping: KeepingArguments,
}

/// Where the servers are named.
#[derive(Debug, Clone, Args)]
pub(crate) struct FileArguments {
    /// Take the servers from this file, as a client has it (`mcp.json`, `.claude.json`), and not from the
    /// settings
    #[arg(long, value_name = "FILE")]
    servers: Option<PathBuf>,

    /// There are to be none.
    #[arg(skip)]
    is_none: bool,
}

const EXAMPLES: &str = "\
Examples:
  forebay gateway
  forebay gateway --servers ~/.cursor/mcp.json
  forebay gateway --no-servers

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

    /// The file that is named.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.servers.as_deref()
    }

    /// The settings with the servers of the file, if one is named.
    pub(crate) fn apply(self, config: &mut Config) -> Result<()> {
        if self.is_none {
            config.servers.clear();
        }
        let Some(path) = self.servers else { return Ok(()) };
        for problem in config.take_servers_of(&path)? {
            tracing::warn!("{problem}; passed over");
        }
        Ok(())
    }
}

/// All servers as one, with what else there is to a session. When their settings change, they do.
pub(crate) fn of(
    mut config: Config,
    keeping: KeepingArguments,
    files: FileArguments,
    beside: Beside,
) -> Result<(Arc<GroupSettings>, Relay, Notes)> {
    files.clone().apply(&mut config)?;
    let Gateway { router, group } = Gateway::of(&mut config)?;
    let settings = [Some(keeping.file()?), files.servers.clone()].into_iter().flatten().collect();
    let load = move || {
        let mut config = keeping.clone().load()?;
        files.clone().apply(&mut config)?;
        Ok(config)
    };
    Watched::settings(group.clone(), settings, &config, load).watch()?;
    let behind = Behind { servers: group.clone(), exposure: config.gateway.exposure() };
    let beside = Beside { behind: Some(behind), ..beside };
    let (relay, notes) = assemble::relay(router, config, beside)?;
    Ok((group, relay, notes))
}

impl GatewayArguments {
    /// The file that names the servers, if one does.
    pub(crate) fn servers_file(&self) -> Option<&Path> {
        self.servers.path()
    }
}

pub(crate) fn run(arguments: GatewayArguments) -> Result<ExitCode> {
    session::run(prepare(arguments))
}

fn prepare(arguments: GatewayArguments) -> Result<Prepared> {
    let config = arguments.keeping.clone().load()?;
    let settings = Settings { grace: arguments.grace, spool: assemble::spool(&config) };
    let outputs = arguments.outputs.start(&config)?;
    let beside = Beside { outputs, ..Beside::default() };
    let servers = FileArguments { is_none: arguments.no_servers, ..arguments.servers };
    let (group, relay, notes) = of(config, arguments.keeping, servers, beside)?;
    Ok(Prepared { upstream: Upstream::Group(group), relay, notes, settings })
}
