//! What is worth telling whoever runs Forebay, one function an event.

use std::{fmt::Display, io};

use forebay_system::signals;
use forebay_wire::syntax::NotJson;

use crate::{router::UpstreamName, session::Call};

pub(crate) fn upstream_started(name: &UpstreamName, pid: u32) {
    tracing::info!(upstream = %name, pid, "upstream started");
}

pub(crate) fn upstream_ended(name: &UpstreamName, how: &str, unanswered: usize) {
    if unanswered == 0 {
        tracing::info!(upstream = %name, "upstream {how}");
    } else {
        tracing::warn!(upstream = %name, unanswered, "upstream {how}; answered its calls with an error");
    }
}

pub(crate) fn upstream_signalled(name: &UpstreamName, signal: i32, why: &str) {
    let signal = signals::name(signal);
    tracing::info!(upstream = %name, "sent upstream {signal}: {why}");
}

pub(crate) fn session_renewed(name: &UpstreamName) {
    tracing::info!(upstream = %name, "upstream has forgotten the session; opened another one");
}

pub(crate) fn not_delivered(name: &UpstreamName, why: &str) {
    tracing::warn!(upstream = %name, "a message that needs no answer was not delivered: {why}");
}

/// Told once a session: each request has the reason in its error.
pub(crate) fn upstream_not_reached(name: &UpstreamName, why: &str) {
    tracing::warn!(upstream = %name, "{why}; answered with an error");
}

pub(crate) fn upstream_not_heard(name: &UpstreamName, why: &str) {
    tracing::debug!(upstream = %name, "cannot listen to upstream: {why}");
}

pub(crate) fn guard_missing(error: &io::Error) {
    tracing::info!(%error, "no `sh` to watch over the upstream's own children");
}

pub(crate) fn call_forwarded(call: &Call) {
    tracing::debug!(method = call.method, tool = call.tool(), upstream = %call.upstream, id = call.id.as_json(), "call");
}

/// A peer that logs to its output must not fill ours: past this many, such lines are for debugging.
const MANY: u64 = 10;

pub(crate) fn client_line_is_not_json(error: &NotJson, before: u64) {
    if before < MANY {
        tracing::warn!(%error, "client sent a line that is not JSON; answered with a parse error");
    } else {
        tracing::debug!(%error, "client sent another line that is not JSON");
    }
}

pub(crate) fn upstream_line_is_not_json(name: &UpstreamName, bytes: u64, before: u64) {
    if before < MANY {
        tracing::warn!(upstream = %name, bytes, "upstream sent a line that is not JSON; passed on unchanged");
    } else {
        tracing::debug!(upstream = %name, bytes, "upstream sent another line that is not JSON");
    }
}

pub(crate) fn line_cannot_be_held(error: &io::Error) {
    tracing::warn!(%error, "cannot spool a large message to disk; passed on unread");
}

pub(crate) fn answer_cannot_be_held(error: &io::Error) {
    tracing::warn!(%error, "cannot spool a large message to disk; answered with an error");
}

pub(crate) fn client_does_not_read(name: &UpstreamName, method: Option<&str>) {
    tracing::warn!(
        upstream = %name,
        method,
        "a client does not read; dropped what upstream says besides the answer"
    );
}

pub(crate) fn hook_failed(interceptor: &str, hook: &str, call: &Call, why: &dyn Display) {
    tracing::warn!(
        interceptor,
        hook,
        method = call.method,
        tool = call.tool(),
        "{why}; passed on unchanged"
    );
}

pub(crate) fn own_call_failed(interceptor: &str, call: &Call, why: &dyn Display) {
    tracing::warn!(interceptor, tool = call.tool(), "{why}; answered with an error");
}

pub(crate) fn recording_stopped(error: &io::Error) {
    tracing::warn!(%error, "cannot write the recording; the session goes on without it");
}
