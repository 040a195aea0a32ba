//! Calls that a hook makes: a tool of an upstream's, called in the client's own session and through the
//! interceptors behind the hook.
//!
//! To the upstream such a call is one of the client's, under an id that no client has. What is said of it goes
//! to the hook and not to the client.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use forebay_wire::{
    Envelope, Id, reply,
    scan::{Object, Outline, Value as Scanned},
};
use parking_lot::Mutex;
use serde_json::{Map, Value};
use thiserror::Error;

use super::{
    AskingAboutAnswer, AskingAboutCall, CallVerdict, Chain, Moment, Params, Sampling, ToClient,
};
use crate::{
    arguments::Arguments,
    body::{Body, Message, Payload, Source},
    protocol::{
        Call, Cancellation, LastProgress, Notes, Purpose,
        methods::{self, Answer},
    },
    router::Router,
    session::SubjectKind,
    telemetry::Outcome,
    threads,
};

/// A way to the upstream for the calls that hooks make.
pub trait ToUpstream: Send + Sync {
    /// Sends a request. Whatever the upstream says of it is given to the inner call; so is that it cannot be
    /// sent, or answered. May block while the upstream does not read.
    fn ask(&self, request: Message, inner: &Arc<InnerCall>);

    /// Tells the upstream that nobody waits any more for the answer to the request with that id.
    fn cancel(&self, id: &Id);
}

/// The ways from a hook to both sides, besides its verdict.
#[derive(Clone)]
pub struct Ways {
    /// To the client.
    pub client: Arc<dyn ToClient>,
    /// To the upstream.
    pub upstream: Arc<dyn ToUpstream>,
    /// To the client's session, for what belongs to no request of its; `None` if it has none.
    pub session: Option<Weak<dyn ToClient>>,
    /// To the client's own model, where the client offers it; the relay sees to that.
    pub sampling: Option<Sampling>,
}

impl Ways {
    /// The ways from a hook that looks at an answer, which makes no calls.
    pub fn back_to(client: Arc<dyn ToClient>) -> Self {
        Self { client, upstream: Arc::new(Nowhere), session: None, sampling: None }
    }
}

/// No upstream can be asked.
struct Nowhere;

impl ToUpstream for Nowhere {
    fn ask(&self, _: Message, inner: &Arc<InnerCall>) {
        inner.fail(CallFailure::Gone("no upstream can be asked here".to_owned()));
    }

    fn cancel(&self, _: &Id) {}
}

/// Why a hook's call has no result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CallFailure {
    /// The upstream answered with an error.
    #[error("{0}")]
    Refused(Refusal),
    /// The upstream is gone, or cannot be reached.
    #[error("{0}")]
    Gone(String),
    /// The tool asks the client something first, which a hook cannot answer.
    #[error(
        "it asks for input first, which only a call of its own can give: call the tool directly"
    )]
    NeedsInput,
    /// The tool has made a task of it, whose result a hook cannot ask for. It was not asked to.
    #[error(
        "it has become a task of the server's, which goes on, and whose result only a call of its own can get: \
         call the tool directly"
    )]
    Task,
    /// Nobody waits for it any more.
    #[error("it was cancelled")]
    Cancelled,
}

/// An error of the protocol in the place of a result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message} (error {code})")]
pub struct Refusal {
    /// Its code.
    pub code: i32,
    /// What it says.
    pub message: String,
    /// What else it says, as JSON on one line.
    pub data: Option<String>,
}

impl Refusal {
    /// The response to a request that is refused, one line.
    pub(crate) fn answer_to(&self, id: &Id) -> Vec<u8> {
        let Self { code, message, data } = self;
        match data {
            Some(data) => reply::error_with_data(Some(id), *code, message, data),
            None => reply::error(Some(id), *code, message),
        }
    }
}

/// A call for the client that its hook may leave behind. Dropped, it goes on.
#[derive(Clone, Default)]
pub struct OfClient(Arc<UnderWay>);

impl OfClient {
    pub(super) fn under_way(&self) -> &Arc<UnderWay> {
        &self.0
    }

    /// Ends it, unless it is over: nobody waits for the result any more.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

/// For whom a hook calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behalf {
    /// For itself: the client sees nothing of the result.
    Hook,
    /// For the client, which gets the result.
    Client,
}

/// A call of a hook's that is under way.
pub struct InnerCall {
    call: Arc<Call>,
    origin: Arc<Origin>,
    under_way: Weak<UnderWay>,
    on_progress: Box<OnProgress>,
    /// Whoever waits; `None` once it is over.
    then: Mutex<Option<Then>>,
}

/// Hears how far a call is: what is done, of how much, and what is being done.
pub(super) type OnProgress = dyn Fn(f64, Option<f64>, &str) + Send + Sync;
type Then = Box<dyn FnOnce(&Arc<Call>, Result<Payload, CallFailure>) + Send>;

/// Where the calls of a hook set out from.
pub(super) struct Origin {
    pub(super) chain: Arc<Chain>,
    /// The hook's place in the chain: those behind it see its calls.
    pub(super) place: usize,
    /// The call that the hook is asked about.
    pub(super) call: Arc<Call>,
    pub(super) params: Payload,
    pub(super) ways: Ways,
    pub(super) router: Router,
    /// What the client says with its call besides: the same is said with each of the hook's.
    pub(super) meta: OnceLock<Map<String, Value>>,
}

/// The calls of a hook that are under way, by the ids that upstreams know.
#[derive(Default)]
pub(super) struct UnderWay(Mutex<HashMap<Id, Arc<InnerCall>>>);

impl UnderWay {
    /// Nobody waits for any of them any more.
    pub(super) fn cancel(&self) {
        let all: Vec<Arc<InnerCall>> = self.0.lock().drain().map(|(_, inner)| inner).collect();
        for inner in all {
            inner.cancel();
        }
    }
}

/// What is asked of the upstream.
pub(super) enum Request<'r> {
    /// A tool, by the name that clients have for it, with its arguments as JSON.
    ToolCall { called: &'r str, arguments: &'r [u8] },
    /// A page of the list of tools.
    ToolList { cursor: Option<&'r str> },
    /// What the client itself asks.
    Same,
}

impl Origin {
    /// Asks the upstream. `then` gets the answer, on whichever thread has it.
    pub(super) fn ask(
        self: &Arc<Self>,
        request: &Request<'_>,
        behalf: Behalf,
        under_way: &Arc<UnderWay>,
        on_progress: Box<OnProgress>,
        then: Then,
    ) {
        let Some(id) = self.new_id() else {
            return then(&self.call, Err(CallFailure::Cancelled));
        };
        let params = self.params_of(request, behalf, &id);
        let call = self.inner_call(id.clone(), request, behalf);
        if let (Request::ToolCall { arguments, .. }, Behalf::Client) = (request, behalf)
            && self.chain.remembers(&call)
            && let Some(remembered) =
                Arguments::read(Source::Line(arguments), &(0..arguments.len() as u64))
        {
            call.remember(remembered);
        }
        let inner = Arc::new(InnerCall {
            call: Arc::new(call),
            origin: self.clone(),
            under_way: Arc::downgrade(under_way),
            on_progress,
            then: Mutex::new(Some(then)),
        });
        under_way.0.lock().insert(id, inner.clone());
        let is_watched = self.chain.stages[self.place + 1..]
            .iter()
            .any(|stage| stage.watches(&Moment::Call(&inner.call, &Params::from(&params))));
        if !is_watched {
            return inner.send(params);
        }
        // A hook may take its time.
        threads::run(move || {
            let Origin { chain, ways, router, place, .. } = &*inner.origin;
            let asking = AskingAboutCall {
                chain: chain.clone(),
                call: inner.call.clone(),
                params: params.clone(),
                ways: ways.clone(),
                router: router.clone(),
                is_new: false,
            };
            let first = place + 1;
            asking.go_on(
                first,
                Box::new(move |verdict| match verdict {
                    Some(CallVerdict::Forward) => inner.send(params),
                    Some(CallVerdict::Rewrite(json)) => inner.send(json.into()),
                    Some(CallVerdict::Answer(json) | CallVerdict::Result(json)) => {
                        inner.finish(Ok(json.into()));
                    }
                    Some(CallVerdict::Refuse(refusal)) => {
                        inner.fail(CallFailure::Refused(refusal));
                    }
                    None => inner.fail(CallFailure::Cancelled),
                }),
            );
        });
    }

    /// An id that no client and no other session has.
    fn new_id(&self) -> Option<Id> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let text = Value::from(format!("forebay-{}-{number}", self.call.session));
        Id::parse(text.to_string().as_bytes())
    }

    /// The request's `params`. What the client says with each of its requests is said with ours, too.
    fn params_of(&self, request: &Request<'_>, behalf: Behalf, id: &Id) -> Payload {
        if matches!(request, Request::Same) && self.params.bytes() > 0 {
            return self.params.clone();
        }
        let mut meta = self.meta.get_or_init(|| self.read_meta().unwrap_or_default()).clone();
        meta.remove("progressToken");
        // A hook works on the result itself; and if a call for the client is to be a task, or what is like one, it is
        // the hook that makes it.
        methods::without_tasks(&mut meta);
        if self.call.progress_token.is_some() || behalf == Behalf::Client {
            let token = serde_json::from_str(id.as_json()).unwrap_or_default();
            meta.insert("progressToken".to_owned(), token);
        }
        let meta = if meta.is_empty() {
            String::new()
        } else {
            format!(r#","_meta":{}"#, Value::Object(meta))
        };
        match request {
            Request::ToolCall { called, arguments } => {
                let head = format!(r#"{{"name":{},"arguments":"#, Value::from(*called));
                [head.as_bytes(), arguments, meta.as_bytes(), b"}"].concat().into()
            }
            Request::ToolList { cursor: Some(cursor) } => {
                format!(r#"{{"cursor":{}{meta}}}"#, Value::from(*cursor)).into_bytes().into()
            }
            Request::ToolList { cursor: None } | Request::Same => {
                format!("{{{}}}", meta.trim_start_matches(',')).into_bytes().into()
            }
        }
    }

    fn read_meta(&self) -> Option<Map<String, Value>> {
        let Outline::Object(Object { members: [meta], .. }) =
            self.params.outline(["_meta"]).ok()?
        else {
            return None;
        };
        serde_json::from_reader(self.params.part(&meta?.span).reader()).ok()
    }

    fn inner_call(&self, id: Id, request: &Request<'_>, behalf: Behalf) -> Call {
        let (method, purpose, upstream) = match request {
            Request::ToolCall { called, .. } => {
                let (upstream, tool) = self.router.tool(called);
                let purpose = Purpose::ToolCall { tool, called: (*called).into(), arguments: None };
                ("tools/call", purpose, upstream)
            }
            Request::ToolList { cursor } => {
                let purpose = Purpose::ToolList { is_continued: cursor.is_some() };
                ("tools/list", purpose, self.router.whole().clone())
            }
            Request::Same => {
                let Call { method, purpose, upstream, .. } = &*self.call;
                (method.as_str(), purpose.clone(), upstream.clone())
            }
        };
        let outer = &self.call;
        Call {
            id,
            method: method.to_owned(),
            purpose,
            principal: outer.principal.clone(),
            upstream,
            era: outer.era,
            revision: outer.revision.clone(),
            client: outer.client.clone(),
            session: outer.session.clone(),
            root: outer.root.clone(),
            progress_token: outer.progress_token.clone(),
            trace_parent: outer.trace_parent.clone(),
            asked_at: Instant::now(),
            arguments: OnceLock::new(),
            notes: Notes::default(),
            number: outer.number,
            is_inner: behalf == Behalf::Hook,
            progress: LastProgress::default(),
            cancellation: Cancellation::default(),
        }
    }
}

impl InnerCall {
    /// The id that the upstream knows it by.
    pub(crate) fn id(&self) -> &Id {
        &self.call.id
    }

    /// The upstream's answer has come.
    pub(crate) fn answered(self: &Arc<Self>, envelope: &Envelope, body: &Arc<Body>) {
        let source = Source::Held(body);
        let Some(result) = &envelope.result else {
            self.count(Outcome::Error);
            return self.finish(Err(refusal(envelope, source)));
        };
        self.count(Outcome::Result);
        let whole = Payload::new(body.clone(), result.clone());
        if !matches!(self.call.purpose, Purpose::ToolCall { .. }) {
            return self.finish(Ok(whole));
        }
        match (methods::answer(source, result), self.call.is_inner()) {
            (Answer::Result, _) => {}
            // The client can answer, or ask for the result later.
            (Answer::InputRequired | Answer::Task(_), false) => return self.finish(Ok(whole)),
            (Answer::InputRequired, true) => return self.fail(CallFailure::NeedsInput),
            (Answer::Task(_), true) => return self.fail(CallFailure::Task),
        }
        let result = whole;
        let moment = Moment::Answer(SubjectKind::Result, &self.call, result.bytes());
        let Origin { chain, place, .. } = &*self.origin;
        let first = place + 1;
        if !self.call.is_inner() {
            let text = result.in_memory();
            chain.stages[first..].iter().for_each(|stage| stage.notice(&moment, text));
        }
        if !chain.stages[first..].iter().any(|stage| stage.watches(&moment)) {
            return self.finish(Ok(result));
        }
        let inner = self.clone();
        threads::run(move || {
            let asking = AskingAboutAnswer {
                chain: inner.origin.chain.clone(),
                call: inner.call.clone(),
                kind: SubjectKind::Result,
                current: result.clone(),
                is_new: false,
                first,
                back: None,
            };
            let end = inner.origin.chain.stages.len();
            asking.go_on(end, Box::new(move |revised| inner.finish(Ok(revised.unwrap_or(result)))));
        });
    }

    /// Counts it. A call for the client is counted when the client's own is answered.
    fn count(&self, outcome: Outcome) {
        if self.call.is_inner() {
            self.origin.chain.answered(&self.call, outcome);
        }
    }

    /// The upstream has said how far it is.
    pub(crate) fn progressed(&self, envelope: &Envelope, source: Source<'_>) {
        let Some(params) = &envelope.params else { return };
        let [done, total, message] = source.members(params, ["progress", "total", "message"]);
        let number = |value: Option<Scanned>| -> Option<f64> {
            std::str::from_utf8(&value?.scalar?).ok()?.parse().ok()
        };
        let message = message.and_then(|it| methods::text(it.scalar)).unwrap_or_default();
        if let Some(done) = number(done) {
            (self.on_progress)(done, number(total), &message);
        }
    }

    /// It cannot be answered.
    pub(crate) fn fail(&self, why: CallFailure) {
        self.finish(Err(why));
    }

    /// True once nobody waits for it.
    pub(crate) fn is_over(&self) -> bool {
        self.then.lock().is_none()
    }

    /// True if it may outlive its hook, and has not been answered.
    pub(crate) fn is_awaited_by_client(&self) -> bool {
        !self.call.is_inner() && !self.is_over()
    }

    fn send(self: &Arc<Self>, params: Payload) {
        let head = format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"{}","params":"#,
            self.call.id.as_json(),
            self.call.method
        );
        let parts = vec![head.into_bytes().into(), params, b"}\n".to_vec().into()];
        self.origin.ways.upstream.ask(Message::of(parts), self);
    }

    /// Nobody waits for it any more, and the upstream is told so.
    fn cancel(&self) {
        // If it is over, the upstream has nothing to end.
        if !self.is_over() {
            let (upstream, id) = (self.origin.ways.upstream.clone(), self.call.id.clone());
            // The upstream may not be reading.
            threads::run(move || upstream.cancel(&id));
            // A hook behind may have it.
            self.call.cancel();
            self.finish(Err(CallFailure::Cancelled));
        }
    }

    fn finish(&self, outcome: Result<Payload, CallFailure>) {
        if let Some(under_way) = self.under_way.upgrade() {
            under_way.0.lock().remove(&self.call.id);
        }
        // Not in the `if`, which would keep it locked.
        let then = self.then.lock().take();
        if let Some(then) = then {
            then(&self.call, outcome);
        }
    }
}

impl fmt::Debug for InnerCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("InnerCall").field(&self.call.id).finish()
    }
}

/// What an error response says.
fn refusal(envelope: &Envelope, source: Source<'_>) -> CallFailure {
    let error = envelope.error.as_ref();
    let [code, message, data] =
        error.map(|error| source.members(error, ["code", "message", "data"])).unwrap_or_default();
    let code = code.and_then(|it| std::str::from_utf8(&it.scalar?).ok()?.parse().ok());
    let message = message.and_then(|it| methods::text(it.scalar));
    let data = data.and_then(|it| String::from_utf8(source.slice(&it.span)?.to_vec()).ok());
    CallFailure::Refused(Refusal {
        code: code.unwrap_or_default(),
        message: message.unwrap_or_else(|| "an error without a message".to_owned()),
        // In JSON a line break is white space between tokens.
        data: data.map(|data| data.replace(['\n', '\r'], " ")),
    })
}

#[cfg(test)]
mod tests;
