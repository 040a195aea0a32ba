//! What all connections share, and what a request is answered with.

use std::{
    collections::BTreeSet,
    io,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use forebay_wire::Id;
use serde_json::{Value, json};

use crate::{
    call::Call,
    gates::Gates,
    json::{self, Json},
    listeners::Listeners,
    offers,
    paged::{self, Fetches},
    receiving,
    request::{Era, Params, Request, text},
    tasks::Tasks,
    tools,
};

pub(crate) const MODERN_REVISION: &str = "2026-07-28";
pub(crate) const LEGACY_REVISIONS: [&str; 4] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const UNSUPPORTED_REVISION: i32 = -32022;

/// See the module.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) gates: Gates,
    pub(crate) tasks: Tasks,
    pub(crate) listeners: Listeners,
    /// The only era that is known, if it is but one.
    era: Option<Era>,
    /// There are prompts and resources.
    is_rich: bool,
    /// There are tools that give pages.
    is_paged: bool,
    pub(crate) fetches: Fetches,
    /// The resources whose changes a legacy client wants to hear of.
    watched: Mutex<BTreeSet<String>>,
    cancelled: AtomicU64,
    /// There are tools that tell what they were given.
    pub(crate) receives: bool,
    /// How often these were called.
    pub(crate) received: AtomicU64,
    more_tools: AtomicU64,
}

/// What becomes of a request.
pub(crate) enum Answer {
    Now(Json),
    Call(Call),
    /// It is answered with notifications of what this names.
    Listen(Value),
    Refused {
        code: i32,
        response: Json,
    },
}

impl World {
    pub(crate) fn new(era: Option<Era>, is_rich: bool) -> Self {
        Self { era, is_rich, ..Self::default() }
    }

    /// The same with tools that give pages.
    pub(crate) fn with_pages(self) -> Self {
        Self { is_paged: true, ..self }
    }

    /// A message longer than this is answered with its length.
    pub(crate) fn longest(&self) -> usize {
        if self.receives { 1 << 24 } else { 1 << 16 }
    }

    /// The era that a request is of. To who knows the legacy one only, `_meta` says nothing about it.
    pub(crate) fn era_of(&self, method: &str, params: &Params<'_>) -> Era {
        match self.era {
            _ if method == "server/discover" => Era::Modern,
            Some(Era::Legacy) => Era::Legacy,
            Some(Era::Modern) | None => params.era(),
        }
    }

    /// Says what a request is answered with.
    pub(crate) fn answer(&self, request: &Request<'_>) -> io::Result<Answer> {
        let Request { id, method, params, era } = request;
        if self.era.is_some_and(|only| only != *era) {
            return Ok(refused(id, METHOD_NOT_FOUND, "Method not found", None));
        }
        if let Some(revision) = params.revision
            && text(Some(revision)) != MODERN_REVISION
        {
            let supported = [&[MODERN_REVISION][..], &LEGACY_REVISIONS].concat();
            let data = json!({"supported": supported, "requested": text(Some(revision))});
            let message = "Unsupported protocol version";
            return Ok(refused(id, UNSUPPORTED_REVISION, message, Some(&data)));
        }
        let result = |members: &str| {
            let result = format!("{}{members}}}", era.result_head());
            Ok(Answer::Now(json::response(id, Json::whole(result))))
        };
        match (*method, *era) {
            ("initialize", _) => {
                let asked = text(params.opening_revision);
                let revision = LEGACY_REVISIONS.into_iter().find(|known| *known == asked);
                let revision = revision.unwrap_or("2025-11-25");
                let more = if self.is_rich { offers::LEGACY } else { "" };
                result(&format!(
                    r#""protocolVersion":"{revision}","capabilities":{{"tools":{{}}{more}}},"serverInfo":{{"name":"fixture","version":"1"}}"#
                ))
            }
            ("server/discover", Era::Modern) => {
                let more = if self.is_rich { offers::MODERN } else { "" };
                result(&format!(
                    r#""supportedVersions":["{MODERN_REVISION}"],"capabilities":{{"tools":{{"listChanged":true}}{more},"extensions":{{"io.modelcontextprotocol/tasks":{{}}}}}},"ttlMs":3600000,"cacheScope":"public","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"fixture","version":"1"}}}}"#
                ))
            }
            ("resources/subscribe" | "resources/unsubscribe", Era::Legacy) => {
                self.watch(&text(params.uri), *method == "resources/subscribe");
                result("")
            }
            (method, _) if self.is_rich && offers::has(method) => result(&offers::answer(request)),
            ("tools/list", era) => {
                let mut others = if self.is_paged { paged::list() } else { String::new() };
                others.push_str(if self.receives { receiving::TOOLS } else { "" });
                result(&tools::list(era, self.more_tools.load(Ordering::Relaxed), &others))
            }
            ("tools/call", _) => Ok(Answer::Call(tools::call(request, self)?)),
            ("tasks/get" | "tasks/result" | "tasks/cancel", _) => Ok(self.about_task(request)),
            ("subscriptions/listen", Era::Modern) => {
                let filter = serde_json::from_slice(params.notifications.unwrap_or(b"{}"));
                Ok(Answer::Listen(filter.unwrap_or_default()))
            }
            (_, Era::Legacy) => Ok(Answer::Now(json::response(id, Json::whole(&b"{}"[..])))),
            (_, Era::Modern) => Ok(refused(id, METHOD_NOT_FOUND, "Method not found", None)),
        }
    }

    /// The list of tools has so many more from now on, and whoever listens is told.
    pub(crate) fn grow(&self, count: u64) {
        self.more_tools.fetch_add(count, Ordering::Relaxed);
        self.listeners.announce("tools");
    }

    /// Says that `what` has changed to those who want to know. Who has resources and knows the legacy era only
    /// tells of those that it was asked to watch.
    pub(crate) fn announce(&self, what: &str) {
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let is_picky = self.is_rich && self.era == Some(Era::Legacy);
        if !is_picky || !what.contains("://") || watched.contains(what) {
            self.listeners.announce(what);
        }
    }

    fn watch(&self, uri: &str, is_wanted: bool) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if is_wanted {
            watched.insert(uri.to_owned());
        } else {
            watched.remove(uri);
        }
    }

    /// Lets go what waits under that name.
    pub(crate) fn release(&self, name: &str) {
        self.gates.release(name);
        for id in self.tasks.held_by(name) {
            if let Some(task) = self.tasks.get(&id) {
                self.listeners.task_changed(&id, &task.state(&self.gates));
            }
        }
    }

    pub(crate) fn count_cancellation(&self) {
        self.cancelled.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn cancellations(&self) -> u64 {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn about_task(&self, request: &Request<'_>) -> Answer {
        let id = text(request.params.task_id);
        let Some(task) = self.tasks.get(&id) else {
            return refused(request.id, INVALID_PARAMS, "no such task", None);
        };
        if request.method == "tasks/result" {
            return Answer::Call(Call { hold: task.hold.clone(), ..Call::giving(task.result()) });
        }
        if request.method == "tasks/cancel" {
            self.tasks.cancel(&id);
        }
        let state = self.tasks.get(&id).unwrap_or(task).state(&self.gates);
        let result = match request.era {
            Era::Legacy => state,
            Era::Modern => state.with_member(r#""resultType":"complete""#),
        };
        Answer::Now(json::response(request.id, result))
    }
}

fn refused(id: &Id, code: i32, message: &str, data: Option<&Value>) -> Answer {
    Answer::Refused { code, response: json::error(Some(id), code, message, data) }
}
