//! A session with a child process of its own, as the legacy era has them.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use forebay_wire::{Envelope, Id, Kind, Line, framing, sse::Fields};
use futures_util::{Stream, stream};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use tokio::{
    sync::{Semaphore, mpsc},
    time,
};

use super::{
    super::{
        answering,
        ending::Ending,
        house::House,
        reply::{self, EventPieces, Guarded, SESSION_ID},
    },
    log::{Log, Next, Place, STANDALONE},
    process::{Launched, Life, Lines},
};
use crate::{
    body::{Body, Message, Source},
    chain::ToClient,
    relay::{Onward, Outgoing, Relay},
    transport::stdio,
};

/// Results of one child that may be taken through the chain at once.
const MAX_DELAYED: usize = 16;
/// An answer that comes within this time is sent alone; else the client gets a stream, and with it
/// a place to come back to.
const SOON: Duration = Duration::from_secs(1);
/// How often a stream says that it is still there.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// A client and its child process.
pub(super) struct Session {
    pub(super) id: String,
    house: Arc<House>,
    relay: Arc<Relay>,
    /// `None` once the session is over.
    to_child: Mutex<Option<mpsc::Sender<Message>>>,
    log: Log,
    used: Mutex<Instant>,
    /// True once the session is to end.
    ending: Ending,
    /// Old clients take an event without data for a broken one.
    takes_empty_events: Mutex<bool>,
}

/// What became of a client's message.
pub(super) enum Taken {
    /// It is to be answered in this stream.
    Asked(u64),
    /// There is nothing to answer.
    Told,
    /// It is not taken, for this reason.
    Refused(Response<reply::Body>),
}

impl Session {
    pub(super) fn start(id: String, house: Arc<House>, launched: Launched) -> Arc<Self> {
        let Launched { input, output, life } = launched;
        let session = Arc::new(Self {
            id,
            relay: house.conversation(),
            house,
            to_child: Mutex::new(Some(input)),
            log: Log::default(),
            used: Mutex::new(Instant::now()),
            ending: Ending::default(),
            takes_empty_events: Mutex::new(false),
        });
        tokio::spawn(session.clone().run(output, life));
        session
    }

    /// Reads what the child says until one of both ends, and sees the child off.
    async fn run(self: Arc<Self>, mut output: Lines, mut life: Life) {
        /// How far apart a child's exit and the end of its output may lie.
        const SETTLE: Duration = Duration::from_secs(1);
        let delayed = Arc::new(Semaphore::new(MAX_DELAYED));
        let how = tokio::select! {
            () = self.read(&mut output, &delayed) => {
                match time::timeout(SETTLE, life.ended()).await {
                    Ok(status) => stdio::ended(status),
                    Err(_) => "closed its output without exiting".to_owned(),
                }
            }
            status = life.ended() => {
                // What it has said last is still in the pipe.
                let _ = time::timeout(SETTLE, self.read(&mut output, &delayed)).await;
                stdio::ended(status)
            }
            () = self.ending.given() => "was ended with its session".to_owned(),
        };
        // Results that are in the chain are still said.
        let _ = delayed.acquire_many(u32::try_from(MAX_DELAYED).unwrap_or(1)).await;
        for line in framing::lines(&self.relay.abandon(&how)) {
            let json = line.strip_suffix(b"\n").unwrap_or(line);
            self.say(Body::Memory(json.to_vec())).await;
        }
        self.log.close();
        self.end();
        life.see_off(self.house.upstream()).await;
    }

    async fn read(self: &Arc<Self>, output: &mut Lines, delayed: &Arc<Semaphore>) {
        while let Some(body) = output.next().await {
            match self.relay.upstream_line(Source::Held(&body)) {
                Onward::Consult(consultation) => {
                    let keeps_its_place = consultation.keeps_its_place();
                    let (session, body) = (self.clone(), Arc::new(body));
                    // It is never closed.
                    let turn = delayed.clone().acquire_owned().await;
                    let work = async move {
                        let nobody = answering::nobody();
                        let Session { house, relay, .. } = &*session;
                        let outgoing = house.consult(relay, consultation, body.clone(), nobody);
                        let message = outgoing.await.to_client.into_iter().next();
                        session.say_message(&body, message).await;
                        drop(turn);
                    };
                    if keeps_its_place {
                        work.await;
                    } else {
                        tokio::spawn(work);
                    }
                }
                Onward::Pass | Onward::Answer(_) | Onward::Drop => self.say(body).await,
            }
        }
    }

    async fn say(&self, body: Body) {
        self.say_message(&Arc::new(body), None).await;
    }

    /// Says `message`, or the line as it came, where that line belongs.
    async fn say_message(&self, body: &Arc<Body>, message: Option<Message>) {
        let line = body.line();
        if line == Line::Blank {
            return;
        }
        let message = message.unwrap_or_else(|| Message::whole(body.clone()));
        self.log.say(line.messages().first(), Source::Held(body), message).await;
    }

    /// Takes a client's message to the child, or answers it here.
    pub(super) async fn take(self: &Arc<Self>, body: Body, takes_events: bool) -> Taken {
        self.touch();
        let line = body.line();
        let source = Source::Held(&body);
        let asked: Vec<Id> = line.messages().iter().filter_map(asks).collect();
        let tokens: Vec<Id> = line
            .messages()
            .iter()
            .filter_map(|envelope| progress_token(envelope, source))
            .collect();
        line.messages()
            .iter()
            .filter_map(|envelope| cancels(envelope, source))
            .for_each(|id| self.log.cancel(&id));
        if matches!(line.messages(), [envelope] if envelope.method.as_deref() == Some("initialize"))
        {
            self.note_revision(&line.messages()[0], source);
        }
        let onward = self.relay.client_line(source);
        let stream = (!asked.is_empty()).then(|| self.log.open(&asked, &tokens, takes_events));
        let body = Arc::new(body);
        match onward {
            Onward::Pass => {
                if !self.send(Message::whole(body)).await {
                    return Taken::Refused(self.gone(asked.first()));
                }
            }
            Onward::Drop => {}
            Onward::Answer(lines) => {
                let answer = Bytes::from(lines);
                return Taken::Refused(reply::json_bytes(StatusCode::BAD_REQUEST, answer));
            }
            Onward::Consult(consultation) => {
                let session = self.clone();
                // In a session a client that is gone may come back for its answer.
                tokio::spawn(async move {
                    let teller =
                        Arc::new(Teller(session.clone(), tokio::runtime::Handle::current()));
                    let Session { house, relay, .. } = &*session;
                    let outgoing = house.consult(relay, consultation, body, teller).await;
                    let Outgoing { to_upstream, to_client } = outgoing;
                    for answer in to_client {
                        if let Ok(bytes) = answer.into_bytes() {
                            let json = bytes.strip_suffix(b"\n").unwrap_or(&bytes).to_vec();
                            session.say(Body::Memory(json)).await;
                        }
                    }
                    if let Some(message) = to_upstream {
                        session.send(message).await;
                    }
                });
            }
        }
        stream.map_or(Taken::Told, Taken::Asked)
    }

    /// The answer to what was asked in `stream`: alone if it comes soon, else as a stream of events.
    pub(super) async fn answer(
        self: &Arc<Self>,
        stream: u64,
        takes_events: bool,
    ) -> Response<reply::Body> {
        let Some(reader) = self.log.read(stream) else { return self.gone(None) };
        let guard = Reading { session: self.clone(), stream, reader };
        let begun = self.log.until(|| self.log.has_begun(stream).then_some(()));
        if takes_events {
            let _ = time::timeout(SOON, begun).await;
        } else {
            begun.await;
        }
        if let Some(message) = self.log.take_sole_answer(stream) {
            return reply::json(StatusCode::OK, self.head(), message);
        }
        let place = Place { stream, event: 0 };
        let primer = self.takes_empty_events().then_some(place);
        reply::events(self.head(), self.clone().events(place, primer, guard))
    }

    /// The stream that belongs to no request, or one that the client goes on with.
    pub(super) fn listen(self: &Arc<Self>, last: Option<&str>) -> Response<reply::Body> {
        self.touch();
        let place = match last {
            Some(id) => Place::parse(id),
            None => Some(self.log.standalone_place()),
        };
        let opened = place.and_then(|place| Some((place, self.log.read(place.stream)?)));
        let Some((place, reader)) = opened else {
            let why = "there is nothing to go on with after this Last-Event-ID; ask again";
            return reply::error(StatusCode::BAD_REQUEST, None, reply::INVALID_REQUEST, why);
        };
        let guard = Reading { session: self.clone(), stream: place.stream, reader };
        reply::events(self.head(), self.clone().events(place, None, guard))
    }

    fn events(
        self: Arc<Self>,
        place: Place,
        primer: Option<Place>,
        guard: Reading,
    ) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
        let reader = guard.reader;
        let state = Telling { session: self, place, reader, primer, pieces: None };
        let events =
            stream::unfold(state, |mut state| async move { Some((state.next().await?, state)) });
        Guarded::new(events, guard)
    }

    fn head(&self) -> HeaderMap {
        let id = HeaderValue::from_str(&self.id).ok();
        id.map(|id| (SESSION_ID, id)).into_iter().collect()
    }

    /// Sends a message to the child; `false` if it is not there any more.
    async fn send(&self, message: Message) -> bool {
        let to_child = self.to_child.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match to_child {
            Some(to_child) => to_child.send(message).await.is_ok(),
            None => false,
        }
    }

    fn gone(&self, id: Option<&Id>) -> Response<reply::Body> {
        super::no_session(id)
    }

    /// Ends the session: nothing more comes in, and the child is seen off.
    pub(super) fn end(&self) {
        self.to_child.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.ending.give();
    }

    /// True once the session takes nothing any more.
    pub(super) fn is_over(&self) -> bool {
        self.ending.is_given()
    }

    /// True if nobody has used the session for `idle`.
    pub(super) fn is_idle(&self, idle: Duration) -> bool {
        let used = *self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.elapsed() >= idle && !self.log.is_in_use()
    }

    /// True if a client still waits for an answer.
    pub(super) fn is_awaited(&self) -> bool {
        self.relay.session().is_awaited()
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn note_revision(&self, envelope: &Envelope, source: Source<'_>) {
        let Some(params) = &envelope.params else { return };
        let [revision] = source.members(params, ["protocolVersion"]);
        let revision = revision.and_then(|value| value.scalar).unwrap_or_default();
        let takes = revision.as_slice() >= br#""2025-11-25""#.as_slice();
        *self.takes_empty_events.lock().unwrap_or_else(PoisonError::into_inner) = takes;
    }

    fn takes_empty_events(&self) -> bool {
        *self.takes_empty_events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the client of progress, in the stream of its request.
struct Teller(Arc<Session>, tokio::runtime::Handle);

impl ToClient for Teller {
    fn tell(&self, line: &[u8]) {
        let json = line.strip_suffix(b"\n").unwrap_or(line);
        // Hooks run on threads of their own, where waiting is allowed.
        self.1.block_on(self.0.say(Body::Memory(json.to_vec())));
    }
}

/// A client that reads a stream, until it is dropped.
struct Reading {
    session: Arc<Session>,
    stream: u64,
    reader: u64,
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.session.touch();
        self.session.log.leave(self.stream, self.reader);
    }
}

/// A stream that is being told.
struct Telling {
    session: Arc<Session>,
    place: Place,
    reader: u64,
    /// A place to come back to, said before anything else.
    primer: Option<Place>,
    pieces: Option<EventPieces>,
}

impl Telling {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            if let Some(place) = self.primer.take() {
                let fields = Fields { id: Some(place.id()), ..Fields::default() };
                return Some(Ok(reply::bare_event(&fields)));
            }
            if let Some(piece) = self.pieces.as_mut().and_then(Iterator::next) {
                return Some(piece);
            }
            let log = &self.session.log;
            let said = log.until(|| match log.next(self.place, self.reader) {
                Next::Event(place, message) => Some(Some((place, message))),
                Next::Wait => None,
                Next::Over => Some(None),
            });
            let said = tokio::select! {
                said = said => said,
                () = time::sleep(KEEP_ALIVE) => return Some(Ok(Bytes::from_static(b":\n\n"))),
                () = self.session.house.closing.given(), if self.place.stream == STANDALONE => None,
            };
            let (place, message) = said?;
            self.place = place;
            let fields = Fields { id: Some(place.id()), ..Fields::default() };
            self.pieces = Some(reply::event(&fields, message));
        }
    }
}

fn asks(envelope: &Envelope) -> Option<Id> {
    match envelope.kind() {
        Kind::Request { id, .. } => Some(id.clone()),
        _ => None,
    }
}

fn cancels(envelope: &Envelope, source: Source<'_>) -> Option<Id> {
    let Kind::Notification { method: "notifications/cancelled" } = envelope.kind() else {
        return None;
    };
    let [id] = source.members(envelope.params.as_ref()?, ["requestId"]);
    Id::parse(&id?.scalar?)
}

fn progress_token(envelope: &Envelope, source: Source<'_>) -> Option<Id> {
    let [meta] = source.members(envelope.params.as_ref()?, ["_meta"]);
    let [token] = source.members(&meta?.span, ["progressToken"]);
    Id::parse(&token?.scalar?)
}
