//! What is offered over HTTP besides MCP, under paths of its own: beside the endpoint, or alone.

use std::{
    convert::Infallible,
    future, io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::{
    body::{Body as _, Incoming},
    service::service_fn,
};
use tokio::{net::TcpListener, runtime, sync::Semaphore, task, time};

use super::{
    connection,
    gate::Gate,
    reply::{self, Body},
};
use crate::{ProxyError, limits};

/// How many requests are answered at once. Each takes a thread for as long as it reads from the disk, not
/// for as long as the client takes what is sent.
const AT_ONCE: usize = 16;
/// How many connections there may be where a site is all that is offered: no more than leaves
/// descriptors for everything else.
const CONNECTIONS: usize = 128;
/// How long to wait when no connection can be accepted.
const BREATH: Duration = Duration::from_millis(50);

/// What browsers are told where there is nothing: nothing is run, shown, framed, guessed or kept.
const NOTHING_TO_DO: [(HeaderName, HeaderValue); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; base-uri 'none'; frame-ancestors 'none'"),
    ),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
];

/// Answers requests whose paths are its own.
pub trait Site: Send + Sync {
    /// True if a path is one of its own.
    fn owns(&self, path: &str) -> bool;

    /// How long the body of a request may be. One that is longer is turned away; where none is expected,
    /// none is read.
    fn max_body_bytes(&self) -> usize {
        0
    }

    /// Answers a request. It may read from the disk: it is called on a thread where that holds up nobody.
    fn answer(&self, request: &Request<Bytes>, client: SocketAddr) -> Response<Bytes>;
}

/// Whether whoever has sent a request still waits for the answer. It is among the request's extensions.
#[derive(Debug, Clone, Default)]
pub struct Presence(Arc<AtomicBool>);

impl Presence {
    /// True if nobody waits for the answer any more.
    pub fn has_left(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Says that nobody waits any more when the task that waits for an answer is dropped.
struct LeftOnDrop(Presence);

impl Drop for LeftOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// A site, asked in turn.
pub(super) struct Visited {
    site: Arc<dyn Site>,
    turns: Semaphore,
}

impl Visited {
    pub(super) fn new(site: Arc<dyn Site>) -> Self {
        Self { site, turns: Semaphore::new(AT_ONCE) }
    }

    pub(super) fn owns(&self, path: &str) -> bool {
        self.site.owns(path)
    }

    /// Answers a request of someone who may come in.
    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        client: SocketAddr,
    ) -> Response<Body> {
        // It fails only once it is closed, which nobody does.
        let _turn = self.turns.acquire().await;
        let (head, body) = request.into_parts();
        let body = match self.take(body).await {
            Ok(body) => body,
            Err(status) => return reply::text(status, "the request is too long, or did not come"),
        };
        let (site, mut request) = (self.site.clone(), Request::from_parts(head, body));
        let presence = Presence::default();
        request.extensions_mut().insert(presence.clone());
        let _waiting = LeftOnDrop(presence);
        let answered = task::spawn_blocking(move || site.answer(&request, client)).await;
        match answered {
            Ok(answer) => answer.map(reply::whole),
            Err(error) if error.is_panic() => {
                tracing::error!(%error, "a request was not answered");
                reply::text(StatusCode::INTERNAL_SERVER_ERROR, "this went wrong; the log says why")
            }
            // The runtime ends, and this task with it.
            Err(_) => future::pending().await,
        }
    }

    /// The body of a request, if the site expects one.
    async fn take(&self, body: Incoming) -> Result<Bytes, StatusCode> {
        let most = self.site.max_body_bytes();
        if most == 0 || body.is_end_stream() {
            return Ok(Bytes::new());
        }
        if body.size_hint().lower() > most as u64 {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        let collected = Limited::new(body, most).collect();
        match time::timeout(limits::CLIENT_PATIENCE, collected).await {
            Ok(Ok(collected)) => Ok(collected.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(StatusCode::PAYLOAD_TOO_LARGE),
            Ok(Err(_)) => Err(StatusCode::BAD_REQUEST),
            Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
        }
    }
}

/// Offers a site alone, on a thread of its own, until the program ends. Returns where.
pub fn serve_alone(site: Arc<dyn Site>, address: SocketAddr) -> Result<SocketAddr, ProxyError> {
    let gate = Gate::default();
    if !gate.may_listen_on(address) {
        return Err(ProxyError::NotThisMachine(address));
    }
    let failed = |error: io::Error| ProxyError::Listen { address, hint: error.to_string() };
    let runtime =
        runtime::Builder::new_current_thread().enable_all().build().map_err(ProxyError::Setup)?;
    let listener = runtime.block_on(async { connection::listen(address) }).map_err(failed)?;
    let local = listener.local_addr().map_err(failed)?;
    let serve = move || {
        let alone = Arc::new(Alone { gate, visited: Visited::new(site) });
        runtime.block_on(alone.listen(listener, local));
    };
    thread::Builder::new().name("site".to_owned()).spawn(serve).map_err(ProxyError::Setup)?;
    Ok(local)
}

struct Alone {
    gate: Gate,
    visited: Visited,
}

impl Alone {
    async fn listen(self: Arc<Self>, listener: TcpListener, local: SocketAddr) {
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let place = room.clone().acquire_owned().await;
            match listener.accept().await {
                Ok((stream, client)) => {
                    let alone = self.clone();
                    let service = service_fn(move |request| {
                        let alone = alone.clone();
                        async move { Ok::<_, Infallible>(alone.answer(request, client, local).await) }
                    });
                    let connection = connection::serve(stream, service);
                    tokio::spawn(async move {
                        // A client that breaks off tells nobody anything.
                        let _ = connection.await;
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    time::sleep(BREATH).await;
                }
            }
        }
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
        client: SocketAddr,
        local: SocketAddr,
    ) -> Response<Body> {
        if let Err(refusal) = self.gate.check_page(request.headers(), local) {
            // Nothing else can be allowed here.
            return reply::text(refusal.status, &refusal.reason);
        }
        if !self.visited.owns(request.uri().path()) {
            return nothing_at(request.uri().path());
        }
        self.visited.answer(request, client).await
    }
}

/// The answer for a path that nobody owns: a browser may do as little with it as with a page.
fn nothing_at(path: &str) -> Response<Body> {
    let mut response = if path.strip_suffix(".json").is_some() {
        let nothing = Bytes::from_static(b"{\"error\":\"there is nothing here\"}\n");
        reply::json_bytes(StatusCode::NOT_FOUND, nothing)
    } else {
        reply::text(StatusCode::NOT_FOUND, "there is nothing here")
    };
    response.headers_mut().extend(NOTHING_TO_DO);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nothing_is_a_browser_may_do_nothing() {
        for (path, kind) in
            [("/nothing", "text/plain; charset=utf-8"), ("/nothing.json", "application/json")]
        {
            let response = nothing_at(path);
            assert_eq!(response.status(), StatusCode::NOT_FOUND);
            let header = |name| response.headers().get(name).and_then(|it| it.to_str().ok());
            assert_eq!(header(header::CONTENT_TYPE), Some(kind), "{path}");
            assert_eq!(header(header::X_CONTENT_TYPE_OPTIONS), Some("nosniff"), "{path}");
            let policy = header(header::CONTENT_SECURITY_POLICY).unwrap();
            assert!(policy.contains("default-src 'none'"), "{path}: {policy}");
        }
    }
}
