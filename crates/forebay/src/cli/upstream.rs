//! The server that a command stands in front of: a command line, or a URL.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use clap::Args;
use forebay_proxy::{
    record::Recorder,
    router::UpstreamName,
    upstream::{Command, RemoteSettings},
};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::{
    auth,
    cli::exit::Exit,
    config::{
        self, Config,
        servers::{Front, Presence, Written, shown_url},
    },
    trust,
};

/// Which server it is, and how it is started.
#[derive(Debug, Clone, Args)]
pub(crate) struct UpstreamArguments {
    /// Stand in front of the server at this URL, which speaks Streamable HTTP
    #[arg(long, value_name = "URL", conflicts_with_all = ["environment", "cwd", "command"])]
    url: Option<String>,

    /// Stand in front of the server at the URL that this variable of the environment has: a key in a URL is seen by
    /// nobody else then
    #[arg(long, value_name = "VARIABLE", conflicts_with_all = ["url", "environment", "cwd", "command"])]
    url_env: Option<String>,

    /// Send this header with each request to the URL (may be repeated)
    #[arg(long = "header", value_name = "NAME:VALUE", conflicts_with = "command", value_parser = header)]
    headers: Vec<(HeaderName, HeaderValue)>,

    /// Send this header with each request to the URL, with the value that a variable of the environment has;
    /// `NAME='Bearer VARIABLE'` puts a word before it, and `NAME=VARIABLE?` leaves the header out if the variable is
    /// unset or empty (may be repeated)
    // What is on a command line can be seen by everybody on the machine.
    #[arg(long = "header-env", value_name = "NAME=VARIABLE", conflicts_with = "command", value_parser = header_variable)]
    header_variables: Vec<HeaderVariable>,

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

/// A header whose value is in a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HeaderVariable {
    name: HeaderName,
    /// What stands before the value, such as `Bearer`.
    scheme: Option<String>,
    variable: String,
    presence: Presence,
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
        self.url.is_some() || self.url_env.is_some() || !self.command.is_empty()
    }

    /// Which server it is, and what it is called, without looking at any variable; `None` if none is named.
    pub(crate) fn front(self) -> Option<(UpstreamName, Front)> {
        let shown = |word: OsString| word.to_string_lossy().into_owned();
        let named = self.name.map(UpstreamName::new);
        let url = match (self.url, self.url_env) {
            (Some(url), _) => Written::Text(url),
            (None, Some(name)) => {
                Written::Variable { scheme: None, name, presence: Presence::Needed }
            }
            (None, None) => {
                let words: Vec<String> = self.command.into_iter().map(shown).collect();
                let (program, arguments) = words.split_first()?;
                let name = named.unwrap_or_else(|| UpstreamName::from_command(program, arguments));
                let environment = self.environment.into_iter();
                let environment = environment.map(|(key, value)| (shown(key), shown(value)));
                let directory = self.cwd.map(|it| it.display().to_string());
                let environment = environment.collect();
                return Some((name, Front::Command { words, environment, directory }));
            }
        };
        let name = named.unwrap_or_else(|| match &url {
            Written::Text(url) => UpstreamName::from_url(url),
            Written::Variable { name, .. } => UpstreamName::new(name.as_str()),
        });
        let given = self.headers.into_iter().filter_map(|(name, value)| {
            Some((name.to_string(), Written::Text(value.to_str().ok()?.to_owned())))
        });
        let in_variables = self.header_variables.into_iter().map(|header| {
            let HeaderVariable { name, scheme, variable, presence } = header;
            (name.to_string(), Written::Variable { scheme, name: variable, presence })
        });
        let headers = given.chain(in_variables).collect();
        Some((name, Front::Url { url, headers, ca_file: self.ca_file }))
    }

    /// What was asked for, whole; all that can be checked is.
    pub(crate) fn resolve(self, config: &Config) -> Result<Upstream> {
        let named = self.name.map(UpstreamName::new);
        let url = match self.url_env {
            Some(variable) => Some(url_in(&variable, std::env::var_os(&variable))?),
            None => self.url,
        };
        let (name, target, shown) = if let Some(url) = url {
            let name = named.unwrap_or_else(|| UpstreamName::from_url(&url));
            let mut headers: HeaderMap = self.headers.into_iter().collect();
            for header in self.header_variables {
                if let Some(value) = header.value(|name| std::env::var_os(name))? {
                    headers.append(header.name, value);
                }
            }
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

impl HeaderVariable {
    /// The value of the header, unless it is left out. What is wrong with it is told without it.
    fn value(
        &self,
        variable: impl FnOnce(&str) -> Option<OsString>,
    ) -> Result<Option<HeaderValue>> {
        let Self { name, scheme, variable: from, presence } = self;
        let value = variable(from);
        let has_value = value.as_ref().is_some_and(|value| !value.is_empty());
        if *presence == Presence::Optional && !has_value {
            return Ok(None);
        }
        let Some(value) = value else {
            let why = format!(
                "the variable `{from}`, which has the header `{name}`, is not set; set it, or leave out \
                 --header-env {name}"
            );
            return Err(Exit::Usage.told(why));
        };
        let value = value.to_str().map(|value| match scheme {
            Some(scheme) => format!("{scheme} {value}"),
            None => value.to_owned(),
        });
        let value = value.and_then(|value| value.parse::<HeaderValue>().ok());
        let Some(mut value) = value else {
            let why =
                format!("the variable `{from}` has what no header can have, such as a line break");
            return Err(Exit::Usage.told(why));
        };
        value.set_sensitive(true);
        Ok(Some(value))
    }
}

/// The URL that a variable has. What is wrong with it is told without it.
fn url_in(variable: &str, value: Option<OsString>) -> Result<String> {
    let Some(value) = value.filter(|value| !value.is_empty()) else {
        let why = format!("the variable `{variable}`, which has the URL, is not set; set it");
        return Err(Exit::Usage.told(why));
    };
    let told = |_| Exit::Usage.told(format!("the variable `{variable}` is not UTF-8"));
    value.into_string().map_err(told)
}

fn header_variable(text: &str) -> Result<HeaderVariable, String> {
    let parsed = text.split_once('=').and_then(|(name, from)| {
        let (scheme, variable) = match from.trim().rsplit_once(' ') {
            Some((scheme, variable)) => (Some(scheme.trim().to_owned()), variable),
            None => (None, from.trim()),
        };
        let (variable, presence) = match variable.strip_suffix('?') {
            Some(variable) => (variable, Presence::Optional),
            None => (variable, Presence::Needed),
        };
        let is_variable = !variable.is_empty() && !variable.contains(['=', '\0']);
        let name = name.trim().parse().ok().filter(|_| is_variable)?;
        Some(HeaderVariable { name, scheme, variable: variable.to_owned(), presence })
    });
    parsed.ok_or_else(|| "write NAME=VARIABLE, for example X-Api-Key=SEARCH_KEY".to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_in_a_variable_is_not_told() {
        let url = || Some(OsString::from("https://a.example/mcp?key=s3cret"));
        assert_eq!(url_in("U", url()).unwrap(), "https://a.example/mcp?key=s3cret");
        let missing = url_in("U", None).unwrap_err().to_string();
        assert!(
            missing.contains("`U`") && url_in("U", Some(OsString::new())).is_err(),
            "{missing}"
        );
    }

    #[test]
    fn a_header_takes_its_value_from_a_variable() {
        let set = |name: &str| (name == "KEY").then(|| OsString::from("s3cret"));
        let value = |text: &str| -> Result<HeaderValue> {
            Ok(header_variable(text).unwrap().value(set)?.unwrap())
        };
        assert_eq!(value("X-Api-Key=KEY").unwrap(), "s3cret");
        let bearer = value("Authorization=Bearer KEY").unwrap();
        assert_eq!(bearer, "Bearer s3cret");
        assert!(!format!("{bearer:?}").contains("s3cret"));
        let missing = value("X-Api-Key=OTHER").unwrap_err();
        assert!(missing.to_string().contains("`OTHER`"), "{missing}");
        let broken = header_variable("X=KEY").unwrap().value(|_| Some("a\nb".into())).unwrap_err();
        assert!(!format!("{broken:#}").contains("a\nb"), "{broken}");
        for wrong in ["X-Api-Key", "X-Api-Key=", "X-Api-Key=?", "=KEY", "a b=KEY", "X: y"] {
            assert!(header_variable(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_header_may_be_left_out_where_its_variable_has_no_value() {
        let value = |variable: Option<&str>| {
            let header = header_variable("X-Api-Key=Bearer KEY?").unwrap();
            header.value(|name| (name == "KEY").then(|| variable.map(OsString::from))?).unwrap()
        };
        assert_eq!(value(None), None);
        assert_eq!(value(Some("")), None);
        assert_eq!(value(Some("k")).unwrap(), "Bearer k");
    }
}
