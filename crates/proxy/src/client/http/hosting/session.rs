//! A session with a child process of its own, as the legacy era has them.

use std::{
    future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use forebay_wire::{Envelope, Id, Kind, Line, framing, reply as wire_reply, sse::Fields};
use futures_util::{Stream, StreamExt, stream};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{self, Instant},
};

use super::{
    super::{
        cancel_on_drop::CancelOnDrop,
        context::EndpointContext,
        event_stream::{Said, event_stream},
        reply,
    },
    child::Child,
    log::{Log, Next, Place, STANDALONE},
};
use crate::{
    body::{Body, Message, Source},
    chain::{CallFailure, InnerCall, ToClient, ToUpstream, Ways},
    limits,
    protocol::methods::CANCELLED,
    relay::{ClientOnward, Consultation, Relay, UpstreamOnward},
    session::cancelled_request,
    streamable::{headers::SESSION_ID, look::look},
    threads,
    upstream::hosted::{Hosted, Output},
};

/// An answer that comes within this time is sent alone; else the client gets a stream, and with it
/// a place to come back to.
pub(super) const SOON: Duration = Duration::from_secs(1);
/// After how long a client that lost a stream, or whose stream was ended, is to come back. It waits for
/// the rest there, so coming back soon costs little.
const RETRY: Duration = Duration::from_secs(1);

/// A client and its child process.
pub(super) struct Session {
    pub(super) id: String,
    context: Arc<EndpointContext>,
    relay: Arc<Relay>,
    child: Child,
    log: Log,
    /// Clients from 2025-11-25 on come back to a stream that has ended too early, if they know where
    /// to. Old ones take the event without data that says so for a broken one.
    can_poll: AtomicBool,
    poll_after: Option<Duration>,
    runtime: Handle,
    /// The client has ended it, and what goes on is for nobody who could ask anything here.
    is_left: AtomicBool,
}

/// What became of a client's message.
pub(super) enum Taken {
    /// It is to be answered in this stream, which the client reads from now on.
    Asked(Reading),
    /// There is nothing to answer.
    Told,
    /// It is not taken, for this reason.
    Refused(Response<reply::Body>),
}

impl Session {
    pub(super) fn start(
        id: String,
        context: Arc<EndpointContext>,
        hosted: Hosted,
        slot: OwnedSemaphorePermit,
        poll_after: Option<Duration>,
    ) -> Arc<Self> {
        let Hosted { input, output } = hosted;
        let session = Arc::new(Self {
            id,
            relay: context.session(),
            context,
            child: Child::new(input, Some(slot)),
            log: Log::default(),
            can_poll: AtomicBool::new(false),
            poll_after,
            runtime: Handle::current(),
            is_left: AtomicBool::new(false),
        });
        tokio::spawn(session.clone().run(output));
        session
    }

    /// Reads what the child says until one of both ends, and sees the child off.
    async fn run(self: Arc<Self>, mut output: Output) {
        let delayed = Arc::new(Semaphore::new(limits::RESULTS_OF_A_CHILD));
        let how = self.child.attend(self.read(&mut output, &delayed)).await;
        // Whoever hears that it ended asks in vain from then on.
        self.child.end();
        // Results that are in the chain are still said.
        let _ = delayed.acquire_many(u32::try_from(limits::RESULTS_OF_A_CHILD).unwrap_or(1)).await;
        for line in framing::lines(&self.relay.abandon(&how)) {
            let json = line.strip_suffix(b"\n").unwrap_or(line);
            self.say(Body::Memory(json.to_vec())).await;
        }
        self.log.close();
        output.see_off(self.context.upstream()).await;
    }

    /// Reads what the child says; returns how it ended.
    async fn read(self: &Arc<Self>, output: &mut Output, delayed: &Arc<Semaphore>) -> String {
        while let Some(body) = output.next().await {
            let relay = self.relay.clone();
            let (onward, body) =
                look(body, move |body| relay.upstream_line(Source::Held(body))).await;
            match onward {
                UpstreamOnward::Consult(consultation) => {
                    let keeps_its_place = consultation.keeps_its_place();
                    let (session, body) = (self.clone(), Arc::new(body));
                    // It is never closed.
                    let turn = delayed.clone().acquire_owned().await;
                    let work = async move {
                        let Session { context, relay, .. } = &*session;
                        let client: Arc<dyn ToClient> = session.clone();
                        let message =
                            context.revise(relay, consultation, body.clone(), client).await;
                        session.say_message(&body, message).await;
                        drop(turn);
                    };
                    if keeps_its_place {
                        work.await;
                    } else {
                        tokio::spawn(work);
                    }
                }
                // The hook may wait for the client.
                UpstreamOnward::Inner(it) => {
                    threads::run_and_wait(move || it.give(&Arc::new(body))).await;
                }
                UpstreamOnward::Pass => self.say(body).await,
            }
        }
        output.how_it_ended().await
    }

    async fn say(&self, body: Body) {
        let body = Arc::new(body);
        self.say_message(&body, Message::whole(body.clone())).await;
    }

    /// Says `message` where the line belongs that it was made of.
    async fn say_message(&self, body: &Arc<Body>, message: Message) {
        let line = body.line();
        // What is no message does not concern the client; the relay has taken note of it.
        if line.messages().is_empty() {
            return;
        }
        self.log.say(line.messages(), Source::Held(body), message).await;
    }

    /// Takes a client's message to the child, or answers it here.
    pub(super) async fn take(
        self: &Arc<Self>,
        line: &Line,
        body: Body,
        takes_events: bool,
    ) -> Taken {
        let source = Source::Held(&body);
        let messages = line.messages();
        let asked: Vec<Id> = messages.iter().filter_map(Envelope::request).cloned().collect();
        let tokens: Vec<Id> =
            messages.iter().filter_map(|envelope| progress_token(envelope, source)).collect();
        let is_cancel = |it: &&Envelope| it.kind() == Kind::Notification { method: CANCELLED };
        let cancelled = messages.iter().filter(is_cancel);
        for id in cancelled.filter_map(|envelope| cancelled_request(envelope, source)) {
            self.log.cancel(&id);
        }
        if let [envelope] = messages
            && envelope.method.as_deref() == Some("initialize")
        {
            self.note_revision(envelope, source);
        }
        // The client may leave before the child has got what it asks: nobody will answer that.
        let guard = CancelOnDrop::new({
            let (relay, asked) = (self.relay.clone(), asked.clone());
            move || relay.forget(&asked)
        });
        let (relay, whole) = (self.relay.clone(), line.clone());
        // The guard goes along: a long message is looked at to its end, also if the client has left.
        let looking =
            look(body, move |body| (relay.client_message(&whole, Source::Held(body)), guard));
        let ((onward, guard), body) = looking.await;
        if let ClientOnward::Answer(lines) = onward {
            guard.disarm();
            let answer = Bytes::from(lines);
            return Taken::Refused(reply::json_bytes(StatusCode::BAD_REQUEST, answer));
        }
        // Before the child can answer.
        let reading = (!asked.is_empty()).then(|| self.open(&asked, &tokens, takes_events));
        let body = Arc::new(body);
        match onward {
            ClientOnward::Pass => {
                if !self.child.send(Message::whole(body)).await {
                    return Taken::Refused(super::no_session(asked.first()));
                }
            }
            ClientOnward::Consult(consultation) => {
                // In a session a client that is gone may come back for its answer.
                tokio::spawn(self.clone().consult(consultation, body));
            }
            ClientOnward::Drop | ClientOnward::Answer(_) => {}
        }
        guard.disarm();
        reading.map_or(Taken::Told, Taken::Asked)
    }

    /// Opens a stream for the answers to `asked`, for a client that is there to read it.
    fn open(self: &Arc<Self>, asked: &[Id], tokens: &[Id], takes_events: bool) -> Reading {
        let (stream, reader) = self.log.open(asked, tokens, takes_events);
        Reading { session: self.clone(), stream, reader }
    }

    /// Takes calls through the chain, and answers them or sends them on.
    async fn consult(self: Arc<Self>, consultation: Consultation, body: Arc<Body>) {
        let upstream = Arc::new(ToChild { session: self.clone() });
        let client: Arc<dyn ToClient> = self.clone();
        let session = Some(Arc::downgrade(&client));
        let ways = Ways { client, upstream, session, sampling: None };
        let outgoing = self.context.consult(&self.relay, consultation, body, ways).await;
        for answer in outgoing.to_client {
            if let Ok(bytes) = answer.into_bytes() {
                let json = bytes.strip_suffix(b"\n").unwrap_or(&bytes).to_vec();
                self.say(Body::Memory(json)).await;
            }
        }
        if let Some(message) = outgoing.to_upstream {
            self.child.send(message).await;
        }
    }

    /// The answer to what was asked: alone if it comes soon, else as a stream of events.
    pub(super) async fn answer(
        &self,
        reading: Reading,
        takes_events: bool,
    ) -> Response<reply::Body> {
        let stream = reading.stream;
        let begun = self.log.until(|| self.log.has_begun(stream).then_some(()));
        if takes_events {
            let _ = time::timeout(SOON, begun).await;
        } else {
            begun.await;
        }
        if let Some(message) = self.log.take_sole_answer(stream) {
            return reply::json(StatusCode::OK, self.head(), &message);
        }
        if !takes_events {
            // It has been cancelled.
            return reply::empty(StatusCode::ACCEPTED);
        }
        reply::events(self.head(), event_stream(reading.said_after(Place { stream, event: 0 })))
    }

    /// The stream that belongs to no request, or one that the client goes on with.
    pub(super) fn listen(self: &Arc<Self>, last: Option<&str>) -> Response<reply::Body> {
        let place = match last {
            Some(id) => Place::parse(id),
            None => Some(self.log.standalone_place()),
        };
        let opened = place.and_then(|place| Some((place, self.log.read(place.stream)?)));
        let Some((place, reader)) = opened else {
            let why = "there is nothing to go on with after this Last-Event-ID; ask again";
            return reply::error(StatusCode::BAD_REQUEST, None, reply::INVALID_REQUEST, why);
        };
        let reading = Reading { session: self.clone(), stream: place.stream, reader };
        reply::events(self.head(), event_stream(reading.said_after(place)))
    }

    fn head(&self) -> HeaderMap {
        let id = HeaderValue::from_str(&self.id).ok();
        id.map(|id| (SESSION_ID, id)).into_iter().collect()
    }

    /// Ends the session: nothing more comes in, and the child is seen off.
    pub(super) fn end(&self) {
        self.child.end();
    }

    /// The client ends the session. The child is seen off when it has done what goes on without a client.
    pub(super) fn leave(self: &Arc<Self>) {
        const TICK: Duration = Duration::from_millis(50);
        self.is_left.store(true, Ordering::Relaxed);
        if !self.relay.works_in_background() {
            return self.end();
        }
        let session = self.clone();
        tokio::spawn(async move {
            while session.relay.works_in_background() && !session.child.is_over() {
                time::sleep(TICK).await;
            }
            session.end();
        });
    }

    /// True once the session takes nothing any more from clients.
    pub(super) fn is_closed(&self) -> bool {
        self.is_left.load(Ordering::Relaxed) || self.is_over()
    }

    /// True once the child takes nothing any more.
    pub(super) fn is_over(&self) -> bool {
        self.child.is_over()
    }

    /// Says that a client uses the session.
    pub(super) fn touch(&self) {
        self.child.touch();
    }

    /// True if nobody has used the session for `idle`, nobody listens, and nothing goes on without a client.
    pub(super) fn is_idle(&self, idle: Duration) -> bool {
        self.child.is_unused_for(idle) && !self.log.is_read() && !self.relay.works_in_background()
    }

    /// True if a client still waits for an answer.
    pub(super) fn is_awaited(&self) -> bool {
        self.log.is_awaited()
    }

    fn note_revision(&self, envelope: &Envelope, source: Source<'_>) {
        let Some(params) = &envelope.params else { return };
        let [revision] = source.members(params, ["protocolVersion"]);
        let revision = revision.and_then(|value| value.scalar).unwrap_or_default();
        let can_poll = revision.as_slice() >= br#""2025-11-25""#.as_slice();
        self.can_poll.store(can_poll, Ordering::Relaxed);
    }
}

/// Progress is told in the stream of its request, and what belongs to none in the one for that.
impl ToClient for Session {
    fn tell(&self, line: &[u8]) {
        let json = line.strip_suffix(b"\n").unwrap_or(line);
        // Hooks run on threads of their own, where waiting is allowed.
        self.runtime.block_on(self.say(Body::Memory(json.to_vec())));
    }
}

/// The way to the child for calls of hooks.
struct ToChild {
    session: Arc<Session>,
}

impl ToUpstream for ToChild {
    fn ask(&self, request: Message, inner: &Arc<InnerCall>) {
        let (session, inner) = (self.session.clone(), inner.clone());
        session.relay.expect(&inner);
        self.session.runtime.spawn(async move {
            if !session.child.send(request).await {
                inner.fail(CallFailure::Gone("the session has ended".to_owned()));
            }
        });
    }

    fn cancel(&self, id: &Id) {
        let cancelled = wire_reply::cancelled(id, "nobody waits for it");
        let session = self.session.clone();
        self.session.runtime.spawn(async move {
            // One that has ended has nothing to cancel.
            session.child.send(Message::of(vec![cancelled.into()])).await;
        });
    }
}

/// A client that reads a stream, until it is dropped.
pub(super) struct Reading {
    session: Arc<Session>,
    stream: u64,
    reader: u64,
}

impl Reading {
    /// What is said after `place`, as it is said.
    fn said_after(self, place: Place) -> impl Stream<Item = Said> + Send + 'static {
        let can_poll = self.session.can_poll.load(Ordering::Relaxed);
        let primer = (can_poll && place.stream != STANDALONE).then_some(place);
        let poll_after = self.session.poll_after.filter(|_| primer.is_some());
        let ends = poll_after.map(|after| Instant::now() + after);
        let first = stream::iter(primer.map(|place| self.come_back_to(place)));
        let rest = stream::unfold((self, place), move |(reading, place)| async move {
            let (place, message) = reading.next(place, ends).await?;
            let fields = Fields { id: Some(place.id()), ..Fields::default() };
            Some((Said::Message(fields, message), (reading, place)))
        });
        first.chain(rest)
    }

    /// Says where the client can come back to.
    fn come_back_to(&self, place: Place) -> Said {
        self.session.log.can_be_resumed(place.stream);
        let retry = u64::try_from(RETRY.as_millis()).ok();
        Said::Place(Fields { id: Some(place.id()), retry, has_data: true, ..Fields::default() })
    }

    /// What is said next after `place`; `None` once the stream is over, or has been open for so long.
    async fn next(&self, place: Place, ends: Option<Instant>) -> Option<(Place, Message)> {
        let Self { session, reader, .. } = self;
        let log = &session.log;
        let said = log.until(|| match log.next(place, *reader) {
            Next::Event(place, message) => Some(Some((place, message))),
            Next::Wait => None,
            Next::Over => Some(None),
        });
        let ended = async {
            match ends {
                Some(at) => time::sleep_until(at).await,
                None => future::pending().await,
            }
        };
        tokio::select! {
            said = said => said,
            // The client comes back for the rest.
            () = ended => None,
            () = session.context.closing.cancelled(), if place.stream == STANDALONE => None,
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.session.child.touch();
        self.session.log.leave(self.stream, self.reader);
    }
}

fn progress_token(envelope: &Envelope, source: Source<'_>) -> Option<Id> {
    let [meta] = source.members(envelope.params.as_ref()?, ["_meta"]);
    let [token] = source.members(&meta?.span, ["progressToken"]);
    Id::parse(&token?.scalar?)
}

#[cfg(test)]
mod tests;
