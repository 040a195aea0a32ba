//! What upstreams want to know of the client in the middle of a call.
//!
//! A legacy upstream asks, and waits. A modern one answers that it needs input, and is asked again with it.
//! Between a client and an upstream of one era that passes as it is; between the eras it is turned into the
//! other.

use std::{ops::Range, sync::Arc, time::Instant};

use forebay_wire::{Envelope, Id, reply::CONNECTION_CLOSED};
use serde_json::{Map, Value, json};

use super::{
    super::{asking::Asking, opening},
    Effect, INVALID_PARAMS, Question, Request, Switchboard,
};
use crate::{
    body::{Body, Message, Payload, Source},
    protocol::Era,
};

/// A call that waits for the client to answer something.
#[derive(Debug, Default)]
pub(super) struct Suspension {
    /// What the upstream gave to come back with (modern upstream), or what we gave the client (modern client).
    state: Option<String>,
    /// What a modern upstream has asked and the client has not answered yet: how many.
    open: usize,
    /// The client's answers, by the upstream's keys.
    answers: Map<String, Value>,
    /// What a legacy upstream has asked: its ids, in the order of our keys.
    asked: Vec<Id>,
    /// What it has asked since the client was told.
    next: Vec<(Id, String, Value)>,
    /// The upstream has answered the call meanwhile.
    pub(super) answer: Option<(Envelope, Arc<Body>)>,
}

impl Suspension {
    /// What a modern upstream is told when it is asked again, as members of `params`.
    pub(super) fn answers(&self) -> String {
        let mut members = format!(r#""inputResponses":{}"#, Value::from(self.answers.clone()));
        if let Some(state) = &self.state {
            members.push_str(r#","requestState":"#);
            members.push_str(&Value::from(state.as_str()).to_string());
        }
        members
    }
}

impl Switchboard {
    /// A modern upstream needs input for a legacy client's call: the client is asked.
    pub(super) fn input_is_required(
        &mut self,
        alias: u64,
        result: &Range<u64>,
        body: &Arc<Body>,
        now: Instant,
    ) {
        let json = Source::Held(body).in_memory(result);
        let Some(told) = json.and_then(|json| serde_json::from_slice::<Value>(json).ok()) else {
            return self.fail(alias, CONNECTION_CLOSED, "what the server needs cannot be read");
        };
        let wanted: Vec<(String, Value)> = match &told["inputRequests"] {
            Value::Object(wanted) => {
                wanted.iter().map(|(key, it)| (key.clone(), it.clone())).collect()
            }
            _ => Vec::new(),
        };
        let Some(asked) = self.asked.get_mut(&alias) else { return };
        // The client thinks about it for as long as it likes.
        asked.until = Some(now + LONG);
        let Request::Client(request) = &mut asked.what else { return };
        let state = told["requestState"].as_str().map(str::to_owned);
        request.suspension =
            Some(Suspension { state, open: wanted.len(), ..Suspension::default() });
        if wanted.is_empty() {
            return self.deliver(alias, now);
        }
        for (key, it) in wanted {
            let question = self.alias();
            self.questions.insert(question, Question::Required { request: alias, key });
            let method = it["method"].as_str().unwrap_or_default();
            let params = if it["params"].is_null() { json!({}) } else { it["params"].clone() };
            self.say(opening::request(question, method, &params.to_string()));
        }
    }

    /// The client has answered a question.
    pub(super) fn client_replies(
        &mut self,
        id: &Id,
        envelope: &Envelope,
        body: &Arc<Body>,
        now: Instant,
    ) {
        let Some(alias) = super::client::number(id.as_json().as_bytes()) else { return };
        match self.questions.remove(&alias) {
            Some(Question::Passed { member, id: theirs, .. }) => {
                let [written] = Source::Held(body).members(&envelope.span, ["id"]);
                let Some(written) = written else { return };
                let line = Message::of(vec![Payload::new(body.clone(), envelope.span.clone())]);
                let line = line.with(body, &written.span, theirs.as_json());
                self.effects.push(Effect::ToMember(member, line));
            }
            Some(Question::Required { request, key }) => {
                self.input_has_come(request, key, envelope, body, now);
            }
            None => {}
        }
    }

    fn input_has_come(
        &mut self,
        alias: u64,
        key: String,
        envelope: &Envelope,
        body: &Arc<Body>,
        now: Instant,
    ) {
        let read = |span: &Range<u64>| {
            let json = Source::Held(body).in_memory(span)?;
            serde_json::from_slice::<Value>(json).ok()
        };
        let Some(answer) = envelope.result.as_ref().and_then(read) else {
            // There is no way to tell the server of an error; whoever waits for it learns why.
            let said = envelope.error.as_ref().and_then(read).unwrap_or_default();
            let said = said["message"].as_str().unwrap_or("no reason given");
            let why = format!("the client has not given what the server needs: {said}");
            self.questions.retain(|_, question| match question {
                Question::Required { request, .. } => *request != alias,
                Question::Passed { .. } => true,
            });
            return self.refuse_suspended(alias, &why);
        };
        let Some(asked) = self.asked.get_mut(&alias) else { return };
        let Request::Client(request) = &mut asked.what else { return };
        let Some(suspension) = &mut request.suspension else { return };
        suspension.answers.insert(key, answer);
        suspension.open -= 1;
        if suspension.open == 0 {
            self.deliver(alias, now);
        }
    }

    fn refuse_suspended(&mut self, alias: u64, why: &str) {
        if let Some(asked) = self.asked.get_mut(&alias)
            && let Request::Client(request) = &mut asked.what
        {
            request.suspension = None;
        }
        self.fail(alias, CONNECTION_CLOSED, why);
    }

    /// A legacy upstream asks a modern client: the call that it works on is answered with the question, if
    /// there is no doubt which that is.
    pub(super) fn suspend_for(
        &mut self,
        member: usize,
        id: &Id,
        method: &str,
        envelope: &Envelope,
        body: &Arc<Body>,
    ) {
        let mut working = self.asked.iter().filter_map(|(alias, asked)| match &asked.what {
            Request::Client(request) if asked.member == member && request.is_sent => Some(*alias),
            _ => None,
        });
        let (Some(alias), None) = (working.next(), working.next()) else {
            let why = format!(
                "`{method}` cannot be asked now: the client speaks revision {}, in which a server asks only \
                 while it works on a call, and it is not known which one",
                opening::MODERN
            );
            return self.refuse_question(member, id, &why);
        };
        if !self.can_answer(alias, method) {
            let why = format!("the client cannot answer `{method}`");
            return self.refuse_question(member, id, &why);
        }
        let params = envelope.params.as_ref().and_then(|span| Source::Held(body).in_memory(span));
        let params = params.and_then(|json| serde_json::from_slice(json).ok());
        let question = (id.clone(), method.to_owned(), params.unwrap_or_else(|| json!({})));
        let Some(asked) = self.asked.get_mut(&alias) else { return };
        let Request::Client(request) = &mut asked.what else { return };
        if let Some(suspension) = &mut request.suspension {
            suspension.next.push(question);
        } else {
            let next = vec![question];
            request.suspension = Some(Suspension { next, ..Suspension::default() });
            self.ask_modern_client(alias);
        }
    }

    /// Modern: true if the client says with this call that it can answer what is asked.
    fn can_answer(&self, alias: u64, method: &str) -> bool {
        let Some(asked) = self.asked.get(&alias) else { return false };
        let Request::Client(request) = &asked.what else { return false };
        let (capability, _) = method.split_once('/').unwrap_or((method, ""));
        let told = &request.asking.params()["_meta"][opening::CLIENT_CAPABILITIES][capability];
        !told.is_null()
    }

    /// Answers a suspended call with what the upstream has asked.
    fn ask_modern_client(&mut self, alias: u64) {
        let Some(asked) = self.asked.get_mut(&alias) else { return };
        let Request::Client(request) = &mut asked.what else { return };
        let Some(suspension) = &mut request.suspension else { return };
        let mut requests = Map::new();
        for (id, method, params) in std::mem::take(&mut suspension.next) {
            suspension.asked.push(id);
            let key = suspension.asked.len().to_string();
            requests.insert(key, json!({ "method": method, "params": params }));
        }
        let id = request.asking.id.clone();
        self.aliases.remove(&id);
        match unguessable() {
            Some(state) => {
                let result = json!({
                    "resultType": "input_required",
                    "inputRequests": requests,
                    "requestState": state,
                });
                suspension.state = Some(state);
                self.say(opening::answer(&id, result.to_string().as_bytes()));
            }
            None => self.refuse_suspended(alias, "there is no randomness for a state"),
        }
    }

    /// True if this is the state of a call that waits for its client, or has done so.
    pub(super) fn is_suspended(state: &str) -> bool {
        state.starts_with(OUR_STATE)
    }

    fn suspended(&self, state: &str) -> Option<u64> {
        let found = self.asked.iter().find(|(_, asked)| match &asked.what {
            Request::Client(request) => {
                request.asking.era == Era::Modern
                    && request
                        .suspension
                        .as_ref()
                        .is_some_and(|it| it.state.as_deref() == Some(state))
            }
            _ => false,
        });
        found.map(|(alias, _)| *alias)
    }

    /// A modern client has come back with answers: the legacy upstream gets them and goes on.
    pub(super) fn resume(&mut self, asking: Asking, now: Instant) {
        let Some(alias) = asking.state.as_deref().and_then(|state| self.suspended(state)) else {
            let why =
                "the call that this goes on with is over; make it anew, without `requestState`";
            return self.say(opening::error(&asking.id, INVALID_PARAMS, why));
        };
        let mut params = asking.params();
        let answers = params["inputResponses"].take();
        let Some(asked) = self.asked.get_mut(&alias) else { return };
        let member = asked.member;
        asked.until = Some(now + self.members[member].settings.call_timeout);
        let Request::Client(request) = &mut asked.what else { return };
        let Some(mut suspension) = request.suspension.take() else { return };
        self.aliases.insert(asking.id.clone(), alias);
        request.asking = asking;
        for (at, id) in suspension.asked.iter().enumerate() {
            let answer = &answers[(at + 1).to_string()];
            let line = if answer.is_null() {
                opening::error(id, INVALID_PARAMS, "the client has not answered this")
            } else {
                opening::answer(id, answer.to_string().as_bytes())
            };
            self.effects.push(Effect::ToMember(member, Message::of(vec![Payload::from(line)])));
        }
        if let Some((envelope, body)) = suspension.answer.take() {
            let line = self.answer_line(alias, &envelope, &body);
            self.finish(alias);
            self.effects.extend(line.map(Effect::ToClient));
        } else if !suspension.next.is_empty() {
            suspension.asked.clear();
            let Some(asked) = self.asked.get_mut(&alias) else { return };
            let Request::Client(request) = &mut asked.what else { return };
            request.suspension = Some(suspension);
            self.ask_modern_client(alias);
        }
    }
}

/// How long a client may take to answer: people are asked, too.
const LONG: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);

/// How the states begin that we give.
const OUR_STATE: &str = "forebay:";

/// A state that nobody else can come back with.
fn unguessable() -> Option<String> {
    Some(format!("{OUR_STATE}{:016x}{:016x}", getrandom::u64().ok()?, getrandom::u64().ok()?))
}
