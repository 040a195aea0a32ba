//! `forebay uninstall`: takes Forebay out of the files of clients again.

use std::{io::Write, process::ExitCode};

use anyhow::Result;
use clap::Args;
use forebay_clients::{
    Environment, LeftOver, Missing, Outcome, Remains, Remnant, Restored, Run, remnants, uninstall,
};

use crate::{
    cli::{
        confirm::is_confirmed,
        exit::Exit,
        figures::counted,
        install::{ClientName, printable, shortened},
        screen::Screen,
    },
    config,
};

/// Take Forebay out of the files of your clients again
///
/// A file that nobody has changed since `forebay install` is as it was before, byte for byte. In one that has been
/// changed, each server gets back what it had, and all else stays. Where that cannot be told apart, nothing is
/// touched and it is said what to do. What was kept stays.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UninstallArguments {
    /// Only in the files of this client (may be repeated)
    #[arg(long, value_name = "CLIENT", value_parser = ClientName, hide_possible_values = true)]
    client: Vec<String>,

    /// Forget files that are not there any more, with all that was kept of them
    #[arg(long)]
    forget: bool,

    /// Write nothing, and show what would change
    #[arg(long)]
    dry_run: bool,

    /// Do not ask
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,
}

const EXAMPLES: &str = "\
Examples:
  forebay uninstall --dry-run
  forebay uninstall --client cursor
  forebay uninstall --forget

Exit status: 1 if something must be done by hand, 3 if there is no such client, 4 without a terminal and `--yes`.";

/// What to do about entries of which nothing is remembered.
const BY_HAND: &str = "take `forebay wrap … --` out of commands and arguments, write URLs and headers again, and \
                       delete the entry `forebay`";

pub(crate) fn run(arguments: &UninstallArguments, screen: &mut Screen) -> Result<ExitCode> {
    let home = config::home()?;
    let named = |error: forebay_clients::ClientsError| match error {
        error @ forebay_clients::ClientsError::UnknownClient { .. } => {
            Exit::NotFound.told(error.to_string())
        }
        error => error.into(),
    };
    let missing = if arguments.forget { Missing::Forget } else { Missing::Keep };
    let planned = uninstall(&home, &arguments.client, missing, Run::Dry).map_err(named)?;
    let others = unknown(&arguments.client, &planned);
    if planned.is_empty() {
        if others.is_empty() {
            writeln!(screen, "Forebay is in no file that `forebay install` has written.")?;
            return Ok(ExitCode::SUCCESS);
        }
        say_unknown(screen, &others)?;
        return Ok(ExitCode::FAILURE);
    }
    if arguments.dry_run || !arguments.yes {
        show(screen, &planned)?;
        for restored in planned.iter().filter(|it| !it.difference.is_empty()) {
            writeln!(screen)?;
            for line in restored.difference.lines() {
                writeln!(screen, "  {}", shortened(&printable(line)))?;
            }
        }
    }
    if arguments.dry_run {
        say_unknown(screen, &others)?;
        writeln!(screen, "Nothing has been written.")?;
        return Ok(ended(&planned, &others));
    }
    let files = counted(planned.len() as u64, "file");
    if !arguments.yes {
        screen.flush()?;
        let what = format!("this would take Forebay out of {files}");
        if !is_confirmed(&format!("Take Forebay out of {files}?"), &what)? {
            writeln!(screen, "Nothing has been written.")?;
            return Ok(ExitCode::SUCCESS);
        }
    }
    let done = uninstall(&home, &arguments.client, missing, Run::Real).map_err(named)?;
    if arguments.yes {
        show(screen, &done)?;
    }
    say_unknown(screen, &others)?;
    let is_changed = |it: &Restored| !it.difference.is_empty();
    if done.iter().any(|it| is_changed(it) && !is_left(it)) {
        writeln!(screen, "Start the clients anew, so that they read their files again.")?;
    } else if done.iter().any(is_changed) {
        writeln!(
            screen,
            "Start the clients anew once that is done, so that they read their files again."
        )?;
    }
    Ok(ended(&done, &others))
}

fn show(screen: &mut Screen, all: &[Restored]) -> Result<()> {
    for restored in all {
        let told = match &restored.outcome {
            Outcome::Original => "as it was before, byte for byte".to_owned(),
            // Without its comments a server has not all that it had.
            Outcome::EntryByEntry if restored.loses_comments => {
                "each server is reached as it was; what else has been changed since stays".to_owned()
            }
            Outcome::EntryByEntry => {
                "each server has what it had; what else has been changed since stays".to_owned()
            }
            Outcome::Nothing if !restored.still.is_empty() => {
                "nothing that is remembered is in it any more".to_owned()
            }
            Outcome::Nothing => "nothing of Forebay is in it any more".to_owned(),
            Outcome::Missing => "it is not there, so nothing was restored, and what is known of it is kept; run \
                                 this again once it is back, or with --forget if it is gone for good"
                .to_owned(),
            Outcome::Forgotten => "it is not there any more, and is forgotten".to_owned(),
            Outcome::Partly(left) => partly(left, restored),
            Outcome::Refused(why) => format!("{why}; mend it and run this again"),
            _ => "done".to_owned(),
        };
        let still = match restored.still.as_slice() {
            [] => String::new(),
            names => format!(
                "; but {} still, as before all that is remembered: {BY_HAND}",
                starting(names)
            ),
        };
        let comments = if restored.loses_comments {
            "; comments within what `forebay install` had changed are lost"
        } else {
            ""
        };
        let told = format!("{told}{comments}{still}");
        let path = restored.path.display().to_string();
        writeln!(screen, "{}", printable(&format!("{} ({path}): {told}", restored.title)))?;
    }
    Ok(())
}

/// What is left in a file, and what to do about each.
fn partly(left: &[LeftOver], restored: &Restored) -> String {
    let copy = match &restored.copy {
        Some(copy) => format!("; the file as it was is `{}`", copy.display()),
        None => String::new(),
    };
    let advice = |it: &LeftOver| match it.what {
        Remains::Started => format!(
            "`{}` still has Forebay in front: take `forebay wrap … --` out of its command and arguments",
            it.name
        ),
        Remains::Remote => format!(
            "`{}` still has Forebay in front: write its URL and headers in the place of its command, arguments and \
             `FOREBAY_` variables",
            it.name
        ),
        Remains::Forebay => format!("`{}` is Forebay itself: delete the entry", it.name),
        Remains::Moved => format!("`{}` could not be put back: write it there again", it.name),
    };
    let advice: Vec<String> = left.iter().map(advice).collect();
    let others =
        if restored.difference.is_empty() { "" } else { "; each other server has what it had" };
    format!(
        "changed since, so this is for you to do: {}{copy}; then run this again{others}",
        advice.join("; ")
    )
}

/// That entries of these names start Forebay.
fn starting(names: &[String]) -> String {
    let verb = if names.len() == 1 { "starts" } else { "start" };
    format!("`{}` {verb} Forebay", names.join("`, `"))
}

/// Files that have Forebay in them, of which nothing is remembered in this home.
fn unknown(clients: &[String], known: &[Restored]) -> Vec<Remnant> {
    let project = std::env::current_dir().ok();
    let mut found = remnants(&Environment::of_this_machine(), clients, project.as_deref());
    found.retain(|remnant| !known.iter().any(|it| it.path == remnant.path));
    found
}

fn say_unknown(screen: &mut Screen, unknown: &[Remnant]) -> Result<()> {
    for Remnant { title, path, names, servers } in unknown {
        let servers: Vec<String> = servers.iter().map(|it| format!("`{}`", it.display())).collect();
        let servers = match servers.as_slice() {
            [] => String::new(),
            files => format!(
                "; the servers behind it are in {}: write them here again",
                files.join(", ")
            ),
        };
        let told = format!(
            "{title} ({}): {}, and what stood there before is not known here: if another FOREBAY_HOME was set \
             for `forebay install`, set it and run this again; else {BY_HAND}{servers}",
            path.display(),
            starting(names),
        );
        writeln!(screen, "{}", printable(&told))?;
    }
    Ok(())
}

/// True if something is left to do about a file.
fn is_left(it: &Restored) -> bool {
    let is_open = matches!(it.outcome, Outcome::Partly(_) | Outcome::Refused(_) | Outcome::Missing);
    is_open || !it.still.is_empty()
}

fn ended(all: &[Restored], unknown: &[Remnant]) -> ExitCode {
    if all.iter().any(is_left) || !unknown.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
