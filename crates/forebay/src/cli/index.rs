//! `forebay index`: what what was kept is found by.

use std::{io::Write, process::ExitCode, sync::Arc};

use anyhow::Result;
use clap::{Args, Subcommand};
use forebay_query::Observer;
use forebay_search::{Counts, Indexed, Search, SearchError};
use forebay_tools::{NO_VECTORS, VECTORS_TO_COME};
use serde_json::json;

use crate::{
    assemble,
    cli::{
        SettingsArguments,
        ask::Interrupted,
        exit::Exit,
        figures::{counted, grouped, size},
        progress::Progress,
        screen::Screen,
    },
    config::{Config, search::Embedding},
    observe,
};

/// Look at the index that what was kept is found by, or make it anew
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct IndexArguments {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    settings: SettingsArguments,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Tell how much is in the index, and how much is waiting
    Status(StatusArguments),
    /// Make the index anew from what was kept; go on if that was broken off
    Rebuild,
}

#[derive(Debug, Args)]
struct StatusArguments {
    /// One JSON object, for programs
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
What is kept is indexed in the background, a moment after the reply. The index holds nothing that the \
datasets do not hold, and is gone with them.

Examples:
  forebay index status
  forebay index rebuild";

pub(crate) fn run(arguments: IndexArguments, screen: &mut Screen) -> Result<ExitCode> {
    let config = arguments.settings.load(Vec::new())?;
    let Some(search) = assemble::search(&config, &assemble::shelf(&config))? else {
        return Err(Exit::Refused.told("what is kept is not indexed: `search.enabled` is false"));
    };
    match arguments.action {
        Action::Status(status) => tell_status(&config, &search, &status, screen),
        Action::Rebuild => rebuild(&config, &search, screen),
    }
}

fn tell_status(
    config: &Config,
    search: &Arc<Search>,
    arguments: &StatusArguments,
    screen: &mut Screen,
) -> Result<ExitCode> {
    // Who only looks makes nothing.
    let counts = if has_datasets(config) { search.counts()? } else { Counts::default() };
    let Counts {
        documents,
        passages,
        left_out,
        vectors,
        without_vectors,
        refused,
        waiting,
        failures,
        bytes,
    } = counts;
    let by_words_alone = passages.saturating_sub(vectors);
    if arguments.json {
        let counts = json!({
            "datasets": documents, "passages": passages, "left_out": left_out, "vectors": vectors,
            "passages_without_vectors": by_words_alone, "without_vectors": without_vectors,
            "refused": refused, "waiting": waiting, "failures": failures, "bytes": bytes,
        });
        writeln!(screen, "{}", serde_json::to_string_pretty(&counts)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(
        screen,
        "{} indexed in {} ({}), {} of them by meaning.",
        counted(documents, "dataset"),
        counted(passages, "passage"),
        size(bytes),
        grouped(vectors),
    )?;
    if by_words_alone > 0 {
        writeln!(screen, "{} without a vector.", counted(by_words_alone, "passage"))?;
    }
    if left_out > 0 {
        let left_out = grouped(left_out);
        writeln!(screen, "About {left_out} passages of long datasets are left out.")?;
    }
    if waiting > 0 {
        writeln!(screen, "{} yet to be indexed.", counted(waiting, "dataset"))?;
    }
    let (yet, refused, how) = match config.search.embedder {
        Embedding::Inside | Embedding::Service => (without_vectors, refused, VECTORS_TO_COME),
        Embedding::None => (without_vectors + refused, 0, "found by words alone"),
    };
    for (count, how) in [(yet, how), (refused, NO_VECTORS)] {
        if count > 0 {
            writeln!(screen, "{} {how}.", counted(count, "dataset"))?;
        }
    }
    if failures > 0 {
        writeln!(screen, "{} to index something; the log says why.", counted(failures, "failure"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn rebuild(config: &Config, search: &Arc<Search>, screen: &mut Screen) -> Result<ExitCode> {
    if !has_datasets(config) {
        writeln!(screen, "Nothing has been kept yet, and nothing is indexed.")?;
        return Ok(ExitCode::SUCCESS);
    }
    let is_embedder_wanted = match config.search.embedder {
        Embedding::Inside | Embedding::Service => true,
        Embedding::None => false,
    };
    if is_embedder_wanted && !search.has_embedder() {
        return Err(Exit::Refused.told(
            "nothing makes vectors now, and the index stays as it is; mend what is said above, or set \
             `search.embedder = \"none\"` to find by words alone",
        ));
    }
    let progress = Progress::start()?;
    let rebuilt = search.rebuild(&mut |done, total| {
        #[expect(clippy::cast_precision_loss, reason = "it is for a bar")]
        let share = done as f64 / total.max(1) as f64;
        progress.progress(share, &format!("{} of {}", grouped(done), grouped(total)));
        !progress.is_cancelled()
    });
    let is_cancelled = progress.end();
    let indexed = match rebuilt {
        Err(SearchError::Interrupted) if is_cancelled => return Err(Interrupted.into()),
        other => other?,
    };
    let Indexed { documents, with_vectors, failed, without_vectors, .. } = indexed;
    let by_meaning = match with_vectors {
        0 => String::new(),
        count if count == documents => ", by words and by meaning".to_owned(),
        count => format!(", {} of them by meaning, too", grouped(count)),
    };
    writeln!(screen, "{} indexed{by_meaning}.", counted(documents, "dataset"))?;
    if failed > 0 {
        observe::say(&format!("{} could not be read", counted(failed, "dataset")));
    }
    if let Some(why) = without_vectors {
        observe::say(&format!("found by words alone: {why}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn has_datasets(config: &Config) -> bool {
    config.persist_location.join("datasets").exists()
}
