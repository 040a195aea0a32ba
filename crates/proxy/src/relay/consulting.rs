//! A line on its way through the chain, part by part, and what becomes of it.

use std::{
    mem,
    ops::Range,
    sync::{Arc, atomic::Ordering},
    vec,
};

use forebay_wire::reply;

use super::{Consultation, Outgoing, Part, PartSubject, Relay};
use crate::{
    body::{Body, Message, Payload},
    chain::{CallVerdict, Ways},
    session::Call,
    telemetry::Outcome,
};

/// A line on its way through the chain. Dropped on the way, it is sent as it came.
pub(super) struct Consulting {
    relay: Arc<Relay>,
    /// What has yet to be decided.
    parts: vec::IntoIter<Part>,
    batch: Vec<Range<u64>>,
    body: Arc<Body>,
    ways: Ways,
    is_from_client: bool,
    decided: Decided,
    then: Option<Box<dyn FnOnce(Outgoing) + Send>>,
}

impl Consulting {
    pub(super) fn new(
        relay: Arc<Relay>,
        consultation: Consultation,
        body: Arc<Body>,
        ways: Ways,
        then: Box<dyn FnOnce(Outgoing) + Send>,
    ) -> Self {
        let is_from_client = consultation.is_from_client();
        let Consultation { parts, batch } = consultation;
        Self {
            relay,
            parts: parts.into_iter(),
            batch,
            body,
            ways,
            is_from_client,
            decided: Decided::default(),
            then: Some(then),
        }
    }

    /// Asks the chain about the next part, and goes on when it has decided.
    pub(super) fn go_on(mut self) {
        let Some(Part { message, subject }) = self.parts.next() else { return self.finish() };
        let (chain, body) = (self.relay.chain.clone(), self.body.clone());
        match subject {
            PartSubject::Call { call, params } => {
                let (given, ways) = (Payload::new(body, params.clone()), self.ways.clone());
                let router = self.relay.router.clone();
                chain.on_call(call.clone(), given, ways, router, move |verdict| {
                    let relay = self.relay.clone();
                    self.decided.about_call(&relay, &call, &params, &message, verdict);
                    self.go_on();
                });
            }
            PartSubject::Answer(subject) => {
                let original = Payload::new(body, subject.span.clone());
                let span = subject.span.clone();
                let ways = self.ways.clone();
                chain.on_answer(&subject, original, &ways, move |replacement| {
                    self.decided.edits.extend(replacement.map(|payload| (span, payload)));
                    self.go_on();
                });
            }
        }
    }

    fn finish(mut self) {
        let decided = mem::take(&mut self.decided);
        let outgoing = if self.is_from_client {
            decided.about_requests(&self.body, &self.batch)
        } else {
            decided.about_answers(&self.body)
        };
        self.send(outgoing);
    }

    fn send(&mut self, outgoing: Outgoing) {
        if let Some(then) = self.then.take() {
            then(outgoing);
            self.relay.consulting.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Consulting {
    fn drop(&mut self) {
        let whole = Message::whole(self.body.clone());
        self.send(if self.is_from_client {
            Outgoing { to_upstream: Some(whole), to_client: Vec::new() }
        } else {
            Outgoing { to_upstream: None, to_client: vec![whole] }
        });
    }
}

/// What has been decided about the parts of a line.
#[derive(Default)]
pub(super) struct Decided {
    /// Messages that go no further.
    settled: Vec<Range<u64>>,
    /// What stands in the place of what.
    edits: Vec<(Range<u64>, Payload)>,
    answers: Vec<Message>,
}

impl Decided {
    /// `None` means that the call was cancelled.
    pub(super) fn about_call(
        &mut self,
        relay: &Relay,
        call: &Arc<Call>,
        params: &Range<u64>,
        message: &Range<u64>,
        verdict: Option<CallVerdict>,
    ) {
        match verdict {
            Some(CallVerdict::Forward) if relay.session().pending_mut().release(call) => return,
            Some(CallVerdict::Rewrite(json)) if relay.session().pending_mut().release(call) => {
                self.edits.push((params.clone(), json.into()));
                return;
            }
            Some(CallVerdict::Answer(result) | CallVerdict::Result(result))
                if relay.session().pending_mut().settle(call) =>
            {
                relay.chain.answered(call, Outcome::Result);
                let line = reply::result(&call.id, &result);
                self.answers.push(Message::of(vec![line.into()]));
            }
            Some(CallVerdict::Refuse(refusal)) if relay.session().pending_mut().settle(call) => {
                relay.chain.answered(call, Outcome::Error);
                self.answers.push(Message::of(vec![refusal.answer_to(&call.id).into()]));
            }
            // Cancelled while the chain had it: nobody waits for an answer, and the upstream
            // would work on the call for nobody.
            Some(_) | None => {}
        }
        self.settled.push(message.clone());
    }

    pub(super) fn about_requests(self, body: &Arc<Body>, batch: &[Range<u64>]) -> Outgoing {
        let to_upstream = what_is_left(body, batch, &self.settled, &self.edits);
        Outgoing { to_upstream, to_client: self.answers }
    }

    fn about_answers(self, body: &Arc<Body>) -> Outgoing {
        let revised = Message::of(edited(body, &(0..body.bytes()), &self.edits));
        Outgoing { to_upstream: None, to_client: vec![revised] }
    }
}

/// A part of the line with each edit in the place of what stood there.
fn edited(body: &Arc<Body>, whole: &Range<u64>, edits: &[(Range<u64>, Payload)]) -> Vec<Payload> {
    let mut parts = Vec::new();
    let mut at = whole.start;
    let is_inside = |span: &Range<u64>| whole.start <= span.start && span.end <= whole.end;
    for (span, replacement) in edits.iter().filter(|(span, _)| is_inside(span)) {
        parts.push(Payload::new(body.clone(), at..span.start));
        parts.push(replacement.clone());
        at = span.end;
    }
    parts.push(Payload::new(body.clone(), at..whole.end));
    parts
}

/// The line without the messages that go no further, and with the edits in the others; `None` if none
/// is left.
fn what_is_left(
    body: &Arc<Body>,
    batch: &[Range<u64>],
    settled: &[Range<u64>],
    edits: &[(Range<u64>, Payload)],
) -> Option<Message> {
    if settled.is_empty() {
        return Some(Message::of(edited(body, &(0..body.bytes()), edits)));
    }
    let kept = batch.iter().filter(|span| !settled.contains(span));
    let mut parts: Vec<Payload> = Vec::new();
    for span in kept {
        parts.push(Payload::from(if parts.is_empty() { b"[".to_vec() } else { b",".to_vec() }));
        parts.extend(edited(body, span, edits));
    }
    if parts.is_empty() {
        return None;
    }
    parts.push(Payload::from(b"]\n".to_vec()));
    Some(Message::of(parts))
}
