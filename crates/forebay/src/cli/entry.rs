//! Command lines of Forebay's that clients have in their files: which servers they stand in front of.

use clap::Parser as _;

use crate::{
    cli::{Cli, Command},
    doctor::InFrontOf,
};

/// Reads what follows the program's name.
pub(crate) fn read(words: &[String]) -> Option<InFrontOf> {
    let words = std::iter::once("forebay").chain(words.iter().map(String::as_str));
    let command = Cli::try_parse_from(words).ok()?.command;
    if let Command::Wrap(arguments) = command {
        let (name, front) = arguments.front()?;
        return Some(InFrontOf::One(name.to_string(), front));
    }
    let Command::Gateway(arguments) = command else { return None };
    arguments.servers_file().map(|file| InFrontOf::Those(file.to_owned()))
}
