//! The server that a command stands in front of: a command line, or a URL.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use clap::Args;
use forebay_proxy::{
    record::Recorder,
    router::UpstreamName,
    upstream::{Command, RemoteSettings, shown_url},
};
use http::{HeaderName, HeaderValue};

use crate::{
    auth,
    cli::exit::Exit,
    config::{self, Config},
    trust,
};

/// Which server it is, and how it is started.
#[derive(Debug, Args)]
pub(crate) struct UpstreamArguments {
    /// Stand in front of the server at this URL, which speaks Streamable HTTP
    #[arg(long, value_name = "URL", conflicts_with_all = ["environment", "cwd", "command"])]
    url: Option<String>,

    /// Send this header with each request to the URL (may be repeated)
    #[arg(long = "header", value_name = "NAME:VALUE", conflicts_with = "command", value_parser = header)]
    headers: Vec<(HeaderName, HeaderValue)>,

    /// Trust the certificates in this file, too, when the URL is `https` (PEM)
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    ca_file: Option<PathBuf>,

    /// Add a variable to the server's environment (may be repeated)
    #[arg(long = "env", value_name = "KEY=VALUE", value_parser = variable)]
    environment: Vec<(OsString, OsString)>,

    /// Start the server in this directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Call the server by this name in errors and logs [default: taken from the command or URL]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Append all messages to this file as JSON Lines, and no environment
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// The server's command and its arguments; all that follows belongs to it
    // `--` before it is good style, but some clients swallow it.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// A server, as far as it is known before it is reached.
pub(crate) struct Upstream {
    pub(crate) name: UpstreamName,
    pub(crate) target: Target,
    pub(crate) recorder: Option<Recorder>,
}

/// Where the server is.
pub(crate) enum Target {
    Command(Command),
    Url(RemoteSettings),
}

impl UpstreamArguments {
    /// True if a server is named.
    pub(crate) fn is_given(&self) -> bool {
        self.url.is_some() || !self.command.is_empty()
    }

    /// What was asked for, whole; all that can be checked is.
    pub(crate) fn resolve(self, config: &Config) -> Result<Upstream> {
        let named = self.name.map(UpstreamName::new);
        let (name, target, shown) = if let Some(url) = self.url {
            let name = named.unwrap_or_else(|| UpstreamName::from_url(&url));
            let headers = self.headers.into_iter().collect();
            let trusted =
                trust::authorities(self.ca_file.as_deref().or(config.ca_file.as_deref()))?;
            let credentials = Some(auth::stored(&config::home()?, &url, &trusted)?);
            let shown = vec![shown_url(&url)];
            let settings =
                RemoteSettings { name: name.clone(), url, headers, credentials, trusted };
            (name, Target::Url(settings), shown)
        } else {
            let mut words = self.command.into_iter();
            let Some(program) = words.next() else {
                return Err(Exit::Usage.told("there is no command to run"));
            };
            if program.as_encoded_bytes().starts_with(b"-") {
                let option = program.to_string_lossy();
                return Err(
                    Exit::Usage.told(format!("there is no option `{option}`; see `forebay help`"))
                );
            }
            let arguments: Vec<OsString> = words.collect();
            let shown = |word: &OsString| word.to_string_lossy().into_owned();
            let shown_arguments: Vec<String> = arguments.iter().map(shown).collect();
            let derived = || UpstreamName::from_command(&shown(&program), &shown_arguments);
            let name = named.unwrap_or_else(derived);
            let line = [vec![shown(&program)], shown_arguments].concat();
            let (environment, directory) = (self.environment, self.cwd);
            let command = Command { program, arguments, environment, directory };
            (name, Target::Command(command), line)
        };
        let recorder = match &self.record {
            Some(path) => {
                let recorder = Recorder::create(path, &name, &shown)
                    .with_context(|| format!("cannot record to `{}`", path.display()))?;
                Some(recorder)
            }
            None => None,
        };
        Ok(Upstream { name, target, recorder })
    }
}

fn variable(text: &str) -> Result<(OsString, OsString), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
        _ => Err("write KEY=VALUE, for example API_KEY=abc".to_owned()),
    }
}

fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let parsed = text
        .split_once(':')
        .and_then(|(name, value)| Some((name.trim().parse().ok()?, value.trim().parse().ok()?)));
    parsed.ok_or_else(|| "write NAME:VALUE, for example Authorization:Bearer abc".to_owned())
}

/// A time that is given in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|duration| *duration <= Duration::from_secs(24 * 60 * 60))
        .ok_or_else(|| "write a number of seconds, for example 5 or 0.5".to_owned())
}
