//! `get_artifact_context`: what is worth knowing of some datasets, within a budget.
//!
//! Each is told in full if there is room for that, then shorter and shorter down to a line, and is left out
//! only if there is no room for the lines of all. What one does not need of its share is left to the others.

use forebay_search::mark;
use forebay_store::{Dataset, DatasetId, Insight, StoreError};
use jiff::Timestamp;
use serde_json::json;

use crate::{
    Desk, ToolError,
    age::ago,
    arguments::{Arguments, counted, dataset_and_table},
    brief::brief,
    budget::Budget,
    error::refuse,
    json, read,
    reply::Reply,
};

/// How many tokens a reply has at most, if nothing is said.
pub(crate) const DEFAULT_TOKENS: u64 = 2_000;
/// No reply has room in fewer.
pub(crate) const LEAST_TOKENS: u64 = 50;
/// More cannot be asked about at once.
const MAX_IDS: usize = 100;
/// How many fields are named in a line.
const LINE_FIELDS: usize = 4;
/// How much of a call's arguments is told in a line.
const LINE_ARGUMENTS: usize = 40;
/// So many tokens may become fewer where two texts are joined.
const JOINED_TOKENS: u64 = 4;
/// How much is told of a name that no dataset has.
const SHOWN_CHARS: usize = 40;
/// A name in a line is no longer than this.
const LINE_NAME: usize = 40;

pub(crate) fn answer(
    desk: &Desk,
    arguments: &Arguments,
    budget: Budget,
) -> Result<Reply, ToolError> {
    let asked = asked(&arguments.texts("ids")?)?;
    let now = Timestamp::now();
    let mut known = Vec::new();
    let mut unknown = Vec::new();
    for name in asked {
        match found(desk, &name)? {
            Some(dataset) if known.iter().any(|it: &Entry<'_>| it.id == *dataset.id()) => {}
            Some(dataset) => known.push(Entry::of(dataset, now, budget)),
            None => unknown.push(name.chars().take(SHOWN_CHARS).collect::<String>()),
        }
    }
    if known.is_empty() {
        return Err(ToolError::NotFound(format!(
            "There is no dataset {}{}; list-saved-datasets shows those that there are.",
            unknown.join(", "),
            forebay_query::among(desk.viewer().scope)
        )));
    }
    match within(&known, &unknown, budget) {
        Some(text) => Ok(Reply::text(text)),
        None => refuse!(
            "maxTokens has no room for a line about any of {}: give {} or more.",
            counted(known.len(), "dataset"),
            least(&known, &unknown)
        ),
    }
}

/// The names that are asked about, each once.
fn asked(names: &[String]) -> Result<Vec<String>, ToolError> {
    if names.is_empty() {
        return refuse!("get_artifact_context needs ids, such as [\"dataset_k3v9x2ma\"].");
    }
    if names.len() > MAX_IDS {
        return refuse!("There are {} ids: give {MAX_IDS} at most.", names.len());
    }
    let mut asked: Vec<String> = Vec::new();
    for name in names {
        if !asked.contains(name) {
            asked.push(name.clone());
        }
    }
    Ok(asked)
}

/// The dataset of this name; `None` if there is none that may be seen.
fn found(desk: &Desk, name: &str) -> Result<Option<Dataset>, ToolError> {
    let Ok((id, _)) = dataset_and_table(name) else { return Ok(None) };
    match desk.dataset(&id) {
        Ok(dataset) => Ok(Some(dataset)),
        Err(ToolError::NotFound(_) | ToolError::Store(StoreError::Unknown(_))) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A dataset that is asked about.
struct Entry<'e> {
    id: DatasetId,
    /// What is said of it at the least.
    line: Told,
    /// What is said of it at the most.
    full: Told,
    /// What is said of it in so many tokens.
    shortened: Box<dyn Fn(u64) -> String + 'e>,
}

/// What is said of a dataset, and what that costs.
#[derive(Debug, Clone)]
struct Told {
    text: String,
    tokens: u64,
}

impl Told {
    fn of(text: String) -> Self {
        Self { tokens: forebay_records::tokens(&text), text }
    }
}

impl Entry<'_> {
    fn of(dataset: Dataset, now: Timestamp, budget: Budget) -> Self {
        let id = dataset.id().clone();
        let line = Told::of(line(&dataset, now));
        let said = |it: Insight| format!("{}{}", mark(&it), it.text());
        let findings = dataset.findings().map(said);
        let account =
            move |tokens: u64| account(&dataset, findings.as_deref(), Budget { tokens, ..budget });
        let full = Told::of(account(budget.tokens));
        // What is hardly longer than the line is told in full.
        let full = if full.tokens < line.tokens { line.clone() } else { full };
        Self { id, line, full, shortened: Box::new(account) }
    }

    /// As much as fits in a share.
    fn within(&self, tokens: u64) -> Told {
        if self.full.tokens <= tokens {
            return self.full.clone();
        }
        let told = Told::of((self.shortened)(tokens));
        // One that is hardly longer than the line spends its tokens on its form.
        let is_worth_it = told.tokens > self.line.tokens * 3 / 2;
        if told.tokens <= tokens && is_worth_it { told } else { self.line.clone() }
    }
}

/// What is known of a dataset with what a model has found in it, which has a third of the room at most.
fn account(dataset: &Dataset, findings: Option<&str>, budget: Budget) -> String {
    let Some(findings) = findings else { return read::account(dataset, budget) };
    let third = Budget { tokens: budget.tokens / 3, bytes: budget.bytes.map(|bytes| bytes / 3) };
    let member = json::member("findings", &json!(third.cut(findings)).to_string());
    let facts = read::account(dataset, budget.without(forebay_records::tokens(&member)));
    match facts.strip_suffix('}') {
        Some(open) => format!("{open},{member}}}"),
        None => facts,
    }
}

/// A dataset in a line: where it is from and what it is.
fn line(dataset: &Dataset, now: Timestamp) -> String {
    let metadata = dataset.metadata();
    let description = &metadata.description;
    let name = |name: &str| name.chars().take(LINE_NAME).collect::<String>();
    let mut about = format!("{} of {}", name(&description.tool), name(&description.server));
    if let Some(arguments) = description.facts.arguments.as_ref() {
        about = format!("{about} {}", brief(arguments, LINE_ARGUMENTS));
    }
    if let Some(records) = description.record_count {
        about = format!("{about}, {}", counted(records, "record"));
    }
    let fields = description.schema.as_ref().map(|schema| schema.fields.as_slice());
    let fields = fields.unwrap_or_default();
    let mut names: Vec<String> =
        fields.iter().take(LINE_FIELDS).map(|field| name(field.name())).collect();
    names.extend((fields.len() > LINE_FIELDS).then(|| "…".to_owned()));
    if !names.is_empty() {
        about = format!("{about}: {}", names.join(", "));
    }
    let age = ago(metadata.timestamp, now);
    json::object([
        ("dataset_id", dataset.id().as_str().into()),
        ("about", about.into()),
        ("age", age.into()),
    ])
}

/// The reply: as much as fits of as many as fit, in the order in which they were asked about. `None` if there
/// is no room for any.
fn within(entries: &[Entry<'_>], unknown: &[String], budget: Budget) -> Option<String> {
    for how in [LeftOut::Named, LeftOut::Counted] {
        let mut told = with_room(entries, unknown, budget, how);
        while !told.is_empty() {
            let (shown, left_out) = parted(entries, &told);
            let frame = forebay_records::tokens(&reply(&[], &left_out, unknown, how));
            let whole = |texts: &[String]| reply(texts, &left_out, unknown, how);
            let room = budget.tokens.saturating_sub(frame);
            if let Some(text) = fitting(&shown, room, budget, &whole) {
                return Some(text);
            }
            told.pop();
        }
    }
    None
}

/// Which of them have room for their lines: one that is too long is passed over for those behind it.
fn with_room(
    entries: &[Entry<'_>],
    unknown: &[String],
    budget: Budget,
    how: LeftOut,
) -> Vec<usize> {
    let has_room = |told: &[usize]| {
        let (shown, left_out) = parted(entries, told);
        let frame = forebay_records::tokens(&reply(&[], &left_out, unknown, how));
        let parts = frame + shown.iter().map(|entry| entry.line.tokens).sum::<u64>();
        let lines = || shown.iter().map(|entry| entry.line.text.clone()).collect::<Vec<_>>();
        parts <= budget.tokens
            || parts <= budget.tokens + JOINED_TOKENS
                && budget.holds(&reply(&lines(), &left_out, unknown, how))
    };
    let all: Vec<usize> = (0..entries.len()).collect();
    if has_room(&all) {
        return all;
    }
    let mut told = Vec::new();
    for place in all {
        told.push(place);
        if !has_room(&told) {
            told.pop();
        }
    }
    told
}

/// Those at these places, and the others.
fn parted<'e, 'd>(
    entries: &'e [Entry<'d>],
    told: &[usize],
) -> (Vec<&'e Entry<'d>>, Vec<&'e Entry<'d>>) {
    let (mut shown, mut left_out) = (Vec::new(), Vec::new());
    for (place, entry) in entries.iter().enumerate() {
        if told.contains(&place) { shown.push(entry) } else { left_out.push(entry) }
    }
    (shown, left_out)
}

/// As much of all of them as there is room for; `None` if not even their lines are.
fn fitting(
    entries: &[&Entry<'_>],
    mut room: u64,
    budget: Budget,
    whole: &dyn Fn(&[String]) -> String,
) -> Option<String> {
    /// Texts that stand beside each other hardly ever have more tokens than they have alone.
    const TRIES: usize = 8;
    for _ in 0..TRIES {
        let text = whole(&shares(entries, room));
        if budget.holds(&text) {
            return Some(text);
        }
        let over = forebay_records::tokens(&text).saturating_sub(budget.tokens);
        // A limit in bytes is met by trying.
        room = room.saturating_sub(if over == 0 { room / 3 } else { over });
    }
    let lines: Vec<String> = entries.iter().map(|entry| entry.line.text.clone()).collect();
    Some(whole(&lines)).filter(|text| budget.holds(text))
}

/// What is said of each: those that need little leave the rest of their share to the others.
fn shares(entries: &[&Entry<'_>], room: u64) -> Vec<String> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|index| entries[*index].full.tokens);
    let mut told = vec![String::new(); entries.len()];
    let mut left = room.saturating_sub(entries.len() as u64);
    let mut lines: u64 = entries.iter().map(|entry| entry.line.tokens).sum();
    for (place, index) in order.iter().enumerate() {
        let entry = &entries[*index];
        // The others have room for their lines, whatever becomes of this one.
        lines -= entry.line.tokens;
        let fair = left / (entries.len() - place) as u64;
        let share = fair.min(left.saturating_sub(lines)).max(entry.line.tokens);
        let Told { text, tokens } = entry.within(share);
        left = left.saturating_sub(tokens);
        told[*index] = text;
    }
    told
}

/// How what is left out is told.
#[derive(Clone, Copy)]
enum LeftOut {
    /// By its names.
    Named,
    /// By how many.
    Counted,
}

/// All that is said, with how many tokens that has.
fn reply(told: &[String], no_room: &[&Entry<'_>], unknown: &[String], how: LeftOut) -> String {
    let no_room: Vec<&str> = no_room.iter().map(|entry| entry.id.as_str()).collect();
    let mut members = Vec::new();
    for (why, names) in [("noRoom", json!(no_room)), ("unknown", json!(unknown))] {
        let count = names.as_array().map_or(0, Vec::len);
        let value = match how {
            LeftOut::Named => names,
            LeftOut::Counted => count.into(),
        };
        members.extend((count > 0).then(|| json::member(why, &value.to_string())));
    }
    let left_out = if members.is_empty() {
        String::new()
    } else {
        format!(",\"leftOut\":{{{}}}", members.join(","))
    };
    let whole = |total: u64| {
        format!("{{\"artifacts\":[{}]{left_out},\"totalTokens\":{total}}}", told.join(","))
    };
    // The number is a part of what is counted, and has a token for every three of its digits.
    let mut total = forebay_records::tokens(&whole(0));
    for _ in 0..2 {
        total = forebay_records::tokens(&whole(total));
    }
    whole(total)
}

/// How many tokens the shortest reply has.
fn least(entries: &[Entry<'_>], unknown: &[String]) -> u64 {
    let alone = |place: usize| {
        let (shown, left_out) = parted(entries, &[place]);
        let line: Vec<String> = shown.iter().map(|entry| entry.line.text.clone()).collect();
        forebay_records::tokens(&reply(&line, &left_out, unknown, LeftOut::Counted))
    };
    (0..entries.len()).map(alone).min().unwrap_or_default()
}

#[cfg(test)]
mod tests;
