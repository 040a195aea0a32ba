//! Makes a document of a dataset: what it is, and the passages that it is found by.
//!
//! The first passage is about the whole; if a model has looked at it, what that found is in the next. Then
//! come pieces of the texts with their lines, or records. Nothing is told that is not in the dataset, and the
//! same dataset always gives the same document.

mod beside;
mod evenly;
mod html;
mod plain;
mod records;
mod telling;
mod whole;
mod windows;

use std::collections::HashSet;

use forebay_records::describe;
use forebay_store::{Artifact, Dataset, Facts, Insight, Mapped, Store, facts::Table};

use self::records::Places;
pub(crate) use self::{evenly::evenly, telling::chosen};
use crate::{Document, Passage, SearchError, Settings, mark};

/// A document, and what of it whoever looks for it does not see.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Composed {
    pub(crate) document: Document,
    pub(crate) session: String,
    pub(crate) project: String,
    /// What it was made of.
    pub(crate) content: String,
    /// How many passages it would have besides, about.
    pub(crate) left_out: u64,
}

/// Passages of a payload.
#[derive(Debug, Default, PartialEq, Eq)]
struct Pieces {
    passages: Vec<Passage>,
    left_out: u64,
}

/// What a document is made of: payloads, by their hash, and what a model has found in them.
pub(crate) fn content(payloads: &str, findings: &str) -> String {
    if findings.is_empty() { payloads.to_owned() } else { format!("{payloads} {findings}") }
}

/// The document of a dataset.
pub(crate) fn document(
    store: &Store,
    dataset: &Dataset,
    settings: &Settings,
) -> Result<Composed, SearchError> {
    let metadata = dataset.metadata();
    // Before they are read: who says something else meanwhile has it indexed again.
    let content = content(&metadata.content(), &dataset.findings_state());
    let findings = dataset.findings();
    let title = whole::title(dataset);
    let mut passages = vec![about_all(format!("{title}\n{}", whole::text(dataset)))];
    let left = settings.max_passages.saturating_sub(passages.len());
    passages.extend(findings.iter().flat_map(said).take(left));
    let room = settings.max_passages.saturating_sub(passages.len());
    let pieces = pieces(store, dataset, room, settings.max_bytes)?;
    passages.extend(pieces.passages);
    let document = Document {
        dataset: dataset.id().clone(),
        principal: metadata.principal().clone(),
        server: metadata.description.server.clone(),
        tool: metadata.description.tool.clone(),
        kept: metadata.timestamp,
        bytes: metadata.bytes(),
        title,
        passages,
    };
    Ok(Composed {
        document,
        session: metadata.session().unwrap_or_default().to_owned(),
        project: metadata.project().unwrap_or_default().to_owned(),
        content,
        left_out: pieces.left_out,
    })
}

/// What a model has found: each sentence by itself, marked as its words wherever it is shown.
fn said(insight: &Insight) -> impl Iterator<Item = Passage> + '_ {
    let mark = mark(insight);
    let sentences = insight.key_findings.iter().chain(&insight.actionable_insights);
    sentences.map(move |it| about_all(format!("{mark}{it}")))
}

fn about_all(text: String) -> Passage {
    Passage { text, ..Passage::default() }
}

/// The pieces of what a dataset holds, `room` at most: of the main payload first, and of the others that are
/// neither files of a kind of their own nor one another's copies. The rows of a query's result have none: what
/// they are is told of the whole.
fn pieces(
    store: &Store,
    dataset: &Dataset,
    room: usize,
    max_bytes: usize,
) -> Result<Pieces, SearchError> {
    let facts = dataset.facts();
    if facts.are_of_rows() {
        return Ok(Pieces::default());
    }
    let main = dataset.main_part();
    let mut hashes = HashSet::new();
    let mut blocks: Vec<Artifact> = [main]
        .into_iter()
        .chain((0..dataset.payload_count()).filter(|block| *block != main))
        .filter_map(|block| dataset.artifact(block))
        .filter(|artifact| !facts.files.iter().any(|file| file.block == artifact.block))
        .filter(|artifact| hashes.insert(artifact.blake3.clone()))
        .collect();
    // What the short ones do not need of their share is left to the long ones.
    blocks.sort_by_key(|artifact| artifact.bytes);
    let (mut found, mut left) = (Vec::new(), room);
    for (place, artifact) in blocks.iter().enumerate() {
        let payload = store.map_once(dataset, artifact.block)?;
        let share = left / (blocks.len() - place);
        let pieces = if artifact.block == main {
            of_payload(facts, &payload, share, max_bytes)
        } else {
            of_payload(&describe(&payload), &payload, share, max_bytes)
        };
        let pieces = shared(share, vec![pieces]);
        left -= pieces.passages.len();
        found.push((artifact.block, pieces));
    }
    found.sort_by_key(|(block, _)| (*block != main, *block));
    Ok(joined(main, found))
}

/// The pieces of several payloads as those of one. What one says as another does is told once.
fn joined(main: usize, found: Vec<(usize, Pieces)>) -> Pieces {
    let mut all = Pieces::default();
    let mut said: HashSet<String> = HashSet::new();
    for (block, pieces) in found {
        let mut passages = pieces.passages;
        passages.retain(|passage| !said.contains(&passage.text));
        said.extend(passages.iter().map(|passage| passage.text.clone()));
        all.passages.extend(
            passages
                .into_iter()
                .map(|passage| Passage { block: (block != main).then_some(block), ..passage }),
        );
        all.left_out += pieces.left_out;
    }
    all
}

/// `room` pieces of several lots at most, in their order. A lot that is short is taken whole, and of the others
/// as many as there is room for, spread over all of each.
fn shared(room: usize, lots: Vec<Pieces>) -> Pieces {
    let mut by_length: Vec<usize> = (0..lots.len()).collect();
    by_length.sort_by_key(|lot| lots[*lot].passages.len());
    let (mut shares, mut left) = (vec![0; lots.len()], room);
    for (place, lot) in by_length.iter().enumerate() {
        shares[*lot] = lots[*lot].passages.len().min(left / (lots.len() - place));
        left -= shares[*lot];
    }
    let mut all = Pieces::default();
    for (mut lot, share) in lots.into_iter().zip(shares) {
        let kept = evenly(lot.passages.len(), share);
        all.left_out += lot.left_out + (lot.passages.len() - kept.len()) as u64;
        let kept = kept.into_iter().map(|at| std::mem::take(&mut lot.passages[at]));
        all.passages.extend(kept.filter(|passage| !passage.text.trim().is_empty()));
    }
    all
}

/// The pieces of a payload that `facts` are about: of each of its tables, and of what stands beside them; or of
/// its text.
fn of_payload(facts: &Facts, payload: &Mapped, room: usize, max_bytes: usize) -> Pieces {
    let tables = facts.tables();
    let format = tables.first().and_then(|table| table.format.as_deref());
    let format = format.or(facts.format.as_deref());
    if let (false, Some("json" | "ndjson" | "python" | "xml")) = (tables.is_empty(), format) {
        // What lies in the records of another is told with them.
        let tables: Vec<&Table> = tables.iter().filter(|it| it.within.is_none()).collect();
        let mut places = Places::default();
        let mut lots: Vec<Pieces> = tables
            .iter()
            .map(|table| {
                let room = (room, bytes_of(table, &tables, payload.len()));
                records::pieces(payload, table, room, max_bytes, &mut places)
            })
            .collect();
        lots.extend(beside::pieces(payload, places, max_bytes));
        return shared(room, lots);
    }
    let text = seen(payload, max_bytes);
    match format {
        Some("html") => windows::pieces(&html::text(&text), room, payload.len()),
        _ => windows::pieces(&text, room, payload.len()),
    }
}

/// How many of the payload's bytes a table takes, about.
fn bytes_of(table: &Table, all: &[&Table], payload: usize) -> usize {
    let records: u64 = all.iter().map(|table| table.records).sum();
    let bytes = u128::try_from(payload).unwrap_or_default() * u128::from(table.records);
    usize::try_from(bytes.div_ceil(u128::from(records.max(1)))).unwrap_or(payload)
}

/// As much of a payload as is looked at. What is no text is passed over.
fn seen(payload: &[u8], max_bytes: usize) -> String {
    const LOOK: usize = 4_096;
    let begin = &payload[..payload.len().min(LOOK)];
    if begin.contains(&0) {
        return String::new();
    }
    plain::plain(String::from_utf8_lossy(&payload[..payload.len().min(max_bytes)])).into_owned()
}

#[cfg(test)]
mod tests;
