//! Connections to a remote upstream, used again and again.
//!
//! A connection is driven by whoever waits for an answer on it, and by nobody while it is idle. So a
//! call has no task but its own, and wakes up no other thread.

use std::{
    fmt,
    future::poll_fn,
    mem,
    pin::{Pin, pin},
    sync::{Arc, Weak},
    task::{Context, Poll, Waker},
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};

use bytes::Bytes;
use futures_util::Stream;
use http::{HeaderMap, HeaderName, Request, StatusCode, response::Parts};
use hyper::{
    body::{Body, Incoming},
    client::conn::{
        TrySendError,
        http1::{self, SendRequest},
    },
};
use tokio::time::{Instant, sleep, timeout};

use super::{
    failure::deepest,
    way::{BoxError, Connect, Io},
};
use crate::{limits, streamable::streamed::Streamed};

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
/// For how long a connection is kept that nobody uses.
const MAX_IDLE: Duration = Duration::from_secs(90);
/// A request that is sent while the upstream closes its connection is lost, and may have been read. So
/// one that the upstream has said to close after a while is let go this much earlier.
const AHEAD: Duration = Duration::from_secs(1);
/// How often the idle ones are looked at.
const TEND: Duration = Duration::from_secs(15);

/// The connections to one upstream.
pub(super) struct Pool {
    connect: Connect,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    /// The one that was used last comes last. Each with when it is to be let go.
    connections: Vec<(Box<Connection>, Instant)>,
    /// A task looks after them.
    is_tended: bool,
}

/// A connection on which nothing is under way, or one request.
struct Connection {
    sender: SendRequest<Streamed>,
    /// Reads and writes; `None` once it is over.
    driver: Option<http1::Connection<Io, Streamed>>,
}

/// Why a request got no response.
pub(super) enum SendError {
    /// No connection could be made; the request can be sent again.
    Unreachable { error: BoxError, is_late: bool, request: Box<Request<Streamed>> },
    /// The connection was lost.
    BrokenOff(hyper::Error),
}

/// A response, of which the head is there and the body may still come.
pub(crate) struct Response {
    head: Parts,
    body: Incoming,
    /// What the body comes on, until it has come.
    connection: Option<Box<Connection>>,
    pool: Arc<Pool>,
}

/// A body that did not come to its end.
#[derive(Debug, thiserror::Error)]
#[error("{}", deepest(.0))]
pub(crate) struct BrokenBody(hyper::Error);

impl Pool {
    pub(super) fn new(connect: Connect) -> Arc<Self> {
        Arc::new(Self { connect, idle: Mutex::default() })
    }

    /// Sends a request on a connection that is idle, or on a new one.
    pub(super) async fn send(
        self: &Arc<Self>,
        mut request: Request<Streamed>,
    ) -> Result<Response, SendError> {
        while let Some(connection) = self.take() {
            match connection.exchange(request, self).await {
                Ok(response) => return Ok(response),
                // The upstream has closed it since, and nothing was sent.
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(SendError::BrokenOff(error.into_error())),
                },
            }
        }
        let connection = match self.connected().await {
            Ok(connection) => connection,
            Err((error, is_late)) => {
                let request = Box::new(request);
                return Err(SendError::Unreachable { error, is_late, request });
            }
        };
        let sent = connection.exchange(request, self).await;
        sent.map_err(|error| SendError::BrokenOff(error.into_error()))
    }

    async fn connected(&self) -> Result<Box<Connection>, (BoxError, bool)> {
        let io = match timeout(limits::CONNECT, (self.connect)()).await {
            Ok(connected) => connected.map_err(|error| (error, false))?,
            Err(late) => return Err((late.into(), true)),
        };
        let mut builder = http1::Builder::new();
        // Names mean the same in any case, but some proxies have rules for `Mcp-Session-Id` alone.
        builder.title_case_headers(true);
        let (sender, driver) =
            builder.handshake(io).await.map_err(|error| (error.into(), false))?;
        Ok(Box::new(Connection { sender, driver: Some(driver) }))
    }

    /// An idle connection that is still good.
    fn take(&self) -> Option<Box<Connection>> {
        loop {
            // Not in the `while`, which would keep the pool locked.
            let (mut connection, end) = self.idle().connections.pop()?;
            if Instant::now() < end && connection.is_free() {
                return Some(connection);
            }
        }
    }

    fn give_back(self: &Arc<Self>, mut connection: Box<Connection>, max_idle: Duration) {
        if !connection.is_free() {
            return;
        }
        let mut idle = self.idle();
        idle.connections.push((connection, Instant::now() + max_idle));
        if !mem::replace(&mut idle.is_tended, true) {
            tokio::spawn(tend(Arc::downgrade(self)));
        }
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock()
    }
}

/// Lets go of connections that nobody has used for long, or that the upstream has closed.
async fn tend(pool: Weak<Pool>) {
    loop {
        sleep(TEND).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut idle = pool.idle();
        idle.connections
            .retain_mut(|(connection, end)| Instant::now() < *end && connection.is_free());
        if idle.connections.is_empty() {
            idle.is_tended = false;
            return;
        }
    }
}

impl Connection {
    /// Sends a request, and returns the response once its head is there.
    async fn exchange(
        mut self: Box<Self>,
        request: Request<Streamed>,
        pool: &Arc<Pool>,
    ) -> Result<Response, TrySendError<Request<Streamed>>> {
        let mut answer = pin!(self.sender.try_send_request(request));
        let answer = poll_fn(|context| {
            self.drive(context);
            answer.as_mut().poll(&mut unheard())
        });
        let (head, body) = answer.await?.into_parts();
        let mut response = Response { head, body, connection: Some(self), pool: pool.clone() };
        response.give_back_if_over();
        Ok(response)
    }

    /// Reads and writes what can be, and has the task woken up for the rest.
    fn drive(&mut self, context: &mut Context<'_>) {
        if let Some(driver) = &mut self.driver
            && Pin::new(driver).poll(context).is_ready()
        {
            // Whoever waits for it hears of its end, and of its error, when it is dropped.
            self.driver = None;
        }
    }

    /// True if a request can be sent on it.
    fn is_free(&mut self) -> bool {
        // The upstream may have closed it.
        self.drive(&mut unheard());
        self.driver.is_some() && self.sender.is_ready()
    }
}

/// For how long a connection may be idle, by what the upstream says in `Keep-Alive: timeout=5`.
fn max_idle(headers: &HeaderMap) -> Duration {
    let said = headers.get(KEEP_ALIVE).and_then(|value| value.to_str().ok());
    let seconds = said.and_then(|said| {
        let mut parameters = said.split(',').filter_map(|parameter| parameter.split_once('='));
        let (_, value) =
            parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("timeout"))?;
        value.trim().parse().ok()
    });
    let said = seconds.map(|seconds| Duration::from_secs(seconds).saturating_sub(AHEAD));
    said.unwrap_or(MAX_IDLE).min(MAX_IDLE)
}

/// For what makes progress only while a connection is driven: whoever drives it looks again then, and
/// need not be woken up.
fn unheard() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

impl Response {
    pub(crate) fn status(&self) -> StatusCode {
        self.head.status
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The next piece of the body; `None` at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, BrokenBody> {
        poll_fn(|context| self.poll_chunk(context)).await.transpose()
    }

    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BrokenBody>>> {
        let mut is_driven = false;
        loop {
            match Pin::new(&mut self.body).poll_frame(&mut unheard()) {
                Poll::Ready(Some(Ok(frame))) => {
                    // Trailers are of the connection.
                    let Ok(data) = frame.into_data() else { continue };
                    self.give_back_if_over();
                    return Poll::Ready(Some(Ok(data)));
                }
                Poll::Ready(Some(Err(error))) => {
                    self.connection = None;
                    return Poll::Ready(Some(Err(BrokenBody(error))));
                }
                Poll::Ready(None) => {
                    self.give_back();
                    return Poll::Ready(None);
                }
                Poll::Pending if is_driven => return Poll::Pending,
                Poll::Pending => {}
            }
            if let Some(connection) = &mut self.connection {
                connection.drive(context);
            }
            is_driven = true;
        }
    }

    /// Not everyone reads on to find that there is no more.
    fn give_back_if_over(&mut self) {
        if self.body.is_end_stream() {
            self.give_back();
        }
    }

    fn give_back(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.pool.give_back(connection, max_idle(&self.head.headers));
        }
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response").field("head", &self.head).finish_non_exhaustive()
    }
}

impl Stream for Response {
    type Item = Result<Bytes, BrokenBody>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_chunk(context)
    }
}

#[cfg(test)]
mod tests;
