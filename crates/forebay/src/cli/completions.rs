//! `forebay completions`: what a shell needs to complete our command line.

use std::{io::Write, process::ExitCode};

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::{Cli, screen::Screen};

/// Print what a shell needs to complete commands and options
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    shell: KnownShell,
}

/// The shells that are known.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum KnownShell {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

const EXAMPLES: &str = "\
Examples:
  forebay completions bash > ~/.local/share/bash-completion/completions/forebay
  forebay completions zsh > ~/.zfunc/_forebay         (in a directory of $fpath)
  forebay completions fish > ~/.config/fish/completions/forebay.fish
  forebay completions powershell >> $PROFILE";

pub(crate) fn run(arguments: &CompletionsArguments, screen: &mut Screen) -> Result<ExitCode> {
    let shell = match arguments.shell {
        KnownShell::Bash => Shell::Bash,
        KnownShell::Zsh => Shell::Zsh,
        KnownShell::Fish => Shell::Fish,
        KnownShell::Powershell => Shell::PowerShell,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut listed(&Cli::command()), "forebay", &mut script);
    screen.write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// The command line without the commands that nobody types.
fn listed(whole: &clap::Command) -> clap::Command {
    let commands = whole.get_subcommands().filter(|command| !command.is_hide_set());
    clap::Command::new("forebay")
        .args(whole.get_arguments())
        .subcommands(commands)
        .version(env!("CARGO_PKG_VERSION"))
}
