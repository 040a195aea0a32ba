//! What workers do: queries, vectors; and what they are kept from doing.

use std::{path::Path, time::Duration};

use anyhow::Result;
use forebay_query::{DUCKDB_VERSION, Limits, Patient, Query, QueryError, can_confine};

use super::{Area, Finding, State, ended, quoted, store};
use crate::{
    assemble,
    config::{Config, search::Embedding},
};

/// How long a worker may take for the first and easiest question.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a worker that does not start is most likely to lack.
const MAKE_ROOM: &str =
    "Free memory, and room on the disks of the store and of temporary files; then look again.";

/// Has a worker answer a query.
pub(super) fn queries(config: &Config) -> Finding {
    match ask(config) {
        Ok(Ok(())) => {
            let text = format!("DuckDB {DUCKDB_VERSION} answers queries, in a process of its own.");
            found(State::Ok, text)
        }
        Ok(Err(error)) => {
            let library = config.persist_location.join("lib");
            let finding =
                found(State::Problem, ended(&format!("Queries cannot be answered: {error}")));
            // What is there is unpacked again.
            if library.exists() {
                finding.mended_by(format!("rm -r {}", quoted(&library)))
            } else {
                finding.advised(MAKE_ROOM)
            }
        }
        Err(error) => found(State::Problem, ended(&format!("Queries cannot be tried: {error:#}")))
            .advised(MAKE_ROOM),
    }
}

fn ask(config: &Config) -> Result<Result<(), QueryError>> {
    let limits = Limits { time: PATIENCE, ..config.query.clone() };
    let query = Query { sql: "SELECT 1 AS answer".to_owned(), ..Query::default() };
    let asked = |home: &Path| -> Result<_> {
        let service = assemble::service(home, limits.clone(), &[])?;
        Ok(service.select(&query, 1, 1_000, &Patient).map(drop))
    };
    // A worker opens the store, which might be made anew by that.
    if store::is_as_we_left_it(&config.persist_location) {
        return asked(&config.persist_location);
    }
    asked(tempfile::tempdir()?.path())
}

/// Has a vector made, if that is what the settings say.
pub(super) fn model(config: &Config) -> Vec<Finding> {
    if !config.search.is_enabled {
        return Vec::new();
    }
    let by = match config.search.embedder {
        Embedding::None => return Vec::new(),
        Embedding::Inside => "the model inside the program",
        Embedding::Service => "the service that the settings name",
    };
    let made = assemble::embedders(config).and_then(|embedders| {
        let embedder = embedders.map(|it| it.queries);
        Ok(embedder.map(|it| it.embed(&["forebay"])).transpose()?)
    });
    let finding = match made {
        Ok(_) => found(State::Ok, format!("Texts are compared by their meaning, by {by}.")),
        Err(error) => {
            let text = format!(
                "What was kept is found by its words alone: {by} makes no vectors: {error:#}"
            );
            found(State::Warning, ended(&text)).advised(
                "Correct what `search` says of it in the settings, or write `search.embedder = \"none\"` there.",
            )
        }
    };
    vec![finding]
}

/// Tries whether workers can be kept from what they do not need.
pub(super) fn confinement() -> Finding {
    match can_confine() {
        Ok(()) => found(
            State::Ok,
            "Workers have no network and start no programs: the kernel sees to it.",
        ),
        Err(error) => found(
            State::Warning,
            format!(
                "The system does not take a filter of calls ({error}): queries and programs that a model \
                 wrote are held by their own guards alone."
            ),
        )
        .advised("Allow filters of calls (seccomp) where Forebay runs; containers may forbid them."),
    }
}

fn found(state: State, text: impl Into<String>) -> Finding {
    Finding::new(Area::Engine, state, text)
}
