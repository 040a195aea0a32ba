//! `semantic_search`: what was kept, found by its meaning.

use std::{collections::HashSet, sync::Arc};

use forebay_search::{Found, Hit, Passage, Question, parted};
use forebay_store::{Address, Dataset, DatasetId};
use jiff::Timestamp;
use serde_json::Value;

use crate::{
    Desk, ToolError,
    age::{ago, since},
    arguments::{Arguments, counted},
    budget::Budget,
    definitions::Tool,
    error::refuse,
    excerpt, json,
    reply::Reply,
};

/// How many are found, if nothing is said.
const DEFAULT_FOUND: u64 = 5;
/// How many can be.
pub const MAX_FOUND: u64 = 50;
/// How much of a passage is told.
const PASSAGE_CHARS: usize = 300;
/// What is told of datasets that have no vectors yet: some are just being made.
pub const VECTORS_TO_COME: &str = "so far found by words alone, not by meaning: a running Forebay makes the \
                                   vectors, and so does `forebay index rebuild`";
/// What is told of datasets that no vectors could be made of, however often that was tried.
pub const NO_VECTORS: &str =
    "found by words alone, not by meaning: no vectors can be made of the texts";
/// What stands around the results.
const FRAME_TOKENS: u64 = 200;

/// What is looked for, as it was asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sought {
    /// In words, or in a sentence.
    pub query: String,
    /// How many datasets at most.
    pub limit: Option<u64>,
    /// Only of this server.
    pub server: Option<String>,
    /// Only of this tool.
    pub tool: Option<String>,
    /// Not kept before this.
    pub since: Option<Timestamp>,
    /// Kept before this.
    pub until: Option<Timestamp>,
    /// With payloads of so many bytes or more.
    pub min_bytes: Option<u64>,
    /// Only among these.
    pub within: Option<Arc<HashSet<DatasetId>>>,
}

/// What was found.
#[derive(Debug)]
pub struct Matched {
    /// The best first.
    pub matches: Vec<Match>,
    /// How many datasets are not in the index yet.
    pub waiting: u64,
    /// How many datasets are found by their words alone so far.
    pub without_vectors: u64,
    /// How many others are for good, since no vectors can be made of their texts.
    pub refused: u64,
    /// Why it was looked for by words alone, if it was.
    pub by_words_alone: Option<String>,
}

/// A dataset that was found.
#[derive(Debug)]
pub struct Match {
    /// The dataset.
    pub dataset: Dataset,
    /// How well it fits, from 0 to 1, with two digits.
    pub score: f64,
    /// A sentence about it.
    pub summary: String,
    /// Of what fits best, the part that tells most.
    pub passage: String,
    /// The lines that this is from, if the dataset is a text.
    pub lines: Option<(u64, u64)>,
    /// Which payload they are of, if not the main one.
    pub block: Option<usize>,
    /// How long ago it was kept.
    pub age: String,
    /// How many passages of it are not in the index, about: it is very long.
    pub left_out: u64,
}

/// Finds datasets by their words and their meaning.
pub fn semantic_search(desk: &Desk, sought: &Sought) -> Result<Matched, ToolError> {
    let query = sought.query.trim();
    if query.is_empty() {
        return refuse!("query must say what is looked for, such as \"failed logins\".");
    }
    let limit = sought.limit.unwrap_or(DEFAULT_FOUND);
    if !(1..=MAX_FOUND).contains(&limit) {
        return refuse!("limit must be a whole number from 1 to {MAX_FOUND}, not {limit}.");
    }
    let now = Timestamp::now();
    let question = Question {
        text: query.to_owned(),
        limit: usize::try_from(limit).unwrap_or_default(),
        server: sought.server.clone(),
        tool: sought.tool.clone(),
        since: sought.since,
        until: sought.until,
        min_bytes: sought.min_bytes,
        within: sought.within.clone(),
    };
    let found = desk.finder()?.find(&question, desk.viewer())?;
    let Found { hits, waiting, without_vectors, refused, by_words_alone } = found;
    // One that has been removed meanwhile is not there.
    let found = hits.into_iter().filter_map(|hit| Some((desk.dataset(&hit.dataset).ok()?, hit)));
    let matches = found.map(|(dataset, hit)| Match::of(dataset, &hit, query, now)).collect();
    Ok(Matched { matches, waiting, without_vectors, refused, by_words_alone })
}

pub(crate) fn answer(
    desk: &Desk,
    arguments: &Arguments,
    budget: Budget,
) -> Result<Reply, ToolError> {
    let kept_since = arguments.optional_text("since")?;
    let sought = Sought {
        query: arguments.text("query", "\"failed logins\"")?,
        limit: arguments.number("limit", 1, MAX_FOUND)?,
        server: arguments.optional_text("server")?,
        tool: arguments.optional_text("tool")?,
        since: kept_since.as_deref().map(|text| since(text, Timestamp::now())).transpose()?,
        until: None,
        min_bytes: None,
        within: None,
    };
    let matched = semantic_search(desk, &sought)?;
    let entries: Vec<String> = matched.matches.iter().map(|it| told(desk, it)).collect();
    let fitting = budget.without(FRAME_TOKENS).fitting(entries.iter().map(String::as_str));
    let shown = &entries[..fitting];
    let notes = notes(&sought, &matched, fitting);
    let reply = format!("{{\"results\":[{}]}}", shown.join(","));
    Ok(Reply::text(reply).and_note((!notes.is_empty()).then(|| notes.join(" "))))
}

/// What is to be said besides what was found.
fn notes(sought: &Sought, matched: &Matched, shown: usize) -> Vec<String> {
    let Matched { matches, waiting, without_vectors, refused, by_words_alone } = matched;
    let mut notes = Vec::new();
    if matches.is_empty() {
        let is_narrow = sought.server.is_some() || sought.tool.is_some() || sought.since.is_some();
        let wider = if is_narrow { ", without server, tool or since" } else { "" };
        notes.push(format!(
            "Nothing was found. Try other words{wider}; {} shows what there is.",
            Tool::List.name()
        ));
    }
    if shown < matches.len() {
        notes.push(format!("{shown} of {} fit in this reply.", matches.len()));
    }
    let of_lines = matches[..shown].iter().find_map(|it| Some((it, it.lines?)));
    if let Some((found, (from, to))) = of_lines {
        let id = found.dataset.id();
        let block = found.block.map(|block| format!(",\"block\":{block}")).unwrap_or_default();
        notes.push(format!(
            "Read lines with {}, such as {{\"dataset_id\":\"{id}\"{block},\"lines\":\"{from}-{to}\"}}.",
            Tool::Read.name()
        ));
    }
    if *waiting > 0 {
        let are = if *waiting == 1 { "is" } else { "are" };
        notes.push(format!("{} {are} not indexed yet.", counted(*waiting, "dataset")));
    }
    for (count, how) in [(*without_vectors, VECTORS_TO_COME), (*refused, NO_VECTORS)] {
        if count > 0 {
            notes.push(format!("{} {how}.", counted(count, "dataset")));
        }
    }
    if let Some(why) = by_words_alone {
        notes.push(format!("Found by words alone, not by meaning: {why}."));
    }
    notes
}

fn told(desk: &Desk, found: &Match) -> String {
    let Match { dataset, score, summary, passage, lines, block, age, left_out } = found;
    let mut members = vec![
        ("artifactId", Value::from(dataset.id().as_str())),
        ("summary", summary.as_str().into()),
        ("relevanceScore", (*score).into()),
        ("path", place(desk, dataset, *block).into()),
        ("age", age.as_str().into()),
        ("passage", passage.as_str().into()),
    ];
    members.extend(lines.map(|(from, to)| ("lines", format!("{from}-{to}").into())));
    members.extend(block.map(|block| ("block", block.into())));
    members.extend((*left_out > 0).then(|| ("passagesNotIndexed", (*left_out).into())));
    json::object(members)
}

/// Where a payload of a dataset lies, or its address for whoever cannot see our disk.
fn place(desk: &Desk, dataset: &Dataset, block: Option<usize>) -> String {
    match desk.links().path(dataset, block.unwrap_or_else(|| dataset.main_part())) {
        Some(path) => path.display().to_string(),
        None => Address { dataset: dataset.id().clone(), block }.to_string(),
    }
}

impl Match {
    fn of(dataset: Dataset, hit: &Hit, query: &str, now: Timestamp) -> Self {
        Self {
            score: (f64::from(hit.score.clamp(0.0, 1.0)) * 100.0).round() / 100.0,
            summary: excerpt::around(&hit.title, "", PASSAGE_CHARS),
            passage: told_of(behind(&hit.title, &hit.passage.text), query),
            lines: lines(&dataset, &hit.passage),
            block: hit.passage.block,
            age: ago(dataset.metadata().timestamp, now),
            left_out: hit.left_out,
            dataset,
        }
    }
}

/// The part of a passage that tells most. If a model has said it, that is told whichever part it is.
fn told_of(passage: &str, query: &str) -> String {
    let (mark, said) = parted(passage);
    let room = PASSAGE_CHARS.saturating_sub(mark.chars().count());
    let said = excerpt::around(said, query, room);
    if mark.is_empty() { said } else { format!("{} {said}", excerpt::on_one_line(mark)) }
}

/// What a passage says besides the title, with which that about the whole begins: it is told beside it.
fn behind<'p>(title: &str, passage: &'p str) -> &'p str {
    let rest = passage.strip_prefix(title).map_or("", str::trim);
    if rest.is_empty() { passage } else { rest }
}

/// The lines of a passage, unless they are all of a JSON text that has no line breaks, which their number does
/// not help to find.
fn lines(dataset: &Dataset, passage: &Passage) -> Option<(u64, u64)> {
    let artifact = dataset.artifact(passage.block.unwrap_or_else(|| dataset.main_part()));
    let is_json = artifact.is_some_and(|artifact| artifact.kind() == "json");
    passage.lines.filter(|lines| *lines != (1, 1) || !is_json)
}

#[cfg(test)]
mod tests;
