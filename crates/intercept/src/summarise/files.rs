//! What is said of files, in a line.

use forebay_store::{Address, Artifact, DatasetId};

use forebay_text::grouped;

/// How many files are named.
const SHOWN: usize = 3;

/// Whether there are tools that look at what was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tools {
    Offered,
    None,
}

/// What is said of files where no summary is.
pub(crate) fn files(dataset: &DatasetId, files: &[Artifact], tools: Tools) -> String {
    let named = files.iter().take(SHOWN).map(|artifact| file(dataset, artifact));
    let named: Vec<String> = named.collect();
    let more = match files.len().saturating_sub(SHOWN) {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    let named = named.join(", ");
    let (count, one) = match files.len() {
        1 => ("A large file of this result was".to_owned(), "it"),
        count => (format!("{count} large files of this result were"), "each"),
    };
    let advice = match tools {
        Tools::Offered => format!(" read-saved-dataset with its block tells how to fetch {one}."),
        Tools::None => String::new(),
    };
    format!("{count} kept as {dataset} and linked instead of sent: {named}{more}.{advice}")
}

/// A file in a few words, with its address, which every tool takes.
pub(crate) fn file(dataset: &DatasetId, artifact: &Artifact) -> String {
    let Artifact { block, name, media_type, bytes, description, .. } = artifact;
    let more = description.as_ref().map(|it| format!(", {it}")).unwrap_or_default();
    let address = Address::of(dataset, *block);
    format!("{name} ({media_type}, {} bytes{more}) at {address}", grouped(*bytes))
}
