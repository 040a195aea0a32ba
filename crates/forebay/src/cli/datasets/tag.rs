//! `forebay datasets tag`: gives tags to a dataset, takes them away, and shows those that it has.

use std::{io::Write, process::ExitCode};

use anyhow::Result;
use clap::Args;
use forebay_store::{Dataset, Store, StoreError, Tag};
use serde_json::json;

use crate::cli::{exit::Exit, screen::Screen, table::harmless};

/// Give tags to one, or take them away; without either, show those that it has
#[derive(Debug, Args)]
pub(crate) struct TagArguments {
    /// Its name, or the tool whose latest result it is
    pub(super) id: String,
    /// Give it these tags: letters, digits, and - _ . : /
    #[arg(long, value_name = "TAG", num_args = 1.., value_parser = Tag::parse)]
    add: Vec<Tag>,
    /// Take these tags from it
    #[arg(long, value_name = "TAG", num_args = 1.., value_parser = Tag::parse)]
    remove: Vec<Tag>,
    /// One JSON object, for programs
    #[arg(long)]
    json: bool,
}

pub(super) fn run(
    arguments: &TagArguments,
    dataset: &Dataset,
    store: &Store,
    out: &mut Screen,
) -> Result<ExitCode> {
    let TagArguments { add, remove, json, .. } = arguments;
    if !add.is_empty() || !remove.is_empty() {
        store.tag(dataset.id(), add, remove).map_err(|error| match error {
            StoreError::TooManyTags { .. } => Exit::Refused.told(error.to_string()),
            other => other.into(),
        })?;
    }
    let tags = dataset.tags();
    if *json {
        writeln!(out, "{}", json!({"id": dataset.id().as_str(), "tags": tags}))?;
    } else {
        writeln!(out, "{}: {}", dataset.id(), harmless(&tags.join(", ")))?;
    }
    Ok(ExitCode::SUCCESS)
}
