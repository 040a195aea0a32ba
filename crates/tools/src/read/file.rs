//! A payload that is a file, and cannot be read as it stands: what it is and how to get it, or some of its bytes.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use forebay_store::{Address, Artifact, Dataset};
use serde_json::{Value, json};

use super::{Range, Reading, text::Text};
use crate::{Desk, ToolError, arguments::counted, budget::Budget, error::refuse, json};

/// What stands around the bytes.
const FRAME_TOKENS: u64 = 60;

/// The payload that is asked for, if it is a file. One that is a text is read as any other.
pub(super) fn of(dataset: &Dataset, block: Option<usize>) -> Option<Artifact> {
    let block = block.unwrap_or_else(|| dataset.main_part());
    let is_file = dataset.facts().files.iter().any(|file| file.block == block);
    dataset.artifact(block).filter(|artifact| is_file && !artifact.is_text())
}

/// What it is, and how to get it.
pub(super) fn described(desk: &Desk, dataset: &Dataset, artifact: &Artifact) -> Reading {
    let address = Address::of(dataset.id(), artifact.block);
    let mut file = json!({
        "name": artifact.name,
        "mimeType": artifact.media_type,
        "size": artifact.bytes,
        "block": artifact.block,
        "uri": desk.links().uri(dataset, artifact),
    });
    if let Some(description) = &artifact.description {
        file["description"] = description.as_str().into();
    }
    let note = format!(
        "It is a file, not a text to be read by lines. Fetch it by its uri; give it to a tool as an \
         argument with {address}; or have some of it in base64 with bytes, such as bytes \"0-999\"."
    );
    Reading { json: json!({ "file": file }).to_string(), note: Some(note) }
}

/// A range of its bytes, in base64.
pub(super) fn bytes(text: &Text, range: Range, budget: Budget) -> Result<Reading, ToolError> {
    let all = text.bytes();
    let total = all.len() as u64;
    let from = usize::try_from(range.from).unwrap_or(usize::MAX);
    if from >= all.len() {
        return refuse!("That is past the end: there are {}.", counted(total, "byte"));
    }
    let last = usize::try_from(range.to.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let wanted = &all[from..last.saturating_add(1).min(all.len())];
    let most = usize::try_from(budget.max_bytes()).unwrap_or(usize::MAX);
    let mut length = wanted.len().min(most / 4 * 3);
    let budget = budget.without(FRAME_TOKENS);
    loop {
        let to = range.from + (length as u64).saturating_sub(1);
        let json = json::object([
            ("from", range.from.into()),
            ("to", to.into()),
            ("total_bytes", total.into()),
            ("base64", Value::from(BASE64_STANDARD.encode(&wanted[..length]))),
        ]);
        if length <= 3 || budget.holds(&json) {
            let is_part = length < wanted.len();
            let rest = || format!("There is more: go on with bytes \"{}-\".", to + 1);
            return Ok(Reading { json, note: is_part.then(rest) });
        }
        // In whole groups of letters, so that pieces can be put together.
        length = (length * 3 / 4 / 3 * 3).max(3);
    }
}
