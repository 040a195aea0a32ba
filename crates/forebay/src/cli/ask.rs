//! Asks what was kept, as the injected tools do: shows how it goes, heeds Ctrl-C, and tells errors in
//! the words of the command line.

use std::{io::Read, sync::Arc};

use anyhow::{Context, Result};
use forebay_query::Observer;
use forebay_search::Search;
use forebay_tools::{Desk, ToolError};

use crate::{
    assemble,
    cli::{exit::Exit, progress::Progress},
    config::Config,
};

/// Whoever asked does not want the answer any more.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Interrupted;

/// What `work` finds at the desk of the store.
pub(crate) fn ask<T>(
    config: &Config,
    work: impl FnOnce(&Desk, &dyn Observer) -> Result<T, ToolError>,
) -> Result<T> {
    ask_finding(config, None, work)
}

/// [`ask`], where what was kept is found by its meaning, too.
pub(crate) fn ask_finding<T>(
    config: &Config,
    search: Option<Arc<Search>>,
    work: impl FnOnce(&Desk, &dyn Observer) -> Result<T, ToolError>,
) -> Result<T> {
    // Who only looks makes nothing.
    if !config.persist_location.join("datasets").exists() {
        let home = config.persist_location.display();
        return Err(Exit::NotFound.told(format!("nothing has been kept yet in `{home}`")));
    }
    let desk = assemble::desk(config, assemble::shelf(config), search)?;
    let progress = Progress::start()?;
    let outcome = work(&desk, &progress);
    // One that is told to end may give any error.
    if progress.end() {
        return Err(Interrupted.into());
    }
    outcome.map_err(|error| told(&error))
}

/// An error at the desk, in the words of the command line.
pub(crate) fn told(error: &ToolError) -> anyhow::Error {
    Exit::of_tool(error).told(in_our_words(&error.told()))
}

/// SQL as it is given: `-` stands for what comes on standard input.
pub(crate) fn sql(given: String) -> Result<String> {
    if given != "-" {
        return Ok(given);
    }
    let mut sql = String::new();
    std::io::stdin().read_to_string(&mut sql).context("cannot read the query")?;
    Ok(sql)
}

/// A text for models, with what its names are called here.
pub(crate) fn in_our_words(text: &str) -> String {
    const NAMES: [(&str, &str); 9] = [
        ("list-saved-datasets", "`forebay datasets list`"),
        ("analyze-with-duckdb", "`forebay query`"),
        ("read-saved-dataset", "`forebay read`"),
        ("Pass dataset_id", "Pass --dataset"),
        ("with lines or grep", "with --lines or --grep"),
        ("go on with offset", "go on with --offset"),
        ("write x: ", "write --x "),
        ("write y: ", "write --y "),
        ("write series: ", "write --series "),
    ];
    NAMES.iter().fold(text.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_go_by_the_names_of_commands() {
        let said = "There is no dataset x. list-saved-datasets shows those that there are.";
        assert_eq!(
            in_our_words(said),
            "There is no dataset x. `forebay datasets list` shows those that there are."
        );
    }
}
