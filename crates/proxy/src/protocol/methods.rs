//! The one place that knows how the protocol's revisions differ.
//!
//! Legacy (2024-11-05 to 2025-11-25) opens with `initialize`; modern (2026-07-28) has no opening:
//! each request says its revision in `_meta`. What a method means, and where a tool's result
//! stands, depends on the revision in a few places; they are all here.

use std::{ops::Range, sync::Arc};

use forebay_wire::{Id, scan};
use serde_json::{Map, Value};

use super::{
    call::{Call, Purpose, ResourceRequest},
    era::Era,
};
use crate::body::Source;

/// What a tool call's response turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The tool's result.
    Result,
    /// A task has been created; its result comes later, under this id.
    Task(String),
    /// The upstream wants to know something first; the client will ask again.
    InputRequired,
}

/// What is read of a request's `params`.
#[derive(Debug, Default)]
pub(crate) struct Params {
    pub(crate) name: Option<String>,
    pub(crate) arguments: Option<Range<u64>>,
    pub(crate) task_id: Option<String>,
    pub(crate) uri: Option<String>,
    pub(crate) is_continued: bool,
    pub(crate) progress_token: Option<Id>,
    /// The revision that a modern request is made in.
    pub(crate) revision: Option<String>,
    /// The revision that `initialize` asks for.
    pub(crate) proposed_revision: Option<String>,
    pub(crate) trace_parent: Option<String>,
    /// What the client calls itself.
    pub(crate) client: Option<String>,
}

/// A result longer than this cannot be a mere acknowledgement, and is not looked into.
const MAX_ACKNOWLEDGEMENT_BYTES: u64 = 64 * 1024;

/// Legacy: how a session opens.
pub(crate) const INITIALIZE: &str = "initialize";
pub(crate) const CANCELLED: &str = "notifications/cancelled";
pub(crate) const PROGRESS: &str = "notifications/progress";
/// Modern: a request that stays open, and hears of changes.
pub(crate) const LISTEN: &str = "subscriptions/listen";
/// Modern: a task's state changed; when it is completed, its result is inside.
pub(crate) const TASK_CHANGED: &str = "notifications/tasks";

pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const TASKS: &str = "io.modelcontextprotocol/tasks";

impl Params {
    pub(crate) fn read(source: Source<'_>, params: Option<&Range<u64>>) -> Self {
        let Some(params) = params else { return Self::default() };
        let keys = [
            "name",
            "arguments",
            "taskId",
            "uri",
            "cursor",
            "clientInfo",
            "protocolVersion",
            "_meta",
        ];
        let [name, arguments, task_id, uri, cursor, client_info, proposed, meta] =
            source.members(params, keys);
        let [progress_token, revision, modern_client_info, trace_parent] =
            meta.map_or([const { None }; 4], |meta| {
                let keys = ["progressToken", PROTOCOL_VERSION, CLIENT_INFO, "traceparent"];
                source.members(&meta.span, keys)
            });
        // Legacy: once, in `initialize`. Modern: in each request.
        let client = client_info.or(modern_client_info).and_then(|info| {
            let [name] = source.members(&info.span, ["name"]);
            text(name?.scalar)
        });
        Self {
            name: name.and_then(|value| text(value.scalar)),
            arguments: arguments.map(|value| value.span),
            task_id: task_id.and_then(|value| text(value.scalar)),
            uri: uri.and_then(|value| text(value.scalar)),
            is_continued: cursor.is_some(),
            progress_token: progress_token.and_then(|value| Id::parse(&value.scalar?)),
            revision: revision.and_then(|value| text(value.scalar)),
            proposed_revision: proposed.and_then(|value| text(value.scalar)),
            trace_parent: trace_parent.and_then(|value| text(value.scalar)),
            client,
        }
    }
}

/// The era that a client's request belongs to, if it shows one.
pub(crate) fn of_request(method: &str, params: &Params) -> Option<Era> {
    match method {
        "initialize" => Some(Era::Legacy),
        "server/discover" => Some(Era::Modern),
        _ if params.revision.is_some() => Some(Era::Modern),
        _ => None,
    }
}

/// The revision that a request shows: each modern one says its own, and `initialize` asks for one.
pub(crate) fn revision_of_request(method: &str, params: &Params) -> Option<String> {
    match method {
        "initialize" => params.proposed_revision.clone(),
        _ => params.revision.clone(),
    }
}

/// The revision that the answer to `initialize` settles.
pub(crate) fn settled_revision(source: Source<'_>, result: &Range<u64>) -> Option<String> {
    let [revision] = source.members(result, ["protocolVersion"]);
    text(revision?.scalar)
}

/// Legacy: true if `initialize` says that the client's own model can be asked.
pub(crate) fn offers_sampling(source: Source<'_>, params: Option<&Range<u64>>) -> bool {
    let Some(params) = params else { return false };
    let [capabilities] = source.members(params, ["capabilities"]);
    let sampling = capabilities.and_then(|it| {
        let [sampling] = source.members(&it.span, ["sampling"]);
        sampling
    });
    // An object has no value of its own, unlike `null` and `false`.
    sampling.is_some_and(|it| it.scalar.is_none())
}

/// What a client's request is for; `task` says which call became a task.
pub(crate) fn purpose(
    method: &str,
    params: Params,
    task: impl Fn(&str) -> Option<Arc<Call>>,
) -> Purpose {
    let origin = |task_id: Option<String>| task(&task_id?);
    match method {
        "initialize" | "server/discover" => Purpose::Handshake,
        "tools/list" => Purpose::ToolList { is_continued: params.is_continued },
        "tools/call" => {
            let Some(called) = params.name.map(Arc::<str>::from) else { return Purpose::Other };
            Purpose::ToolCall { tool: called.clone(), called, arguments: params.arguments }
        }
        "resources/list" => Purpose::Resources(ResourceRequest::List),
        "resources/templates/list" => Purpose::Resources(ResourceRequest::Templates),
        "resources/read" => params.uri.map_or(Purpose::Other, |uri| {
            Purpose::Resources(ResourceRequest::Read { uri: uri.into() })
        }),
        "tasks/result" => {
            origin(params.task_id).map_or(Purpose::Other, |origin| Purpose::TaskResult { origin })
        }
        "tasks/get" => {
            origin(params.task_id).map_or(Purpose::Other, |origin| Purpose::TaskState { origin })
        }
        LISTEN => Purpose::Subscription,
        _ => Purpose::Other,
    }
}

/// What a call says whose arguments name a server's tool: the server, the tool, and where the arguments stand
/// that are for the tool.
pub(crate) fn call_within(
    source: Source<'_>,
    arguments: &Range<u64>,
) -> Option<(String, String, Option<Range<u64>>)> {
    let [server, tool, inner] = source.members(arguments, ["server", "tool", "arguments"]);
    Some((text(server?.scalar)?, text(tool?.scalar)?, inner.map(|value| value.span)))
}

/// Modern: takes out of a request's `_meta` that the client takes a task in the place of a result.
pub(crate) fn without_tasks(meta: &mut Map<String, Value>) {
    let capabilities = meta.get_mut(CLIENT_CAPABILITIES).and_then(Value::as_object_mut);
    let extensions = capabilities.and_then(|it| it.get_mut("extensions")?.as_object_mut());
    if let Some(extensions) = extensions {
        extensions.remove(TASKS);
    }
}

/// Tells a tool's result from an acknowledgement that stands in its place.
pub(crate) fn answer(source: Source<'_>, result: &Range<u64>) -> Answer {
    if result.end - result.start > MAX_ACKNOWLEDGEMENT_BYTES {
        return Answer::Result;
    }
    let [result_type, task_id, task, content] =
        source.members(result, ["resultType", "taskId", "task", "content"]);
    match result_type.and_then(|value| text(value.scalar)).as_deref() {
        Some("input_required") => return Answer::InputRequired,
        Some("task") => {
            return task_id
                .and_then(|value| text(value.scalar))
                .map_or(Answer::Result, Answer::Task);
        }
        _ => {}
    }
    // Legacy: `{"task": {"taskId": …}}`, and no content.
    if let (Some(task), None) = (task, content) {
        let [task_id] = source.members(&task.span, ["taskId"]);
        if let Some(task_id) = task_id.and_then(|value| text(value.scalar)) {
            return Answer::Task(task_id);
        }
    }
    Answer::Result
}

/// Modern: true if the client is to answer something and ask again, however long that is.
pub(crate) fn requires_input(source: Source<'_>, result: &Range<u64>) -> bool {
    let [result_type] = source.members(result, ["resultType"]);
    result_type.and_then(|value| text(value.scalar)).as_deref() == Some("input_required")
}

/// Where the tool's result stands in a modern task's state, once the task is completed.
pub(crate) fn result_in_task(
    source: Source<'_>,
    state: &Range<u64>,
) -> Option<(Option<String>, Range<u64>)> {
    let [task_id, status, result] = source.members(state, ["taskId", "status", "result"]);
    let is_completed =
        status.and_then(|value| text(value.scalar)).is_some_and(|status| status == "completed");
    let result = result.filter(|value| value.scalar.is_none())?;
    is_completed.then(|| (task_id.and_then(|value| text(value.scalar)), result.span))
}

/// Which call a notification of progress is about, and how much is done.
pub(crate) fn progress(source: Source<'_>, params: Option<&Range<u64>>) -> Option<(Id, f64)> {
    let [token, done] = source.members(params?, ["progressToken", "progress"]);
    let done = std::str::from_utf8(&done?.scalar?).ok()?.parse().ok()?;
    Some((Id::parse(&token?.scalar?)?, done))
}

/// Where the id of a subscription stands in `params` or a result.
pub(crate) fn subscription(source: Source<'_>, object: Option<&Range<u64>>) -> Option<scan::Value> {
    let [meta] = source.members(object?, ["_meta"]);
    let [id] = source.members(&meta?.span, [SUBSCRIPTION_ID]);
    id
}

pub(crate) fn text(scalar: Option<Vec<u8>>) -> Option<String> {
    scan::string(&scalar?).map(std::borrow::Cow::into_owned)
}
