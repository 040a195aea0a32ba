//! `forebay init`: tells the models of a project, in its `CLAUDE.md` or `AGENTS.md`, how to use the tools that
//! there are.

mod command;
mod files;
mod marked;
mod section;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Result;
use clap::Args;

use self::{
    files::{Found, Step},
    marked::Without,
};
use crate::{
    cli::{SettingsArguments, exit::Exit, gateway::FileArguments, screen::Screen},
    config::Given,
};

/// Tell the models of a project how to use the tools that there are
///
/// Writes a section of at most 300 tokens into `CLAUDE.md` or `AGENTS.md`, whichever is there, or both. It
/// names the tools that the settings offer; run again, it is brought up to date. Nothing else in the file
/// changes. Where there is a folder `.claude`, Claude Code gets the command `/gateway-init`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InitArguments {
    /// The folder of the project [default: where you are]
    #[arg(long, value_name = "FOLDER")]
    directory: Option<PathBuf>,

    /// Write into this file of the project, and no other [default, if there is none: `AGENTS.md`, or `CLAUDE.md` where there
    /// is a folder `.claude`]
    #[arg(long, value_name = "NAME")]
    file: Option<String>,

    /// Write the command for Claude Code even if there is no folder `.claude`
    #[arg(long, conflicts_with = "remove")]
    claude: bool,

    /// Take it all out again: what was there before stays, byte for byte
    #[arg(long)]
    remove: bool,

    /// Write nothing, and show what would change
    #[arg(long)]
    dry_run: bool,

    /// Which tools are offered, where a flag of `wrap`, `serve` or `gateway` says so
    #[arg(long, value_name = "TOOLS", conflicts_with = "remove")]
    tools: Option<String>,

    #[command(flatten)]
    servers: FileArguments,

    #[command(flatten)]
    settings: SettingsArguments,
}

const EXAMPLES: &str = "\
Examples:
  forebay init
  forebay init --tools full --dry-run
  forebay init --file .github/copilot-instructions.md
  forebay init --remove";

/// The files that clients read, each with its kind of model.
const CLAUDES: &str = "CLAUDE.md";
const AGENTS: &str = "AGENTS.md";

/// Where it is, Claude Code is used.
const CLAUDE_FOLDER: &str = ".claude";

pub(crate) fn run(arguments: InitArguments, screen: &mut Screen) -> Result<ExitCode> {
    let folder = arguments.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    if !folder.is_dir() {
        return Err(Exit::NotFound.told(format!("there is no folder `{}`", folder.display())));
    }
    let is_dry = arguments.dry_run;
    let lacks_command =
        !arguments.remove && !arguments.claude && !folder.join(CLAUDE_FOLDER).is_dir();
    let steps = if arguments.remove {
        removal(&folder, arguments.file.as_deref())?
    } else {
        writing(&folder, arguments)?
    };
    for step in &steps {
        if !is_dry {
            step.take()?;
        }
        writeln!(screen, "{}: {}", step.name, step.told)?;
        if is_dry {
            for line in step.difference() {
                writeln!(screen, "  {line}")?;
            }
        }
    }
    if lacks_command {
        writeln!(
            screen,
            "There is no folder `{CLAUDE_FOLDER}`, so Claude Code gets no command /gateway-init; `forebay init \
             --claude` writes it."
        )?;
    }
    if is_dry {
        writeln!(screen, "Nothing has been written.")?;
    } else if steps.iter().any(|step| step.after.is_none()) {
        remove_empty_folder(&folder);
    }
    Ok(ExitCode::SUCCESS)
}

/// What is written, once it is known that all of it can be.
fn writing(folder: &Path, arguments: InitArguments) -> Result<Vec<Step>> {
    let tools = arguments.tools.map(|tools| ("--tools", "injected_tools", Given::Word(tools)));
    let mut config = arguments.settings.load(tools.into_iter().collect())?;
    arguments.servers.apply(&mut config)?;
    let Some(section) = section::of(&config) else {
        return Err(Exit::Refused.told(
            "the settings offer no tools, so there is nothing to tell; see `injected_tools` and `enabled` \
             in `forebay config`, or say with --tools which there are",
        ));
    };
    let is_claudes = arguments.claude || folder.join(CLAUDE_FOLDER).is_dir();
    let usual = if is_claudes { CLAUDES } else { AGENTS };
    let mut steps = planned(chosen(folder, arguments.file.as_deref(), usual)?, |found| {
        let after = marked::with(found.bytes.as_deref(), &section)?;
        let told = match &found.bytes {
            None => "made, with a section on the tools",
            Some(before) if *before == after => "up to date",
            Some(before) if marked::is_marked(before) => "the section is brought up to date",
            Some(_) => "a section on the tools is added at the end",
        };
        Ok(found.becomes(Some(after), told))
    })?;
    if is_claudes {
        steps.push(command_written(Found::at(folder, command::PATH)?));
    }
    Ok(steps)
}

/// What is taken out, once it is known that all of it can be.
fn removal(folder: &Path, file: Option<&str>) -> Result<Vec<Step>> {
    let mut steps = planned(chosen(folder, file, AGENTS)?, |found| {
        let Some(bytes) = &found.bytes else { return Ok(found.stays("not there")) };
        Ok(match marked::without(bytes)? {
            Without::Unmarked => found.stays("has no section of ours"),
            Without::Rest(rest) => found.becomes(Some(rest), "the section is taken out"),
            Without::Nothing if found.is_linked => {
                found.becomes(Some(Vec::new()), "the section is taken out")
            }
            Without::Nothing => found.becomes(None, "removed: there was nothing else in it"),
        })
    })?;
    let command = Found::at(folder, command::PATH)?;
    let is_ours = command.bytes.as_deref().map(command::is_unchanged);
    steps.extend(match is_ours {
        None => None,
        Some(true) if !command.is_linked => Some(command.becomes(None, "removed")),
        Some(true) => Some(command.stays("a link; left as it is")),
        Some(false) => Some(command.stays("has been changed; left as it is: remove it yourself")),
    });
    Ok(steps)
}

/// The command's file, written anew unless somebody has made it theirs.
fn command_written(found: Found) -> Step {
    let text = command::text().into_bytes();
    match &found.bytes {
        None => found.becomes(Some(text), "made: the command /gateway-init"),
        Some(before) if *before == text => found.stays("up to date"),
        Some(before) if command::is_unchanged(before) => {
            found.becomes(Some(text), "brought up to date")
        }
        Some(_) => found.stays("has been changed; left as it is: remove it to have ours"),
    }
}

/// The file that is named, or those that are there, or else the usual one.
fn chosen(folder: &Path, named: Option<&str>, usual: &str) -> Result<Vec<Found>> {
    if let Some(name) = named {
        if !files::is_within(folder, name) {
            return Err(Exit::Usage.told(format!(
                "`--file {name}` leads out of the project; name a file in it, or the other project with \
                 `--directory`"
            )));
        }
        return Ok(vec![Found::at(folder, name)?]);
    }
    let (claudes, agents) = (Found::at(folder, CLAUDES)?, Found::at(folder, AGENTS)?);
    Ok(match (&claudes.bytes, &agents.bytes) {
        (None, None) if usual == CLAUDES => vec![claudes],
        (None, None | Some(_)) => vec![agents],
        (Some(_), None) => vec![claudes],
        // One of them is the other, or has it read with it: the model is told once.
        (Some(_), Some(_)) if claudes.path == agents.path => vec![agents],
        (Some(text), Some(_)) if reads_agents(text) && !marked::is_marked(text) => vec![agents],
        (Some(_), Some(_)) => vec![claudes, agents],
    })
}

/// True if a `CLAUDE.md` has Claude Code read `AGENTS.md`, too.
fn reads_agents(text: &[u8]) -> bool {
    let line = format!("@{AGENTS}");
    text.split(|byte| *byte == b'\n').any(|it| it.trim_ascii() == line.as_bytes())
}

/// What becomes of each file. If one cannot be dealt with, all that cannot are told, and nothing is done.
fn planned(
    files: Vec<Found>,
    plan: impl Fn(Found) -> Result<Step, marked::Refusal>,
) -> Result<Vec<Step>> {
    let (mut steps, mut refused) = (Vec::new(), Vec::new());
    for file in files {
        let name = file.name.clone();
        match plan(file) {
            Ok(step) => steps.push(step),
            Err(refusal) => refused.push(format!("`{name}` is left as it is: {refusal}")),
        }
    }
    if refused.is_empty() { Ok(steps) } else { Err(Exit::Refused.told(refused.join("\n"))) }
}

/// The folder of the command, if nothing is in it any more. `.claude` stays: it may have been there before, and says
/// that Claude Code is used here.
fn remove_empty_folder(folder: &Path) {
    if let Some(commands) = Path::new(command::PATH).parent() {
        // One that still holds something stays.
        let _ = fs::remove_dir(folder.join(commands));
    }
}
