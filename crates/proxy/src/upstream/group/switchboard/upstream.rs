//! What the upstreams say.

use std::{ops::Range, sync::Arc, time::Instant};

use forebay_wire::{Envelope, Id, Kind as MessageKind, reply::CONNECTION_CLOSED};
use serde_json::{Value, json};

use super::{
    super::{
        asking::{Written, is_empty},
        lists::{Kind, Page},
        member::{Read, State},
        opening,
    },
    Asked, BOTH_ANSWERS, ClientRequest, Effect, FIRST_SILENCE, LONGEST_SILENCE, METHOD_NOT_FOUND,
    PROBE, Question, Request, Switchboard, Timer,
    client::number,
};
use crate::{
    body::{Body, Message, Payload, Source},
    protocol::{
        Era,
        methods::{self, Answer, CANCELLED},
    },
    session::cancelled_request,
};

impl Switchboard {
    /// An upstream has been started: it is greeted.
    pub(crate) fn member_started(&mut self, member: usize, run: u64, now: Instant) -> Vec<Effect> {
        if self.members[member].run != run {
            return Vec::new();
        }
        let alias = self.ask_ourselves(member, Request::Discover);
        self.timers.insert((now + PROBE, Timer::Probe(member, alias)));
        let discover = self.client.discover(alias);
        self.tell(member, discover);
        self.done()
    }

    /// An upstream has ended, or could not be started.
    pub(crate) fn member_ended(
        &mut self,
        member: usize,
        run: u64,
        how: &str,
        now: Instant,
    ) -> Vec<Effect> {
        // It may have been started anew before its end was noticed.
        if self.members[member].run != run {
            return Vec::new();
        }
        self.ended(member, how, now);
        self.done()
    }

    /// Takes a line of an upstream's.
    pub(crate) fn member_said(
        &mut self,
        member: usize,
        run: u64,
        body: &Arc<Body>,
        now: Instant,
    ) -> Vec<Effect> {
        if self.members[member].run != run {
            return Vec::new();
        }
        for envelope in body.line().messages() {
            match envelope.kind() {
                MessageKind::Response { id } => {
                    let alias = number(id.as_json().as_bytes());
                    let is_its = |asked: &Asked| asked.member == member;
                    if let Some(alias) = alias
                        && self.asked.get(&alias).is_some_and(is_its)
                    {
                        self.answered(alias, envelope, body, now);
                    }
                }
                MessageKind::Notification { method } => {
                    self.notified(member, method, envelope, body, now);
                }
                MessageKind::Request { id, method } => {
                    self.questioned(member, id, method, envelope, body);
                }
                MessageKind::Other => {}
            }
        }
        self.done()
    }

    fn answered(&mut self, alias: u64, envelope: &Envelope, body: &Arc<Body>, now: Instant) {
        let Some(Asked { member, what, .. }) = self.asked.get(&alias) else { return };
        let member = *member;
        match what {
            Request::Client(_) => self.client_is_answered(alias, envelope, body, now),
            Request::Discover => {
                self.finish(alias);
                let told = result(envelope, body);
                let speaks = |told: &Value| {
                    told["supportedVersions"]
                        .as_array()
                        .is_some_and(|it| it.contains(&json!(opening::MODERN)))
                };
                match told.filter(speaks) {
                    // Some servers speak as they were asked to last, if they can.
                    Some(told) if self.is_initializing(member) => {
                        self.members[member].discovered = Some(told);
                        self.timers.insert((now + BOTH_ANSWERS, Timer::Discovered(member)));
                    }
                    Some(told) => self.opened(member, Era::Modern, opening::MODERN, &told, now),
                    None => match self.members[member].refusal.take() {
                        Some(why) => self.does_not_open(member, &why, now),
                        None => self.initialize(member),
                    },
                }
            }
            Request::Initialize => {
                self.finish(alias);
                match result(envelope, body) {
                    Some(told) => {
                        let revision =
                            told["protocolVersion"].as_str().unwrap_or("unknown").to_owned();
                        self.tell(member, opening::notification("notifications/initialized", ""));
                        self.opened(member, Era::Legacy, &revision, &told, now);
                    }
                    None if self.members[member].discovered.is_some() => {
                        self.only_discovered(member, now);
                    }
                    None => {
                        let why = error_text(envelope, body);
                        // It may be late with its answer to the modern opening, and have only that.
                        if self.is_asked(member, |what| matches!(what, Request::Discover)) {
                            self.members[member].refusal = Some(why);
                        } else {
                            self.does_not_open(member, &why, now);
                        }
                    }
                }
            }
            Request::List(kind) => {
                let kind = *kind;
                self.finish(alias);
                self.has_listed(member, kind, envelope, body, now);
            }
            Request::Listen => {
                self.finish(alias);
                let is_refused = error(envelope, body)
                    .is_some_and(|error| error["code"] == json!(METHOD_NOT_FOUND));
                if self.members[member].listening == Some(alias) && !is_refused {
                    self.subscription_ended(member, now);
                }
            }
            Request::Told => drop(self.finish(alias)),
        }
    }

    /// True if an upstream has yet to answer such a request.
    fn is_asked(&self, member: usize, is_such: impl Fn(&Request) -> bool) -> bool {
        self.asked.values().any(|asked| asked.member == member && is_such(&asked.what))
    }

    fn does_not_open(&mut self, member: usize, why: &str, now: Instant) {
        if self.members[member].state == State::Starting {
            self.effects.push(Effect::End(member));
            self.ended(member, &format!("refused to open: {why}"), now);
        }
    }

    fn is_initializing(&self, member: usize) -> bool {
        self.is_asked(member, |what| matches!(what, Request::Initialize))
    }

    fn initialize(&mut self, member: usize) {
        if self.members[member].state == State::Starting && !self.is_initializing(member) {
            let alias = self.ask_ourselves(member, Request::Initialize);
            let initialize = self.client.initialize(alias);
            self.tell(member, initialize);
        }
    }

    /// An upstream has answered the modern opening, and not the legacy one for which it was asked later.
    pub(super) fn only_discovered(&mut self, member: usize, now: Instant) {
        if let Some(told) = self.members[member].discovered.take() {
            self.opened(member, Era::Modern, opening::MODERN, &told, now);
        }
    }

    /// Nothing has come back from the modern opening yet. Whoever is merely slow to start answers both.
    pub(super) fn probe_failed(&mut self, member: usize, alias: u64) {
        if self.asked.contains_key(&alias) {
            self.initialize(member);
        }
    }

    fn opened(&mut self, member: usize, era: Era, revision: &str, told: &Value, now: Instant) {
        if self.members[member].state != State::Starting {
            return;
        }
        self.members[member].has_opened(era, revision, told, now);
        self.effects.push(Effect::Stand);
        self.pass_on_log_level(member);
        for kind in Kind::ALL {
            self.read_list(member, kind);
        }
        self.listen(member);
        self.watch_again(member);
        for alias in std::mem::take(&mut self.members[member].waiting) {
            self.deliver(alias, now);
        }
        self.answer_waiting(now);
    }

    /// Begins to read a list, from its first page.
    pub(super) fn read_list(&mut self, member: usize, kind: Kind) {
        let it = &mut self.members[member];
        if it.state == State::Open && it.has(kind.capability()) && it.begins_to_read(kind) {
            self.ask_for_page(member, kind, None);
        }
    }

    fn ask_for_page(&mut self, member: usize, kind: Kind, cursor: Option<&str>) {
        let alias = self.ask_ourselves(member, Request::List(kind));
        let mut params = Vec::new();
        params.extend(cursor.map(|cursor| format!(r#""cursor":{}"#, Value::from(cursor))));
        if self.members[member].era == Era::Modern {
            params.push(format!(r#""_meta":{{{}}}"#, self.client.meta()));
        }
        let params = format!("{{{}}}", params.join(","));
        self.tell(member, opening::request(alias, kind.method(), &params));
    }

    fn has_listed(
        &mut self,
        member: usize,
        kind: Kind,
        envelope: &Envelope,
        body: &Arc<Body>,
        now: Instant,
    ) {
        let json = envelope.result.as_ref().and_then(|span| Source::Held(body).in_memory(span));
        let Some(page) = json.and_then(|json| Page::read(kind, json)) else {
            // Not every upstream that has resources has templates, for one. That a list cannot be read again
            // does not mean that there is nothing in it: the way to a remote upstream may be broken.
            tracing::debug!(
                upstream = %self.members[member].settings.name,
                method = kind.method(),
                "there is no list: {}", error_text(envelope, body)
            );
            self.members[member].cannot_read(kind);
            return self.answer_waiting(now);
        };
        let read = self.members[member].has_read(kind, page.items, page.next.is_none());
        if kind == Kind::Tools && read == Read::New {
            self.with_new_tools.insert(member);
            self.effects.push(Effect::Stand);
        }
        match read {
            Read::More => self.ask_for_page(member, kind, page.next.as_deref()),
            Read::Same => {}
            Read::New => {
                self.merge(kind);
                self.tell_of_change(kind);
            }
            Read::Again => self.read_list(member, kind),
        }
        self.answer_waiting(now);
    }

    /// Gives the client the answer to its request.
    fn client_is_answered(
        &mut self,
        alias: u64,
        envelope: &Envelope,
        body: &Arc<Body>,
        now: Instant,
    ) {
        let Some(Asked { member, what: Request::Client(request), .. }) = self.asked.get_mut(&alias)
        else {
            return;
        };
        let (member, era) = (*member, request.asking.era);
        let is_modern = self.members[member].era == Era::Modern;
        if let Some(result) = &envelope.result {
            let source = Source::Held(body);
            if is_modern && era != Era::Modern && methods::requires_input(source, result) {
                return self.input_is_required(alias, result, body, now);
            }
            match methods::answer(source, result) {
                Answer::Task(task) => {
                    let before = self.tasks.insert(task.clone(), member);
                    if before.is_some_and(|other| other != member) {
                        self.tasks.remove(&task);
                        let why =
                            format!("two servers have a task `{task}`, which cannot be told apart");
                        return self.fail(alias, CONNECTION_CLOSED, &why);
                    }
                }
                Answer::InputRequired | Answer::Result => {}
            }
        }
        let Some(Asked { what: Request::Client(request), .. }) = self.asked.get_mut(&alias) else {
            return;
        };
        // Whoever has been asked something gets the answer when it comes back.
        if let Some(suspension) = &mut request.suspension {
            suspension.answer = Some((envelope.clone(), body.clone()));
            return;
        }
        let line = self.answer_line(alias, envelope, body);
        self.finish(alias);
        self.effects.extend(line.map(Effect::ToClient));
    }

    /// The answer to a client's request, as its era has it.
    pub(super) fn answer_line(
        &self,
        alias: u64,
        envelope: &Envelope,
        body: &Arc<Body>,
    ) -> Option<Message> {
        let asked = self.asked.get(&alias)?;
        let Request::Client(request) = &asked.what else { return None };
        let ClientRequest { asking, .. } = &**request;
        let [written] = Source::Held(body).members(&envelope.span, ["id"]);
        let line = Message::of(vec![Payload::new(body.clone(), envelope.span.clone())]);
        let mut line = line.with(body, &written?.span, asking.id.as_json());
        let becomes_modern =
            asking.era == Era::Modern && self.members[asked.member].era != Era::Modern;
        if let Some(result) = envelope.result.as_ref().filter(|_| becomes_modern) {
            let cached = r#""resultType":"complete","ttlMs":0,"cacheScope":"private""#;
            let members = match asking.method.as_str() {
                "resources/read" => cached,
                _ => r#""resultType":"complete""#,
            };
            let separator = if is_empty(body, result) { "" } else { "," };
            let start = result.start + 1;
            line = line.with(body, &(start..start), &format!("{members}{separator}"));
        }
        Some(line)
    }

    fn notified(
        &mut self,
        member: usize,
        method: &str,
        envelope: &Envelope,
        body: &Arc<Body>,
        now: Instant,
    ) {
        let line = Message::of(vec![Payload::new(body.clone(), envelope.span.clone())]);
        let source = Source::Held(body);
        match method {
            "notifications/progress" => {
                let Some(params) = &envelope.params else { return };
                let [token] = source.members(params, ["progressToken"]);
                let Some(token) = token else { return };
                let alias = token.scalar.as_deref().and_then(number);
                let Some(alias) = alias else { return };
                let timeout = self.members[member].settings.call_timeout;
                let Some(asked) = self.asked.get_mut(&alias).filter(|it| it.member == member)
                else {
                    return;
                };
                asked.until = Some(now + timeout);
                let Request::Client(request) = &asked.what else { return };
                if let Some(theirs) = request.asking.token.as_ref().and_then(Written::id) {
                    let line = line.with(body, &token.span, theirs.as_json());
                    self.effects.push(Effect::ToClient(line));
                }
            }
            CANCELLED => {
                let Some(id) = cancelled_request(envelope, source) else { return };
                self.question_is_withdrawn(member, &id, now);
            }
            "notifications/message" => self.logged(member, envelope, body, line),
            "notifications/resources/updated" => self.resource_changed(member, envelope, body),
            "notifications/subscriptions/acknowledged" => {
                // Nobody has told what has changed since the last subscription ended.
                if std::mem::take(&mut self.members[member].unheard) > 0 {
                    for kind in Kind::ALL {
                        self.read_list(member, kind);
                    }
                }
            }
            _ => {
                let changed = Kind::ALL.into_iter().filter(|kind| kind.changed() == method);
                let changed: Vec<Kind> = changed.collect();
                for kind in &changed {
                    self.members[member].announces(*kind);
                    self.read_list(member, *kind);
                }
                // What is not known is for clients that may know it; a modern one gets only what it has
                // asked for.
                let is_task = method.starts_with("notifications/tasks");
                if changed.is_empty() && (self.client.era != Era::Modern || is_task) {
                    self.effects.push(Effect::ToClient(line));
                }
            }
        }
    }

    /// Passes on what an upstream logs, and says whose it is.
    fn logged(&mut self, member: usize, envelope: &Envelope, body: &Arc<Body>, line: Message) {
        let is_wanted = match self.client.era {
            Era::Modern => self.asked.values().any(|asked| match &asked.what {
                Request::Client(request) => asked.member == member && request.asking.wants_log,
                _ => false,
            }),
            Era::Unknown | Era::Legacy => true,
        };
        let Some(params) = envelope.params.as_ref().filter(|_| is_wanted) else { return };
        let name = self.members[member].settings.name.as_str();
        let [logger] = Source::Held(body).members(params, ["logger"]);
        let line = if self.sole().is_some() {
            line
        } else if let Some(logger) = logger {
            let theirs = methods::text(logger.scalar).unwrap_or_default();
            let source = Value::from(format!("{name}/{theirs}")).to_string();
            line.with(body, &logger.span, &source)
        } else {
            let start = params.start + 1;
            let separator = if is_empty(body, params) { "" } else { "," };
            let member = format!(r#""logger":{}{separator}"#, Value::from(name));
            line.with(body, &(start..start), &member)
        };
        self.effects.push(Effect::ToClient(line));
    }

    /// What becomes of a group's state when one of it has ended.
    pub(super) fn ended(&mut self, member: usize, how: &str, now: Instant) {
        if matches!(self.members[member].state, State::Idle | State::Down) {
            return;
        }
        let retry = self.members[member].has_ended(how, now);
        self.effects.push(Effect::Stand);
        self.tasks.retain(|_, at| *at != member);
        let questions: Vec<u64> = self
            .questions
            .iter()
            .filter(|(_, question)| match question {
                Question::Passed { member: asker, .. } => *asker == member,
                Question::Required { request, .. } => {
                    self.asked.get(request).is_some_and(|asked| asked.member == member)
                }
            })
            .map(|(alias, _)| *alias)
            .collect();
        for alias in questions {
            self.questions.remove(&alias);
            self.say(opening::cancelled(&alias.to_string(), "the server that has asked has ended"));
        }
        let name = self.members[member].settings.name.clone();
        let why = format!("upstream `{name}` {how}");
        let mut left: Vec<u64> = self
            .asked
            .iter()
            .filter(|(_, asked)| asked.member == member)
            .map(|(alias, _)| *alias)
            .collect();
        left.sort_unstable();
        self.members[member].waiting.clear();
        for alias in left {
            let again = match self.asked.get_mut(&alias).map(|asked| &mut asked.what) {
                Some(Request::Client(request)) => {
                    let is_new = !request.is_sent;
                    let may_be_repeated = std::mem::take(&mut request.may_be_repeated);
                    request.is_sent = false;
                    (is_new || may_be_repeated) && request.suspension.is_none()
                }
                _ => false,
            };
            if again && !self.members[member].is_removed {
                // At its next start, or refused if that is far.
                self.deliver(alias, now);
            } else {
                self.fail(alias, CONNECTION_CLOSED, &why);
            }
        }
        if let Some(at) = retry.filter(|_| !self.members[member].is_removed) {
            self.timers.insert((at, Timer::Retry(member)));
        }
        for kind in Kind::ALL {
            if self.merge(kind) {
                self.tell_of_change(kind);
            }
        }
        self.answer_waiting(now);
    }

    /// An upstream has asked the client something.
    fn questioned(
        &mut self,
        member: usize,
        id: &Id,
        method: &str,
        envelope: &Envelope,
        body: &Arc<Body>,
    ) {
        match (method, self.client.era) {
            ("ping", _) => self.tell(member, opening::answer(id, b"{}")),
            (_, Era::Modern) => self.suspend_for(member, id, method, envelope, body),
            (_, Era::Unknown | Era::Legacy) => {
                let source = Source::Held(body);
                let [written] = source.members(&envelope.span, ["id"]);
                let Some(written) = written else { return };
                let token = envelope.params.as_ref().and_then(|params| {
                    let [meta] = source.members(params, ["_meta"]);
                    let [token] = source.members(&meta?.span, ["progressToken"]);
                    token
                });
                let alias = self.alias();
                let text = alias.to_string();
                let line = Message::of(vec![Payload::new(body.clone(), envelope.span.clone())]);
                let mut line = line.with(body, &written.span, &text);
                if let Some(token) = &token {
                    line = line.with(body, &token.span, &text);
                }
                let token = token.and_then(|token| Id::parse(&token.scalar?));
                self.questions.insert(alias, Question::Passed { member, id: id.clone(), token });
                self.effects.push(Effect::ToClient(line));
            }
        }
    }

    fn question_is_withdrawn(&mut self, member: usize, id: &Id, now: Instant) {
        let withdrawn = self.questions.iter().find(|(_, question)| match question {
            Question::Passed { member: asker, id: theirs, .. } => *asker == member && theirs == id,
            Question::Required { .. } => false,
        });
        if let Some(alias) = withdrawn.map(|(alias, _)| *alias) {
            self.questions.remove(&alias);
            self.say(opening::cancelled(&alias.to_string(), "the server has withdrawn it"));
        } else if let Some(alias) = self.members[member].listening
            && alias.to_string() == id.as_json()
        {
            self.finish(alias);
            self.subscription_ended(member, now);
        }
    }

    /// Refuses what an upstream asks, and says why.
    pub(super) fn refuse_question(&mut self, member: usize, id: &Id, why: &str) {
        self.tell(member, opening::error(id, METHOD_NOT_FOUND, why));
    }

    /// Nothing is heard of what changes in an upstream, as when the way to a remote one breaks. It is
    /// subscribed to again, each time later until that works.
    fn subscription_ended(&mut self, member: usize, now: Instant) {
        let it = &mut self.members[member];
        it.listening = None;
        let pause = FIRST_SILENCE * 2_u32.pow(it.unheard.min(10));
        it.unheard += 1;
        self.timers.insert((now + pause.min(LONGEST_SILENCE), Timer::Listen(member)));
    }

    /// Subscribes to what changes in a modern upstream.
    pub(super) fn listen(&mut self, member: usize) {
        if self.members[member].state != State::Open || self.members[member].era != Era::Modern {
            return;
        }
        if let Some(before) = self.members[member].listening.take() {
            self.finish(before);
            self.tell(
                member,
                opening::cancelled(&before.to_string(), "another subscription follows"),
            );
        }
        let it = &self.members[member];
        let changes = |kind: &str| it.capabilities[kind]["listChanged"] == json!(true);
        let filter = json!({
            "toolsListChanged": changes("tools"),
            "promptsListChanged": changes("prompts"),
            "resourcesListChanged": changes("resources"),
            "resourceSubscriptions": it.watched,
        });
        let is_needed =
            ["tools", "prompts", "resources"].into_iter().any(changes) || !it.watched.is_empty();
        if is_needed {
            let alias = self.ask_ourselves(member, Request::Listen);
            self.members[member].listening = Some(alias);
            let params =
                format!(r#"{{"notifications":{filter},"_meta":{{{}}}}}"#, self.client.meta());
            self.tell(member, opening::request(alias, methods::LISTEN, &params));
        }
    }
}

/// The result in an answer, if there is one.
fn result(envelope: &Envelope, body: &Arc<Body>) -> Option<Value> {
    let json = Source::Held(body).in_memory(envelope.result.as_ref()?)?;
    serde_json::from_slice(json).ok()
}

/// The error in an answer, if there is one.
fn error(envelope: &Envelope, body: &Arc<Body>) -> Option<Value> {
    let json = |span: &Range<u64>| Source::Held(body).in_memory(span);
    envelope.error.as_ref().and_then(json).and_then(|json| serde_json::from_slice(json).ok())
}

/// What an error says.
fn error_text(envelope: &Envelope, body: &Arc<Body>) -> String {
    let error = error(envelope, body);
    let said = error.as_ref().and_then(|error| error["message"].as_str());
    said.unwrap_or("its answer cannot be read").to_owned()
}
