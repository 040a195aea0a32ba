//! The fixture as Streamable HTTP, both eras at one address.

mod body;
mod faults;
mod headers;
mod sessions;
mod stats;
mod stream;

use std::{
    convert::Infallible,
    io::{self, Write},
    sync::{Arc, PoisonError},
};

use bytes::{Bytes, BytesMut};
use forebay_wire::{Envelope, Id, Kind, Line, envelope::LineScanner, scan};
use http_body_util::BodyExt;
use hyper::{
    HeaderMap, Method, Response, StatusCode,
    body::Incoming,
    header::{self, HeaderName, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{net::TcpListener, runtime::Handle, task::AbortHandle};

use crate::{
    call::{Call, Fault, Outlet, Session},
    json::{self, Json},
    listeners::{Listener, Wish},
    request::{Era, Params, Request},
    tools,
    world::{Answer, LEGACY_REVISIONS, METHOD_NOT_FOUND, MODERN_REVISION, World},
};
use body::{Body, Guard};
use headers::HEADER_MISMATCH;
use sessions::{HttpSession, Sessions};
use stats::Stats;
use stream::Part;
pub(crate) use stream::Stream;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
/// JSON-RPC's code for what is none of its messages.
const INVALID_REQUEST: i32 = -32600;
/// What the official SDKs say of a session that they do not know.
const SESSION_NOT_FOUND: i32 = -32001;
struct Server {
    world: Arc<World>,
    sessions: Sessions,
    stats: Stats,
}

/// Who sends a request.
enum Sender {
    /// Nobody we know: a modern client.
    Anyone,
    /// A legacy client.
    Session(String, Arc<HttpSession>),
}

/// Serves until the process is ended.
pub(crate) fn serve(address: &str, threads: usize, world: Arc<World>) -> io::Result<()> {
    let mut builder = match threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let server = Arc::new(Server { world, sessions: Sessions::default(), stats: Stats::default() });
    builder.worker_threads(threads).enable_all().build()?.block_on(async {
        let listener = TcpListener::bind(address).await?;
        writeln!(io::stdout(), "listening on {}", listener.local_addr()?)?;
        loop {
            let (connection, _) = listener.accept().await?;
            connection.set_nodelay(true)?;
            let server = Arc::clone(&server);
            server.stats.connections.up();
            tokio::spawn(async move {
                let service = service_fn(|request| {
                    let server = Arc::clone(&server);
                    async move { Ok::<_, Infallible>(server.respond(request).await) }
                });
                // A client that goes away is no failure of ours.
                let _ =
                    http1::Builder::new().serve_connection(TokioIo::new(connection), service).await;
                server.stats.connections.down();
            });
        }
    })
}

impl Server {
    async fn respond(self: Arc<Self>, request: hyper::Request<Incoming>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        match (&parts.method, parts.uri.path()) {
            (&Method::POST, "/mcp") => self.post(parts.headers, body).await,
            (&Method::GET, "/mcp") => self.get(&parts.headers),
            (&Method::DELETE, "/mcp") => self.delete(&parts.headers),
            (&Method::GET, "/stats") => respond(StatusCode::OK, JSON, self.stats()),
            (_, "/mcp") => plain(StatusCode::METHOD_NOT_ALLOWED, "POST, GET or DELETE"),
            _ => plain(StatusCode::NOT_FOUND, "there is /mcp and /stats"),
        }
    }

    async fn post(self: Arc<Self>, headers: HeaderMap, body: Incoming) -> Response<Body> {
        let body = match read(body, self.world.longest()).await {
            Ok(Read::Short(body)) => body,
            Ok(Read::Long(Some(Envelope { id: Some(id), method, .. }), bytes)) => {
                self.stats.note(method.as_deref(), headers);
                let result = tools::text(Era::Legacy, &bytes.to_string());
                return respond(StatusCode::OK, JSON, json_body(&json::response(&id, result)));
            }
            Ok(Read::Long(..)) | Err(_) => return refuse(None, "no request"),
        };
        let Line::Message(envelope) = Line::of(&body) else {
            return refuse(None, "one message, please");
        };
        let part = |span: &Option<_>| span.as_ref().and_then(|span| scan::slice(&body, span));
        let params = Params::read(part(&envelope.params).unwrap_or_default());
        let says_modern = headers.get(REVISION).is_some_and(|value| value == MODERN_REVISION);
        let era = if says_modern { Era::Modern } else { params.era() };
        let sender = self.sender(era, &envelope, &headers);
        let mismatch = match envelope.kind() {
            Kind::Request { method, .. } if era == Era::Modern => {
                headers::mismatch(&headers, method, &params)
            }
            _ => None,
        };
        self.stats.note(envelope.method.as_deref(), headers);
        let sender = match sender {
            Ok(sender) => sender,
            Err(response) => return *response,
        };
        if let Some(mismatch) = mismatch {
            let error = json::error(envelope.id.as_ref(), HEADER_MISMATCH, &mismatch, None);
            return respond(StatusCode::BAD_REQUEST, JSON, json_body(&error));
        }
        match envelope.kind() {
            Kind::Request { id, method } => {
                self.answer(&Request { id, method, params, era }, sender).await
            }
            Kind::Notification { method } => {
                if let (Sender::Session(_, session), "notifications/cancelled") = (&sender, method)
                    && let Some(id) = params.request_id.and_then(Id::parse)
                    && session.session.cancel(&id)
                {
                    self.world.count_cancellation();
                }
                accepted()
            }
            Kind::Response { id } => {
                if let Sender::Session(_, session) = &sender {
                    let answer = part(&envelope.result).or(part(&envelope.error));
                    session.session.answered(id, answer.unwrap_or_default());
                }
                accepted()
            }
            Kind::Other => refuse(None, "neither request nor notification nor response"),
        }
    }

    /// Finds out who sends a message.
    fn sender(
        &self,
        era: Era,
        envelope: &Envelope,
        headers: &HeaderMap,
    ) -> Result<Sender, Box<Response<Body>>> {
        if era == Era::Modern {
            return Ok(Sender::Anyone);
        }
        if envelope.method.as_deref() == Some("initialize") {
            let id = self.sessions.begin();
            let session = self.sessions.get(&id).unwrap_or_default();
            return Ok(Sender::Session(id, session));
        }
        let (id, session) = self.session(envelope.id.as_ref(), headers)?;
        Ok(Sender::Session(id, session))
    }

    /// The session that the headers name.
    fn session(
        &self,
        id: Option<&Id>,
        headers: &HeaderMap,
    ) -> Result<(String, Arc<HttpSession>), Box<Response<Body>>> {
        if let Some(revision) = headers.get(REVISION)
            && !LEGACY_REVISIONS.iter().any(|known| revision == known)
        {
            return Err(Box::new(refuse(id, "Unsupported protocol version")));
        }
        let Some(name) = headers.get(SESSION).and_then(|value| value.to_str().ok()) else {
            return Err(Box::new(refuse(id, "Mcp-Session-Id is missing")));
        };
        let Some(session) = self.sessions.get(name) else {
            let error = json::error(id, SESSION_NOT_FOUND, "Session not found", None);
            return Err(Box::new(respond(StatusCode::NOT_FOUND, JSON, json_body(&error))));
        };
        Ok((name.to_owned(), session))
    }

    async fn answer(self: Arc<Self>, request: &Request<'_>, sender: Sender) -> Response<Body> {
        match self.world.answer(request) {
            Ok(Answer::Now(response)) => {
                let mut response = respond(StatusCode::OK, JSON, json_body(&response));
                if let (Sender::Session(id, _), "initialize") = (&sender, request.method)
                    && let Ok(id) = HeaderValue::from_str(id)
                {
                    response.headers_mut().insert(SESSION, id);
                }
                response
            }
            Ok(Answer::Call(call)) => self.call(request, call, sender).await,
            Ok(Answer::Listen(filter)) => self.listen(request.id, filter),
            Ok(Answer::Refused { code, response }) => {
                let status = match (code, request.era) {
                    (METHOD_NOT_FOUND, Era::Modern) => StatusCode::NOT_FOUND,
                    (_, Era::Modern) => StatusCode::BAD_REQUEST,
                    (_, Era::Legacy) => StatusCode::OK,
                };
                respond(status, JSON, json_body(&response))
            }
            Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        }
    }

    async fn call(
        self: Arc<Self>,
        request: &Request<'_>,
        call: Call,
        sender: Sender,
    ) -> Response<Body> {
        let delivery = call.delivery;
        if let Some(refusal) = faults::refusal(delivery.fault) {
            return refusal;
        }
        if let (Sender::Session(id, _), Some(Fault::Forget)) = (&sender, delivery.fault) {
            self.sessions.end(id);
        }
        let streams = delivery.streams || delivery.detaches || call.says_more();
        if call.is_immediate() && !streams {
            let response = json::response(request.id, call.result);
            return respond(StatusCode::OK, JSON, faults::json_body(&response, delivery.fault));
        }
        let (stream, session) = match &sender {
            Sender::Session(_, session) if streams => {
                (session.open_stream(), Arc::clone(&session.session))
            }
            Sender::Session(_, session) => (Stream::fleeting(), Arc::clone(&session.session)),
            Sender::Anyone => (Stream::fleeting(), Arc::default()),
        };
        let task = self.start(request.id.clone(), call, session, Arc::clone(&stream));
        let cancel = match sender {
            // Going away is no way to cancel for a legacy client.
            Sender::Session(..) => None,
            Sender::Anyone => Some(self.cancelling(move || task.abort())),
        };
        if streams {
            let part = if delivery.detaches { Part::First } else { Part::Whole };
            return self.events(stream, part, cancel);
        }
        let mut guard = Guard::new(|| (), cancel);
        let last = stream.last().await;
        guard.disarm();
        match last {
            Some(message) => {
                respond(StatusCode::OK, JSON, faults::json_body(&message, delivery.fault))
            }
            // It was cancelled.
            None => accepted(),
        }
    }

    fn start(&self, id: Id, call: Call, session: Arc<Session>, stream: Arc<Stream>) -> AbortHandle {
        let world = Arc::clone(&self.world);
        let end = {
            let stream = Arc::clone(&stream);
            Guard::new(move || stream.end(), None)
        };
        session.clone().start(id.clone(), &Handle::current(), async move {
            // A call that is cancelled ends its stream as well.
            let _end = end;
            // A stream takes everything.
            let _ = call.run(&id, &world, &session, &Outlet::Events(stream)).await;
        })
    }

    fn listen(self: Arc<Self>, id: &Id, filter: Value) -> Response<Body> {
        let stream = Stream::fleeting();
        let wish = Wish::Subscription { id: id.clone(), filter };
        let outlet = Outlet::Events(Arc::clone(&stream));
        let key = self.world.listeners.add(Listener { wish, outlet });
        let world = Arc::clone(&self.world);
        let cancel = self.cancelling(move || world.listeners.remove(key));
        self.events(stream, Part::Whole, Some(cancel))
    }

    fn get(self: Arc<Self>, headers: &HeaderMap) -> Response<Body> {
        let session = match self.session(None, headers) {
            Ok((_, session)) => session,
            Err(response) => return *response,
        };
        let Some(last) = headers.get(LAST_EVENT) else {
            let stream = session.open_stream();
            let outlet = Outlet::Events(Arc::clone(&stream));
            let key = self.world.listeners.add(Listener { wish: Wish::Everything, outlet });
            let mut newest = session.listener.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(older) = newest.replace(key) {
                self.world.listeners.remove(older);
            }
            drop(newest);
            return self.events(stream, Part::Whole, None);
        };
        match last.to_str().ok().and_then(|id| session.event(id)) {
            Some((stream, index)) => self.events(stream, Part::After(index), None),
            None => refuse(None, "no such event"),
        }
    }

    fn delete(&self, headers: &HeaderMap) -> Response<Body> {
        match self.session(None, headers) {
            Ok((id, session)) => {
                self.sessions.end(&id);
                self.stats.deleted.up();
                let listener = session.listener.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(key) = *listener {
                    self.world.listeners.remove(key);
                }
                plain(StatusCode::OK, "")
            }
            Err(response) => *response,
        }
    }

    /// A response that is a stream; `cancel` is done if it is not read to its end.
    fn events(
        self: &Arc<Self>,
        stream: Arc<Stream>,
        part: Part,
        cancel: Option<Box<dyn FnOnce() + Send>>,
    ) -> Response<Body> {
        self.stats.streams.up();
        let server = Arc::clone(self);
        let guard = Guard::new(move || server.stats.streams.down(), cancel);
        let mut response = respond(StatusCode::OK, EVENTS, stream.read(part, guard));
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }

    fn cancelling(
        self: &Arc<Self>,
        action: impl FnOnce() + Send + 'static,
    ) -> Box<dyn FnOnce() + Send> {
        let server = Arc::clone(self);
        Box::new(move || {
            server.world.count_cancellation();
            action();
        })
    }

    fn stats(&self) -> Body {
        let mut stats = self.stats.as_json();
        stats["sessions"] = self.sessions.count().into();
        stats["listeners"] = self.world.listeners.count().into();
        stats["cancelled"] = self.world.cancellations().into();
        stats["held"] = self.world.gates.held().into();
        Body::Whole(stats.to_string().into())
    }
}

enum Read {
    Short(Bytes),
    /// What it is, and its length.
    Long(Option<Envelope>, u64),
}

/// Reads a message, but does not keep it if it is long.
async fn read(mut body: Incoming, longest: usize) -> hyper::Result<Read> {
    let mut start = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let data = frame?.into_data().unwrap_or_default();
        start.extend_from_slice(&data);
        if start.len() > longest {
            break;
        }
    }
    if start.len() <= longest {
        return Ok(Read::Short(start.freeze()));
    }
    let mut scanner = LineScanner::new();
    scanner.push(&start);
    let mut bytes = start.len() as u64;
    while let Some(frame) = body.frame().await {
        let data = frame?.into_data().unwrap_or_default();
        scanner.push(&data);
        bytes += data.len() as u64;
    }
    Ok(Read::Long(scanner.finish().messages().first().cloned(), bytes))
}

fn json_body(message: &Json) -> Body {
    faults::json_body(message, None)
}

fn respond(status: StatusCode, content_type: HeaderValue, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

fn accepted() -> Response<Body> {
    let mut response = Response::new(Body::Whole(Bytes::new()));
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

fn refuse(id: Option<&Id>, why: &str) -> Response<Body> {
    let error = json::error(id, INVALID_REQUEST, why, None);
    respond(StatusCode::BAD_REQUEST, JSON, json_body(&error))
}

fn plain(status: StatusCode, text: &str) -> Response<Body> {
    respond(
        status,
        HeaderValue::from_static("text/plain"),
        Body::Whole(Bytes::copy_from_slice(text.as_bytes())),
    )
}
