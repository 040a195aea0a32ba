//! Child processes behind our endpoint: one for each session in the legacy era, one for all requests
//! in the modern one.

mod child;
mod log;
mod session;
mod shared;

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};

use forebay_wire::{
    Envelope, Id, Kind, Line,
    reply::{CONNECTION_CLOSED, PARSE_ERROR},
};
use http::{HeaderMap, Response, StatusCode, request::Parts};
use tokio::{
    sync::{Mutex as AsyncMutex, Semaphore},
    time,
};

use self::{
    session::{Session, Taken},
    shared::Shared,
};
use super::{
    context::EndpointContext,
    reply::{self, INVALID_REQUEST, NO_SESSION},
};
use crate::{
    body::{Body, Source},
    router::UpstreamName,
    streamable::{
        headers::{self, LAST_EVENT_ID, SESSION_ID},
        look::look,
        modern,
        tool_headers::ToolHeaders,
    },
    upstream::{Command, GroupSettings, hosted::Hosted, launcher::Launcher},
};

/// How many sessions there may be, and for how long.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Sessions at once; each has a process of its own.
    pub sessions: usize,
    /// A session that nobody has used for this long is ended.
    pub idle: Duration,
    /// How long a process may take to end by itself, and again after SIGTERM.
    pub grace: Duration,
    /// A stream with an answer that has been open for this long is ended, and its client comes back
    /// for the rest; with `None` it stays open until the answer has come.
    pub poll_after: Option<Duration>,
}

/// The children and whom they serve.
pub(super) struct Hosting {
    context: Arc<EndpointContext>,
    behind: Behind,
    /// One for each session that may still be opened.
    slots: Arc<Semaphore>,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    shared: AsyncMutex<Option<Arc<Shared>>>,
    /// What modern clients say in headers. It outlives the shared child, as their lists of tools do.
    tools: Arc<Mutex<ToolHeaders>>,
    limits: Limits,
}

/// What stands behind the endpoint, once for each session and once for all modern clients.
enum Behind {
    Child(Arc<Launcher>),
    Group(Arc<GroupSettings>),
}

impl Hosting {
    /// Children of a command.
    pub(super) fn of_children(
        context: Arc<EndpointContext>,
        command: Command,
        name: UpstreamName,
        limits: Limits,
    ) -> Arc<Self> {
        let launcher = Launcher::new(command, name, context.spool.clone(), limits.grace);
        Self::new(context, Behind::Child(Arc::new(launcher)), limits)
    }

    /// Many upstreams.
    pub(super) fn of_groups(
        context: Arc<EndpointContext>,
        settings: Arc<GroupSettings>,
        limits: Limits,
    ) -> Arc<Self> {
        Self::new(context, Behind::Group(settings), limits)
    }

    fn new(context: Arc<EndpointContext>, behind: Behind, limits: Limits) -> Arc<Self> {
        let slots = Arc::new(Semaphore::new(limits.sessions.min(Semaphore::MAX_PERMITS)));
        let (sessions, shared, tools) = (Mutex::default(), AsyncMutex::default(), Arc::default());
        let hosting = Arc::new(Self { context, behind, slots, sessions, shared, tools, limits });
        tokio::spawn(hosting.clone().end_idle());
        hosting
    }

    /// Answers a request with a message.
    pub(super) async fn post(&self, head: &Parts, body: Body) -> Response<reply::Body> {
        let (line, body) = look(body, Body::line).await;
        let first = line.messages().first();
        let id = first.and_then(|envelope| envelope.id.as_ref());
        let body = match refuse(&head.headers, &line, body, id).await {
            Ok(body) => body,
            Err(refusal) => return *refusal,
        };
        let takes_events = headers::accepts(&head.headers, "text/event-stream");
        let source = Source::Held(&body);
        if let Line::Message(envelope) = &line
            && modern::is_modern(envelope, source)
        {
            let checked = modern::check(&head.headers, envelope, source)
                .and_then(|()| self.tools().check(&head.headers, envelope, source));
            if let Err(mistake) = checked {
                return reply::error(mistake.status, id, mistake.code, &mistake.what);
            }
            return match self.shared().await {
                Ok(shared) => shared.answer(envelope, body, takes_events).await,
                Err(refusal) => refusal.answer(id),
            };
        }
        if let Some(version) = head.headers.get(headers::PROTOCOL_VERSION)
            && !is_a_date(version.as_bytes())
        {
            let why = "MCP-Protocol-Version must be a revision, such as 2025-11-25";
            return reply::error(StatusCode::BAD_REQUEST, id, INVALID_REQUEST, why);
        }
        let begins = first.is_some_and(|it| it.method.as_deref() == Some("initialize"));
        let session = match headers::text(&head.headers, &SESSION_ID) {
            Some(named) => self.session(named),
            None if begins => match self.begin().await {
                Ok(session) => Some(session),
                Err(refusal) => return refusal.answer(id),
            },
            None => return not_json(body, id).await.unwrap_or_else(|| unnamed(id)),
        };
        let Some(session) = session else { return no_session(id) };
        match session.take(&line, body, takes_events).await {
            Taken::Asked(reading) => session.answer(reading, takes_events).await,
            Taken::Told => reply::empty(StatusCode::ACCEPTED),
            Taken::Refused(response) => response,
        }
    }

    /// Opens the stream of what the upstream says by itself, or goes on with one.
    pub(super) fn get(&self, head: &Parts) -> Response<reply::Body> {
        if !headers::accepts(&head.headers, "text/event-stream") {
            let why = "this is a stream of events; say so with `Accept: text/event-stream`";
            return reply::error(StatusCode::NOT_ACCEPTABLE, None, INVALID_REQUEST, why);
        }
        match self.named(&head.headers) {
            Ok(session) => session.listen(headers::text(&head.headers, &LAST_EVENT_ID)),
            Err(refusal) => *refusal,
        }
    }

    /// Ends a session.
    pub(super) fn delete(&self, head: &Parts) -> Response<reply::Body> {
        match self.named(&head.headers) {
            Ok(session) => {
                session.leave();
                // If not, it stays until what goes on without a client is done.
                if session.is_over() {
                    self.sessions().remove(&session.id);
                }
                reply::empty(StatusCode::NO_CONTENT)
            }
            Err(refusal) => *refusal,
        }
    }

    /// Ends everything: what is asked is answered first, within `patience`.
    pub(super) async fn end(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        let sessions: Vec<_> = self.sessions().drain().map(|(_, session)| session).collect();
        let shared = self.shared.lock().await.take();
        let is_awaited = || {
            sessions.iter().any(|session| session.is_awaited())
                || shared.as_ref().is_some_and(|shared| shared.is_awaited())
        };
        while is_awaited() && Instant::now() < deadline {
            time::sleep(Duration::from_millis(10)).await;
        }
        for session in &sessions {
            session.end();
        }
        if let Some(shared) = &shared {
            shared.end();
        }
        // Whoever sees a child off holds its session.
        let last = 2 * self.limits.grace + Duration::from_secs(1);
        let deadline = Instant::now() + last;
        let is_left = || {
            sessions.iter().any(|session| Arc::strong_count(session) > 1)
                || shared.as_ref().is_some_and(|shared| Arc::strong_count(shared) > 1)
        };
        while is_left() && Instant::now() < deadline {
            time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// How many sessions there are.
    pub(super) fn count(&self) -> usize {
        self.sessions().values().filter(|session| !session.is_closed()).count()
    }

    async fn begin(&self) -> Result<Arc<Session>, NotStarted> {
        let slot = self.slots.clone().try_acquire_owned();
        let slot = slot.map_err(|_| NotStarted::TooMany(self.limits.sessions))?;
        let launched = self.launch().await?;
        let id = new_id().map_err(|error| NotStarted::Failed(error.to_string()))?;
        let (context, poll_after) = (self.context.clone(), self.limits.poll_after);
        let session = Session::start(id.clone(), context, launched, slot, poll_after);
        let mut sessions = self.sessions();
        sessions.retain(|_, session| !session.is_over());
        sessions.insert(id, session.clone());
        Ok(session)
    }

    async fn shared(&self) -> Result<Arc<Shared>, NotStarted> {
        let mut shared = self.shared.lock().await;
        if let Some(running) = shared.as_ref().filter(|shared| !shared.is_over()) {
            running.touch();
            return Ok(running.clone());
        }
        let started = Shared::start(self.context.clone(), self.launch().await?, self.tools.clone());
        *shared = Some(started.clone());
        Ok(started)
    }

    async fn launch(&self) -> Result<Hosted, NotStarted> {
        match &self.behind {
            Behind::Child(launcher) => Hosted::child(launcher).await.map_err(|error| {
                tracing::warn!("{error}");
                NotStarted::Failed(error.to_string())
            }),
            Behind::Group(settings) => {
                let (spool, grace) = (&self.context.spool, self.limits.grace);
                Ok(Hosted::group(settings.clone(), spool, grace))
            }
        }
    }

    fn session(&self, id: &str) -> Option<Arc<Session>> {
        // Under the lock, so that it is not found idle meanwhile.
        let sessions = self.sessions();
        let session = sessions.get(id).filter(|session| !session.is_closed())?;
        session.touch();
        Some(session.clone())
    }

    fn named(&self, headers: &HeaderMap) -> Result<Arc<Session>, Box<Response<reply::Body>>> {
        let Some(id) = headers::text(headers, &SESSION_ID) else {
            return Err(Box::new(unnamed(None)));
        };
        self.session(id).ok_or_else(|| Box::new(no_session(None)))
    }

    /// Ends sessions that nobody uses.
    async fn end_idle(self: Arc<Self>) {
        let pause =
            (self.limits.idle / 4).clamp(Duration::from_millis(100), Duration::from_secs(30));
        loop {
            tokio::select! {
                () = time::sleep(pause) => {}
                () = self.context.closing.cancelled() => return,
            }
            self.sessions().retain(|_, session| {
                if !session.is_over() && session.is_idle(self.limits.idle) {
                    tracing::info!(session = session.id, "session ended: nobody has used it");
                    session.end();
                }
                !session.is_over()
            });
            let mut shared = self.shared.lock().await;
            if let Some(idle) = shared.take_if(|shared| shared.is_idle(self.limits.idle)) {
                idle.end();
            }
        }
    }

    fn tools(&self) -> MutexGuard<'_, ToolHeaders> {
        self.tools.lock()
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.sessions.lock()
    }
}

/// Why there is no child.
enum NotStarted {
    TooMany(usize),
    Failed(String),
}

impl NotStarted {
    fn answer(&self, id: Option<&Id>) -> Response<reply::Body> {
        let (status, why) = match self {
            Self::TooMany(most) => (
                StatusCode::SERVICE_UNAVAILABLE,
                format!(
                    "there are {most} sessions already, and no more are allowed; end one, or start \
                     Forebay with a higher --max-sessions"
                ),
            ),
            Self::Failed(why) => (StatusCode::BAD_GATEWAY, why.clone()),
        };
        reply::error(status, id, CONNECTION_CLOSED, &why)
    }
}

/// What is wrong with a request, whatever its session.
async fn refuse(
    headers: &HeaderMap,
    line: &Line,
    body: Body,
    id: Option<&Id>,
) -> Result<Body, Box<Response<reply::Body>>> {
    let refusal = |status, why| Err(Box::new(reply::error(status, id, INVALID_REQUEST, why)));
    if !headers::has_type(headers, "application/json") {
        let why = "send JSON, and say so with `Content-Type: application/json`";
        return refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
    }
    if !headers::accepts(headers, "application/json") {
        let why = "say `Accept: application/json, text/event-stream`";
        return refusal(StatusCode::NOT_ACCEPTABLE, why);
    }
    let is_message = |envelope: &Envelope| envelope.kind() != Kind::Other;
    if line.messages().is_empty() || !line.messages().iter().all(is_message) {
        let why = "send one JSON-RPC request, notification or response";
        return match not_json(body, id).await {
            Some(answer) => Err(Box::new(answer)),
            None => refusal(StatusCode::BAD_REQUEST, why),
        };
    }
    Ok(body)
}

/// What is said of a body that is no JSON. One that goes to a session is checked there.
async fn not_json(body: Body, id: Option<&Id>) -> Option<Response<reply::Body>> {
    let (checked, _) = look(body, Body::check).await;
    let error = checked.err()?;
    let why = format!("Parse error: {error}. Send one JSON-RPC message as the body.");
    Some(reply::error(StatusCode::BAD_REQUEST, id, PARSE_ERROR, &why))
}

fn is_a_date(text: &[u8]) -> bool {
    text.len() == 10
        && text.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

fn unnamed(id: Option<&Id>) -> Response<reply::Body> {
    let why = "this needs the Mcp-Session-Id header that the answer to `initialize` had";
    reply::error(StatusCode::BAD_REQUEST, id, INVALID_REQUEST, why)
}

fn no_session(id: Option<&Id>) -> Response<reply::Body> {
    let why = "there is no such session (any more); send `initialize` again";
    reply::error(StatusCode::NOT_FOUND, id, NO_SESSION, why)
}

/// A session's id, which nobody can guess.
fn new_id() -> Result<String, getrandom::Error> {
    Ok(format!("{:016x}{:016x}", getrandom::u64()?, getrandom::u64()?))
}
