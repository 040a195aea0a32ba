//! `forebay install`: puts Forebay in front of the servers that clients have.

mod client_name;
mod program;

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Result;
use clap::Args;
use forebay_clients::{
    Environment, Fate, FilePlan, Mode, Request, Scope, ServerPlan, install, plan,
};
use forebay_text::is_deceptive;

pub(super) use self::client_name::ClientName;
use crate::{
    auth::Keep,
    cli::{
        confirm::is_confirmed,
        exit::Exit,
        figures::counted,
        screen::{Screen, Style},
    },
    config,
};

/// Put Forebay in front of the servers that your clients have
///
/// Finds the clients on this machine (Claude Code, Cursor, VS Code, Codex, Gemini CLI and others), shows what it
/// would change in their files, and asks. Each server keeps its name and has Forebay in front of it; one more
/// entry, `forebay`, offers the tools. All else in a file stays as it is, to the byte. What is left alone is named,
/// with the reason. `forebay uninstall` takes it all out again.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InstallArguments {
    /// Only in the files of this client, such as `claude-code` or `cursor` (may be repeated)
    #[arg(long, value_name = "CLIENT", value_parser = ClientName, hide_possible_values = true)]
    client: Vec<String>,

    /// Only the server of this name (may be repeated)
    #[arg(long, value_name = "NAME")]
    server: Vec<String>,

    /// Change the files of the project in this folder [default: where you are], which others may share, and not
    /// your own
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,

    /// Move all servers behind one entry; their tools are then called by the name of their server, too. Not with
    /// `--project`
    #[arg(long)]
    gateway: bool,

    /// Write nothing, and show what would change
    #[arg(long)]
    dry_run: bool,

    /// Do not ask
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,

    /// The program that clients are to start [default: this one, by the path that it was started by]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// How many characters of a line in a patch are shown.
const MAX_LINE: usize = 2_000;

const EXAMPLES: &str = "\
Examples:
  forebay install --dry-run
  forebay install --client cursor --client codex
  forebay install --server github --yes
  forebay install --project

Exit status: 1 if a file could not be changed, 3 if there is no such client or server here, 4 without a terminal \
and `--yes`.";

pub(crate) fn run(arguments: InstallArguments, screen: &mut Screen) -> Result<ExitCode> {
    if arguments.gateway && arguments.project.is_some() {
        return Err(Exit::Usage.told(
            "--gateway would move servers out of files that others may share, into a home that only you have; \
             leave out --gateway to have each server wrapped, or --project for your own files",
        ));
    }
    let environment = Environment::of_this_machine();
    let home = config::home()?;
    let logins = Keep::new(&home).all()?.into_iter().map(|login| login.url).collect();
    let scope = match arguments.project {
        None => Scope::User,
        Some(folder) if folder.is_dir() => Scope::Project(std::path::absolute(folder)?),
        Some(folder) => {
            return Err(Exit::NotFound.told(format!("there is no folder `{}`", folder.display())));
        }
    };
    let program = program::lasting(arguments.program.as_deref())?;
    let request = Request {
        clients: arguments.client,
        servers: arguments.server,
        scope,
        mode: if arguments.gateway { Mode::Gateway } else { Mode::Wrap },
        program: program.path,
        home,
        logins,
        gateway_reads: config::servers::can_be_read,
    };
    let planned =
        plan(&environment, &request).map_err(|error| Exit::NotFound.told(error.to_string()))?;
    expect_what_is_named(&request, &planned)?;
    let changes = planned.iter().filter(|plan| plan.is_change()).count();
    if changes == 0 || arguments.dry_run {
        show(screen, &planned, Tense::Would)?;
        if changes > 0 {
            say_how_long_it_lasts(screen, &request, program.language)?;
        }
        writeln!(screen, "Nothing has been written.")?;
        return Ok(ended(&planned));
    }
    let files = counted(changes as u64, "file");
    if !arguments.yes {
        show(screen, &planned, Tense::Would)?;
        say_how_long_it_lasts(screen, &request, program.language)?;
        screen.flush()?;
        if !is_confirmed(&format!("Change {files}?"), &format!("this would change {files}"))? {
            writeln!(screen, "Nothing has been written.")?;
            return Ok(ExitCode::SUCCESS);
        }
    }
    let done = install(&environment, &request)?;
    show(screen, &done, Tense::Has)?;
    if !done.iter().any(FilePlan::is_change) {
        writeln!(screen, "Nothing has been written.")?;
        return Ok(ended(&done));
    }
    if arguments.yes {
        say_how_long_it_lasts(screen, &request, program.language)?;
    }
    if std::env::var_os("FOREBAY_HOME").is_some_and(|home| !home.is_empty()) {
        writeln!(
            screen,
            "FOREBAY_HOME is set here. A client that does not pass it on keeps results in `~/.forebay`."
        )?;
    }
    if let Scope::Project(_) = &request.scope {
        writeln!(
            screen,
            "`{}` stands in files of this project now: if they are committed, others need Forebay at the same path.",
            printable(&request.program)
        )?;
    }
    writeln!(screen, "Start the clients anew, so that they read their files again.")?;
    writeln!(screen, "`forebay uninstall` takes it all out again.")?;
    Ok(ended(&done))
}

/// Whether something is told of before or after it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tense {
    Would,
    Has,
}

/// Makes sure that what was asked for by name is there.
fn expect_what_is_named(request: &Request, planned: &[FilePlan]) -> Result<()> {
    if planned.is_empty() {
        let (what, advice) = match &request.scope {
            Scope::User => {
                ("client has servers", "forebay install --project` is for those of a project")
            }
            Scope::Project(_) => {
                ("client has a file in this project", "forebay install` is for your own")
            }
        };
        let known = forebay_clients::names().join(", ");
        let why = format!("no {what} here; known are {known}; `{advice}");
        return Err(Exit::NotFound.told(why));
    }
    let is_there = |name: &&String| {
        !planned.iter().any(|plan| plan.servers.iter().any(|server| server.name == **name))
    };
    match request.servers.iter().find(is_there) {
        Some(name) => {
            let why =
                format!("no client has a server `{name}`; `forebay install --dry-run` shows all");
            Err(Exit::NotFound.told(why))
        }
        None => Ok(()),
    }
}

/// A file that could not be made sense of is a failure, whatever became of the others.
fn ended(plans: &[FilePlan]) -> ExitCode {
    if plans.iter().any(|plan| plan.refusal.is_some()) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn show(screen: &mut Screen, plans: &[FilePlan], tense: Tense) -> Result<()> {
    for plan in plans {
        let title = screen.styled(Style::Bold, plan.title);
        writeln!(screen, "{title} ({})", shown(&plan.path))?;
        if let Some(refusal) = &plan.refusal {
            writeln!(screen, "  {}", printable(refusal))?;
            continue;
        }
        if plan.servers.is_empty() {
            writeln!(screen, "  no servers")?;
        }
        let names: Vec<String> = plan.servers.iter().map(name).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
        for (name, server) in names.iter().zip(&plan.servers) {
            let space = " ".repeat(width.min(32).saturating_sub(name.chars().count()));
            writeln!(screen, "  {name}{space}  {}", fate(server, tense))?;
        }
        if tense == Tense::Would && plan.is_change() {
            writeln!(screen)?;
            for line in plan.difference().lines() {
                let style = match line.as_bytes().first() {
                    Some(b'+') => Some(Style::Good),
                    Some(b'-') => Some(Style::Dim),
                    Some(_) | None => None,
                };
                let line = shortened(&printable(line));
                let line = style.map_or(line.clone(), |style| screen.styled(style, &line));
                writeln!(screen, "  {line}")?;
            }
            writeln!(screen)?;
        }
    }
    Ok(())
}

fn name(server: &ServerPlan) -> String {
    printable(&match &server.project {
        Some(project) => format!("{} ({project})", server.name),
        None => server.name.clone(),
    })
}

fn fate(server: &ServerPlan, tense: Tense) -> String {
    match (&server.fate, tense) {
        (Fate::Wrap, Tense::Would) => "gets Forebay in front".to_owned(),
        (Fate::Wrap, Tense::Has) => "has Forebay in front now".to_owned(),
        (Fate::Move, Tense::Would) => "goes behind the gateway".to_owned(),
        (Fate::Move, Tense::Has) => "stands behind the gateway now".to_owned(),
        (Fate::Add, Tense::Would) => "is added: it offers the tools".to_owned(),
        (Fate::Add, Tense::Has) => "is new: it offers the tools".to_owned(),
        (Fate::Mend, Tense::Would) => {
            "starts a Forebay that is not there any more: gets the path of this one".to_owned()
        }
        (Fate::Mend, Tense::Has) => "starts the Forebay that is there now".to_owned(),
        (Fate::Wrapped, _) => "has Forebay in front already".to_owned(),
        (Fate::Forebay, _) => "is Forebay".to_owned(),
        (Fate::NotNamed, _) => "was not asked for".to_owned(),
        (Fate::Left(reason), _) => format!("left alone: {}", printable(&reason.to_string())),
        (_, _) => "stays as it is".to_owned(),
    }
}

/// Says so if the program comes and goes with a version of a language.
fn say_how_long_it_lasts(
    screen: &mut Screen,
    request: &Request,
    language: Option<&str>,
) -> Result<()> {
    if let Some(language) = language {
        let path = printable(&request.program);
        writeln!(
            screen,
            "`{path}` belongs to a version of {language}. If that is removed, install Forebay again and run \
             `forebay install`: it writes the new path into the files. `forebay doctor` tells when it is needed."
        )?;
    }
    Ok(())
}

fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// A line that is no longer than anybody reads: some clients write their whole file on one.
pub(super) fn shortened(line: &str) -> String {
    match line.char_indices().nth(MAX_LINE) {
        Some((end, _)) => {
            let more = line[end..].chars().count() as u64;
            format!("{}… ({} more)", &line[..end], counted(more, "character"))
        }
        None => line.to_owned(),
    }
}

/// A text out of somebody's file that can do nothing to a terminal, and says what it seems to say.
pub(super) fn printable(text: &str) -> String {
    let shown = |letter: char| match letter {
        letter if letter == '\t' || !is_deceptive(letter) => letter.to_string(),
        other => other.escape_unicode().to_string(),
    };
    text.chars().map(shown).collect()
}
