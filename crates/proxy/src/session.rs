//! Hop 2: what each message is about. A state machine without I/O.
//!
//! The session follows a conversation in both directions and says of each message whether it is to
//! be forwarded unread or is one that interceptors may look at. The two directions have separate
//! ids: a client's call 1 and an upstream's question 1 do not meet.

mod cancellation;
mod era;
mod roots;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    hash::{BuildHasher, Hasher, RandomState},
    mem,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use forebay_wire::{Envelope, Id, Kind};

pub(crate) use self::cancellation::Cancellation;
pub use self::era::Era;
use self::era::{Answer, Params};
pub(crate) use self::era::{CANCELLED, PROTOCOL_VERSION};
use crate::{arguments::Arguments, body::Source, router::UpstreamName};

/// Tasks whose result may still come, at most; the oldest ones are forgotten first.
const MAX_TASKS: usize = 1_000;

/// A conversation between one client and its upstream.
#[derive(Debug)]
pub struct Session {
    upstream: UpstreamName,
    /// What tells this session from all others, on this machine and at any time.
    id: Arc<str>,
    era: Era,
    /// What the client calls itself, once it has said so.
    client: Option<Arc<str>>,
    /// The first of the client's roots, once it has told an upstream that asked.
    root: Option<Arc<str>>,
    /// The upstream's question for the client's roots.
    roots_asked: Option<Id>,
    /// The client's requests that await an answer.
    calls: HashMap<Id, Arc<Call>>,
    /// Those that the interceptors have and the upstream has not seen, by number.
    held: HashSet<u64>,
    /// The upstream's requests (sampling, elicitation, roots …) that the client has not answered.
    questions: HashSet<Id>,
    /// The calls that became tasks; other conversations may ask for their results.
    tasks: Arc<Mutex<Tasks>>,
    /// Why no call can be delivered any more.
    refusal: Option<String>,
    /// Nobody reads answers any more.
    is_client_gone: bool,
    /// How many requests the client has made.
    asked: u64,
}

/// The calls that became tasks, by the task's id, and in the order they did.
#[derive(Debug, Default)]
struct Tasks {
    calls: HashMap<String, Arc<Call>>,
    order: VecDeque<String>,
}

/// A request of the client's.
#[derive(Debug)]
pub struct Call {
    /// Its id.
    pub id: Id,
    /// Its method.
    pub method: String,
    /// What it is for.
    pub purpose: Purpose,
    /// The upstream that it goes to.
    pub upstream: UpstreamName,
    /// The era it was made in.
    pub era: Era,
    /// What the client calls itself, if it has said so.
    pub client: Option<Arc<str>>,
    /// The session that it belongs to. Clients that have none, in the modern era over HTTP, are told
    /// apart by what they call themselves.
    pub session: Arc<str>,
    /// The directory, or other place, that the client works in, if it has told.
    pub root: Option<Arc<str>>,
    /// The token under which the client expects progress.
    pub progress_token: Option<Id>,
    /// What it was called with, if an interceptor wants to know when the result comes.
    arguments: OnceLock<Arguments>,
    /// Which of the session's requests this is.
    number: u64,
    cancellation: Cancellation,
}

/// What a request is for, as far as a proxy cares.
#[derive(Debug, Clone)]
pub enum Purpose {
    /// `initialize` or `server/discover`.
    Handshake,
    /// `tools/list`.
    ToolList {
        /// A later page than the first.
        is_continued: bool,
    },
    /// `tools/call`.
    ToolCall {
        /// The tool's name.
        tool: Arc<str>,
    },
    /// Legacy `tasks/result`.
    TaskResult {
        /// The tool call that became the task.
        origin: Arc<Call>,
    },
    /// `tasks/get`; in the modern era a completed task's result is inside.
    TaskState {
        /// The tool call that became the task.
        origin: Arc<Call>,
    },
    /// Modern `subscriptions/listen`, which is answered when it ends.
    Subscription,
    /// Anything else.
    Other,
}

/// What to do with a client's message.
#[derive(Debug, Clone)]
pub enum FromClient {
    /// Send it on as it came.
    Forward,
    /// A tool call: ask the chain first.
    ToolCall(Arc<Call>),
    /// It cancels this call.
    Cancel {
        /// The call, which is over.
        call: Arc<Call>,
        /// The interceptors have it, and the upstream has never seen it.
        is_held: bool,
    },
    /// It cannot be delivered: answer that request with this reason.
    Refuse(Id, String),
}

/// What to do with an upstream's message.
#[derive(Debug, Clone)]
pub enum FromUpstream {
    /// Send it on as it came.
    Forward,
    /// It holds something the chain may look at.
    Inspect(Subject),
}

/// A part of an upstream's message that the chain may replace.
#[derive(Debug, Clone)]
pub struct Subject {
    /// What it is.
    pub kind: SubjectKind,
    /// The call that it answers; for a task's result, the one that started the task.
    pub call: Arc<Call>,
    /// Where it stands in the line.
    pub span: Range<u64>,
}

/// What a [`Subject`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectKind {
    /// A tool's result.
    Result,
    /// A page of the list of tools.
    ToolList,
    /// The result of `initialize` or `server/discover`.
    Handshake,
}

impl Session {
    /// A session in which nothing has been said.
    pub fn new(upstream: UpstreamName) -> Self {
        Self {
            upstream,
            id: new_id(),
            era: Era::Unknown,
            client: None,
            root: None,
            roots_asked: None,
            calls: HashMap::new(),
            held: HashSet::new(),
            questions: HashSet::new(),
            tasks: Arc::default(),
            refusal: None,
            is_client_gone: false,
            asked: 0,
        }
    }

    /// Another conversation with the same upstream: over HTTP a client may have one for each
    /// request, and a task that was started in one is asked for in the next.
    #[must_use]
    pub fn beside(&self) -> Self {
        Self { tasks: self.tasks.clone(), id: self.id.clone(), ..Self::new(self.upstream.clone()) }
    }

    /// What tells this session from all others.
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// The era that the client speaks.
    pub fn era(&self) -> Era {
        self.era
    }

    /// How many of the client's calls await an answer.
    pub fn pending(&self) -> usize {
        self.calls.len()
    }

    /// True if the client awaits an answer; a subscription, which stays open, is none.
    pub fn is_awaited(&self) -> bool {
        self.calls.values().any(|call| !call.is_subscription())
    }

    /// True once the client has made a request.
    pub fn has_been_asked(&self) -> bool {
        self.asked > 0
    }

    /// Takes note of a message from the client.
    pub fn client_sent(&mut self, envelope: &Envelope, source: Source<'_>) -> FromClient {
        match envelope.kind() {
            Kind::Request { id, method } => self.client_asks(id, method, envelope, source),
            Kind::Notification { method: era::CANCELLED } => {
                let call =
                    cancelled_request(envelope, source).and_then(|id| self.calls.remove(&id));
                call.map_or(FromClient::Forward, |call| {
                    let is_held = self.held.remove(&call.number);
                    FromClient::Cancel { call, is_held }
                })
            }
            Kind::Response { id } => {
                self.questions.remove(id);
                if self.roots_asked.as_ref() == Some(id) {
                    self.roots_asked = None;
                    let told = envelope.result.as_ref();
                    self.root =
                        told.and_then(|result| roots::first(source, result)).or(self.root.take());
                }
                FromClient::Forward
            }
            Kind::Notification { .. } | Kind::Other => FromClient::Forward,
        }
    }

    /// Takes note of a message from the upstream.
    pub fn upstream_sent(&mut self, envelope: &Envelope, source: Source<'_>) -> FromUpstream {
        match envelope.kind() {
            Kind::Request { id, method } => {
                self.questions.insert(id.clone());
                if method == roots::LIST {
                    self.roots_asked = Some(id.clone());
                }
                FromUpstream::Forward
            }
            Kind::Notification { method: era::CANCELLED } => {
                if let Some(id) = cancelled_request(envelope, source)
                    && !self.questions.remove(&id)
                    && self.calls.get(&id).is_some_and(|call| call.is_subscription())
                {
                    // Modern: the upstream ends a subscription, which gets no other answer.
                    self.calls.remove(&id);
                }
                FromUpstream::Forward
            }
            Kind::Notification { method: era::TASK_CHANGED } => envelope
                .params
                .as_ref()
                .and_then(|state| era::result_in_task(source, state))
                .and_then(|(task_id, span)| {
                    let call = self.task(&task_id?)?;
                    Some(Subject { kind: SubjectKind::Result, call, span })
                })
                .map_or(FromUpstream::Forward, FromUpstream::Inspect),
            Kind::Response { id } => match self.calls.remove(id) {
                Some(call) => self.upstream_answers(call, envelope, source),
                None => FromUpstream::Forward,
            },
            Kind::Notification { .. } | Kind::Other => FromUpstream::Forward,
        }
    }

    /// Notes that the interceptors have a call before the upstream.
    pub fn hold(&mut self, call: &Call) {
        if self.is_client_gone {
            call.cancel();
        } else {
            self.held.insert(call.number);
        }
    }

    /// Notes that a held call goes to the upstream; `false` if nobody waits for it any more.
    pub fn release(&mut self, call: &Call) -> bool {
        self.held.remove(&call.number)
    }

    /// Notes that a held call is answered; `false` if nobody waits for it any more.
    pub fn settle(&mut self, call: &Call) -> bool {
        self.held.remove(&call.number) && self.calls.remove(&call.id).is_some()
    }

    /// The client is gone: returns the held calls, for which nobody waits any more.
    pub fn client_is_gone(&mut self) -> Vec<Arc<Call>> {
        self.is_client_gone = true;
        let held = mem::take(&mut self.held);
        self.calls.extract_if(|_, call| held.contains(&call.number)).map(|(_, call)| call).collect()
    }

    /// From now on the upstream knows this call as `alias`; to the client it keeps its id.
    pub fn rename(&mut self, id: &Id, alias: Id) {
        if let Some(call) = self.calls.remove(id) {
            self.calls.insert(alias, call);
        }
    }

    /// True if the client waits for the answer to this call, which is not one that stays open.
    pub fn awaits(&self, id: &Id) -> bool {
        self.calls.get(id).is_some_and(|call| !call.is_subscription())
    }

    /// Nobody will answer this call any more; `false` if nobody waits for it.
    pub fn forget(&mut self, id: &Id) -> bool {
        self.calls.remove(id).is_some_and(|call| {
            self.held.remove(&call.number);
            true
        })
    }

    /// From now on every request is refused with `reason`.
    pub fn refuse(&mut self, reason: String) {
        self.refusal = Some(reason);
    }

    /// The upstream is gone: refuses what comes, and returns the calls it left unanswered, in the
    /// order in which they were made.
    pub fn abandon(&mut self, reason: String) -> Vec<Arc<Call>> {
        self.refuse(reason);
        self.questions.clear();
        self.held.clear();
        let mut calls: Vec<Arc<Call>> = self.calls.drain().map(|(_, call)| call).collect();
        calls.sort_by_key(|call| call.number);
        calls
    }

    fn client_asks(
        &mut self,
        id: &Id,
        method: &str,
        envelope: &Envelope,
        source: Source<'_>,
    ) -> FromClient {
        self.asked += 1;
        if let Some(reason) = &self.refusal {
            return FromClient::Refuse(id.clone(), reason.clone());
        }
        let params = Params::read(source, envelope.params.as_ref());
        if let Some(era) = era::of_request(method, &params) {
            self.era = era;
        }
        if let Some(name) = &params.client
            && self.client.as_deref() != Some(name)
        {
            self.client = Some(name.as_str().into());
        }
        let call = Arc::new(Call {
            id: id.clone(),
            method: method.to_owned(),
            upstream: self.upstream.clone(),
            era: self.era,
            client: self.client.clone(),
            session: self.session_of(self.client.as_deref()),
            root: self.root.clone(),
            progress_token: params.progress_token.clone(),
            arguments: OnceLock::new(),
            purpose: era::purpose(self, method, params),
            number: self.asked,
            cancellation: Cancellation::default(),
        });
        self.calls.insert(id.clone(), call.clone());
        match call.purpose {
            Purpose::ToolCall { .. } => FromClient::ToolCall(call),
            Purpose::Handshake
            | Purpose::ToolList { .. }
            | Purpose::TaskResult { .. }
            | Purpose::TaskState { .. }
            | Purpose::Subscription
            | Purpose::Other => FromClient::Forward,
        }
    }

    /// The session of a call by a client of that name.
    fn session_of(&self, client: Option<&str>) -> Arc<str> {
        match (self.era, client) {
            (Era::Modern, Some(client)) => format!("{}/{client}", self.id).into(),
            (Era::Unknown | Era::Legacy, _) | (Era::Modern, None) => self.id.clone(),
        }
    }

    fn upstream_answers(
        &mut self,
        call: Arc<Call>,
        envelope: &Envelope,
        source: Source<'_>,
    ) -> FromUpstream {
        let Some(result) = envelope.result.clone() else { return FromUpstream::Forward };
        let (kind, call, span) = match &call.purpose {
            Purpose::Handshake => (SubjectKind::Handshake, call, result),
            Purpose::ToolList { .. } => (SubjectKind::ToolList, call, result),
            Purpose::ToolCall { .. } => match era::answer(source, &result) {
                Answer::Result => (SubjectKind::Result, call, result),
                Answer::Task(task_id) => {
                    self.remember_task(task_id, call);
                    return FromUpstream::Forward;
                }
                Answer::InputRequired => return FromUpstream::Forward,
            },
            Purpose::TaskResult { origin } => (SubjectKind::Result, origin.clone(), result),
            Purpose::TaskState { origin } => match era::result_in_task(source, &result) {
                Some((_, span)) => (SubjectKind::Result, origin.clone(), span),
                None => return FromUpstream::Forward,
            },
            Purpose::Subscription | Purpose::Other => return FromUpstream::Forward,
        };
        FromUpstream::Inspect(Subject { kind, call, span })
    }

    /// The call that became this task.
    fn task(&self, task_id: &str) -> Option<Arc<Call>> {
        self.tasks().calls.get(task_id).cloned()
    }

    fn remember_task(&self, task_id: String, call: Arc<Call>) {
        let mut tasks = self.tasks();
        if tasks.calls.insert(task_id.clone(), call).is_none() {
            tasks.order.push_back(task_id);
        }
        if tasks.order.len() > MAX_TASKS
            && let Some(oldest) = tasks.order.pop_front()
        {
            tasks.calls.remove(&oldest);
        }
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    /// The tool that is called, if one is.
    pub fn tool(&self) -> Option<&str> {
        match &self.purpose {
            Purpose::ToolCall { tool } => Some(tool),
            Purpose::TaskResult { origin } | Purpose::TaskState { origin } => origin.tool(),
            Purpose::Handshake
            | Purpose::ToolList { .. }
            | Purpose::Subscription
            | Purpose::Other => None,
        }
    }

    /// The arguments of a tool call, if it has any and they are remembered.
    pub fn arguments(&self) -> Option<&Arguments> {
        self.arguments.get()
    }

    /// Remembers what a tool is called with, until the call is over.
    pub(crate) fn remember(&self, arguments: Arguments) {
        // A call has one set of arguments: there is nothing to forget.
        let _ = self.arguments.set(arguments);
    }

    fn is_subscription(&self) -> bool {
        matches!(self.purpose, Purpose::Subscription)
    }

    /// Says that nobody waits for the answer any more; whoever works on it hears it at once.
    pub(crate) fn cancel(&self) {
        self.cancellation.give();
    }

    pub(crate) fn on_cancel(&self, hearer: impl FnOnce() + Send + 'static) {
        self.cancellation.on_given(hearer);
    }

    pub(crate) fn forget_hearers(&self) {
        self.cancellation.forget_hearers();
    }
}

/// An id that no other session has.
fn new_id() -> Arc<str> {
    // The hasher's keys are random, and differ from one to the next.
    format!("{:016x}", RandomState::new().build_hasher().finish()).into()
}

/// The request that `notifications/cancelled` is about.
pub(crate) fn cancelled_request(envelope: &Envelope, source: Source<'_>) -> Option<Id> {
    let [id] = source.members(envelope.params.as_ref()?, ["requestId"]);
    Id::parse(&id?.scalar?)
}

#[cfg(test)]
mod tests;
