//! The `forebay` program: from the command line to a session and back to an exit code.

mod assemble;
mod cli;
mod observe;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    observe::start(&cli.log);
    let ended = match cli.command {
        Command::Wrap(arguments) => cli::wrap::run(arguments),
    };
    ended.unwrap_or_else(|error| fail(&error))
}

/// Says what went wrong; the code is the one for a mistake in the command line.
fn fail(error: &anyhow::Error) -> ExitCode {
    observe::say(&format!("{error:#}"));
    ExitCode::from(2)
}
