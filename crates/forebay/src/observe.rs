//! Logs, on stderr and in a file: the protocol has stdout to itself.

mod entry;
mod file;

use std::{
    io::{self, IsTerminal, Write},
    sync::OnceLock,
};

use clap::{Args, ValueEnum};
use forebay_system::pipes;
use parking_lot::Mutex;
use tracing::{Event, Subscriber};
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    filter::LevelFilter,
    fmt,
    layer::{Context, SubscriberExt},
    reload,
    util::SubscriberInitExt,
};

pub(crate) use self::entry::{Entry, logged};
use self::file::{LogFile, WithoutHome};
use crate::config::{self, log::FileLevel};

/// How much is logged, and in which form.
#[derive(Debug, Args)]
#[command(next_help_heading = "Logging")]
pub(crate) struct LogArguments {
    /// How much to log on stderr; `RUST_LOG`, if set, can say it per module [default: warn]
    #[arg(long, global = true, value_name = "LEVEL")]
    log_level: Option<LogLevel>,

    /// How to write logs: for people, or one JSON object a line
    #[arg(long, global = true, value_name = "FORMAT", default_value = "human")]
    log_format: LogFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormat {
    Human,
    Json,
}

/// What a process is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It stands before clients, who hide what it says on stderr.
    Clients,
    /// Somebody has typed a command, and reads what it says.
    Person,
    /// It does a part of another process's work, which says how that went.
    Part,
}

/// The log file of this process.
struct Log {
    command: &'static str,
    purpose: Purpose,
    file: LogFile,
    level: Mutex<FileLevel>,
    filter: reload::Handle<LevelFilter, Registry>,
}

static LOG: OnceLock<Log> = OnceLock::new();

/// Starts logging. On stderr a level on the command line goes before `RUST_LOG`, which goes before `warn`. What is
/// written to the file is said by the settings ([`write_from`]); until they are read it is as if they said nothing.
pub(crate) fn start(arguments: &LogArguments, command: &'static str, purpose: Purpose) {
    let in_file = open_file(command, purpose);
    let warnings = || EnvFilter::default().add_directive(LevelFilter::WARN.into());
    let filter = match (arguments.log_level, std::env::var("RUST_LOG")) {
        (Some(level), _) => EnvFilter::default().add_directive(LevelFilter::from(level).into()),
        (None, Ok(directives)) if !directives.is_empty() => EnvFilter::try_new(&directives)
            .unwrap_or_else(|error| {
                // It may be meant for the server alone, in a form of its own.
                say(&format!("RUST_LOG is passed over: `{directives}`: {error}"));
                warnings()
            }),
        (None, _) => warnings(),
    };
    let on_stderr = fmt::layer().with_writer(|| Stderr).log_internal_errors(false);
    let on_stderr = match arguments.log_format {
        LogFormat::Human => {
            on_stderr.with_target(false).with_ansi(io::stderr().is_terminal()).boxed()
        }
        LogFormat::Json => on_stderr.json().flatten_event(true).boxed(),
    };
    let in_file = in_file.map(|level| FileLayer.with_filter(level));
    tracing_subscriber::registry().with(in_file).with(on_stderr.with_filter(filter)).init();
}

/// Has failures written to the file; returns what says which events are, too.
fn open_file(
    command: &'static str,
    purpose: Purpose,
) -> Option<reload::Layer<LevelFilter, Registry>> {
    let without_home = match purpose {
        Purpose::Clients => WithoutHome::Make,
        Purpose::Person => WithoutHome::Drop,
        Purpose::Part => return None,
    };
    let home = config::home().ok()?;
    let level = FileLevel::default();
    let (layer, filter) = reload::Layer::new(level.into());
    let file = LogFile::new(home, without_home);
    LOG.set(Log { command, purpose, file, level: Mutex::new(level), filter }).ok()?;
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        // Where, and not what: the text may hold some of a result.
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        write_failure(&format!("panicked at {place}"));
        told(panic);
    }));
    Some(layer)
}

/// Has what is as grave as this written to the file, and nothing else.
pub(crate) fn write_from(level: FileLevel) {
    let Some(log) = LOG.get() else { return };
    if std::mem::replace(&mut *log.level.lock(), level) != level {
        let _ = log.filter.modify(|filter| *filter = level.into());
    }
}

/// Says on stderr why the program ends. It is written to the file if nobody may have read it, or if it is no
/// mistake of whoever typed the command.
pub(crate) fn fail(text: &str, blame: Blame) {
    say(text);
    let is_read = LOG.get().is_some_and(|log| log.purpose == Purpose::Person);
    if !is_read || blame == Blame::Ours {
        write_failure(text);
    }
}

/// Whose fault it is that a command has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blame {
    /// What was typed cannot be done.
    Command,
    Ours,
}

/// The same before anything is known of the command but its name, which a client has given.
pub(crate) fn fail_at_once(text: &str, command: &'static str) {
    open_file(command, Purpose::Clients);
    write_failure(text);
}

fn write_failure(text: &str) {
    if let Some(log) = LOG.get() {
        log.write(&Entry::failure(text, log.command));
    }
}

impl Log {
    fn write(&self, entry: &Entry) {
        let is_off = *self.level.lock() == FileLevel::Off;
        if let Some(line) = entry.line().filter(|_| !is_off) {
            self.file.append(&line);
        }
    }
}

/// Writes events to the file.
struct FileLayer;

impl<S: Subscriber> Layer<S> for FileLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if let Some(log) = LOG.get() {
            log.write(&Entry::of(event, log.command));
        }
    }
}

/// Says something on stderr that must be seen at any log level.
pub(crate) fn say(text: &str) {
    let _ = writeln!(Stderr, "forebay: {text}");
}

/// Our stderr. That nobody reads it is no reason to end a session, or to wait: what does not go out
/// at once is dropped.
struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        /// A pipe that is ready takes this much without waiting.
        const AT_ONCE: usize = 4096;
        let stderr = io::stderr();
        for piece in bytes.chunks(AT_ONCE) {
            if pipes::is_writable(&stderr) {
                let _ = stderr.lock().write_all(piece);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Off => Self::OFF,
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Trace => Self::TRACE,
        }
    }
}

impl From<FileLevel> for LevelFilter {
    fn from(level: FileLevel) -> Self {
        match level {
            FileLevel::Off => Self::OFF,
            FileLevel::Error => Self::ERROR,
            FileLevel::Warn => Self::WARN,
            FileLevel::Info => Self::INFO,
            FileLevel::Debug => Self::DEBUG,
        }
    }
}
