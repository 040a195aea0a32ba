//! What the client says.

use std::{sync::Arc, time::Instant};

use forebay_wire::{Envelope, Id, Kind as MessageKind, Line};
use serde_json::json;

use super::{
    super::{
        asking::{Added, Asking, Written},
        lists::{Kind, fits_template, shared_uri},
        member::State,
        opening,
    },
    Effect, INVALID_PARAMS, METHOD_NOT_FOUND, PATIENCE, Question, Request, Switchboard, Timer,
    Waiting,
    changes::{SUBSCRIBE, UNSUBSCRIBE},
};
use crate::{
    body::{Body, Message, Payload, Source},
    protocol::{
        Era,
        methods::{CANCELLED, LISTEN, PROGRESS},
    },
    router::UpstreamName,
    session::cancelled_request,
};

impl Switchboard {
    /// Takes a line of the client's.
    pub(crate) fn client_said(&mut self, body: &Arc<Body>, now: Instant) -> Vec<Effect> {
        let line = body.line();
        for envelope in line.messages() {
            self.client_message(envelope, body, now);
        }
        if line == Line::Other {
            tracing::debug!("the client said what is no message");
        }
        self.done()
    }

    fn client_message(&mut self, envelope: &Envelope, body: &Arc<Body>, now: Instant) {
        match envelope.kind() {
            MessageKind::Request { .. } => {
                if let Some(asking) = Asking::read(envelope, body) {
                    self.client_asks(asking, now);
                }
            }
            MessageKind::Notification { method: CANCELLED } => {
                if let Some(id) = cancelled_request(envelope, Source::Held(body)) {
                    self.client_cancels(&id);
                }
            }
            MessageKind::Notification { method: PROGRESS } => {
                self.client_tells_progress(envelope, body);
            }
            MessageKind::Notification { method: "notifications/initialized" } => {}
            MessageKind::Notification { .. } => {
                let line = Message::of(vec![Payload::new(body.clone(), envelope.span.clone())]);
                for member in self.order.clone() {
                    let is_heard = self.members[member].state == State::Open
                        && self.members[member].era != Era::Modern;
                    if is_heard {
                        self.effects.push(Effect::ToMember(member, line.clone()));
                    }
                }
            }
            MessageKind::Response { id } => self.client_replies(id, envelope, body, now),
            MessageKind::Other => {}
        }
    }

    fn client_asks(&mut self, asking: Asking, now: Instant) {
        self.client.notes(&asking);
        self.start_all(now);
        match asking.method.as_str() {
            "ping" | "logging/setLevel" | SUBSCRIBE | UNSUBSCRIBE if asking.era == Era::Modern => {
                let why =
                    format!("Method not found: {} (revision {})", asking.method, opening::MODERN);
                self.say(opening::error(&asking.id, METHOD_NOT_FOUND, &why));
            }
            "ping" => self.say(opening::answer(&asking.id, b"{}")),
            "initialize" | "server/discover" => self.wait(asking, now),
            "logging/setLevel" => self.set_log_level(&asking),
            LISTEN => self.subscribe(&asking, now),
            "tools/call" | "prompts/get" => self.ask_by_name(asking, now),
            "completion/complete" => self.ask_to_complete(asking, now),
            "resources/read" => self.ask_for_resource(asking, now),
            SUBSCRIBE | UNSUBSCRIBE => self.watch_resource(asking, now),
            method if Kind::of(method).is_some() => self.wait(asking, now),
            method if method.starts_with("tasks/") => self.ask_about_task(asking, now),
            _ => {
                let Some(member) = self.sole() else {
                    let why = format!("Method not found: {}", asking.method);
                    return self.say(opening::error(&asking.id, METHOD_NOT_FOUND, &why));
                };
                self.ask(member, asking, None, now);
            }
        }
    }

    /// Keeps a request until the upstreams have settled, or for as long as is of use.
    fn wait(&mut self, asking: Asking, now: Instant) {
        let is_by_name =
            matches!(asking.method.as_str(), "tools/call" | "prompts/get" | "resources/read");
        // Nothing is unknown while an upstream that may have it is being started.
        let opening = self.members.iter().filter(|it| is_by_name && it.state == State::Starting);
        let open = opening.filter_map(|it| it.opens_by).max();
        let until = open.map_or(now, |open| open.max(now)) + PATIENCE;
        self.waiting.push(Waiting { asking, until });
        self.timers.insert((until, Timer::Patience));
        self.answer_waiting(now);
    }

    /// Answers what has waited for upstreams that have settled, or for long enough.
    pub(super) fn answer_waiting(&mut self, now: Instant) {
        let mut left = Vec::new();
        for waiting in std::mem::take(&mut self.waiting) {
            let kind = match waiting.asking.method.as_str() {
                "tools/call" => Some(Kind::Tools),
                "prompts/get" => Some(Kind::Prompts),
                "resources/read" => Some(Kind::Resources),
                method => Kind::of(method),
            };
            let is_settled = self.members.iter().all(|member| member.is_settled(kind));
            if is_settled || waiting.until <= now {
                self.answer_with_what_there_is(waiting.asking, kind, now);
            } else {
                left.push(waiting);
            }
        }
        self.waiting.extend(left);
    }

    fn answer_with_what_there_is(&mut self, asking: Asking, kind: Option<Kind>, now: Instant) {
        match (asking.method.as_str(), kind) {
            ("tools/call" | "prompts/get", Some(kind)) => {
                self.ask_by_listed_name(asking, kind, now);
            }
            ("resources/read", _) => self.ask_whoever_has_resource(asking, now),
            (_, Some(kind)) => {
                self.is_listed[kind as usize] = true;
                let result = self.merged[kind as usize].result(kind);
                let result = match asking.era {
                    Era::Modern => cacheable(&result),
                    Era::Unknown | Era::Legacy => result,
                };
                self.say(opening::answer(&asking.id, &result));
            }
            (_, None) => {
                let welcome = self.client.welcome(asking.era, &self.present());
                self.say(opening::answer(&asking.id, welcome.to_string().as_bytes()));
            }
        }
    }

    fn ask_by_name(&mut self, asking: Asking, now: Instant) {
        if let Some(state) = &asking.state
            && Self::is_suspended(state)
        {
            return self.resume(asking, now);
        }
        let kind = if asking.method == "tools/call" { Kind::Tools } else { Kind::Prompts };
        let Some(called) = asking.subject.as_ref().and_then(Written::text) else {
            let why = "`params.name` is missing";
            return self.say(opening::error(&asking.id, INVALID_PARAMS, why));
        };
        // A name that says by itself whose it is, is sent before there is a list.
        let split = self.names.split(&called);
        match split.and_then(|(upstream, own)| Some((self.named(&upstream)?, own))) {
            Some((member, own)) if self.offered(kind, &called).is_none() => {
                let is_known = self.members[member].list(kind).is_some();
                let has_it = self.members[member].item(kind, own).is_some();
                let is_offered = kind != Kind::Tools || (self.members[member].settings.offers)(own);
                if is_offered && (has_it || !is_known || self.members[member].state != State::Open)
                {
                    let own = own.to_owned();
                    self.ask(member, asking, Some(own), now);
                } else {
                    self.ask_by_listed_name(asking, kind, now);
                }
            }
            _ if self.offered(kind, &called).is_some() => {
                self.ask_by_listed_name(asking, kind, now);
            }
            _ => self.wait(asking, now),
        }
    }

    fn ask_by_listed_name(&mut self, asking: Asking, kind: Kind, now: Instant) {
        let called = asking.subject.as_ref().and_then(Written::text).unwrap_or_default();
        let Some((member, own)) = self.offered(kind, &called) else {
            let what = if kind == Kind::Tools { "tool" } else { "prompt" };
            let why = format!("Unknown {what}: {called}");
            return self.say(opening::error(&asking.id, INVALID_PARAMS, &why));
        };
        self.ask(member, asking, Some(own), now);
    }

    /// Whose it is, and what it is called there.
    fn offered(&self, kind: Kind, called: &str) -> Option<(usize, String)> {
        self.merged[kind as usize].find(called).map(|(member, own)| (member, own.to_string()))
    }

    fn ask_to_complete(&mut self, asking: Asking, now: Instant) {
        let subject = asking.subject.as_ref().and_then(Written::text).unwrap_or_default();
        let found = self
            .offered(Kind::Prompts, &subject)
            .or_else(|| self.offered(Kind::Templates, &subject))
            .or_else(|| {
                let (upstream, own) = self.names.split(&subject)?;
                Some((self.named(&upstream)?, own.to_owned()))
            })
            .or_else(|| Some((self.sole()?, subject.clone())));
        let Some((member, own)) = found else {
            let why = format!("Unknown prompt or resource: {subject}");
            return self.say(opening::error(&asking.id, INVALID_PARAMS, &why));
        };
        self.ask(member, asking, Some(own), now);
    }

    /// The upstream that a URI leads to, and the URI there, as far as the lists tell.
    pub(super) fn owner_of(&self, uri: &str) -> Option<(usize, String)> {
        if let Some((name, own)) = shared_uri(uri) {
            return Some((self.named(&UpstreamName::new(name))?, own.to_owned()));
        }
        if let Some(member) = self.sole() {
            return Some((member, uri.to_owned()));
        }
        if let Some(listed) = self.offered(Kind::Resources, uri) {
            return Some(listed);
        }
        let has_template = |member: &usize| {
            let templates = self.members[*member].list(Kind::Templates).unwrap_or_default();
            templates.iter().any(|template| fits_template(&template.own, uri))
        };
        let mut fitting = self.order.iter().copied().filter(has_template);
        match (fitting.next(), fitting.next()) {
            (Some(member), None) => Some((member, uri.to_owned())),
            _ => None,
        }
    }

    fn ask_for_resource(&mut self, asking: Asking, now: Instant) {
        if let Some(state) = &asking.state
            && Self::is_suspended(state)
        {
            return self.resume(asking, now);
        }
        let uri = asking.subject.as_ref().and_then(Written::text).unwrap_or_default();
        match self.owner_of(&uri) {
            Some((member, own)) => self.ask(member, asking, Some(own), now),
            None => self.wait(asking, now),
        }
    }

    /// Asks for a resource that no list has: results may link to such. If several upstreams could have it,
    /// nobody is asked: the wrong one could answer.
    fn ask_whoever_has_resource(&mut self, asking: Asking, now: Instant) {
        let uri = asking.subject.as_ref().and_then(Written::text).unwrap_or_default();
        let could_have_it = |member: &usize| self.members[*member].has("resources");
        let mut able: Vec<usize> = self.order.iter().copied().filter(could_have_it).collect();
        let same_scheme: Vec<usize> = able
            .iter()
            .copied()
            .filter(|member| {
                let lists =
                    [Kind::Resources, Kind::Templates].map(|kind| self.members[*member].list(kind));
                lists.into_iter().flatten().flatten().any(|item| scheme(&item.own) == scheme(&uri))
            })
            .collect();
        if !same_scheme.is_empty() {
            able = same_scheme;
        }
        match (self.owner_of(&uri), able.as_slice()) {
            (Some((member, own)), _) => self.ask(member, asking, Some(own), now),
            (None, [member]) => self.ask(*member, asking, Some(uri), now),
            (None, []) => {
                let why = format!("Resource not found: {uri}");
                self.say(opening::error(&asking.id, INVALID_PARAMS, &why));
            }
            (None, several) => {
                let names: Vec<String> = several
                    .iter()
                    .map(|member| {
                        format!("forebay://{}/{uri}", self.members[*member].settings.name)
                    })
                    .collect();
                let why = format!(
                    "Resource not found: {uri} is in no list, and several servers may have it; ask for {}",
                    names.join(" or ")
                );
                self.say(opening::error(&asking.id, INVALID_PARAMS, &why));
            }
        }
    }

    fn ask_about_task(&mut self, asking: Asking, now: Instant) {
        let task = asking.subject.as_ref().and_then(Written::text).unwrap_or_default();
        let member = self.tasks.get(&task).copied().or_else(|| self.sole());
        let is_modern = |member: usize| self.members[member].era == Era::Modern;
        match member {
            Some(member) if is_modern(member) != (asking.era == Era::Modern) => {
                let why = format!(
                    "upstream `{}` speaks another revision, and tasks cannot be passed between them",
                    self.members[member].settings.name
                );
                self.say(opening::error(&asking.id, METHOD_NOT_FOUND, &why));
            }
            Some(member) => self.ask(member, asking, None, now),
            None => {
                let why = format!("Unknown task: {task}");
                self.say(opening::error(&asking.id, INVALID_PARAMS, &why));
            }
        }
    }

    fn set_log_level(&mut self, asking: &Asking) {
        let params = asking.params();
        self.client.log_level = params["level"].as_str().map(str::to_owned);
        for member in self.order.clone() {
            self.pass_on_log_level(member);
        }
        self.say(opening::answer(&asking.id, b"{}"));
    }

    /// Tells a legacy upstream which log the client wants.
    pub(super) fn pass_on_log_level(&mut self, member: usize) {
        let it = &self.members[member];
        let is_told = it.state == State::Open && it.era != Era::Modern && it.has("logging");
        let Some(level) = self.client.log_level.clone().filter(|_| is_told) else { return };
        let alias = self.ask_ourselves(member, Request::Told);
        let params = json!({ "level": level }).to_string();
        self.tell(member, opening::request(alias, "logging/setLevel", &params));
    }

    fn client_cancels(&mut self, id: &Id) {
        self.waiting.retain(|waiting| waiting.asking.id != *id);
        if self.unsubscribe(id) {
            return;
        }
        let Some(alias) = self.aliases.get(id).copied() else { return };
        let Some(asked) = self.finish(alias) else { return };
        let Request::Client(request) = &asked.what else { return };
        self.members[asked.member].waiting.retain(|waiting| *waiting != alias);
        self.questions.retain(|_, question| match question {
            Question::Required { request, .. } => *request != alias,
            Question::Passed { .. } => true,
        });
        if request.is_sent {
            let why = "the client has cancelled it";
            self.tell(asked.member, opening::cancelled(&alias.to_string(), why));
        }
    }

    /// Passes on how far the client is with what an upstream has asked it.
    fn client_tells_progress(&mut self, envelope: &Envelope, body: &Arc<Body>) {
        let Some(params) = &envelope.params else { return };
        let [token] = Source::Held(body).members(params, ["progressToken"]);
        let Some(token) = token else { return };
        let alias = token.scalar.as_deref().and_then(number);
        let question = alias.and_then(|alias| self.questions.get(&alias));
        if let Some(Question::Passed { member, token: Some(theirs), .. }) = question {
            let line = Message::of(vec![Payload::new(body.clone(), envelope.span.clone())]);
            let line = line.with(body, &token.span, theirs.as_json());
            self.effects.push(Effect::ToMember(*member, line));
        }
    }

    /// The request as an upstream gets it.
    pub(super) fn send(&mut self, alias: u64, timeout: std::time::Duration, now: Instant) {
        let Some(asked) = self.asked.get_mut(&alias) else { return };
        let Request::Client(request) = &mut asked.what else { return };
        let member = asked.member;
        let is_modern = self.members[member].era == Era::Modern;
        if is_modern && request.asking.wants_task && request.asking.era != Era::Modern {
            let why = format!(
                "upstream `{}` speaks revision {}, where the server decides what becomes a task; call the \
                 tool without `task`",
                self.members[member].settings.name,
                opening::MODERN
            );
            return self.fail(alias, INVALID_PARAMS, &why);
        }
        if is_modern && matches!(request.asking.method.as_str(), SUBSCRIBE | UNSUBSCRIBE) {
            // It came before the upstream was open, which listens to all that is watched since then.
            let answer = opening::answer(&request.asking.id, b"{}");
            self.finish(alias);
            return self.say(answer);
        }
        request.is_sent = true;
        let mut added = Added::default();
        if is_modern && request.asking.era != Era::Modern {
            added.meta = self.client.meta();
        }
        if let Some(suspension) = &request.suspension {
            added.params = suspension.answers();
        }
        let line = request.asking.line(alias, request.own.as_deref(), &added);
        request.suspension = None;
        let until = now + timeout;
        asked.until = Some(until);
        self.set_timer(alias, until);
        self.effects.push(Effect::ToMember(member, line));
    }
}

/// A token that is one of our aliases.
pub(super) fn number(json: &[u8]) -> Option<u64> {
    str::from_utf8(json).ok()?.parse().ok()
}

fn scheme(uri: &str) -> &str {
    uri.split_once(':').map_or(uri, |(scheme, _)| scheme)
}

/// Modern: a list says how long it may be kept. Ours can change at any time.
fn cacheable(result: &[u8]) -> Vec<u8> {
    let head = br#"{"resultType":"complete","ttlMs":0,"cacheScope":"private","#;
    [head, result.strip_prefix(b"{").unwrap_or(result)].concat()
}
