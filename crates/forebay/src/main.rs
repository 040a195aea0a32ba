//! The `forebay` program: from the command line to a session and back to an exit code.

mod assemble;
mod cli;
mod observe;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Err(error) = observe::start(&cli.log) {
        return fail(&error);
    }
    let ended = match cli.command {
        Command::Wrap(arguments) => cli::wrap::run(arguments),
    };
    ended.unwrap_or_else(|error| fail(&error))
}

/// Says on stderr what went wrong; the code is the one for a mistake in the command line.
#[expect(
    clippy::print_stderr,
    reason = "an error that ends the program must be seen at any log level"
)]
fn fail(error: &anyhow::Error) -> ExitCode {
    eprintln!("forebay: {error:#}");
    ExitCode::from(2)
}
