//! One line of the client's, posted, and what comes back for it.

use std::sync::{Arc, atomic::Ordering};

use forebay_wire::{
    Envelope, Id, Kind, Line,
    reply::{self, CONNECTION_CLOSED},
};
use http::Method;

use super::{
    Bridge,
    failure::Failure,
    posting::{Posting, PostingKind},
    refusal::{self, Refusal},
    stream::{Reception, is_event_stream},
};
use crate::{
    body::{Body, Hold, Message, Source},
    events,
    streamable::look::look,
    upstream::remote::Response,
};

/// How much of a response that nobody waits for is read, so that its connection can be used again.
const MAX_IGNORED_BYTES: usize = 64 * 1024;

enum Posted {
    Accepted(Response),
    Refused { refusal: Refusal, had_session: bool },
}

impl Bridge {
    /// Posts a line and passes on what comes back. Each of its requests is answered, unless it has
    /// been cancelled.
    pub(super) async fn carry(&self, posting: &Posting) -> bool {
        let carried = self.exchange(posting).await;
        if let Err(failure) = &carried {
            let reason = &failure.to_string();
            let is_first = || !self.has_warned.swap(true, Ordering::Relaxed);
            if posting.requests.is_empty() {
                events::not_delivered(self.remote.name(), reason);
            } else if matches!(failure, Failure::OnTheWay(_)) && is_first() {
                events::upstream_not_reached(self.remote.name(), reason);
            }
            self.fail(&posting.requests, reason).await;
        }
        carried.is_ok()
    }

    /// Answers those of the requests that are still awaited with an error.
    pub(super) async fn fail(&self, requests: &[Id], reason: &str) {
        for id in requests {
            if self.settle(id) {
                let mut error = reply::error(Some(id), CONNECTION_CLOSED, reason);
                error.pop_if(|byte| *byte == b'\n');
                self.say(Message::of(vec![error.into()])).await;
            }
        }
    }

    async fn exchange(&self, posting: &Posting) -> Result<(), Failure> {
        // A session that is being opened anew is not open for all yet.
        drop(self.legacy.renewal.lock().await);
        let session = self.legacy.number();
        let mut posted = self.post(posting).await?;
        if let Posted::Refused { refusal, had_session: true } = &posted
            && refusal.loses_session()
        {
            self.renew(session).await?;
            posted = self.post(posting).await?;
        }
        match posted {
            Posted::Accepted(response) => self.receive(response, posting).await,
            Posted::Refused { refusal, .. } => self.pass_on_refusal(&refusal, posting).await,
        }
    }

    async fn post(&self, posting: &Posting) -> Result<Posted, Failure> {
        let mut headers = posting.headers();
        let is_in_session = !posting.is_modern && posting.kind != PostingKind::Initialize;
        let had_session = is_in_session && self.legacy.add_headers(&mut headers);
        let response = self.remote.send(Method::POST, headers, Some(&posting.message())).await?;
        if response.status().is_success() {
            return Ok(Posted::Accepted(response));
        }
        let refusal = Refusal::read(&self.remote, response).await;
        Ok(Posted::Refused { refusal, had_session })
    }

    /// Opens a session in the place of the one with that number, unless someone has done so
    /// already. The client does not notice: what it opened its own with is sent again.
    async fn renew(&self, lost: u64) -> Result<(), Failure> {
        let _turn = self.legacy.renewal.lock().await;
        if self.legacy.number() != lost {
            return Ok(());
        }
        let (Some(initialize), initialized) = self.legacy.opening() else {
            return Err(Failure::session_lost(&self.remote, ""));
        };
        match self.post(&initialize).await? {
            // Nobody awaits the answer again, so it goes no further.
            Posted::Accepted(response) => self.receive(response, &initialize).await?,
            Posted::Refused { refusal, .. } => {
                let reason = refusal.reason(&self.remote);
                return Err(Failure::session_lost(&self.remote, format!(": {reason}")));
            }
        }
        if !self.legacy.is_open() {
            let then = " and does not open another one";
            return Err(Failure::session_lost(&self.remote, then));
        }
        if let Some(initialized) = initialized {
            match self.post(&initialized).await? {
                Posted::Accepted(response) => ignore(response).await,
                Posted::Refused { refusal, .. } => {
                    return Err(Failure::Refused(refusal.reason(&self.remote)));
                }
            }
            self.legacy.is_ready();
        }
        events::session_renewed(self.remote.name());
        Ok(())
    }

    async fn receive(&self, mut response: Response, posting: &Posting) -> Result<(), Failure> {
        if posting.kind == PostingKind::Initialize {
            self.legacy.begins(response.headers());
        }
        if posting.requests.is_empty() {
            ignore(response).await;
            return Ok(());
        }
        let mut reception = Reception::of(posting);
        if is_event_stream(&response) {
            return self.follow(response, &mut reception).await;
        }
        let status = response.status();
        let mut hold = Hold::new(&self.spool);
        while let Some(chunk) =
            response.chunk().await.map_err(|error| self.remote.failure(error))?
        {
            self.hold(&mut hold, &chunk)?;
        }
        let body = hold.finish();
        let no_answer = |what: &str| Failure::no_answer(&self.remote, status, what);
        let (line, body) = look(body, Body::line).await;
        match line {
            Line::Blank => return Err(no_answer("nothing")),
            Line::Other => {
                let words = match &body {
                    Body::Memory(text) => refusal::shown(text),
                    Body::Spooled { .. } => "very long".to_owned(),
                };
                return Err(no_answer(&format!("what is no message: {words}")));
            }
            Line::Message(_) | Line::Batch(_) => self.deliver(&line, body, &mut reception).await,
        }
        if self.is_awaited(&reception) {
            return Err(no_answer("a message that is no answer"));
        }
        Ok(())
    }

    async fn pass_on_refusal(&self, refusal: &Refusal, posting: &Posting) -> Result<(), Failure> {
        if let [id] = posting.requests.as_slice()
            && let Some(answer) = refusal.as_answer(id)
        {
            if self.settle(id) {
                self.say(Message::of(vec![answer.into()])).await;
            }
            return Ok(());
        }
        // Whoever has a session with it, or only tells it something, has been told before.
        if !posting.requests.is_empty()
            && !self.legacy.is_open()
            && let Some(why) = self.remote.old_transport(refusal.status()).await
        {
            return Err(Failure::Refused(why));
        }
        Err(Failure::Refused(refusal.reason(&self.remote)))
    }

    /// Holds a part of a message; what would end its line becomes a space.
    pub(super) fn hold(&self, hold: &mut Hold<'_>, part: &[u8]) -> Result<(), Failure> {
        let pushed = if part.contains(&b'\n') || part.contains(&b'\r') {
            let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
            let part: Vec<u8> =
                part.iter().map(|byte| if is_break(byte) { b' ' } else { *byte }).collect();
            hold.push(&part)
        } else {
            hold.push(part)
        };
        let upstream = || self.remote.name().to_string();
        pushed.map_err(|source| Failure::TooLarge { upstream: upstream(), source })
    }

    /// Passes a message on; an answer only if it is awaited, and once.
    pub(super) async fn deliver(&self, line: &Line, body: Body, reception: &mut Reception<'_>) {
        let body = Arc::new(body);
        if *line == Line::Blank {
            return;
        }
        let mut is_wanted = matches!(line, Line::Other);
        for envelope in line.messages() {
            is_wanted |= match envelope.kind() {
                Kind::Response { id } => {
                    self.note_answer(envelope, Source::Held(&body), reception);
                    self.settle(id)
                }
                Kind::Request { .. } | Kind::Notification { .. } | Kind::Other => true,
            };
        }
        if is_wanted {
            self.say(Message::whole(body)).await;
        }
    }

    /// Learns what an answer says about how to go on.
    fn note_answer(&self, envelope: &Envelope, source: Source<'_>, reception: &mut Reception<'_>) {
        let Some(id) = &envelope.id else { return };
        let Some(posting) = reception.origin.filter(|_| reception.left.contains(id)) else {
            return;
        };
        reception.left.retain(|left| left != id);
        if posting.kind == PostingKind::Initialize {
            self.legacy.initialized(envelope, source);
        }
        if posting.is_modern
            && posting.lists_tools
            && let Some(result) = envelope.result.as_ref().and_then(|span| source.slice(span))
        {
            self.tools().learn(result);
        }
    }
}

/// Lets a response that has nothing to say come to its end.
async fn ignore(mut response: Response) {
    if is_event_stream(&response) {
        return;
    }
    let mut bytes = 0;
    while bytes < MAX_IGNORED_BYTES
        && let Ok(Some(chunk)) = response.chunk().await
    {
        bytes += chunk.len();
    }
}
