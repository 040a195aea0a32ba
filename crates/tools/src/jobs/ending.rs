//! How a call that has become a job ended: what is kept of its result.

use std::{io, sync::Arc};

use forebay_intercept::{FILE_KEPT, Keeper, KeptAs, OnStoreFailure};
use forebay_proxy::{
    body::Payload,
    chain::{CallFailure, HookError, with_causes},
    session::Call,
};
use forebay_store::{JobEnd, JobOutcome};
use forebay_wire::scan::{Object, Outline, Value as Scanned};
use serde_json::Value;

use super::{
    awaited::Ended,
    running::Running,
    told::{self, cut},
};
use crate::events;

/// A result up to this long is told as it is.
const SHORT_BYTES: u64 = 1_400;
/// One that cannot be kept is told as it is up to this.
const LONGEST_BYTES: u64 = 512 * 1024;
/// How much of a summary, or of an error, is kept.
const TEXT_BYTES: usize = 1_400;

/// What keeps results that are too long to be told, and what becomes of those that it cannot keep.
#[derive(Clone)]
pub(super) struct Keeping {
    pub(super) keeper: Arc<Keeper>,
    pub(super) on_failure: OnStoreFailure,
}

/// The end of a job whose call ended so.
pub(super) fn of(running: &Running, Ended { call, outcome }: Ended, keeping: &Keeping) -> JobEnd {
    match outcome {
        Ok(result) => with_result(running, &call, &result, keeping).unwrap_or_else(|error| {
            let why = with_causes(&*error);
            let why = format!("the tool has answered, and its result could not be kept: {why}");
            JobEnd::Failed(cut(&why, TEXT_BYTES))
        }),
        Err(CallFailure::Cancelled) if running.is_overdue() => {
            JobEnd::Failed("it ran for longer than jobs.max_run_seconds allows".to_owned())
        }
        Err(CallFailure::Cancelled) => JobEnd::Cancelled,
        Err(failure) => JobEnd::Failed(cut(&failure.to_string(), TEXT_BYTES)),
    }
}

fn with_result(
    running: &Running,
    call: &Call,
    result: &Payload,
    Keeping { keeper, on_failure }: &Keeping,
) -> Result<JobEnd, HookError> {
    if let Some(end) = without_answer(result)? {
        return Ok(end);
    }
    if call.noted::<KeptAs>().is_some() {
        // What stays beside a summary may be long, and is in the dataset, too.
        return Ok(kept(call, &read(result).unwrap_or_default()));
    }
    if !is_short(running, result)? {
        match keeper.keep_all_of(call, result) {
            Ok(Some(summary)) => return Ok(kept(call, &summary)),
            Ok(None) => {}
            // It would pass if the client had waited for it.
            Err(error)
                if *on_failure == OnStoreFailure::Pass && result.bytes() <= LONGEST_BYTES =>
            {
                events::job_result_not_kept(call, &error);
            }
            Err(error) => return Err(error),
        }
    }
    let result = Some(String::from_utf8(read(result)?)?);
    Ok(JobEnd::Completed(JobOutcome { result, dataset: None, summary: None }))
}

/// True if all of a result can be told.
fn is_short(running: &Running, result: &Payload) -> io::Result<bool> {
    if result.bytes() > SHORT_BYTES {
        return Ok(false);
    }
    let result = result.to_vec()?;
    Ok(told::fits(&running.job(), &String::from_utf8_lossy(&result)))
}

/// The end of a job whose result was kept: this stands in its place.
fn kept(call: &Call, summary: &[u8]) -> JobEnd {
    let dataset = call.noted::<KeptAs>().map(|kept| kept.0.clone());
    // Files are told by links, whichever way the client takes these.
    let is_file = |text: &&str| !call.takes_links() && text.starts_with(FILE_KEPT);
    let result: Value = serde_json::from_slice(summary).unwrap_or_default();
    let told: Vec<&str> = texts_of(&result).filter(|text| !is_file(text)).collect();
    let summary = Some(cut(&told.join("\n"), TEXT_BYTES));
    JobEnd::Completed(JobOutcome { result: None, dataset, summary })
}

/// The end of a job whose tool has failed, or has not answered but asked; `None` if it has a result.
fn without_answer(result: &Payload) -> io::Result<Option<JobEnd>> {
    let Outline::Object(Object { members: [is_error, kind], .. }) =
        result.outline(["isError", "resultType"])?
    else {
        return Ok(None);
    };
    let is = |member: Option<Scanned>, wanted: &[u8]| {
        member.and_then(|member| member.scalar).as_deref() == Some(wanted)
    };
    if is(is_error, b"true") {
        return Ok(Some(JobEnd::Failed(error(&read(result)?))));
    }
    Ok(is(kind, b"\"input_required\"").then(|| {
        let why = "it asks for input before it answers, which a job cannot give: the tool must be called \
                   without becoming a job";
        JobEnd::Failed(why.to_owned())
    }))
}

fn read(result: &Payload) -> io::Result<Vec<u8>> {
    if result.bytes() > LONGEST_BYTES {
        let why = format!("it has {} bytes, too many to be told as it is", result.bytes());
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    result.to_vec()
}

/// What a tool says that has failed: its texts, and what it says besides them.
fn error(json: &[u8]) -> String {
    let result: Value = serde_json::from_slice(json).unwrap_or_default();
    let mut told = texts(json);
    if let Some(structured) = result.get("structuredContent").filter(|it| !it.is_null())
        && serde_json::from_str::<Value>(&told).ok().as_ref() != Some(structured)
    {
        let separator = if told.is_empty() { "" } else { "\n" };
        told = format!("{told}{separator}{structured}");
    }
    if told.is_empty() {
        let blocks = result["content"].as_array().map_or(0, Vec::len);
        return format!(
            "the tool has failed, and says nothing in words ({blocks} blocks of content)"
        );
    }
    let left = told.len().saturating_sub(TEXT_BYTES);
    match left {
        0 => told,
        left => format!("{} ({left} more bytes are not kept)", cut(&told, TEXT_BYTES)),
    }
}

/// The texts of a result, one after the other.
fn texts(json: &[u8]) -> String {
    let result: Value = serde_json::from_slice(json).unwrap_or_default();
    texts_of(&result).collect::<Vec<_>>().join("\n")
}

fn texts_of(result: &Value) -> impl Iterator<Item = &str> {
    let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    blocks.iter().filter_map(|block| block["text"].as_str())
}
