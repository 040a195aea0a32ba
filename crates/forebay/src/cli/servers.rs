//! `forebay servers`: what stands behind the gateway, and whether it can be started.

use std::{io::Write, process::ExitCode, sync::Arc, time::Duration};

use anyhow::Result;
use clap::{Args, Subcommand};
use forebay_proxy::upstream::{self, Seen, Standing, State};

use crate::{
    assemble,
    cli::{
        SettingsArguments,
        exit::Exit,
        figures::counted,
        gateway::FileArguments,
        screen::Screen,
        table::{Column, Table},
    },
    config::{
        Config,
        servers::{Server, Start},
    },
    gateway::{Gateway, START_TIMEOUT},
    last_words,
};

/// Show the servers behind the gateway, or start one to see whether it works
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct ServersArguments {
    #[command(subcommand)]
    command: Option<ServersCommand>,
    #[command(flatten)]
    listed: Listed,
}

#[derive(Debug, Args)]
struct Listed {
    #[command(flatten)]
    file: FileArguments,
    #[command(flatten)]
    settings: SettingsArguments,
}

#[derive(Debug, Subcommand)]
enum ServersCommand {
    /// Start servers, and say how they answer or what is wrong
    Check(CheckArguments),
}

#[derive(Debug, Args)]
struct CheckArguments {
    /// The server's name [default: all]
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    listed: Listed,
}

const EXAMPLES: &str = "\
Examples:
  forebay servers
  forebay servers --servers ~/.cursor/mcp.json
  forebay servers check git

Exit status of `check`: 1 if a server cannot be used.";

/// How long a server may take to end once it has been looked at.
const GRACE: Duration = Duration::from_secs(2);
/// How long servers may take to tell which tools they have once they have opened.
const LISTING: Duration = Duration::from_secs(30);

pub(crate) fn run(arguments: ServersArguments, screen: &mut Screen) -> Result<ExitCode> {
    match arguments.command {
        None => list(&arguments.listed.load()?, screen),
        Some(ServersCommand::Check(CheckArguments { name, listed })) => {
            check(listed.load()?, name.as_deref(), screen)
        }
    }
}

impl Listed {
    fn load(self) -> Result<Config> {
        let mut config = self.settings.load(Vec::new())?;
        self.file.apply(&mut config)?;
        Ok(config)
    }
}

fn list(config: &Config, screen: &mut Screen) -> Result<ExitCode> {
    if config.servers.is_empty() {
        let advice = "write them in forebay.toml, as [servers.NAME] (`forebay config --reference`), or \
                      name a client's file with --servers";
        writeln!(screen, "There are no servers; {advice}.")?;
        return Ok(ExitCode::SUCCESS);
    }
    let columns = [Column::Left("NAME"), Column::Left("STARTED"), Column::Flexible("REACHED BY")];
    let mut table = Table::new(columns);
    for server in &config.servers {
        let started = match (server.is_enabled, server.lacks.is_empty(), server.start) {
            (false, ..) => "never",
            (true, false, _) => "cannot be",
            (true, true, Start::Eager) => "at once",
            (true, true, Start::Lazy) => "when needed",
        };
        table.push([server.name.clone(), started.to_owned(), server.reached_by()]);
    }
    table.print(screen)?;
    for server in &config.servers {
        for lack in &server.lacks {
            writeln!(screen, "{}: {lack}", server.name)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn check(mut config: Config, name: Option<&str>, screen: &mut Screen) -> Result<ExitCode> {
    if let Some(name) = name {
        let known: Vec<String> = config.servers.iter().map(|it| it.name.clone()).collect();
        config.servers.retain(|server| server.name == name);
        if config.servers.is_empty() {
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(
                Exit::NotFound.told(format!("there is no server `{name}`; there is {known}"))
            );
        }
        // Who asks for it by its name wants to know.
        config.servers.iter_mut().for_each(|server: &mut Server| server.is_enabled = true);
    }
    // Whether one works is known once it has been started.
    config.servers.iter_mut().for_each(|server| server.start = Start::Eager);
    let Gateway { group, .. } = Gateway::of(&mut config)?;
    let allowed = config.servers.iter().filter_map(|server| server.start_timeout).max();
    let patience = allowed.unwrap_or_default().max(START_TIMEOUT) + LISTING;
    let all = upstream::look(Arc::clone(&group), &assemble::spool(&config), patience, GRACE)?;
    for seen in &all {
        writeln!(screen, "{}", told(seen))?;
    }
    let is_open = |it: &Seen| it.standing.state == State::Open && it.standing.tools.is_some();
    let all_are_open = all.iter().all(is_open);
    Ok(if all_are_open { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn told(Seen { standing, said }: &Seen) -> String {
    let Standing { name, state, revision, tools, last_error } = standing;
    let said = last_words::of(said).map(|said| format!("; {said}")).unwrap_or_default();
    match (state, last_error) {
        (State::Open, _) if tools.is_none() => {
            format!("{name}: opens, and does not tell which tools it has")
        }
        (State::Open, _) => {
            let revision = revision.as_deref().unwrap_or("an unknown revision");
            let tools = counted(u64::try_from(tools.unwrap_or(0)).unwrap_or(0), "tool");
            format!("{name}: works, with {tools}; speaks {revision}")
        }
        (_, Some(error)) => format!("{name}: {error}{said}"),
        (_, None) => format!("{name}: is not there{said}"),
    }
}
