//! The `forebay` program: from the command line to a session and back to an exit code.

mod assemble;
mod auth;
mod cli;
mod config;
mod demo;
mod doctor;
mod figures;
mod gateway;
mod last_words;
mod memory;
mod observe;
mod outputs;
mod page;
mod regular;
mod traces;
mod trust;
mod version;

use std::{
    io::{IsTerminal, stdin, stdout},
    process::ExitCode,
};

use clap::Parser;
use forebay_proxy::client::stdio;

use crate::{
    cli::{Cli, Command, ask::Interrupted, exit::Exit, screen::Screen},
    observe::Blame,
};

/// What a program ends with that Ctrl-C has ended.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    forebay_system::memory::spare_addresses_if_limited();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if let Some(command) = started_by_a_client().filter(|_| error.use_stderr()) {
                let text = error.to_string();
                let text = text.trim().trim_start_matches("error: ").to_owned();
                observe::fail_at_once(&text, command);
                let _ = stdio::refuse(format!("Forebay cannot start: {text}"));
            }
            return explain(&error);
        }
    };
    let (name, purpose) = cli.command.purpose();
    observe::start(&cli.log, name, purpose);
    let ended = match cli.command {
        Command::Install(arguments) => cli::install::run(arguments, &mut Screen::stdout()),
        Command::Uninstall(arguments) => cli::uninstall::run(&arguments, &mut Screen::stdout()),
        Command::Wrap(arguments) => cli::wrap::run(arguments),
        Command::Gateway(arguments) => cli::gateway::run(arguments),
        Command::Servers(arguments) => cli::servers::run(arguments, &mut Screen::stdout()),
        Command::Serve(arguments) => cli::serve::run(arguments),
        Command::Auth(arguments) => cli::auth::run(arguments, &mut Screen::stdout()),
        Command::Datasets(arguments) => cli::datasets::run(arguments, &mut Screen::stdout()),
        Command::Stats(arguments) => cli::stats::run(arguments, &mut Screen::stdout()),
        Command::Page(arguments) => cli::page::run(arguments, &mut Screen::stdout()),
        Command::Index(arguments) => cli::index::run(arguments, &mut Screen::stdout()),
        Command::Demo(arguments) => cli::demo::run(&arguments, &mut Screen::stdout()),
        Command::Query(arguments) => cli::query::run(arguments, &mut Screen::stdout()),
        Command::Read(arguments) => cli::read::run(arguments, &mut Screen::stdout()),
        Command::Search(arguments) => cli::search::run(arguments, &mut Screen::stdout()),
        Command::Export(arguments) => cli::export::run(arguments, &mut Screen::stdout()),
        Command::Plot(arguments) => cli::plot::run(arguments, &mut Screen::stdout()),
        Command::QueryWorker(arguments) => cli::query_worker::run(&arguments),
        Command::CodeWorker => cli::code_worker::run(),
        Command::EmbedWorker => cli::embed_worker::run(),
        Command::DemoServer => demo::server::run(stdin().lock(), &mut stdout()),
        Command::Init(arguments) => cli::init::run(arguments, &mut Screen::stdout()),
        Command::Config(arguments) => cli::config::run(arguments, &mut Screen::stdout()),
        Command::Doctor(arguments) => cli::doctor::run(arguments, &mut Screen::stdout()),
        Command::Completions(arguments) => cli::completions::run(&arguments, &mut Screen::stdout()),
        Command::Man(arguments) => cli::man::run(&arguments, &mut Screen::stdout()),
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

/// Shows the help that was asked for, or says in our voice what is wrong with the command line.
fn explain(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.render().to_string();
    observe::say(text.strip_prefix("error: ").unwrap_or(&text).trim_end());
    ExitCode::from(Exit::Usage as u8)
}

/// Says what went wrong; the code tells of which kind it is.
fn fail(error: &anyhow::Error) -> ExitCode {
    let exit = Exit::of(error);
    let blame = match exit {
        Exit::Failed => Blame::Ours,
        Exit::Usage | Exit::NotFound | Exit::Refused => Blame::Command,
    };
    observe::fail(&format!("{error:#}"), blame);
    ExitCode::from(exit as u8)
}

/// The command with which a client on our standard input and output has started us, that waits for what it
/// asks: it shows the answers that it gets, and often nothing of what is said on stderr.
fn started_by_a_client() -> Option<&'static str> {
    let command = std::env::args_os().nth(1)?;
    let command = ["wrap", "gateway"].into_iter().find(|known| command == *known);
    command.filter(|_| !stdin().is_terminal())
}
