//! One child process for all clients, as the modern era allows: every request stands for itself, and
//! [`Multiplex`] tells them apart on the child's pipes.

use std::{
    collections::HashMap,
    future,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};

use bytes::Bytes;
use forebay_wire::{Envelope, Id, Line, framing, reply as wire_reply, scan};
use futures_util::{Stream, StreamExt, stream};
use http::{HeaderMap, Response, StatusCode};
use serde_json::json;
use tokio::{runtime::Handle, sync::mpsc, task::AbortHandle, time};

use super::{
    super::{
        answering::{self, Answered},
        cancel_on_drop::CancelOnDrop,
        context::{EndpointContext, nobody},
        event_stream::{Said, event_stream},
        reply,
    },
    child::Child,
    session::SOON,
};
use crate::{
    body::{Body, Message, Source},
    chain::{CallFailure, InnerCall, ToUpstream},
    events, limits,
    protocol::{Concerns, Edits, Multiplex, methods::PROGRESS},
    relay::{ClientOnward, Relay, UpstreamOnward},
    streamable::{
        look::{self, look},
        modern,
        tool_headers::ToolHeaders,
    },
    threads,
    upstream::hosted::{Hosted, Output},
};

/// An answer longer than this is no mere error.
const MAX_ERROR_BYTES: u64 = 64 * 1024;

/// The code for a revision that the upstream does not know.
const UNSUPPORTED_REVISION: i32 = -32022;

/// The child and the requests that it works on.
pub(super) struct Shared {
    context: Arc<EndpointContext>,
    child: Child,
    requests: Mutex<Multiplex<Request>>,
    /// Learnt from the lists of tools that the child gives.
    tools: Arc<Mutex<ToolHeaders>>,
    /// The revisions that the child knows, once it has said so.
    revisions: OnceLock<Vec<String>>,
}

/// Who waits for the answer to a request.
struct Request {
    method: Option<String>,
    relay: Arc<Relay>,
    to_client: mpsc::UnboundedSender<Heard>,
    waiting: Arc<AtomicU64>,
    /// Something that was said besides the answer has been dropped.
    has_dropped: AtomicBool,
}

/// Something that the child said about a request.
struct Heard {
    body: Arc<Body>,
    /// What stands in the place of our own ids.
    edits: Edits,
    is_answer: bool,
}

impl Shared {
    pub(super) fn start(
        context: Arc<EndpointContext>,
        hosted: Hosted,
        tools: Arc<Mutex<ToolHeaders>>,
    ) -> Arc<Self> {
        let Hosted { input, output } = hosted;
        let child = Child::new(input, None);
        let (requests, revisions) = (Mutex::default(), OnceLock::new());
        let shared = Arc::new(Self { context, child, requests, tools, revisions });
        tokio::spawn(shared.clone().run(output));
        shared
    }

    async fn run(self: Arc<Self>, mut output: Output) {
        let how = self.child.attend(self.read(&mut output)).await;
        self.child.end();
        // Not in the `for`, which would keep them locked.
        let left = self.requests().abandon();
        for request in left {
            let errors = request.relay.abandon(&how);
            for line in framing::lines(&errors) {
                let body = Body::Memory(line.strip_suffix(b"\n").unwrap_or(line).to_vec());
                request.hear(Heard { body: Arc::new(body), edits: Vec::new(), is_answer: true });
            }
        }
        output.see_off(self.context.upstream()).await;
    }

    /// Reads what the child says; returns how it ended.
    async fn read(&self, output: &mut Output) -> String {
        while let Some(body) = output.next().await {
            let Line::Message(envelope) = body.line() else { continue };
            self.sort(&envelope, body);
        }
        output.how_it_ended().await
    }

    /// Gives what the child says to whom it concerns.
    fn sort(&self, envelope: &Envelope, body: Body) {
        let body = Arc::new(body);
        let source = Source::Held(&body);
        let mut requests = self.requests();
        match requests.concerns(envelope, source) {
            Concerns::Answer(asked, edits) => {
                // Before the client gets the answer, and goes by it.
                if let Some(result) = envelope.result.as_ref().and_then(|it| source.slice(it)) {
                    self.learn(asked.waiter.method.as_deref(), result);
                }
                asked.waiter.hear(Heard { body: body.clone(), edits, is_answer: true });
            }
            Concerns::Remark(asked, edits) => {
                asked.waiter.hear(Heard { body: body.clone(), edits, is_answer: false });
            }
            Concerns::Question { id, method } => {
                let why = format!("`{method}` is not to be asked in this revision of the protocol");
                let refusal = wire_reply::error(Some(&id), wire_reply::METHOD_NOT_FOUND, &why);
                drop(requests);
                self.child.tell(Message::of(vec![refusal.into()]));
            }
            Concerns::Nobody => {}
        }
    }

    /// Learns what later requests are checked against.
    fn learn(&self, method: Option<&str>, result: &[u8]) {
        match method {
            Some("tools/list") => self.tools().learn(result),
            Some("server/discover") => {
                let [revisions] = scan::members(result, ["supportedVersions"]);
                let revisions = revisions.and_then(|json| serde_json::from_slice(json).ok());
                if let Some(revisions) = revisions {
                    // It does not come to know others.
                    let _ = self.revisions.set(revisions);
                }
            }
            _ => {}
        }
    }

    /// Refuses a revision that the child does not know, if it has said which it does: on stdio not
    /// every upstream looks at what a request says.
    fn refuse_revision(
        &self,
        id: &Id,
        envelope: &Envelope,
        source: Source<'_>,
    ) -> Option<Response<reply::Body>> {
        let supported = self.revisions.get()?;
        let requested = modern::version(envelope, source)?;
        if supported.contains(&requested) {
            return None;
        }
        let why = format!("Unsupported protocol version: {requested}");
        let data = json!({ "supported": supported, "requested": requested }).to_string();
        let error = wire_reply::error_with_data(Some(id), UNSUPPORTED_REVISION, &why, &data);
        Some(reply::json_bytes(StatusCode::BAD_REQUEST, Bytes::from(error)))
    }

    /// Answers a request: alone if the answer comes soon, else as a stream of events.
    pub(super) async fn answer(
        self: &Arc<Self>,
        envelope: &Envelope,
        body: Body,
        takes_events: bool,
    ) -> Response<reply::Body> {
        // Of what a client may tell, this era has nothing but cancelling, which is done by
        // disconnecting: an id in it would be one of ours.
        let Some(id) = envelope.request() else { return reply::empty(StatusCode::ACCEPTED) };
        if let Some(refusal) = self.refuse_revision(id, envelope, Source::Held(&body)) {
            return refusal;
        }
        let relay = self.context.conversation();
        let asking = relay.clone();
        let (onward, body) = look(body, move |body| asking.client_line(Source::Held(body))).await;
        let body = Arc::new(body);
        let message = match onward {
            ClientOnward::Pass => Message::whole(body.clone()),
            ClientOnward::Drop => return reply::empty(StatusCode::ACCEPTED),
            ClientOnward::Answer(lines) => {
                return reply::json_bytes(StatusCode::BAD_REQUEST, Bytes::from(lines));
            }
            ClientOnward::Consult(consultation) => {
                let work =
                    answering::consult(&self.context, &relay, consultation, body.clone(), |_| {
                        Arc::new(ToShared {
                            shared: self.clone(),
                            runtime: Handle::current(),
                            asked: Arc::default(),
                        })
                    });
                match work.await {
                    Answered::Here(response) => return response,
                    Answered::Upstream(message, _) => message,
                }
            }
        };
        let Some(answer) = self.ask(id, envelope, &body, message, relay).await else {
            let why = format!("upstream `{}` has ended; ask again", self.context.upstream());
            let code = wire_reply::CONNECTION_CLOSED;
            return reply::error(StatusCode::BAD_GATEWAY, Some(id), code, &why);
        };
        answer.into_response(takes_events).await
    }

    /// Sends a request to the child under an id of our own.
    async fn ask(
        self: &Arc<Self>,
        id: &Id,
        envelope: &Envelope,
        body: &Arc<Body>,
        message: Message,
        relay: Arc<Relay>,
    ) -> Option<Answer> {
        let (to_client, heard) = mpsc::unbounded_channel();
        let waiting = Arc::new(AtomicU64::new(0));
        let method = envelope.method.clone();
        let request = Request {
            method,
            relay: relay.clone(),
            to_client,
            waiting: waiting.clone(),
            has_dropped: AtomicBool::new(false),
        };
        let asked = self.requests().ask(envelope, Source::Held(body), request);
        let (ours, edits) = asked?;
        let message =
            edits.iter().fold(message, |message, (span, text)| message.with(body, span, text));
        relay.session().pending_mut().rename(id, ours.clone());
        let guard = CancelOnDrop::new({
            let (shared, ours) = (self.clone(), ours.clone());
            Box::new(move || shared.cancel(&ours)) as Box<dyn FnOnce() + Send>
        });
        let (context, method) = (self.context.clone(), envelope.method.clone());
        let answer = Answer { heard, waiting, relay, context, method, _guard: guard };
        // If it has ended meanwhile, its requests have been answered, or are not there any more.
        (self.child.send(message).await || !self.requests().has(&ours)).then_some(answer)
    }

    /// Nobody waits any more for the answer to the request with that id: in this era a client cancels by
    /// leaving. If it has come, that means nothing.
    fn cancel(&self, id: &Id) {
        if !self.requests().cancel(id) {
            return;
        }
        let cancelled = wire_reply::cancelled(id, "the client has disconnected");
        self.child.tell(Message::of(vec![cancelled.into()]));
    }

    /// Ends the child.
    pub(super) fn end(&self) {
        self.child.end();
    }

    /// True once the child takes nothing any more.
    pub(super) fn is_over(&self) -> bool {
        self.child.is_over()
    }

    /// Says that a client uses it.
    pub(super) fn touch(&self) {
        self.child.touch();
    }

    /// True if nobody has asked anything for `idle`.
    pub(super) fn is_idle(&self, idle: Duration) -> bool {
        self.child.is_unused_for(idle) && self.requests().is_empty()
    }

    /// True if somebody waits for an answer.
    pub(super) fn is_awaited(&self) -> bool {
        self.requests().iter().any(|(ours, request)| request.relay.session().pending().awaits(ours))
    }

    fn requests(&self) -> MutexGuard<'_, Multiplex<Request>> {
        self.requests.lock()
    }

    fn tools(&self) -> MutexGuard<'_, ToolHeaders> {
        self.tools.lock()
    }
}

impl Request {
    /// Passes on what the child said. Nobody waits for a client that is slow to read, for all others
    /// would wait too: what is no answer is dropped if too much waits.
    fn hear(&self, heard: Heard) {
        let bytes = heard.body.bytes();
        let waiting = self.waiting.fetch_add(bytes, Ordering::Relaxed);
        if heard.is_answer || waiting < limits::BYTES_FROM_THE_SHARED_CHILD {
            let _ = self.to_client.send(heard);
            return;
        }
        self.waiting.fetch_sub(bytes, Ordering::Relaxed);
        if !self.has_dropped.swap(true, Ordering::Relaxed) {
            events::client_does_not_read(self.relay.upstream(), self.method.as_deref());
        }
    }
}

/// The way to the child for calls of hooks.
struct ToShared {
    shared: Arc<Shared>,
    runtime: Handle,
    /// What ends those that are under way.
    asked: Arc<Mutex<HashMap<Id, AbortHandle>>>,
}

impl ToUpstream for ToShared {
    fn ask(&self, request: Message, inner: &Arc<InnerCall>) {
        let (shared, inner) = (self.shared.clone(), inner.clone());
        let (asked, id) = (self.asked.clone(), inner.id().clone());
        let mut all = self.asked.lock();
        let task = self.runtime.spawn(async move {
            shared.ask_for(&inner, request).await;
            asked.lock().remove(inner.id());
        });
        all.insert(id, task.abort_handle());
    }

    fn cancel(&self, id: &Id) {
        if let Some(task) = self.asked.lock().remove(id) {
            task.abort();
        }
    }
}

impl Shared {
    /// Asks the child for a hook, which hears what comes of it. When this is dropped, so is the request.
    async fn ask_for(self: &Arc<Self>, inner: &Arc<InnerCall>, request: Message) {
        let gone =
            || CallFailure::Gone(format!("upstream `{}` has ended", self.context.upstream()));
        let Ok(bytes) = request.into_bytes() else { return inner.fail(gone()) };
        let body = Arc::new(Body::Memory(bytes));
        let Line::Message(envelope) = body.line() else { return inner.fail(gone()) };
        // What becomes of the child's other requests is told to those who wait for them.
        let relay = self.context.conversation();
        let message = Message::whole(body.clone());
        let asked = self.ask(inner.id(), &envelope, &body, message, relay).await;
        let Some(mut answer) = asked else { return inner.fail(gone()) };
        while let Some(Heard { body, is_answer, .. }) = answer.heard.recv().await {
            let Line::Message(envelope) = body.line() else { continue };
            let hook = inner.clone();
            // The hook may wait for the client.
            if is_answer {
                return threads::run_and_wait(move || hook.answered(&envelope, &body)).await;
            }
            if envelope.method.as_deref() == Some(PROGRESS) {
                let told = move || hook.progressed(&envelope, Source::Held(&body));
                threads::run_and_wait(told).await;
            }
        }
        inner.fail(gone());
    }
}

/// A request that waits for its answer. When it is dropped before that, the request is cancelled.
struct Answer {
    heard: mpsc::UnboundedReceiver<Heard>,
    waiting: Arc<AtomicU64>,
    relay: Arc<Relay>,
    context: Arc<EndpointContext>,
    method: Option<String>,
    _guard: CancelOnDrop<Box<dyn FnOnce() + Send>>,
}

impl Answer {
    /// What is said next, and whether it is the answer; `None` after the end.
    async fn next(&mut self) -> Option<(Message, bool)> {
        let Heard { body, edits, is_answer } = self.heard.recv().await?;
        self.waiting.fetch_sub(body.bytes(), Ordering::Relaxed);
        let (relay, said) = (self.relay.clone(), body.clone());
        let onward =
            look::work(body.bytes(), move || relay.upstream_line(Source::Held(&said))).await;
        let message = match onward {
            UpstreamOnward::Consult(consultation) => {
                self.context.revise(&self.relay, consultation, body.clone(), nobody()).await
            }
            // Those of hooks are told apart by who hears them.
            UpstreamOnward::Pass | UpstreamOnward::Inner(_) => Message::whole(body.clone()),
        };
        let edited =
            edits.iter().fold(message, |message, (span, text)| message.with(&body, span, text));
        Some((edited, is_answer))
    }

    /// The answer alone if it comes soon or the client takes nothing else, else a stream of events.
    async fn into_response(self, takes_events: bool) -> Response<reply::Body> {
        let method = self.method.clone();
        let mut said = Box::pin(self.said());
        let first = if takes_events {
            // The time limits the wait alone: what is being captured when it is over stays in the stream.
            time::timeout(SOON, said.next()).await.ok()
        } else {
            Some(said.by_ref().filter(|(_, is_answer)| future::ready(*is_answer)).next().await)
        };
        match first {
            Some(Some((message, true))) => {
                reply::json(status(method.as_deref(), &message), HeaderMap::new(), &message)
            }
            Some(None) => reply::empty(StatusCode::ACCEPTED),
            first => {
                let said = stream::iter(first.flatten()).chain(said);
                let said = said.map(|(message, _)| Said::from(message));
                reply::events(HeaderMap::new(), event_stream(said))
            }
        }
    }

    /// All that is said, up to the answer, and whether it is the answer.
    fn said(self) -> impl Stream<Item = (Message, bool)> + Send + 'static {
        stream::unfold(Some(self), |answer| async move {
            let mut answer = answer?;
            let context = answer.context.clone();
            let is_endless = !answer.relay.session().pending().is_awaited();
            let heard = tokio::select! {
                biased;
                heard = answer.next() => heard,
                () = context.closing.cancelled(), if is_endless => None,
            };
            let (message, is_answer) = heard?;
            Some(((message, is_answer), (!is_answer).then_some(answer)))
        })
    }
}

/// Modern: some errors have a status of their own.
fn status(method: Option<&str>, message: &Message) -> StatusCode {
    let is_short = message.bytes() <= MAX_ERROR_BYTES;
    let Some(json) = is_short.then(|| message.clone().into_bytes().ok()).flatten() else {
        return StatusCode::OK;
    };
    let Line::Message(Envelope { error: Some(error), .. }) = Line::of(&json) else {
        return StatusCode::OK;
    };
    let [code] = Source::Line(&json).members(&error, ["code"]);
    let code = code.and_then(|code| code.scalar).unwrap_or_default();
    match (code.as_slice(), method) {
        // A client that looks for the modern era takes this for the legacy one.
        (b"-32601", Some("server/discover")) => StatusCode::BAD_REQUEST,
        (b"-32601", _) => StatusCode::NOT_FOUND,
        (b"-32020" | b"-32021" | b"-32022", _) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc as std_mpsc;

    use http_body_util::BodyExt;

    use super::*;
    use crate::{
        body::Spool,
        chain::{Deadlines, Verdict},
        testing::{self, Hooks},
    };

    /// The clock goes on only when nothing else does, so the client gets its stream while the hook waits.
    #[tokio::test(start_paused = true)]
    async fn an_answer_whose_capture_takes_long_is_said_in_the_stream() {
        let (release, released) = std_mpsc::channel();
        let released = Mutex::new(released);
        let hooks = Hooks {
            result: Some(Box::new(move |_, _| {
                released.lock().recv()?;
                Ok(Verdict::Replace(br#""kept""#.to_vec()))
            })),
            ..Hooks::default()
        };
        let relay = testing::relay(vec![Arc::new(hooks)], Deadlines::default());
        let context = Arc::new(EndpointContext::new(relay, Spool::of_memory(1 << 20)));
        let relay = context.conversation();
        let call = br#"{"id":1,"method":"tools/call","params":{"name":"records"}}"#;
        assert!(matches!(relay.client_line(Source::Line(call)), ClientOnward::Pass));
        let (to_client, heard) = mpsc::unbounded_channel();
        let body = Arc::new(Body::Memory(br#"{"id":1,"result":{"large":1}}"#.to_vec()));
        let waiting = Arc::new(AtomicU64::new(body.bytes()));
        assert!(to_client.send(Heard { body, edits: Vec::new(), is_answer: true }).is_ok());
        let guard = CancelOnDrop::new(Box::new(|| {}) as Box<dyn FnOnce() + Send>);
        let answer = Answer { heard, waiting, relay, context, method: None, _guard: guard };
        let response = answer.into_response(true).await;
        time::resume();
        release.send(()).unwrap();
        let told = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(told, "data: {\"id\":1,\"result\":\"kept\"}\n\n");
    }
}
