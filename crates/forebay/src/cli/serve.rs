//! `forebay serve`: an HTTP endpoint in front of a command, a server elsewhere, or many of both.

use std::{
    fs,
    io::{self, IsTerminal},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use forebay_intercept::Clients;
use forebay_page::{self as page, Pages};
use forebay_proxy::{
    ProxyError,
    body::Spool,
    chain::Chain,
    client::http::{self, Gate, Limits, Settings, Site},
    metrics::Metrics,
    relay::Relay,
    router::{Router, UpstreamName},
    upstream::Remote,
};

use crate::{
    assemble::{self, Beside, Notes},
    cli::{
        address::address,
        entry,
        exit::Exit,
        gateway::{self, FileArguments},
        keeping::KeepingArguments,
        upstream::{Target, Upstream, UpstreamArguments, seconds},
    },
    config::{Config, Problems, Sources},
    observe,
    outputs::Outputs,
    page::{Program, Running, Sole},
};

/// Serve an MCP server over HTTP, at /mcp
///
/// Clients that speak Streamable HTTP, of any revision, are served. In front of a command, each
/// session has a process of its own; clients of revision 2026-07-28, which has no sessions, share
/// one. Without a command or a URL, all servers of the settings are offered together, as `forebay
/// gateway` does.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, override_usage = "forebay serve [OPTIONS] -- COMMAND [ARGUMENTS]...\n       forebay serve [OPTIONS] --url URL\n       forebay serve [OPTIONS] [--servers FILE]")]
pub(crate) struct ServeArguments {
    /// Where to listen; other machines can reach you only with --token-file
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8484", value_parser = address)]
    listen: SocketAddr,

    /// Let in only clients that show the token in this file, with `Authorization: Bearer`
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Answer to this name in `Host`, besides localhost (may be repeated)
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,

    /// Let pages of this origin call, besides those on this machine (may be repeated)
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,

    /// How many sessions there may be at once, each with a process of its own
    #[arg(long, value_name = "NUMBER", default_value = "100", value_parser = at_least_one)]
    max_sessions: usize,

    /// End a session that nobody has used for this long
    #[arg(long, value_name = "SECONDS", default_value = "1800", value_parser = seconds)]
    idle: Duration,

    /// End a stream that has been open for this long, for networks that allow no longer ones
    ///
    /// Clients of revision 2025-11-25 come back for the rest; those of others keep their streams. In
    /// front of a URL the server there decides.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    poll_after: Option<Duration>,

    /// How long what is under way may take when you end, and a process when its session does
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    grace: Duration,

    #[command(flatten)]
    servers: FileArguments,

    #[command(flatten)]
    keeping: KeepingArguments,

    #[command(flatten)]
    upstream: UpstreamArguments,
}

const EXAMPLES: &str = "\
Examples:
  forebay serve -- npx -y @modelcontextprotocol/server-everything
  forebay serve --listen 127.0.0.1:9000 --url https://mcp.example.com/mcp
  forebay serve --servers ~/.cursor/mcp.json
  forebay serve --listen 0.0.0.0:8484 --token-file token.txt \\
      --allow-host forebay.lan -- ./my-server

Clients use http://127.0.0.1:8484/mcp; http://127.0.0.1:8484/healthz says whether it is there,
/readyz whether it can answer, /metrics what has passed (for Prometheus). Under /outputs,
what is kept can be fetched by the URLs that come with it. At / people look at what is kept:
by the address that is told at the start, or with the token of --token-file.";

/// A token shorter than this could be guessed.
const MIN_TOKEN_BYTES: usize = 16;
/// A message that is refused anyway may have this length.
const MAX_REFUSED_BYTES: usize = 1024 * 1024;

pub(crate) fn run(arguments: ServeArguments) -> Result<ExitCode> {
    let token = arguments.token_file.as_deref().map(token).transpose()?;
    let (hosts, origins) = (arguments.allow_host, arguments.allow_origin);
    let mut gate = Gate { token, hosts, origins };
    let (listen, grace) = (arguments.listen, arguments.grace);
    let mut config = match arguments.keeping.clone().load() {
        Ok(config) => config,
        Err(error) if is_for_clients(&error) => return refuse(&error, listen, gate, grace),
        Err(error) => return Err(error),
    };
    let (sessions, idle) = (arguments.max_sessions, arguments.idle);
    let limits = Limits { sessions, idle, grace, poll_after: arguments.poll_after };
    let metrics = Some(Arc::new(Metrics::default()));
    let spool = assemble::spool(&config);
    let outputs = outputs(&mut config, listen, &mut gate);
    let beside = Beside { metrics: metrics.clone(), outputs: outputs.clone(), ..Beside::default() };
    let (mut for_page, sources) = (config.clone(), arguments.keeping.sources());
    let servers_file = arguments.servers.path().map(Path::to_owned);
    if let Some(file) = &servers_file {
        // What is wrong with it is told where it is taken over.
        let _ = for_page.take_servers_of(file);
    }
    let (target, running, (relay, notes)) = if arguments.upstream.is_given() {
        if arguments.servers.is_given() {
            return Err(Exit::Usage.told("give a server, or a file with --servers, not both"));
        }
        let front = arguments.upstream.clone().front();
        let reached_by = front.map(|(_, front)| front.shown()).unwrap_or_default();
        let Upstream { name, target, recorder } = arguments.upstream.resolve(&config)?;
        let sole = Sole { name: name.to_string(), reached_by };
        let (target, running) = match target {
            Target::Command(command) => {
                (http::Upstream::Command(command, limits), Running::ForEachSession(sole))
            }
            Target::Url(settings) => {
                (http::Upstream::Remote(Remote::new(settings)?), Running::Elsewhere(sole))
            }
        };
        let beside = Beside { recorder, ..beside };
        (target, running, assemble::relay(Router::sole(name), config, beside)?)
    } else {
        let (group, relay, notes) =
            gateway::of(config, arguments.keeping, arguments.servers, beside)?;
        let running = Running::Group(group.clone());
        (http::Upstream::Group(group, limits), running, (relay, notes))
    };
    let token = gate.token.clone();
    let pages = for_page
        .page
        .then(|| pages(for_page, sources, (running, servers_file), token, &notes))
        .transpose()?;
    let sites = outputs.clone().map(|outputs| outputs as Arc<dyn Site>).into_iter();
    let sites = sites.chain(pages.clone().map(|pages| pages as Arc<dyn Site>)).collect();
    let settings = Settings { listen, gate, spool, grace, metrics, sites };
    let ready = |address: SocketAddr| {
        if let Some(outputs) = &outputs {
            begin_urls(outputs, address);
        }
        say_address(address);
        if let Some(pages) = &pages {
            pages.gate().listen_on(address.port());
            observe::say(&format!("the page is at http://{address}{}", pages.gate().opening()));
        }
    };
    http::serve(target, relay, settings, ready).map_err(|error| match error {
        // It says all that is to be said.
        ProxyError::UpstreamStart { .. } => anyhow!("{error}"),
        other => other.into(),
    })?;
    notes.write_down();
    Ok(ExitCode::SUCCESS)
}

/// The page on which people look at what is kept. Where clients have to show a token, it is theirs, too;
/// else one is made, which is told to whoever started us.
fn pages(
    config: Config,
    sources: Sources,
    (running, servers_file): (Running, Option<PathBuf>),
    token: Option<String>,
    notes: &Notes,
) -> Result<Arc<Pages>> {
    let gate = match token {
        Some(token) => page::Gate::with_servers_token(token),
        None => page::Gate::with_new_token().context("there is no randomness for a token")?,
    };
    let (shelf, search) = (assemble::shelf(&config), notes.search());
    let desk = assemble::desk(&config, shelf.clone(), search.clone())?;
    let program = Program::new(config, sources, shelf, search, entry::read)
        .with_servers(running, servers_file);
    Ok(Arc::new(Pages::new(desk, gate, Box::new(program))))
}

/// What is kept, over HTTP, unless that is turned off. What is told to clients follows from where they are.
fn outputs(config: &mut Config, listen: SocketAddr, gate: &mut Gate) -> Option<Arc<Outputs>> {
    let base_url = config.outputs.base_url.clone().filter(|_| config.outputs.is_enabled);
    if !listen.ip().is_loopback() || base_url.is_some() {
        config.policy.clients = Clients::Elsewhere;
    }
    // What passes requests on to us may leave the name in them that clients know.
    gate.hosts.extend(base_url.as_deref().and_then(host_of));
    let outputs = config.outputs.is_enabled.then(|| assemble::outputs(config))?;
    if let Some(url) = base_url {
        outputs.answer_to(&url);
    }
    Some(outputs)
}

fn host_of(url: &str) -> Option<String> {
    Some(url.parse::<::http::Uri>().ok()?.host()?.to_owned())
}

/// Has URLs lead to where we listen, if the settings have them lead nowhere else.
fn begin_urls(outputs: &Outputs, address: SocketAddr) {
    if !outputs.listen_on(address) {
        tracing::warn!(
            "what is kept has no URLs: {address} is no address that clients could use; write theirs as \
             `base_url` under [outputs]"
        );
    }
}

fn say_address(address: SocketAddr) {
    observe::say(&format!("listening on http://{address}/mcp"));
}

/// True if clients are to be told of it: the settings are those of all servers, and whoever has started
/// this one may be a service that nobody looks at. A mistake in the command line is its author's.
fn is_for_clients(error: &anyhow::Error) -> bool {
    let is_in_settings = error.downcast_ref::<Problems>().is_some_and(Problems::spare_the_flags);
    is_in_settings && !io::stdin().is_terminal()
}

/// Answers all that clients ask with why they get nothing else.
fn refuse(
    error: &anyhow::Error,
    listen: SocketAddr,
    gate: Gate,
    grace: Duration,
) -> Result<ExitCode> {
    let code = crate::fail(error);
    let why = format!("Forebay cannot start: {error:#}\nRestart it when this is mended.");
    let relay = Relay::new(Router::sole(UpstreamName::new("none")), Chain::default(), None);
    let spool = Spool::of_memory(MAX_REFUSED_BYTES);
    let settings = Settings { listen, gate, spool, grace, metrics: None, sites: Vec::new() };
    http::serve(http::Upstream::Nothing(why), relay, settings, say_address)?;
    Ok(code)
}

fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "write a number, 1 or more".to_owned())
}

fn token(path: &Path) -> Result<String> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the token in `{}`", path.display()))?;
    let token = text.trim();
    if token.len() < MIN_TOKEN_BYTES || token.contains(char::is_whitespace) {
        bail!(
            "`{}` must hold one word of {MIN_TOKEN_BYTES} characters or more; \
             make one with: openssl rand -hex 32",
            path.display()
        );
    }
    Ok(token.to_owned())
}
