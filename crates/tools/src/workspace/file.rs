//! `get_workspace_file`: a kept file, some thousand characters at a time.

use std::io;

use forebay_query::{Observer, QueryError};
use forebay_store::{Address, StoreError};
use serde_json::Value;

use super::{Item, characters, check, find};
use crate::{
    Desk, ToolError,
    arguments::{Arguments, counted},
    budget::Budget,
    definitions::Tool,
    error::refuse,
    json,
    reply::Reply,
};

/// How many characters are read at once.
const MAX_CHARS: u64 = 8_000;
/// What stands around them.
const FRAME_TOKENS: u64 = 100;

pub(crate) fn answer(
    desk: &Desk,
    arguments: &Arguments,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<Reply, ToolError> {
    let path = arguments.text("path", "dataset_k3v9x2ma/data.json")?;
    let offset = arguments.number("offset", 0, u64::MAX)?.unwrap_or_default();
    let limit = arguments.number("limit", 1, MAX_CHARS)?.unwrap_or(MAX_CHARS);
    check(&path)?;
    let item = find(desk, &path)?;
    if !item.artifact.is_text() {
        return Ok(described(desk, &item));
    }
    let payload = item.dataset.open(item.artifact.block)?;
    let read = characters::window(payload, offset, limit, &|| !observer.is_cancelled());
    let window = read.map_err(|error| why(error, &item))?;
    if offset > 0 && offset >= window.total {
        return refuse!(
            "That is past the end: {} has {}.",
            item.path,
            counted(window.total, "character")
        );
    }
    Ok(told(&item.path, offset, &window, budget))
}

/// As much of what was read as fits.
fn told(path: &str, offset: u64, window: &characters::Window, budget: Budget) -> Reply {
    let budget = budget.without(FRAME_TOKENS.min(budget.tokens / 2));
    let mut count = window.text.chars().count();
    loop {
        let text: String = window.text.chars().take(count).collect();
        let next = offset + count as u64;
        let rest = (next < window.total).then_some(("next_offset", next.into()));
        let members = [
            ("path", Value::from(path)),
            ("offset", offset.into()),
            ("total_characters", window.total.into()),
        ];
        let members = members.into_iter().chain(rest).chain([("text", text.into())]);
        let reply = json::object(members);
        if count <= 1 || budget.holds(&reply) {
            return Reply::text(reply);
        }
        count = (count * 3 / 4).max(1);
    }
}

/// What a file is that is no text, and how to get it.
fn described(desk: &Desk, item: &Item) -> Reply {
    let Item { dataset, artifact, path } = item;
    let mut members = vec![
        ("path", Value::from(path.as_str())),
        ("media_type", artifact.media_type.as_str().into()),
        ("bytes", artifact.bytes.into()),
        ("uri", desk.links().uri(dataset, artifact).into()),
    ];
    members.extend(artifact.description.as_ref().map(|it| ("description", it.as_str().into())));
    let address = Address::of(dataset.id(), artifact.block);
    let note = if dataset.facts().are_of_rows() {
        format!(
            "It is a file of rows, not a text: read them with {}, or query {}.",
            Tool::Read.name(),
            dataset.id()
        )
    } else {
        format!(
            "It is no text to be read here. Fetch it by its uri, or give it to a tool as an argument with \
             {address}."
        )
    };
    Reply::text(json::object(members)).and_text(note)
}

fn why(error: io::Error, item: &Item) -> ToolError {
    match error.kind() {
        io::ErrorKind::Interrupted => QueryError::Cancelled.into(),
        _ => match error.downcast::<StoreError>() {
            Ok(ours) => ours.into(),
            Err(source) => ToolError::Store(StoreError::File {
                doing: "read",
                path: item.dataset.path(item.artifact.block),
                source,
            }),
        },
    }
}
