//! `forebay wrap`: a stdio client in front of a child process, or of a URL.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use anyhow::Result;
use clap::Args;
use forebay_proxy::{
    client::stdio::Settings,
    router::{Router, UpstreamName},
    upstream::{self, Remote},
};

use crate::{
    assemble::{self, Beside},
    cli::{
        exit::Exit,
        keeping::KeepingArguments,
        outputs::OutputsArguments,
        session::{self, Prepared},
        upstream::{Target, Upstream, UpstreamArguments, seconds},
    },
    config::servers::Front,
    gateway,
};

/// Run an MCP server and stand in front of it, on standard input and output
///
/// The server's stderr is yours, its environment is yours, and Forebay ends when it ends, in the
/// same way. When the client closes, the server is given time to finish, then told, then made to.
///
/// With `--url`, the server runs somewhere else already. One that cannot be reached is an error of
/// each request, and is tried again with the next.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct WrapArguments {
    /// How long the server may take to end once the client has closed, and again after SIGTERM;
    /// calls that are under way get thirty times as long
    // Below what the official clients wait before they kill us, so that the server is told first.
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    grace: Duration,

    /// Start the server anew when something in this file or folder changes, while the client stays
    /// connected (may be repeated)
    #[arg(long, value_name = "PATH", conflicts_with_all = ["url", "url_env"])]
    watch: Vec<PathBuf>,

    #[command(flatten)]
    outputs: OutputsArguments,

    #[command(flatten)]
    keeping: KeepingArguments,

    #[command(flatten)]
    upstream: UpstreamArguments,
}

const USAGE: &str = "\
forebay wrap [OPTIONS] -- COMMAND [ARGUMENTS]...
       forebay wrap [OPTIONS] --url URL";

const EXAMPLES: &str = "\
Examples:
  forebay wrap -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  forebay wrap --url https://example.com/mcp --header-env X-Api-Key=API_KEY
  forebay wrap --env API_KEY=abc --name search -- uvx some-search-server
  forebay wrap --watch src -- python src/server.py
  forebay wrap --record session.jsonl --log-level debug -- ./my-server

Exit status: the server's own; 127 if there is no such command, 126 if it cannot be started. With a URL: 0.";

impl WrapArguments {
    /// The server that is stood in front of, and what it is called, without looking at any variable.
    pub(crate) fn front(self) -> Option<(UpstreamName, Front)> {
        self.upstream.front()
    }
}

pub(crate) fn run(arguments: WrapArguments) -> Result<ExitCode> {
    session::run(prepare(arguments))
}

fn prepare(arguments: WrapArguments) -> Result<Prepared> {
    let config = arguments.keeping.load()?;
    if !arguments.upstream.is_given() {
        let why = "there is no command to run; write it after `--`, or give a --url";
        return Err(Exit::Usage.told(why));
    }
    let Upstream { name, target, recorder } = arguments.upstream.resolve(&config)?;
    let outputs = arguments.outputs.start(&config)?;
    let beside = Beside { recorder, outputs, ..Beside::default() };
    let settings = Settings { grace: arguments.grace, spool: assemble::spool(&config) };
    let upstream = match target {
        Target::Command(command) if !arguments.watch.is_empty() => {
            let (router, group) = gateway::watched(name, command, arguments.watch)?;
            let (relay, notes) = assemble::relay(router, config, beside)?;
            let upstream = upstream::Upstream::Group(group);
            return Ok(Prepared { upstream, relay, notes, settings });
        }
        Target::Command(command) => upstream::Upstream::Command(command),
        Target::Url(remote) => upstream::Upstream::Remote(Box::new(Remote::new(remote)?)),
    };
    let (relay, notes) = assemble::relay(Router::sole(name), config, beside)?;
    Ok(Prepared { upstream, relay, notes, settings })
}
