//! Calls of hooks to a remote upstream: each is a request of its own, in the client's session.

use std::{collections::HashMap, sync::Arc};

use forebay_wire::{
    Envelope, Id, Kind, Line,
    sse::{Events, Token},
};
use futures_util::StreamExt;
use http::{HeaderMap, HeaderName, Method};
use parking_lot::Mutex;
use tokio::{
    runtime::Handle,
    task::{self, AbortHandle},
};

use super::{
    super::context::{EndpointContext, Taken},
    Passing,
};
use crate::{
    body::{Body, Hold, Message, Source},
    chain::{CallFailure, InnerCall, ToClient, ToUpstream},
    protocol::methods::PROGRESS,
    streamable::{headers, tool_headers::ToolHeaders},
    threads,
    upstream::{
        Remote,
        remote::{BrokenBody, Response},
    },
};

/// The way to a remote upstream for the calls of hooks.
pub(super) struct ToRemote {
    asking: Arc<Asking>,
    runtime: Handle,
    /// What ends those that are under way.
    asked: Arc<Mutex<HashMap<Id, AbortHandle>>>,
}

struct Asking {
    context: Arc<EndpointContext>,
    remote: Arc<Remote>,
    tools: Arc<Mutex<ToolHeaders>>,
    /// What the client says of itself and its session.
    headers: HeaderMap,
    client: Arc<dyn ToClient>,
}

impl ToRemote {
    pub(super) fn new(passing: &Passing, head: &HeaderMap, client: Arc<dyn ToClient>) -> Self {
        let mut headers = headers::to_upstream(head);
        // What the client's own call says of its arguments.
        let is_of_arguments = |name: &&HeaderName| name.as_str().starts_with("mcp-param-");
        let said: Vec<HeaderName> = headers.keys().filter(is_of_arguments).cloned().collect();
        for name in said {
            headers.remove(name);
        }
        let asking = Asking {
            context: passing.context.clone(),
            remote: passing.remote.clone(),
            tools: passing.tools.clone(),
            headers,
            client,
        };
        Self { asking: Arc::new(asking), runtime: Handle::current(), asked: Arc::default() }
    }
}

impl ToUpstream for ToRemote {
    fn ask(&self, request: Message, inner: &Arc<InnerCall>) {
        let (asking, inner, asked) = (self.asking.clone(), inner.clone(), self.asked.clone());
        let id = inner.id().clone();
        let mut all = self.asked.lock();
        let task = self.runtime.spawn(async move {
            if let Err(why) = asking.ask(&inner, request).await {
                inner.fail(CallFailure::Gone(why));
            }
            asked.lock().remove(inner.id());
        });
        all.insert(id, task.abort_handle());
    }

    fn cancel(&self, id: &Id) {
        // In the legacy era an upstream that loses a connection goes on with its work.
        let cancelled = forebay_wire::reply::cancelled(id, "nobody waits for it");
        if let Some(task) = self.asked.lock().remove(id) {
            task.abort();
            let asking = self.asking.clone();
            self.runtime.spawn(async move { asking.tell(cancelled).await });
        }
    }
}

impl Asking {
    /// Asks, and gives the call what comes of it. An error says why nothing will.
    async fn ask(&self, inner: &Arc<InnerCall>, request: Message) -> Result<(), String> {
        let body = Arc::new(Body::Memory(request.into_bytes().map_err(|it| it.to_string())?));
        let Line::Message(envelope) = body.line() else {
            return Err("the request cannot be read".to_owned());
        };
        let mut headers = self.headers.clone();
        self.tools.lock().say_again(&envelope, Source::Held(&body), &mut headers);
        let message = Message::whole(body);
        let sent = self.remote.send(Method::POST, headers, Some(&message)).await;
        let response = sent.map_err(|error| error.to_string())?;
        let status = response.status();
        let is_events = headers::has_type(response.headers(), "text/event-stream");
        let is_answered = if is_events && status.is_success() {
            self.hear_events(inner, response).await?
        } else {
            self.hear(inner, &self.taken_in(response).await?).await
        };
        if is_answered {
            return Ok(());
        }
        let upstream = self.context.upstream();
        Err(if status.is_success() {
            format!("upstream `{upstream}` closed the connection without an answer")
        } else {
            format!("upstream `{upstream}` answered with {status}")
        })
    }

    async fn taken_in(&self, mut response: Response) -> Result<Arc<Body>, String> {
        match self.context.take_in(&mut response, u64::MAX, None).await {
            Taken::Whole(body) => Ok(Arc::new(body)),
            Taken::Partly(_, _, error) => Err(error.to_string()),
            Taken::BrokenOff(how) => Err(how),
            // Neither is asked for.
            Taken::TooLong | Taken::TooSlow => Err("the answer is too long".to_owned()),
        }
    }

    /// Hears a stream of events up to the answer; `false` if it does not come.
    async fn hear_events(
        &self,
        inner: &Arc<InnerCall>,
        mut response: Response,
    ) -> Result<bool, String> {
        let mut events = Events::default();
        let mut hold = Hold::new(&self.context.spool);
        while let Some(piece) = response.next().await {
            let piece = piece.map_err(|broken: BrokenBody| broken.to_string())?;
            let mut input = &piece[..];
            while let Some(token) = events.next(&mut input) {
                match token {
                    Token::Data(part) => hold.push(part).map_err(|error| error.to_string())?,
                    Token::Comment => {}
                    Token::End(_) => {
                        let whole =
                            std::mem::replace(&mut hold, Hold::new(&self.context.spool)).finish();
                        if self.hear(inner, &Arc::new(whole)).await {
                            return Ok(true);
                        }
                    }
                }
            }
        }
        Ok(false)
    }

    /// Gives a message to whom it concerns; `true` if it is the answer.
    async fn hear(&self, inner: &Arc<InnerCall>, body: &Arc<Body>) -> bool {
        let Line::Message(envelope) = body.line() else { return false };
        match envelope.kind() {
            Kind::Response { id } if id == inner.id() => {
                self.learn(&envelope, body);
                let (hook, body) = (inner.clone(), body.clone());
                // The hook may wait for the client.
                threads::run_and_wait(move || hook.answered(&envelope, &body)).await;
                return true;
            }
            Kind::Notification { method: PROGRESS } => {
                let (hook, body) = (inner.clone(), body.clone());
                let told = move || hook.progressed(&envelope, Source::Held(&body));
                threads::run_and_wait(told).await;
            }
            // The upstream asks the client something, or tells it.
            Kind::Request { .. } | Kind::Notification { .. } => {
                let (client, message) = (self.client.clone(), Message::whole(body.clone()));
                // The client may not be reading.
                let told = task::spawn_blocking(move || {
                    let line = message.into_bytes().map(|line| [&line[..], b"\n"].concat());
                    line.map(|line| client.tell(&line))
                });
                let _ = told.await;
            }
            Kind::Response { .. } | Kind::Other => {}
        }
        false
    }

    fn learn(&self, envelope: &Envelope, body: &Arc<Body>) {
        let source = Source::Held(body);
        if let Some(result) = envelope.result.as_ref().and_then(|span| source.slice(span)) {
            // A result that is no list of tools teaches nothing.
            self.tools.lock().learn(result);
        }
    }

    /// Tells the upstream something that it does not answer.
    async fn tell(&self, line: Vec<u8>) {
        let message = Message::of(vec![line.into()]);
        let _ = self.remote.send(Method::POST, self.headers.clone(), Some(&message)).await;
    }
}
