//! `forebay wrap -- COMMAND`: a stdio client in front of a child process, or of a URL.

use std::{
    ffi::OsString,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{ExitCode, ExitStatus},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use clap::Args;
use forebay_intercept::Glob;
use forebay_proxy::{
    ProxyError,
    record::Recorder,
    router::UpstreamName,
    transport::{
        http::{Remote, RemoteSettings},
        stdio::{self, Ended, Settings, Upstream},
    },
};
use http::{HeaderName, HeaderValue};

use crate::{assemble, cli::SettingsArguments, config::Given, observe};

/// Run an MCP server and stand in front of it, on standard input and output
///
/// The server's stderr is yours, its environment is yours, and Forebay ends when it ends, in the
/// same way. When the client closes, the server is given time to finish, then told, then made to.
///
/// With `--url`, the server runs somewhere else already, and is spoken to by Streamable HTTP. One
/// that cannot be reached is an error of each request, and is tried again with the next.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct WrapArguments {
    /// Stand in front of the server at this URL, instead of running one
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "environment", "cwd"])]
    url: Option<String>,

    /// Send this header with each request to the URL (may be repeated)
    #[arg(long, value_name = "NAME:VALUE", value_parser = header, requires = "url")]
    header: Vec<(HeaderName, HeaderValue)>,

    /// Add a variable to the server's environment (may be repeated)
    #[arg(long = "env", value_name = "KEY=VALUE", value_parser = variable)]
    environment: Vec<(OsString, OsString)>,

    /// Start the server in this directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Call the server by this name in errors and logs [default: taken from the command or the URL]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// How long the server may take to end once the client has closed, and again after SIGTERM;
    /// calls that are under way get thirty times as long
    // Below what the official clients wait before they kill us, so that the server is told first.
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    grace: Duration,

    /// Append the session to this file as JSON Lines: every message, and no environment
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    #[command(flatten)]
    settings: SettingsArguments,

    /// How many tokens a result may have before it is kept [default: 8192, or what the client is
    /// known to take]
    #[arg(long, value_name = "TOKENS")]
    threshold: Option<String>,

    /// Let all results of this tool pass; `*` stands for any characters (may be repeated)
    #[arg(long, value_name = "TOOL")]
    exclude: Vec<String>,

    /// Which tools are added to the server's: `core` (query, list, read), `full` (export and charts,
    /// too), `none`, or names with commas between them [default: core]
    #[arg(long, value_name = "TOOLS")]
    tools: Option<String>,

    /// Keep no results: every message passes as it came
    #[arg(long, conflicts_with_all = ["threshold", "exclude", "tools"])]
    no_capture: bool,

    /// The server's command and its arguments; all that follows belongs to it
    // `--` before it is good style, but some clients swallow it.
    #[arg(required_unless_present = "url", trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
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
    let threshold =
        arguments.threshold.map(|tokens| ("--threshold", "threshold", Given::Word(tokens)));
    let tools = arguments.tools.map(|tools| ("--tools", "injected_tools", Given::Word(tools)));
    let no_capture =
        arguments.no_capture.then_some(("--no-capture", "enabled", Given::Switch(false)));
    let flags = threshold.into_iter().chain(tools).chain(no_capture).collect();
    let mut config = arguments.settings.load(flags)?;
    config.policy.excluded_tools.extend(arguments.exclude.into_iter().map(Glob::new));
    let name = arguments.name.map(UpstreamName::new);
    let wrapped = match arguments.url {
        Some(url) => Wrapped::remote(url, arguments.header, name)?,
        None => {
            let (environment, directory) = (arguments.environment, arguments.cwd);
            Wrapped::command(arguments.command, environment, directory, name)?
        }
    };
    let recorder = match &arguments.record {
        Some(path) => {
            let recorder = Recorder::create(path, &wrapped.name, &wrapped.shown)
                .with_context(|| format!("cannot record to `{}`", path.display()))?;
            Some(recorder)
        }
        None => None,
    };
    let settings = Settings { grace: arguments.grace, spool: assemble::spool(&config) };
    let (relay, usage) = assemble::relay(wrapped.name, config, recorder)?;
    let ended = stdio::wrap(wrapped.upstream, relay, &settings)?;
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

/// What is wrapped.
struct Wrapped {
    upstream: Upstream,
    name: UpstreamName,
    /// How it is shown, in words.
    shown: Vec<String>,
}

impl Wrapped {
    fn command(
        words: Vec<OsString>,
        environment: Vec<(OsString, OsString)>,
        directory: Option<PathBuf>,
        name: Option<UpstreamName>,
    ) -> Result<Self> {
        let mut shown = words.iter().map(|word| word.to_string_lossy().into_owned());
        let shown_program = shown.next().unwrap_or_default();
        let shown_arguments: Vec<String> = shown.collect();
        let mut words = words.into_iter();
        let Some(program) = words.next() else { bail!("there is no command to run") };
        if shown_program.starts_with('-') {
            bail!("there is no option `{shown_program}`; see `forebay help wrap`");
        }
        let name =
            name.unwrap_or_else(|| UpstreamName::from_command(&shown_program, &shown_arguments));
        let command =
            stdio::Command { program, arguments: words.collect(), environment, directory };
        let shown = [vec![shown_program], shown_arguments].concat();
        Ok(Self { upstream: Upstream::Command(command), name, shown })
    }

    fn remote(
        url: String,
        headers: Vec<(HeaderName, HeaderValue)>,
        name: Option<UpstreamName>,
    ) -> Result<Self> {
        let name = name.unwrap_or_else(|| UpstreamName::from_url(&url));
        let headers = headers.into_iter().collect();
        let settings = RemoteSettings { name: name.clone(), url, headers, credentials: None };
        let remote = Remote::new(settings)?;
        let shown = vec![remote.shown_url()];
        Ok(Self { upstream: Upstream::Remote(Box::new(remote)), name, shown })
    }
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

fn variable(text: &str) -> Result<(OsString, OsString), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
        _ => Err("write KEY=VALUE, for example API_KEY=abc".to_owned()),
    }
}

fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let hint = "write NAME:VALUE, for example 'X-Api-Key: abc'";
    let (name, value) = text.split_once(':').ok_or(hint)?;
    let name = name.trim().parse().map_err(|_| hint)?;
    let mut value: HeaderValue = value.trim().parse().map_err(|_| hint)?;
    value.set_sensitive(true);
    Ok((name, value))
}

fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|duration| *duration <= Duration::from_secs(24 * 60 * 60))
        .ok_or_else(|| "write a number of seconds, for example 5 or 0.5".to_owned())
}
