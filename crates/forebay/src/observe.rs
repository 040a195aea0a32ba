//! Logs, on stderr: the protocol has stdout to itself.

use std::io::{self, IsTerminal};

use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
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
pub(crate) fn start(arguments: &LogArguments) -> Result<()> {
    let filter = match (arguments.log_level, std::env::var("RUST_LOG")) {
        (Some(level), _) => EnvFilter::default().add_directive(LevelFilter::from(level).into()),
        (None, Ok(directives)) if !directives.is_empty() => EnvFilter::try_new(&directives)
            .map_err(|error| {
                anyhow!("RUST_LOG is `{directives}`: {error}; write for example `info`")
            })?,
        (None, _) => EnvFilter::default().add_directive(LevelFilter::WARN.into()),
    };
    let subscriber = fmt().with_env_filter(filter).with_writer(io::stderr);
    match arguments.log_format {
        LogFormat::Human => {
            subscriber.with_target(false).with_ansi(io::stderr().is_terminal()).init();
        }
        LogFormat::Json => subscriber.json().flatten_event(true).init(),
    }
    Ok(())
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
