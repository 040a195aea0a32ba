//! The `forebay` program: from the command line to a session and back to an exit code.

mod assemble;
mod auth;
mod cli;
mod config;
mod demo;
mod memory;
mod observe;

use std::{
    io::{stdin, stdout},
    process::ExitCode,
};

use clap::Parser;

use crate::cli::{Cli, Command, ask::Interrupted, screen::Screen};

/// What a program ends with that Ctrl-C has ended.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    memory::heed_limit();
    let cli = Cli::parse();
    observe::start(&cli.log);
    let ended = match cli.command {
        Command::Wrap(arguments) => cli::wrap::run(arguments),
        Command::Serve(arguments) => cli::serve::run(arguments),
        Command::Auth(arguments) => cli::auth::run(arguments, &mut Screen::stdout()),
        Command::Datasets(arguments) => cli::datasets::run(arguments, &mut Screen::stdout()),
        Command::Stats(arguments) => cli::stats::run(arguments, &mut Screen::stdout()),
        Command::Demo(arguments) => cli::demo::run(&arguments, &mut Screen::stdout()),
        Command::Query(arguments) => cli::query::run(arguments, &mut Screen::stdout()),
        Command::Read(arguments) => cli::read::run(arguments, &mut Screen::stdout()),
        Command::Export(arguments) => cli::export::run(arguments, &mut Screen::stdout()),
        Command::Plot(arguments) => cli::plot::run(arguments, &mut Screen::stdout()),
        Command::QueryWorker(arguments) => {
            assemble::serve_queries(&arguments).map(|()| ExitCode::SUCCESS)
        }
        Command::DemoServer => demo::server::run(stdin().lock(), &mut stdout()),
        Command::Config(arguments) => cli::config::run(&arguments, &mut Screen::stdout()),
    };
    match ended {
        Ok(code) => code,
        // `forebay datasets list | head`: whoever reads has seen enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<Interrupted>() => ExitCode::from(INTERRUPTED),
        Err(error) => fail(&error),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<std::io::Error>();
    cause.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Says what went wrong; the code is the one for a mistake in the command line.
fn fail(error: &anyhow::Error) -> ExitCode {
    observe::say(&format!("{error:#}"));
    ExitCode::from(2)
}
