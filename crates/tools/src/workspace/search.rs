//! `search_workspace`: which files there are, by their tags, their names and what they are about.

use std::collections::HashMap;

use forebay_search::{Found, Hit, Question};
use forebay_store::{DatasetId, Filter, Store};
use jiff::Timestamp;
use serde_json::Value;

use super::{Item, files};
use crate::{
    Desk, ToolError,
    age::ago,
    arguments::{Arguments, counted, shown},
    budget::Budget,
    error::refuse,
    json,
    list::nothing_yet,
    on_demand::search::words,
    reply::Reply,
};

/// How many files are told at most.
const MOST: usize = 50;
/// Of those that fit a query so many are looked through for the tags that are asked for.
const MOST_LOOKED_THROUGH: usize = 3_200;
/// So many datasets, the newest, have the names of their files compared with a query.
const COMPARED: u64 = 500;
/// How many tags are named where nothing fits.
const SHOWN_TAGS: usize = 40;
/// More than this cannot be asked for at once.
const MAX_TAGS: usize = 32;
/// What stands around the files.
const FRAME_TOKENS: u64 = 200;

pub(crate) fn answer(
    desk: &Desk,
    arguments: &Arguments,
    budget: Budget,
) -> Result<Reply, ToolError> {
    let tags = arguments.texts("tags")?;
    if tags.len() > MAX_TAGS {
        return refuse!("There are {} tags: give {MAX_TAGS} at most.", tags.len());
    }
    let offset = arguments.number("offset", 0, u64::MAX)?.unwrap_or_default();
    let query = arguments.optional_text("query")?.filter(|query| !query.trim().is_empty());
    let store = desk.store()?;
    let filter = Filter { tags, viewer: desk.viewer().clone(), ..Filter::default() };
    let total = store.count(&filter)?;
    let (found, mut notes) = match &query {
        Some(query) => fitting(desk, &store, &filter, total, query)?,
        None => (newest(&store, &filter, offset)?, Vec::new()),
    };
    let passed = if query.is_some() { usize::try_from(offset).unwrap_or(usize::MAX) } else { 0 };
    let found = found.get(passed..).unwrap_or_default();
    let now = Timestamp::now();
    let entries: Vec<String> = found.iter().take(MOST).map(|it| told(it, now)).collect();
    let count = budget.without(FRAME_TOKENS).fitting(entries.iter().map(String::as_str));
    let mut members = vec![json::member("files", &format!("[{}]", entries[..count].join(",")))];
    let next = match &query {
        Some(_) => (count < found.len()).then_some(offset + count as u64),
        None => next_dataset(found, count, offset, total),
    };
    members.extend(next.map(|next| json::member("next_offset", &next.to_string())));
    if found.is_empty() {
        notes.push(nothing(&store, &filter, query.as_deref(), offset)?);
    }
    let reply = Reply::text(format!("{{{}}}", members.join(",")));
    Ok(reply.and_note((!notes.is_empty()).then(|| notes.join(" "))))
}

/// Behind how many datasets the list goes on. One of which not all files are told begins it again.
fn next_dataset(found: &[Item], shown: usize, offset: u64, total: u64) -> Option<u64> {
    let mut whole: Vec<&DatasetId> = found.iter().map(|item| item.dataset.id()).collect();
    whole.dedup();
    let (all, cut) = (whole.len() as u64, found.get(shown).map(|item| item.dataset.id()));
    let done = match cut.and_then(|id| whole.iter().position(|other| *other == id)) {
        // The files of one dataset that do not fit are found by its tags and names.
        Some(0) => 1,
        Some(before) => before as u64,
        None => all,
    };
    (offset + done < total).then_some(offset + done).filter(|_| done > 0)
}

/// The files of the newest datasets that a filter lets through.
fn newest(store: &Store, filter: &Filter, offset: u64) -> Result<Vec<Item>, ToolError> {
    let wanted = Filter { offset, limit: Some(MOST as u64), ..filter.clone() };
    let mut found = Vec::new();
    for entry in store.list(&wanted)? {
        // One that has been removed meanwhile is not there.
        let Ok(dataset) = store.dataset(&entry.id) else { continue };
        found.extend(files(&dataset).into_iter().filter(|item| has_kind(item, &filter.tags)));
    }
    Ok(found)
}

/// The files that fit a query, the best first, and what is to be said about how they were found.
fn fitting(
    desk: &Desk,
    store: &Store,
    filter: &Filter,
    total: u64,
    query: &str,
) -> Result<(Vec<Item>, Vec<String>), ToolError> {
    let mut notes = Vec::new();
    let by_meaning = by_meaning(desk, filter, query, &mut notes);
    let compared = Filter { limit: Some(COMPARED), ..filter.clone() };
    let mut ids: Vec<DatasetId> = store.list(&compared)?.into_iter().map(|it| it.id).collect();
    if total > COMPARED {
        let total = counted(total, "dataset");
        notes.push(format!("Names were compared for the newest {COMPARED} of {total}."));
    }
    let others = by_meaning.iter().map(|(id, _)| id).filter(|id| !ids.contains(id));
    let others: Vec<DatasetId> = others.cloned().collect();
    ids.extend(others);
    let scores: HashMap<&DatasetId, f64> =
        by_meaning.iter().map(|(id, score)| (id, *score)).collect();
    let wanted = words(query);
    let mut found: Vec<(f64, Item)> = Vec::new();
    for id in &ids {
        let Ok(dataset) = desk.dataset(id) else { continue };
        let tags = dataset.tags();
        if !filter.tags.iter().all(|tag| tags.contains(tag)) {
            continue;
        }
        let meaning = scores.get(id).copied().unwrap_or_default();
        for item in files(&dataset).into_iter().filter(|item| has_kind(item, &filter.tags)) {
            let fit = meaning + share_of_words(&wanted, &item, &tags);
            if fit > 0.0 {
                found.push((fit, item));
            }
        }
    }
    // Of those that fit as well as each other the newer comes first.
    found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    Ok((found.into_iter().map(|(_, item)| item).collect(), notes))
}

/// The datasets that fit a query by what they are about. Where that cannot be told, names are enough.
fn by_meaning(
    desk: &Desk,
    filter: &Filter,
    query: &str,
    notes: &mut Vec<String>,
) -> Vec<(DatasetId, f64)> {
    let find = |limit| {
        let question = Question { text: query.to_owned(), limit, ..Question::default() };
        desk.finder().and_then(|finder| Ok(finder.find(&question, &filter.viewer)?))
    };
    let has_tags = |hit: &Hit| {
        if filter.tags.is_empty() {
            return true;
        }
        let tags = desk.dataset(&hit.dataset).map(|dataset| dataset.tags()).unwrap_or_default();
        filter.tags.iter().all(|tag| tags.contains(tag))
    };
    let mut limit = MOST;
    let found = loop {
        let found = match find(limit) {
            Err(error) => break Err(error),
            Ok(found) => found,
        };
        let Found { hits, .. } = found;
        let is_all = hits.len() < limit || limit >= MOST_LOOKED_THROUGH;
        let hits: Vec<Hit> = hits.into_iter().filter(|hit| has_tags(hit)).collect();
        if is_all || hits.len() >= MOST {
            break Ok(Found { hits, ..found });
        }
        limit *= 4;
    };
    match found {
        Ok(Found { hits, waiting, by_words_alone, .. }) => {
            if waiting > 0 {
                let are = if waiting == 1 { "is" } else { "are" };
                notes.push(format!("{} {are} not indexed yet.", counted(waiting, "dataset")));
            }
            if let Some(why) = by_words_alone {
                notes.push(format!("Found by words alone, not by meaning: {why}."));
            }
            hits.into_iter().map(|hit| (hit.dataset, f64::from(hit.score))).collect()
        }
        Err(error) => {
            notes.push(format!("Found by names and tags alone: {}", error.told()));
            Vec::new()
        }
    }
}

/// How many of the words that are wanted stand in the name, the description, the origin or the tags.
fn share_of_words(wanted: &[String], item: &Item, tags: &[String]) -> f64 {
    let description = item.artifact.description.as_deref().unwrap_or_default();
    let there = words(&format!("{} {description} {}", item.path, tags.join(" ")));
    let count = wanted.iter().filter(|word| there.contains(word)).count();
    #[expect(clippy::cast_precision_loss, reason = "nobody writes so many words")]
    let share = count as f64 / wanted.len().max(1) as f64;
    share
}

/// True if a file is of the kind that is asked for, if one is.
fn has_kind(item: &Item, tags: &[String]) -> bool {
    let own = item.artifact.kind_tag();
    let (kind, _) = own.split_once(':').unwrap_or_default();
    let is_kind = |tag: &&String| tag.split_once(':').is_some_and(|(before, _)| before == kind);
    tags.iter().filter(is_kind).all(|tag| *tag == own)
}

fn told(item: &Item, now: Timestamp) -> String {
    let Item { dataset, artifact, path } = item;
    let own = artifact.kind_tag();
    // The kinds of its other files are not its own.
    let (kind, _) = own.split_once(':').unwrap_or_default();
    let is_of_other =
        |tag: &String| *tag != own && tag.split_once(':').is_some_and(|(before, _)| before == kind);
    let tags: Vec<String> = dataset.tags().into_iter().filter(|tag| !is_of_other(tag)).collect();
    let mut members = vec![
        ("path", Value::from(path.as_str())),
        ("bytes", artifact.bytes.into()),
        ("tags", tags.into()),
        ("age", ago(dataset.metadata().timestamp, now).into()),
    ];
    members.extend(artifact.description.as_ref().map(|it| ("description", it.as_str().into())));
    let records = dataset.metadata().description.record_count;
    let records = records.filter(|_| artifact.block == dataset.main_part());
    members.extend(records.map(|records| ("records", records.into())));
    json::object(members)
}

/// Why there is nothing, and what there is.
fn nothing(
    store: &Store,
    filter: &Filter,
    query: Option<&str>,
    offset: u64,
) -> Result<String, ToolError> {
    if offset > 0 {
        return Ok("There are no more files.".to_owned());
    }
    let all = Filter { viewer: filter.viewer.clone(), ..Filter::default() };
    if store.count(&all)? == 0 {
        return Ok(nothing_yet(filter.viewer.scope));
    }
    if let Some(query) = query
        && filter.tags.is_empty()
    {
        return Ok(format!("No file fits {}. Try other words.", shown(&Value::from(query))));
    }
    let with_tags = store.count(filter)?;
    if let Some(query) = query
        && with_tags > 0
    {
        let (query, have) =
            (shown(&Value::from(query)), if with_tags == 1 { "has" } else { "have" });
        let datasets = counted(with_tags, "dataset");
        return Ok(format!(
            "{datasets} {have} all these tags, but none fits {query}. Try other words."
        ));
    }
    let mut tags: Vec<String> = store.tags(&filter.viewer)?.into_iter().collect();
    let origins = store.origins(&filter.viewer)?;
    tags.extend(origins.iter().map(|(server, _)| format!("server:{server}")));
    tags.extend(origins.iter().map(|(_, tool)| format!("tool:{tool}")));
    tags.dedup();
    let more = tags.len() > SHOWN_TAGS;
    tags.truncate(SHOWN_TAGS);
    let more = if more { ", and others" } else { "" };
    Ok(format!("No file has all these tags. There are {}{more}.", tags.join(", ")))
}
