//! A request as it came, and the few things that are read of it.

use forebay_wire::{Id, scan};

pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// Legacy opens with `initialize`; modern says its revision in each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// A request.
pub(crate) struct Request<'a> {
    pub(crate) id: &'a Id,
    pub(crate) method: &'a str,
    pub(crate) params: Params<'a>,
    pub(crate) era: Era,
}

/// The members of a request's parameters, as they are written.
#[derive(Default)]
pub(crate) struct Params<'a> {
    pub(crate) written: &'a [u8],
    pub(crate) name: Option<&'a [u8]>,
    pub(crate) uri: Option<&'a [u8]>,
    pub(crate) arguments: &'a [u8],
    pub(crate) task: Option<&'a [u8]>,
    pub(crate) task_id: Option<&'a [u8]>,
    pub(crate) request_id: Option<&'a [u8]>,
    pub(crate) notifications: Option<&'a [u8]>,
    pub(crate) input_responses: Option<&'a [u8]>,
    /// The revision that a legacy client begins with.
    pub(crate) opening_revision: Option<&'a [u8]>,
    /// The revision in `_meta`.
    pub(crate) revision: Option<&'a [u8]>,
    pub(crate) progress_token: Option<Id>,
}

impl<'a> Params<'a> {
    pub(crate) fn read(written: &'a [u8]) -> Self {
        let [
            name,
            uri,
            arguments,
            task,
            task_id,
            request_id,
            notifications,
            input_responses,
            opening_revision,
            meta,
        ] = scan::members(
            written,
            [
                "name",
                "uri",
                "arguments",
                "task",
                "taskId",
                "requestId",
                "notifications",
                "inputResponses",
                "protocolVersion",
                "_meta",
            ],
        );
        let [progress_token, revision] =
            scan::members(meta.unwrap_or_default(), ["progressToken", PROTOCOL_VERSION]);
        Self {
            written,
            name,
            uri,
            arguments: arguments.unwrap_or_default(),
            task,
            task_id,
            request_id,
            notifications,
            input_responses,
            opening_revision,
            revision,
            progress_token: progress_token.and_then(Id::parse),
        }
    }

    /// The era that these parameters show.
    pub(crate) fn era(&self) -> Era {
        if self.revision.is_some() { Era::Modern } else { Era::Legacy }
    }
}

impl Era {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "legacy" => Some(Self::Legacy),
            "modern" => Some(Self::Modern),
            _ => None,
        }
    }

    /// What every result of this era begins with.
    pub(crate) fn result_head(self) -> &'static str {
        match self {
            Self::Legacy => "{",
            Self::Modern => r#"{"resultType":"complete","#,
        }
    }
}

/// Decodes a string that may be missing.
pub(crate) fn text(json: Option<&[u8]>) -> String {
    json.and_then(scan::string).unwrap_or_default().into_owned()
}

/// Reads a number that may be missing.
pub(crate) fn number(json: Option<&[u8]>) -> u64 {
    json.and_then(|json| std::str::from_utf8(json).ok()?.parse().ok()).unwrap_or(0)
}
