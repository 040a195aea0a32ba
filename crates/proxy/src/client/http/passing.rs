//! A remote upstream behind our endpoint: each request is one request to it.
//!
//! Sessions, statuses and event ids are the upstream's own, so that a client can tell no difference;
//! only the messages in bodies and events go through the relay. What we note of a session is what
//! the relay needs to know what an answer is about.

mod events;
mod inner;
mod resumption;
mod sessions;

use std::{io, sync::Arc};

use bytes::Bytes;
use forebay_wire::{Envelope, Id, Line, reply::CONNECTION_CLOSED};
use futures_util::{StreamExt, stream};
use http::{HeaderMap, Method, Response, StatusCode, request::Parts};
use parking_lot::Mutex;

use self::{
    events::EventPump,
    inner::ToRemote,
    sessions::{Noted, Sessions},
};
use super::{
    answering::{self, Answered},
    cancel_on_drop::CancelOnDrop,
    context::{EndpointContext, Taken, nobody},
    event_stream::{Said, event_stream},
    reply::{self, INVALID_REQUEST},
};
use crate::{
    body::{Body, Message, Source},
    limits,
    relay::{ClientOnward, Relay, UpstreamOnward},
    streamable::{
        headers::{self, SESSION_ID},
        look::look,
        tool_headers::ToolHeaders,
    },
    upstream::{
        Remote, RemoteError,
        remote::{self, BrokenBody},
    },
};

/// A remote upstream, and what we know of its sessions.
pub(super) struct Passing {
    context: Arc<EndpointContext>,
    remote: Arc<Remote>,
    sessions: Sessions,
    /// Learnt from the lists of tools that hooks have asked for.
    tools: Arc<Mutex<ToolHeaders>>,
}

/// A conversation that a request belongs to.
#[derive(Clone)]
struct Conversation {
    context: Arc<EndpointContext>,
    relay: Arc<Relay>,
    /// The session that the client named.
    session: Option<Arc<Noted>>,
    /// The requests that this one is to answer.
    asked: Arc<[Id]>,
}

impl Passing {
    pub(super) fn new(context: Arc<EndpointContext>, remote: Remote) -> Self {
        let (remote, sessions, tools) = (Arc::new(remote), Sessions::default(), Arc::default());
        Self { context, remote, sessions, tools }
    }

    /// Answers a request with a message.
    pub(super) async fn post(&self, head: &Parts, body: Body) -> Response<reply::Body> {
        let (line, body) = look(body, Body::line).await;
        if let Some(refusal) = refuse(&head.headers, &line) {
            return refusal;
        }
        let conversation = self.conversation(&head.headers, &line);
        let (guard, relay) = (conversation.guard(), conversation.relay.clone());
        // The guard goes along: a long message is looked at to its end, also if the client has left.
        let looking =
            look(body, move |body| (relay.client_message(&line, Source::Held(body)), guard));
        let ((onward, guard), body) = looking.await;
        let body = Arc::new(body);
        let (message, answered) = match onward {
            ClientOnward::Pass => (Message::whole(body), Vec::new()),
            ClientOnward::Drop => return reply::empty(StatusCode::ACCEPTED),
            ClientOnward::Answer(lines) => {
                guard.disarm();
                return reply::json_bytes(StatusCode::BAD_REQUEST, Bytes::from(lines));
            }
            ClientOnward::Consult(consultation) => {
                let Conversation { context, relay, .. } = &conversation;
                let answered = answering::consult(context, relay, consultation, body, |client| {
                    Arc::new(ToRemote::new(self, &head.headers, client.clone()))
                });
                match answered.await {
                    Answered::Here(response) => {
                        // Its body may be a stream that the answer is yet to come in.
                        guard.disarm();
                        return response;
                    }
                    Answered::Upstream(message, answers) => (message, answers),
                }
            }
        };
        let sent =
            self.remote.send(Method::POST, headers::to_upstream(&head.headers), Some(&message));
        match sent.await {
            Ok(response) => self.pass(conversation, response, answered, guard).await,
            Err(error) => conversation.refused(&error),
        }
    }

    /// How many sessions are noted.
    pub(super) fn count(&self) -> usize {
        self.sessions.count()
    }

    /// Opens a stream of what the upstream says by itself, or goes on with one.
    pub(super) async fn get(&self, head: &Parts) -> Response<reply::Body> {
        self.bodiless(Method::GET, head).await
    }

    /// Ends a session.
    pub(super) async fn delete(&self, head: &Parts) -> Response<reply::Body> {
        let response = self.bodiless(Method::DELETE, head).await;
        if let Some(id) = headers::text(&head.headers, &SESSION_ID)
            && response.status().is_success()
        {
            self.sessions.forget(id);
        }
        response
    }

    async fn bodiless(&self, method: Method, head: &Parts) -> Response<reply::Body> {
        if let Some(refusal) = refuse(&head.headers, &Line::Blank) {
            return refusal;
        }
        let conversation = self.conversation(&head.headers, &Line::Blank);
        let guard = conversation.guard();
        match self.remote.send(method, headers::to_upstream(&head.headers), None).await {
            Ok(response) => self.pass(conversation, response, Vec::new(), guard).await,
            Err(error) => conversation.refused(&error),
        }
    }

    fn conversation(&self, headers: &HeaderMap, line: &Line) -> Conversation {
        let session = headers::text(headers, &SESSION_ID).map(|id| {
            self.sessions.get(id).unwrap_or_else(|| Noted::new(id, self.context.session()))
        });
        let messages = line.messages();
        let begins = messages.iter().any(|it| it.method.as_deref() == Some("initialize"));
        let relay = match &session {
            Some(session) => session.relay.clone(),
            None if begins => self.context.session(),
            None => self.context.conversation(),
        };
        let asked = messages.iter().filter_map(Envelope::request).cloned().collect();
        Conversation { context: self.context.clone(), relay, session, asked }
    }

    /// Passes a response on, with what the relay makes of the messages in it. What we have answered
    /// ourselves goes before it. A stream of events takes over from the guard.
    async fn pass(
        &self,
        mut conversation: Conversation,
        response: remote::Response,
        answered: Vec<Message>,
        guard: CancelOnDrop<impl FnOnce()>,
    ) -> Response<reply::Body> {
        let status = response.status();
        if status == StatusCode::UNAUTHORIZED {
            // It is us who are not let in; a client's own token would be of no use there.
            let why = format!(
                "upstream `{}` asks for a login; {}",
                self.context.upstream(),
                self.remote.advice()
            );
            tracing::warn!("{why}");
            return conversation.failed(StatusCode::BAD_GATEWAY, &why);
        }
        if let Some(place) = self.remote.redirected_to(&response) {
            let why = format!(
                "upstream `{}` has moved to {place}; start Forebay with that URL",
                self.context.upstream()
            );
            tracing::warn!("{why}");
            return conversation.failed(StatusCode::BAD_GATEWAY, &why);
        }
        let is_json = headers::has_type(response.headers(), "application/json");
        if conversation.session.is_none()
            && !conversation.asked.is_empty()
            && !is_json
            && let Some(why) = self.remote.old_transport(status).await
        {
            tracing::warn!("{why}");
            return conversation.failed(StatusCode::BAD_GATEWAY, &why);
        }
        let head = headers::to_client(response.headers());
        match (&conversation.session, headers::text(&head, &SESSION_ID)) {
            (Some(session), _) if status == StatusCode::NOT_FOUND => {
                self.sessions.forget(&session.id);
            }
            (Some(session), _) if status.is_success() => self.sessions.note(session),
            (None, Some(id)) if status.is_success() && id.len() <= limits::SESSION_ID_BYTES => {
                let session = Noted::new(id, conversation.relay.clone());
                self.sessions.note(&session);
                conversation.session = Some(session);
            }
            _ => {}
        }
        let is_unread = conversation.relay.lets_through_unread() && answered.is_empty();
        if headers::has_type(&head, "text/event-stream") && status.is_success() && !is_unread {
            guard.disarm();
            let frames = EventPump::start(conversation, response, answered);
            return reply::events(head, frames);
        }
        if headers::has_type(&head, "application/json") && !is_unread {
            return conversation.json(status, head, response, answered).await;
        }
        let frames = broken_as_io(response);
        let body = if conversation.is_awaited() {
            reply::stream_body(frames)
        } else {
            // It may have no end of its own.
            let context = conversation.context.clone();
            let closing = Box::pin(async move { context.closing.cancelled().await });
            reply::stream_body(frames.take_until(closing))
        };
        let mut passed = Response::new(body);
        *passed.status_mut() = status;
        *passed.headers_mut() = head;
        passed
    }
}

impl Conversation {
    /// Passes on a body that is a message.
    async fn json(
        &self,
        status: StatusCode,
        head: HeaderMap,
        mut pieces: remote::Response,
        answered: Vec<Message>,
    ) -> Response<reply::Body> {
        let body = match self.context.take_in(&mut pieces, u64::MAX, None).await {
            Taken::Whole(body) => body,
            Taken::Partly(beginning, piece, error) => {
                crate::events::line_cannot_be_held(&error);
                let before =
                    Message::whole(Arc::new(beginning)).pieces().map(|part| part.map(Bytes::from));
                let all = stream::iter(before.chain([Ok(piece)])).chain(broken_as_io(pieces));
                let mut passed = Response::new(reply::stream_body(all));
                *passed.status_mut() = status;
                *passed.headers_mut() = head;
                return passed;
            }
            Taken::BrokenOff(how) => return self.broken_off(&how),
            // Neither is asked for.
            Taken::TooLong | Taken::TooSlow => return self.broken_off("too long"),
        };
        let message = self.revised(body).await;
        if answered.is_empty() {
            return reply::json(status, head, &message);
        }
        let mut head = head;
        head.remove(http::header::CONTENT_TYPE);
        let said = answered.into_iter().chain([message]).map(Said::from);
        reply::events(head, event_stream(stream::iter(said)))
    }

    /// A message of the upstream's, with what the chain puts in the place of results.
    async fn revised(&self, body: Body) -> Message {
        let relay = self.relay.clone();
        let (onward, body) = look(body, move |body| relay.upstream_line(Source::Held(body))).await;
        let body = Arc::new(body);
        match onward {
            UpstreamOnward::Consult(consultation) => {
                self.context.revise(&self.relay, consultation, body, nobody()).await
            }
            // Hooks have connections of their own.
            UpstreamOnward::Pass | UpstreamOnward::Inner(_) => Message::whole(body),
        }
    }

    /// Says that the upstream could not be asked.
    fn refused(&self, error: &RemoteError) -> Response<reply::Body> {
        tracing::warn!(upstream = self.context.upstream(), "{error}");
        self.failed(StatusCode::BAD_GATEWAY, &error.to_string())
    }

    fn broken_off(&self, how: &str) -> Response<reply::Body> {
        let why = format!("upstream `{}` broke off its answer: {how}", self.context.upstream());
        self.failed(StatusCode::BAD_GATEWAY, &why)
    }

    fn failed(&self, status: StatusCode, why: &str) -> Response<reply::Body> {
        reply::error(status, self.asked.first(), CONNECTION_CLOSED, why)
    }

    /// True if an answer is to come that this request asked for.
    fn is_awaited(&self) -> bool {
        let session = self.relay.session();
        self.asked.iter().any(|id| session.pending().awaits(id))
    }

    /// Forgets what this request asked when it is dropped: all is answered then, or the client has left
    /// before the answer has begun, and cannot come back for it.
    fn guard(&self) -> CancelOnDrop<impl FnOnce() + Send + 'static> {
        let (relay, asked) = (self.relay.clone(), self.asked.clone());
        CancelOnDrop::new(move || relay.forget(&asked))
    }
}

/// What is wrong with a request, whatever the upstream says of it.
fn refuse(headers: &HeaderMap, line: &Line) -> Option<Response<reply::Body>> {
    let id = headers.get(&SESSION_ID).filter(|id| id.len() > limits::SESSION_ID_BYTES)?;
    let why = format!(
        "Mcp-Session-Id has {} bytes; up to {} are taken",
        id.len(),
        limits::SESSION_ID_BYTES
    );
    let asked = line.messages().first().and_then(|envelope| envelope.id.as_ref());
    Some(reply::error(StatusCode::BAD_REQUEST, asked, INVALID_REQUEST, &why))
}

fn broken_as_io(
    pieces: impl futures_util::Stream<Item = Result<Bytes, BrokenBody>> + Send + 'static,
) -> impl futures_util::Stream<Item = io::Result<Bytes>> + Send + 'static {
    pieces.map(|piece| piece.map_err(io::Error::other))
}

#[cfg(test)]
mod tests;
