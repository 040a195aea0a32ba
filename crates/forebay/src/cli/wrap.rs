//! `forebay wrap`: a stdio client in front of a child process, or of a URL.

use std::{
    io::{self, IsTerminal},
    os::unix::process::ExitStatusExt,
    process::{ExitCode, ExitStatus},
    sync::Arc,
    time::Duration,
};

use anyhow::{Result, bail};
use clap::Args;
use forebay_intercept::Usage;
use forebay_proxy::{
    ProxyError,
    client::stdio::{self, Ended, Settings},
    relay::Relay,
    router::Router,
    upstream::{self, Remote},
};

use crate::{
    assemble,
    cli::{
        keeping::KeepingArguments,
        upstream::{Target, Upstream, UpstreamArguments, seconds},
    },
    observe,
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
  forebay wrap --url https://example.com/mcp --header 'X-Api-Key: abc'
  forebay wrap --env API_KEY=abc --name search -- uvx some-search-server
  forebay wrap --record session.jsonl --log-level debug -- ./my-server

Exit status: the server's own; 127 if there is no such command, 126 if it cannot be started. With a URL: 0.";

/// What is said when a command cannot be found or started, as shells do.
const NOT_FOUND: u8 = 127;
const NOT_STARTED: u8 = 126;

pub(crate) fn run(arguments: WrapArguments) -> Result<ExitCode> {
    let Prepared { upstream, relay, usage, settings } = match prepare(arguments) {
        Ok(prepared) => prepared,
        // A person at a terminal reads the error on stderr; a client asks and gets an answer.
        Err(error) if io::stdin().is_terminal() => return Err(error),
        Err(error) => {
            // First here: a client that ends us at once may have its log read.
            let code = crate::fail(&error);
            stdio::refuse(format!("Forebay cannot start: {error:#}"))?;
            return Ok(code);
        }
    };
    let ended = stdio::wrap(upstream, relay, &settings)?;
    // Before we end as the server did, which may be by a signal.
    if let Some(usage) = usage {
        usage.write_down();
    }
    match ended {
        Ended::Upstream(status) => Ok(end_like(status)),
        Ended::LeftBehind => bail!("the server could not be ended"),
        Ended::NotStarted(error) => Ok(say_not_started(&error)),
    }
}

/// All that a session needs.
struct Prepared {
    upstream: upstream::Upstream,
    relay: Relay,
    usage: Option<Arc<Usage>>,
    settings: Settings,
}

fn prepare(arguments: WrapArguments) -> Result<Prepared> {
    let config = arguments.keeping.load()?;
    let Upstream { name, target, recorder } = arguments.upstream.resolve(&config)?;
    let settings = Settings { grace: arguments.grace, spool: assemble::spool(&config) };
    let upstream = match target {
        Target::Command(command) => upstream::Upstream::Command(command),
        Target::Url(remote) => upstream::Upstream::Remote(Box::new(Remote::new(remote)?)),
    };
    let (relay, usage) = assemble::relay(Router::sole(name), config, recorder)?;
    Ok(Prepared { upstream, relay, usage, settings })
}

/// Ends as the server did: with its code, or by its signal.
fn end_like(status: ExitStatus) -> ExitCode {
    if let Some(code) = status.code() {
        return ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX));
    }
    if let Some(signal) = status.signal() {
        // Does not return, except for a signal that it does not know.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        return ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    ExitCode::FAILURE
}

fn say_not_started(error: &ProxyError) -> ExitCode {
    observe::say(&error.to_string());
    match error {
        ProxyError::UpstreamStart { source, .. }
            if source.kind() == std::io::ErrorKind::NotFound =>
        {
            ExitCode::from(NOT_FOUND)
        }
        _ => ExitCode::from(NOT_STARTED),
    }
}
