//! `forebay man`: the manual pages, made from the help.

use std::{fs, io::Write, path::PathBuf, process::ExitCode};

use anyhow::{Context, Result};
use clap::{Args, CommandFactory};
use clap_mangen::Man;

use crate::cli::{Cli, screen::Screen};

/// Print the manual page, or write those of all commands
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArguments {
    /// Write a page for each command into this directory: `forebay.1`, `forebay-wrap.1` and so on
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  forebay man | man -l -
  forebay man --out ~/.local/share/man/man1";

pub(crate) fn run(arguments: &ManArguments, screen: &mut Screen) -> Result<ExitCode> {
    let mut command = Cli::command();
    let Some(folder) = &arguments.out else {
        screen.write_all(&page(&command)?)?;
        return Ok(ExitCode::SUCCESS);
    };
    fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    // Each command gets its full name.
    command.build();
    for command in all(command) {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        let path = folder.join(format!("{name}.1"));
        fs::write(&path, page(&command)?)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
        writeln!(screen, "{}", path.display())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn page(command: &clap::Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}

/// A command and all below it that help lists.
fn all(command: clap::Command) -> Vec<clap::Command> {
    let is_listed = |it: &&clap::Command| !it.is_hide_set() && it.get_name() != "help";
    let below = command.get_subcommands().filter(is_listed).cloned().flat_map(all);
    let below: Vec<_> = below.collect();
    std::iter::once(command).chain(below).collect()
}
