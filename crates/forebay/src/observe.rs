//! Logs, on stderr: the protocol has stdout to itself.

use std::io::{self, IsTerminal, Write};

use clap::{Args, ValueEnum};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracing_subscriber::{EnvFilter, filter::LevelFilter, fmt};

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

/// Starts logging. A level on the command line goes before `RUST_LOG`, which goes before `warn`.
pub(crate) fn start(arguments: &LogArguments) {
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
    let subscriber =
        fmt().with_env_filter(filter).with_writer(|| Stderr).log_internal_errors(false);
    match arguments.log_format {
        LogFormat::Human => {
            subscriber.with_target(false).with_ansi(io::stderr().is_terminal()).init();
        }
        LogFormat::Json => subscriber.json().flatten_event(true).init(),
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
            let mut descriptors = [PollFd::new(&stderr, PollFlags::OUT)];
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            if poll(&mut descriptors, Some(&now)) == Ok(1) {
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
