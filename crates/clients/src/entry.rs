//! What a server's entry is, and what becomes of it when Forebay stands in front.
//!
//! The entry keeps its name, and every key that is not about how the server is reached.

use std::{fmt, path::Path};

use forebay_text::is_secret_name;
use serde::Serialize;

use crate::{
    catalogue::{EntryForm, HeaderForm, StartForm, Untyped, Variables, Wanted},
    document::{Edit, Node, Shape},
    own::{OURS, Own},
    url,
    value::Value,
};

/// The variable that has a URL which no command line may show.
const URL_VARIABLE: &str = "FOREBAY_URL";

/// What an entry is.
#[derive(Debug)]
pub(crate) enum Entry {
    /// A server of somebody's, with what becomes of its members.
    Server(Vec<(&'static str, Edit)>),
    /// A server with Forebay in front.
    Wrapped,
    /// Forebay itself: the injected tools, or a gateway.
    Forebay,
    /// It stays as it is.
    Left(Reason),
}

/// Why something is left alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "reason", content = "detail")]
#[non_exhaustive]
pub enum Reason {
    /// The entry is no table, or has neither a command nor a URL.
    Extension,
    /// A key stands twice.
    Doubled(String),
    /// The client logs in there itself, as the key says.
    Login(String),
    /// The client may have logged in there; this is the URL, as it may be shown.
    PerhapsLogin(String),
    /// The server speaks a transport that Forebay does not.
    Transport(String),
    /// This `type` is that of a server that is started, and there is a URL.
    TypeOfCommand(String),
    /// There is a URL and no `type`, which this client wants.
    NoType,
    /// It has both a command and a URL.
    Both,
    /// The command is a line for a shell.
    ShellLine,
    /// This key is written in a way that is not understood.
    Written(String),
    /// The client confines the server to files among which Forebay's are not.
    Sandboxed,
    /// The client starts the server with a debugger, and knows how by its command.
    Debugged,
    /// Values that the client puts in cannot be moved behind a gateway.
    Variables,
    /// Under this key are variables that the client fills in only where it reaches a server itself.
    RemoteVariables(String),
    /// The client looks up what this program would run among known malware, which it would not behind Forebay.
    LookedUp(String),
    /// By this key the client says which tools may be used, which a gateway cannot.
    Tools(String),
    /// This file says which servers may run.
    Policy(String),
    /// This file may say so, and cannot be read.
    PerhapsPolicy(String),
    /// The name that ours needs is another server's.
    NameTaken,
    /// The entry that offers the tools is switched off.
    ToolsOff,
    /// This list keeps the entry that offers the tools from running.
    ToolsBlocked(String),
    /// This list says that it does not run, or not all of it, by a name that it would not have behind a gateway.
    SwitchedOff(String),
    /// It is for one project, and a gateway is for all.
    OfProject,
    /// Forebay could not start with what it says, for this reason.
    NotStartable(String),
    /// A gateway would pass it over, for this reason.
    NotForGateway(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Extension => {
                out.write_str("it has no command and no URL; an extension may bring the server")
            }
            Self::Doubled(key) => write!(out, "`{key}` stands twice in it; leave one of them out"),
            Self::Login(key) => write!(
                out,
                "`{key}` is a login of the client's own; `forebay auth login` can have one, then write \
                 `forebay wrap --url` yourself"
            ),
            Self::PerhapsLogin(url) => write!(
                out,
                "it has no header with a login, so the client may be logged in there; `forebay auth \
                 login {url}`, or name it with --server if it needs no login"
            ),
            Self::Transport(transport) => {
                write!(out, "it speaks `{transport}`; Forebay speaks stdio and Streamable HTTP")
            }
            Self::TypeOfCommand(kind) => write!(
                out,
                "its `type` is `{kind}`, and it has a URL and no command; write the type of a server with a URL"
            ),
            Self::NoType => out.write_str("it has a URL and no `type`; write `\"type\": \"http\"`"),
            Self::Both => out.write_str("it has a command and a URL; leave one of them out"),
            Self::ShellLine => out.write_str(
                "its command is a line for a shell; write the program in `command` and the rest in `args`",
            ),
            Self::Written(key) => {
                write!(out, "its `{key}` is written in a way that is not understood here")
            }
            Self::Sandboxed => out.write_str(
                "the client confines it to files among which those of Forebay are not",
            ),
            Self::Debugged => out.write_str(
                "the client starts it with a debugger, for which its command must be the server's own; take \
                 `dev.debug` out of it",
            ),
            Self::Variables => out.write_str(
                "it has variables that the client fills in, which it does not behind a gateway",
            ),
            Self::RemoteVariables(key) => write!(
                out,
                "`{key}` has variables that the client fills in only where it reaches a server itself; write their \
                 values, or `forebay wrap --url` yourself"
            ),
            Self::LookedUp(program) => write!(
                out,
                "the client looks up what `{program}` runs among known malware, which it would not behind Forebay; \
                 name it with --server if you know the package"
            ),
            Self::Tools(key) => write!(
                out,
                "`{key}` says what may be done with its tools, and would not hold behind a gateway"
            ),
            Self::Policy(file) => write!(
                out,
                "`{file}` says which servers may run, by their commands and URLs, which would change"
            ),
            Self::PerhapsPolicy(file) => write!(
                out,
                "`{file}` may say which servers may run, by their commands and URLs, and cannot be read"
            ),
            Self::NameTaken => out.write_str(
                "the name `forebay` is taken by another server, and is needed for the tools; rename that one",
            ),
            Self::ToolsOff => out.write_str(
                "the entry `forebay`, which offers the tools, is switched off; switch it on or delete it",
            ),
            Self::ToolsBlocked(list) => write!(
                out,
                "{list} keeps the entry `forebay` from running, which is needed for the tools; allow it there"
            ),
            Self::SwitchedOff(list) => write!(
                out,
                "{list} says that it does not run, or not all of it, which would not hold behind a gateway"
            ),
            Self::NotStartable(why) => write!(out, "Forebay could not start with it: {why}"),
            Self::OfProject => out.write_str("it is for one project, and a gateway is for all"),
            Self::NotForGateway(why) => write!(out, "a gateway could not start it so: {why}"),
        }
    }
}

/// Who stands in front, and what is known of servers beside what their entries say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wrapping<'a> {
    pub(crate) program: &'a str,
    pub(crate) known: &'a dyn Known,
}

/// Knows what no entry says.
pub(crate) trait Known: fmt::Debug {
    /// True if whoever asks has named this server.
    fn is_named(&self, name: &str) -> bool;

    /// True if Forebay is logged in at this URL.
    fn is_logged_in(&self, url: &str) -> bool;
}

/// The keys by which clients log in themselves.
const LOGINS: [&str; 6] =
    ["oauth", "auth", "headersHelper", "authProviderType", "oauth_resource", "scopes"];

/// Last words of headers that may let somebody in, though they are no secrets by such a name elsewhere: `sort_key`.
const KEYS: [&str; 4] = ["key", "pat", "jwt", "signature"];

/// Looks at the entry `name`.
pub(crate) fn entry(name: &str, node: &Node, form: &EntryForm, wrapping: Wrapping<'_>) -> Entry {
    let Shape::Table(_) = &node.shape else { return Entry::Left(Reason::Extension) };
    if let Some(key) = node.doubled() {
        return Entry::Left(Reason::Doubled(key.to_owned()));
    }
    let value = node.value();
    if is_table(&value, "transport") {
        return Entry::Left(Reason::Written("transport".to_owned()));
    }
    let is_on = |key: &str| value.get(key) == Some(&Value::Plain("true".to_owned()));
    if is_on("sandboxEnabled") {
        return Entry::Left(Reason::Sandboxed);
    }
    let debugger = value.get("dev").and_then(|dev| present(dev, "debug"));
    if debugger.is_some_and(is_in_force) {
        return Entry::Left(Reason::Debugged);
    }
    let url = form.urls.iter().find(|key| present(&value, key).is_some());
    let made = match (present(&value, form.command), url) {
        (Some(_), Some(_)) => Err(Reason::Both),
        (Some(command), None) => match form.start {
            StartForm::CommandAndArguments => started(name, &value, command, form, wrapping),
            StartForm::List => started_by_list(name, command, wrapping),
        },
        (None, Some(key)) => remote(name, &value, key, form, wrapping).map(Entry::Server),
        // Gemini's key for a WebSocket.
        (None, None) if present(&value, "tcp").is_some() => {
            Err(Reason::Transport("tcp".to_owned()))
        }
        (None, None) => Err(Reason::Extension),
    };
    made.unwrap_or_else(Entry::Left)
}

/// True if its client has an entry switched off.
pub(crate) fn is_off(entry: &Value) -> bool {
    let is = |key: &str, word: &str| entry.get(key) == Some(&Value::Plain(word.to_owned()));
    is("disabled", "true") || is("enabled", "false")
}

/// The entry that offers the injected tools.
pub(crate) fn tools(form: &EntryForm, program: &str) -> Value {
    ours(form, program, &["gateway", "--no-servers"])
}

/// An entry that starts Forebay so.
pub(crate) fn ours(form: &EntryForm, program: &str, words: &[&str]) -> Value {
    let mut members = wanted(form, OURS);
    if let Some(kind) = form.started_type {
        members.push(("type".to_owned(), Value::text(kind)));
    }
    match form.start {
        StartForm::CommandAndArguments => {
            members.push((form.command.to_owned(), Value::text(program)));
            members.push(("args".to_owned(), Value::texts(words.iter().copied())));
        }
        StartForm::List => {
            let words = [&[program], words].concat();
            members.push((form.command.to_owned(), Value::texts(words)));
        }
    }
    if let Some(key) = form.tools {
        members.push((key.to_owned(), Value::texts(["*"])));
    }
    Value::Table(members)
}

/// What a client wants in an entry of this name beside how the server is started.
pub(crate) fn wanted(form: &EntryForm, name: &str) -> Vec<(String, Value)> {
    let value = |wanted: Wanted| match wanted {
        Wanted::On => Value::Plain("true".to_owned()),
        Wanted::Name => Value::text(name),
    };
    form.wanted.iter().map(|(key, wanted)| ((*key).to_owned(), value(*wanted))).collect()
}

/// What becomes of the members of an entry of ours when Forebay's program lies elsewhere.
pub(crate) fn with_program(
    entry: &Value,
    form: &EntryForm,
    program: &str,
) -> Vec<(&'static str, Edit)> {
    let made = match (form.start, entry.get(form.command).and_then(Value::as_texts)) {
        (StartForm::List, Some(words)) => {
            Value::texts(std::iter::once(program).chain(words.into_iter().skip(1)))
        }
        (StartForm::CommandAndArguments | StartForm::List, _) => Value::text(program),
    };
    vec![(form.command, Edit::Value(made))]
}

/// What an entry with these words is, if it starts Forebay.
fn own(words: &[&str]) -> Option<Entry> {
    let own = Own::of_words(words)?;
    Some(if own.is_wrap() { Entry::Wrapped } else { Entry::Forebay })
}

fn started(
    name: &str,
    value: &Value,
    command: &Value,
    form: &EntryForm,
    wrapping: Wrapping<'_>,
) -> Result<Entry, Reason> {
    let program = command.as_text().filter(|program| !program.is_empty());
    let program = program.ok_or_else(|| Reason::Written(form.command.to_owned()))?;
    let arguments = match present(value, "args") {
        Some(arguments) => {
            arguments.as_texts().ok_or_else(|| Reason::Written("args".to_owned()))?
        }
        None => Vec::new(),
    };
    let words = [&[program], arguments.as_slice()].concat();
    if let Some(own) = own(&words) {
        return Ok(own);
    }
    if is_shell_line(program) {
        return Err(Reason::ShellLine);
    }
    let is_looked_up = form.looked_up.iter().any(|it| program.ends_with(it));
    if is_looked_up && !wrapping.known.is_named(name) {
        return Err(Reason::LookedUp(program.to_owned()));
    }
    let made = Value::texts([wrap(name), vec!["--".to_owned()], owned(&words)].concat());
    let ours = Value::text(wrapping.program);
    Ok(Entry::Server(if value.get("args").is_some() {
        vec![(form.command, Edit::Value(ours)), ("args", Edit::Value(made))]
    } else {
        let members = vec![(form.command.to_owned(), ours), ("args".to_owned(), made)];
        vec![(form.command, Edit::Members(members))]
    }))
}

fn started_by_list(name: &str, command: &Value, wrapping: Wrapping<'_>) -> Result<Entry, Reason> {
    let words = command.as_texts();
    let words = words.filter(|words| words.first().is_some_and(|program| !program.is_empty()));
    let words = words.ok_or_else(|| Reason::Written("command".to_owned()))?;
    if let Some(own) = own(&words) {
        return Ok(own);
    }
    let ours = vec![wrapping.program.to_owned()];
    let made = [ours, wrap(name), vec!["--".to_owned()], owned(&words)].concat();
    Ok(Entry::Server(vec![("command", Edit::Value(Value::texts(made)))]))
}

/// The words before those that say which server it is. The injected tools are offered once, by an entry of
/// their own.
fn wrap(name: &str) -> Vec<String> {
    let mut words = owned(&["wrap", "--tools", "none"]);
    if !name.is_empty() && !name.starts_with('-') {
        words.extend(["--name".to_owned(), name.to_owned()]);
    }
    words
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// `npx -y server` as one text, which some clients take apart themselves.
fn is_shell_line(program: &str) -> bool {
    let first = program.split(char::is_whitespace).next().unwrap_or_default();
    first.len() < program.len() && !first.contains(['/', '\\'])
        || (first.len() < program.len()
            && Path::new(first).is_absolute()
            && Path::new(first).is_file())
}

fn remote(
    name: &str,
    value: &Value,
    url_key: &'static str,
    form: &EntryForm,
    wrapping: Wrapping<'_>,
) -> Result<Vec<(&'static str, Edit)>, Reason> {
    let url = value.get(url_key).and_then(Value::as_text);
    let url = url.filter(|url| !url.trim().is_empty());
    let url = url.ok_or_else(|| Reason::Written(url_key.to_owned()))?;
    if let Some(key) = LOGINS.iter().find(|key| present(value, key).is_some_and(is_in_force)) {
        return Err(Reason::Login((*key).to_owned()));
    }
    transport(value, url_key, url, form)?;
    let former = present(value, form.environment);
    let former = match former.map(|it| it.as_table().ok_or(form.environment)) {
        Some(Ok(members)) => members,
        Some(Err(key)) => return Err(Reason::Written(key.to_owned())),
        None => &[],
    };
    let mut headers = Headers::of(value, form.headers, former)?;
    if form.variables == Variables::InRemote {
        let in_headers = headers.variables.iter().filter_map(|(_, value)| value.as_text());
        let in_headers = in_headers.map(|text| ("headers", text));
        let all = std::iter::once((url_key, url)).chain(in_headers);
        if let Some((key, _)) = all.into_iter().find(|(_, text)| url::has_variable(text)) {
            return Err(Reason::RemoteVariables(key.to_owned()));
        }
    }
    let is_near = url::is_near(url);
    let may_be_reached = wrapping.known.is_named(name) || wrapping.known.is_logged_in(url);
    if !headers.may_log_in() && !is_near && !may_be_reached {
        return Err(Reason::PerhapsLogin(url::shown(url)));
    }
    // What is a key in a path cannot be told for certain.
    let address = if !is_near || url::is_private(url) {
        let variable = headers.variable(URL_VARIABLE.to_owned(), url.to_owned());
        vec!["--url-env".to_owned(), variable]
    } else {
        owned(&["--url", url])
    };
    let words = [wrap(name), address, headers.words].concat();
    let mut members = Vec::new();
    match form.start {
        StartForm::CommandAndArguments => {
            members.push((form.command.to_owned(), Value::text(wrapping.program)));
            members.push(("args".to_owned(), Value::texts(words)));
        }
        StartForm::List => {
            let words = [vec![wrapping.program.to_owned()], words].concat();
            members.push((form.command.to_owned(), Value::texts(words)));
        }
    }
    let mut edits = Vec::new();
    if !headers.variables.is_empty() {
        let variables = Value::Table([former, &headers.variables].concat());
        match value.get(form.environment) {
            Some(_) => edits.push((form.environment, Edit::Value(variables))),
            None => members.push((form.environment.to_owned(), variables)),
        }
    }
    if !headers.passed_on.is_empty() {
        members.push(("env_vars".to_owned(), Value::texts(headers.passed_on)));
    }
    edits.push((url_key, Edit::Members(members)));
    let gone = form.urls.iter().chain(headers.keys).chain(&LOGINS).chain(&["args"]);
    let gone = gone.chain(std::iter::once(&form.command));
    for key in gone.filter(|key| **key != url_key && value.get(key).is_some()) {
        edits.push((key, Edit::Members(Vec::new())));
    }
    if value.get("type").is_some() {
        edits.push(match form.started_type {
            Some(kind) => ("type", Edit::Value(Value::text(kind))),
            None => ("type", Edit::Members(Vec::new())),
        });
    }
    Ok(edits)
}

/// Makes sure that a server speaks what Forebay does.
fn transport(value: &Value, url_key: &str, url: &str, form: &EntryForm) -> Result<(), Reason> {
    match present(value, "type").map(|kind| kind.as_text().unwrap_or_default()) {
        Some("http" | "streamable-http" | "streamableHttp" | "streamable_http" | "remote") => {}
        Some(kind @ ("stdio" | "local")) => return Err(Reason::TypeOfCommand(kind.to_owned())),
        Some(other) => return Err(Reason::Transport(other.to_owned())),
        // Gemini's `httpUrl` says it by its name.
        None if url_key == "httpUrl" => {}
        None => match form.untyped {
            Untyped::StreamableHttp => {}
            Untyped::Sse => return Err(Reason::Transport("sse".to_owned())),
            Untyped::Mistake => return Err(Reason::NoType),
        },
    }
    let path = url.split(['?', '#']).next().unwrap_or(url).trim_end_matches('/');
    let kind = present(value, "type").and_then(Value::as_text);
    // Where the client tries both, it is the old one by this name.
    let may_be_both = kind.is_none_or(|kind| form.either.contains(&kind));
    if may_be_both && path.ends_with("/sse") {
        return Err(Reason::Transport("sse".to_owned()));
    }
    Ok(())
}

/// Headers of an entry, as Forebay is told them: by the names of variables.
#[derive(Debug, Default)]
struct Headers {
    words: Vec<String>,
    /// Variables that the entry sets.
    variables: Vec<(String, Value)>,
    /// Variables that the client has and passes on if it is told so.
    passed_on: Vec<String>,
    /// Variables that the entry has set before.
    taken: Vec<String>,
    /// Where they were written.
    keys: &'static [&'static str],
}

impl Headers {
    fn of(
        value: &Value,
        form: HeaderForm,
        environment: &[(String, Value)],
    ) -> Result<Self, Reason> {
        let taken = environment.iter().map(|(name, _)| name.clone()).collect();
        let mut made = Self { taken, ..Self::default() };
        match form {
            HeaderForm::Headers => {
                made.keys = &["headers"];
                for (name, value) in pairs(value, "headers")? {
                    made.set(&name, value);
                }
            }
            HeaderForm::Codex => {
                made.keys = &["http_headers", "env_http_headers", "bearer_token_env_var"];
                for (name, value) in pairs(value, "http_headers")? {
                    made.set(&name, value);
                }
                for (name, variable) in pairs(value, "env_http_headers")? {
                    // Codex leaves the header out if the variable is not set.
                    made.pass_on(&format!("{name}={variable}?"), variable);
                }
                if let Some(variable) = present(value, "bearer_token_env_var") {
                    let written = || Reason::Written("bearer_token_env_var".to_owned());
                    let variable = variable.as_text().ok_or_else(written)?;
                    made.pass_on(&format!("Authorization=Bearer {variable}"), variable.to_owned());
                }
            }
        }
        Ok(made)
    }

    /// True if one of them may let somebody in.
    fn may_log_in(&self) -> bool {
        let names = self.words.iter().filter_map(|word| Some(word.split_once('=')?.0));
        names.into_iter().any(|name| {
            let last = name.rsplit(['-', '_']).next().unwrap_or(name);
            is_secret_name(name) || KEYS.iter().any(|key| last.eq_ignore_ascii_case(key))
        })
    }

    /// A header whose value the entry holds.
    fn set(&mut self, name: &str, value: String) {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        let variable = format!("FOREBAY_HEADER_{}", name.chars().map(plain).collect::<String>());
        let variable = self.variable(variable, value);
        self.words.extend(["--header-env".to_owned(), format!("{name}={variable}")]);
    }

    /// Has the entry set a variable, under this name or one like it, and returns that.
    fn variable(&mut self, mut name: String, value: String) -> String {
        // `X-Key` and `X_Key` are two headers.
        let is_taken = |name: &String| {
            self.taken.contains(name) || self.variables.iter().any(|(taken, _)| taken == name)
        };
        while is_taken(&name) {
            name.push('_');
        }
        self.variables.push((name.clone(), Value::Text(value)));
        name
    }

    /// A header whose value a variable of the client's holds.
    fn pass_on(&mut self, word: &str, variable: String) {
        self.words.extend(["--header-env".to_owned(), word.to_owned()]);
        self.passed_on.push(variable);
    }
}

fn pairs(value: &Value, key: &str) -> Result<Vec<(String, String)>, Reason> {
    let written = || Reason::Written(key.to_owned());
    let Some(table) = present(value, key) else { return Ok(Vec::new()) };
    let pair = |(name, value): &(String, Value)| {
        let text = value.as_text().ok_or_else(written)?;
        if !is_header_name(name) {
            return Err(written());
        }
        Ok((name.clone(), text.to_owned()))
    };
    table.as_table().ok_or_else(written)?.iter().map(pair).collect()
}

/// True if a header can have this name, and a word of a command line can tell it.
fn is_header_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_letter)
}

/// A member that says something.
fn present<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|value| !value.is_null())
}

fn is_table(value: &Value, key: &str) -> bool {
    value.get(key).is_some_and(|value| value.as_table().is_some())
}

/// `"oauth": false` says that there is none.
fn is_in_force(value: &Value) -> bool {
    *value != Value::Plain("false".to_owned())
}
