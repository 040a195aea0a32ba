//! What is said of a job. Every reply is short: a model reads it each time that it asks.

use std::time::Duration;

use forebay_intercept::files_table;
use forebay_store::{Dataset, DatasetId, Filter, Job, JobOutcome, JobProgress, JobState};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{Desk, ToolError, arguments::counted, error::refuse, json as json_text, reply::Reply};

/// How long a reply may be that tells of a job which runs, as JSON. What the protocol adds has room besides.
const RUNNING_BYTES: usize = 460;
/// The same of one that has ended.
const ENDED_BYTES: usize = 1_960;
/// A name of others' is told up to this.
const NAME_BYTES: usize = 60;
/// How much room links leave to a summary.
const LEAST_SUMMARY_BYTES: usize = 100;
/// How many links to a result are told.
const MAX_LINKS: usize = 3;

/// The result of a call that has become a job.
pub(super) fn begun(job: &Job, after: Duration, status_tool: &str) -> Vec<u8> {
    let how = match after.as_secs() {
        0 => "It runs in the background.".to_owned(),
        seconds => format!("No result after {seconds} s; it goes on."),
    };
    notice(job, &format!("{how} Ask {status_tool} with wait_seconds; do not call the tool again."))
}

/// The result of a call whose work is being done already.
pub(super) fn again(job: &Job, status_tool: &str) -> Vec<u8> {
    notice(job, &format!("This very call is running already; ask {status_tool} with wait_seconds."))
}

/// The job in the place of a result, for models and for programs.
fn notice(job: &Job, message: &str) -> Vec<u8> {
    let told = json_text::object([
        ("job_id", job.id.as_str().into()),
        ("status", "running".into()),
        ("message", message.into()),
    ]);
    let content = json!([{"type": "text", "text": told}]);
    format!(r#"{{"content":{content},"structuredContent":{told}}}"#).into_bytes()
}

/// The reply to a question about a job. `more` is said besides.
pub(super) fn status(job: &Job, desk: &Desk, more: &str) -> Reply {
    match &job.state {
        JobState::Running => running(job, more),
        JobState::Completed(outcome) => completed(job, outcome, desk),
        JobState::Failed { error } => {
            let error = desk.without_paths(error.clone());
            fitting(ENDED_BYTES, &error, |error| Reply::text(head(job, [("error", error.into())])))
        }
        JobState::Cancelled => Reply::text(head(job, [("message", "It was ended.".into())])),
        JobState::Expired { dataset: Some(dataset) } => {
            let message = "It ended long ago; its result is the dataset, as long as that is kept.";
            let members = [("dataset_id", dataset.as_str().into()), ("message", message.into())];
            Reply::text(head(job, members))
        }
        JobState::Expired { dataset: None } => {
            let message = "It ended long ago, and what came of it is no longer kept here.";
            Reply::text(head(job, [("message", message.into())]))
        }
    }
}

/// The reply about a job that is not there.
pub(super) fn unknown(id: &str, running: &[Job]) -> Result<Reply, ToolError> {
    const MOST: usize = 5;
    let named: Vec<String> =
        running.iter().take(MOST).map(|job| format!("{} ({})", job.id, name(&job.tool))).collect();
    let others = match (named.as_slice(), running.len().saturating_sub(MOST)) {
        ([], _) => "No job is running in this process. Call the tool again if you need its result."
            .to_owned(),
        (named, 0) => format!("Running here: {}.", named.join(", ")),
        (named, more) => format!("Running here: {} and {more} more.", named.join(", ")),
    };
    refuse!("There is no job {}, or it ended long ago. {others}", name(id))
}

fn running(job: &Job, more: &str) -> Reply {
    let message = if more.is_empty() { "Ask again with wait_seconds." } else { more };
    let Some(JobProgress { done, total, message: said }) = &job.progress else {
        return Reply::text(head(job, [("message", message.into())]));
    };
    fitting(RUNNING_BYTES, said, |said| {
        let mut progress = json!({"done": done});
        if let Some(total) = total {
            progress["total"] = (*total).into();
        }
        if !said.is_empty() {
            progress["message"] = said.into();
        }
        Reply::text(head(job, [("progress", progress), ("message", message.into())]))
    })
}

fn completed(job: &Job, outcome: &JobOutcome, desk: &Desk) -> Reply {
    let Some(id) = &outcome.dataset else {
        return with_result(job, outcome.result.as_deref().unwrap_or("{}"));
    };
    let summary = outcome.summary.as_deref().unwrap_or_default();
    let dataset = match desk.dataset(id) {
        Ok(dataset) => dataset,
        Err(error) => return Reply::text(head(job, [("message", error.told().into())])),
    };
    let links = links(job, &dataset, desk);
    let reply = |count: usize, told: &str| {
        let mut notes = Vec::new();
        if told.ends_with('…') {
            notes.push("The summary is cut; read-saved-dataset reads what was kept.".to_owned());
        }
        let left = links.all.len() - count;
        if left > 0 {
            notes.push(format!("{} more in it; resources/list names all.", counted(left, "file")));
        }
        notes.extend(links.table.as_ref().map(|id| format!("{id} lists its files.")));
        let mut members = vec![("dataset_id", Value::from(id.as_str()))];
        if !notes.is_empty() {
            members.push(("message", notes.join(" ").into()));
        }
        let reply = Reply::text(head(job, members)).and_text(told);
        links.all[..count].iter().cloned().fold(reply, Reply::and)
    };
    let count = (1..=links.all.len().min(MAX_LINKS))
        .rev()
        .find(|count| reply(*count, "…").into_json().len() + LEAST_SUMMARY_BYTES <= ENDED_BYTES);
    fitting(ENDED_BYTES, summary, |told| reply(count.unwrap_or(0), told))
}

/// What is linked to of a result that was kept.
struct Links {
    all: Vec<Value>,
    /// The table of its files, if they are many. It is linked to in their place.
    table: Option<DatasetId>,
}

fn links(job: &Job, dataset: &Dataset, desk: &Desk) -> Links {
    let main = |of: &Dataset| {
        let artifact = of.artifact(of.main_part())?;
        Some(desk.links().block(of, &artifact))
    };
    if let Some(table) = table(job, dataset, desk) {
        let text = if dataset.is_of_files() { None } else { main(dataset) };
        let all = text.into_iter().chain(main(&table)).collect();
        return Links { all, table: Some(table.id().clone()) };
    }
    let artifacts = dataset.artifacts();
    let all = artifacts.map(|artifact| desk.links().block(dataset, &artifact)).collect();
    Links { all, table: None }
}

/// The table of the files of a result, which was kept with it.
fn table(job: &Job, dataset: &Dataset, desk: &Desk) -> Option<Dataset> {
    if dataset.facts().files.is_empty() {
        return None;
    }
    let metadata = dataset.metadata();
    let filter = Filter {
        tool: Some(files_table(&metadata.description.tool)),
        viewer: desk.viewer().clone(),
        from: Some(metadata.timestamp),
        until: Some(job.updated + SignedDuration::from_secs(1)),
        ..Filter::default()
    };
    let store = desk.store().ok()?;
    let tables = store.list(&filter).ok()?.into_iter();
    let mut tables = tables.filter_map(|entry| store.dataset(&entry.id).ok());
    tables.find(|table| table.facts().made_from == [dataset.id().as_str()])
}

/// True if a result is told as it came in a reply that is short.
pub(super) fn fits(job: &Job, result: &str) -> bool {
    with_result(job, result).into_json().len() <= ENDED_BYTES
}

/// A result as it came, behind what is said of its job.
fn with_result(job: &Job, result: &str) -> Reply {
    let result: Value = serde_json::from_str(result).unwrap_or_default();
    let blocks = result["content"].as_array().cloned().unwrap_or_default();
    let mut members = Vec::new();
    // Texts are what most clients show; what none of them says is told here.
    let says = |block: &Value, what: &Value| {
        let text = block["text"].as_str().unwrap_or_default();
        serde_json::from_str::<Value>(text).ok().as_ref() == Some(what)
    };
    if let Some(structured) = result.get("structuredContent").filter(|it| !it.is_null())
        && !blocks.iter().any(|block| says(block, structured))
    {
        members.push(("result", structured.clone()));
    }
    blocks.into_iter().fold(Reply::text(head(job, members)), Reply::and)
}

/// What is said of every job, and more.
fn head<'m>(job: &Job, more: impl IntoIterator<Item = (&'m str, Value)>) -> String {
    let status = match &job.state {
        JobState::Running => "running",
        JobState::Completed(_) => "completed",
        JobState::Failed { .. } => "failed",
        JobState::Cancelled => "cancelled",
        JobState::Expired { .. } => "expired",
    };
    let end = if job.is_running() { Timestamp::now() } else { job.updated };
    let seconds = end.duration_since(job.started).as_secs().max(0);
    let members = [
        ("job_id", job.id.as_str().into()),
        ("status", status.into()),
        ("tool", name(&job.tool).into()),
        ("seconds", seconds.into()),
    ];
    json_text::object(members.into_iter().chain(more))
}

/// A name that others have chosen.
fn name(text: &str) -> String {
    cut(&forebay_query::plain_lines(text), NAME_BYTES)
}

/// A reply with a text of others' in it, as much of which is told as fits.
fn fitting(bytes: usize, text: &str, reply: impl Fn(&str) -> Reply) -> Reply {
    let text = forebay_query::plain_lines(text);
    let mut length = text.len();
    loop {
        let made = reply(&cut(&text, length));
        let over = made.clone().into_json().len().saturating_sub(bytes);
        if over == 0 || length == 0 {
            return made;
        }
        // What is escaped takes more room than it has letters.
        length = length.saturating_sub(over.div_ceil(4).max(1));
    }
}

/// The beginning of a text, if not all of it fits.
pub(super) fn cut(text: &str, bytes: usize) -> String {
    const MORE: &str = "…";
    if text.len() <= bytes {
        return text.to_owned();
    }
    let most = bytes.saturating_sub(MORE.len());
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}{MORE}", &text[..end])
}

#[cfg(test)]
mod tests;
