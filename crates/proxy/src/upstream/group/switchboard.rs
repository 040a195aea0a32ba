//! Who is meant by what a client and the upstreams of a group say. Without I/O and without a clock.
//!
//! A client sees one server: [`client`] sorts what it says, [`upstream`] what the upstreams say. [`input`] is
//! what upstreams want to know of the client, which each era does in its own way. [`changes`] keeps the lists
//! and tells of what is new in them.
//!
//! Every request on its way has an alias, one of a kind among all of them: it is the id by which the other
//! side knows the request, and the token of its progress.

mod changes;
mod client;
mod input;
#[cfg(test)]
mod tests;
mod upstream;

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use forebay_wire::{
    Id,
    reply::{CONNECTION_CLOSED, INVALID_PARAMS, METHOD_NOT_FOUND},
};

use self::{changes::Subscription, input::Suspension};
use super::{
    asking::Asking,
    lists::{self, Item, Kind, Merged},
    member::{LATE, Member, MemberSettings, OfferedTool, Standing, State},
    opening::{self, Client},
};
use crate::{
    body::{Message, Payload},
    router::{Names, UpstreamName},
};

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Say this to the client.
    ToClient(Message),
    /// Say this to an upstream.
    ToMember(usize, Message),
    /// Start an upstream, for this run of it.
    Start(usize, u64),
    /// End an upstream that does not open.
    End(usize),
    /// Tell whoever wants to know how the upstreams stand.
    Stand,
}

/// How long a client waits for upstreams that are being started before it is told what there is. What comes
/// later is told as a change.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long a modern opening may go unanswered before the legacy one is tried: old servers pass over what
/// they do not know.
const PROBE: Duration = Duration::from_secs(5);
/// How long a subscription that has ended is left alone, at first and at most.
const FIRST_SILENCE: Duration = Duration::from_millis(500);
const LONGEST_SILENCE: Duration = Duration::from_secs(60);
/// How far apart the answers to the two openings may lie.
const BOTH_ANSWERS: Duration = Duration::from_secs(2);
/// A call waits for an upstream that is started again within this time; else it is refused.
const SHORT_PAUSE: Duration = Duration::from_secs(2);

/// The code for a request that took too long, as the official SDKs use it.
const TIMED_OUT: i32 = -32001;

pub(crate) struct Switchboard {
    names: Arc<Names>,
    members: Vec<Member>,
    /// Those that are there, in the order in which they are listed.
    order: Vec<usize>,
    client: Client,
    /// Requests on their way, by their aliases.
    asked: HashMap<u64, Asked>,
    /// The client's, by its own ids.
    aliases: HashMap<Id, u64>,
    /// What upstreams have asked the client, by aliases.
    questions: HashMap<u64, Question>,
    /// What the client has asked for that some upstreams are waited for.
    waiting: Vec<Waiting>,
    /// What is offered of each kind.
    merged: [Merged; 4],
    /// The client has been given this list.
    is_listed: [bool; 4],
    subscriptions: Vec<Subscription>,
    /// The upstreams in which tasks go on, by the tasks' ids.
    tasks: HashMap<String, usize>,
    timers: BTreeSet<(Instant, Timer)>,
    last: u64,
    /// Upstreams whose tools are others than those that are remembered.
    with_new_tools: BTreeSet<usize>,
    effects: Vec<Effect>,
}

/// A request on its way to an upstream.
#[derive(Debug)]
struct Asked {
    member: usize,
    /// When it is given up, unless it is heard of, and when that is looked at next.
    until: Option<Instant>,
    timer: Option<Instant>,
    what: Request,
}

#[derive(Debug)]
enum Request {
    /// The client's.
    Client(Box<ClientRequest>),
    Discover,
    Initialize,
    List(Kind),
    /// A subscription to what changes.
    Listen,
    /// Something whose answer means nothing to us.
    Told,
}

#[derive(Debug)]
struct ClientRequest {
    asking: Asking,
    /// What it is about, by the name that the upstream has for it.
    own: Option<String>,
    is_sent: bool,
    /// It can be asked again without harm, and has not been.
    may_be_repeated: bool,
    /// It waits for the client to answer a question.
    suspension: Option<Suspension>,
}

/// What an upstream has asked the client.
#[derive(Debug)]
enum Question {
    /// A legacy upstream's: what it calls it, and its progress.
    Passed { member: usize, id: Id, token: Option<Id> },
    /// One of those that the answer to this request of the client's asks for, by its key there.
    Required { request: u64, key: String },
}

/// A client's request that is answered when upstreams have settled.
#[derive(Debug)]
struct Waiting {
    asking: Asking,
    until: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// Clients have waited long enough.
    Patience,
    /// A request has taken too long.
    Request(u64),
    /// The modern opening of an upstream has gone unanswered.
    Probe(usize, u64),
    /// It has been answered late, and the legacy one not at all.
    Discovered(usize),
    /// An upstream takes too long to open.
    Opening(usize),
    /// An upstream is to be started again.
    Retry(usize),
    /// What changes in an upstream is to be subscribed to again.
    Listen(usize),
}

impl Switchboard {
    /// A switchboard without upstreams, whose aliases come after `last`.
    pub(crate) fn new(names: Arc<Names>, last: u64) -> Self {
        Self {
            names,
            order: Vec::new(),
            members: Vec::new(),
            client: Client::default(),
            asked: HashMap::new(),
            aliases: HashMap::new(),
            questions: HashMap::new(),
            waiting: Vec::new(),
            merged: Default::default(),
            is_listed: [false; 4],
            subscriptions: Vec::new(),
            tasks: HashMap::new(),
            timers: BTreeSet::new(),
            last,
            with_new_tools: BTreeSet::new(),
            effects: Vec::new(),
        }
    }

    /// Takes over the lists of an upstream that are known from before.
    pub(crate) fn remember(&mut self, member: usize, kind: Kind, items: Vec<Item>) {
        self.members[member].remember(kind, items);
    }

    /// How the upstreams stand, in their order.
    pub(crate) fn standings(&self) -> Vec<Standing> {
        self.order.iter().map(|at| self.members[*at].standing()).collect()
    }

    /// The tools of upstreams that have others than before: results of lists.
    pub(crate) fn new_tools(&mut self) -> Vec<(usize, Vec<u8>)> {
        let new = std::mem::take(&mut self.with_new_tools).into_iter();
        let tools = new.filter_map(|at| Some((at, self.members[at].list(Kind::Tools)?)));
        tools.map(|(at, items)| (at, lists::result(Kind::Tools, items))).collect()
    }

    /// All tools that are offered.
    pub(crate) fn offered_tools(&self) -> Vec<OfferedTool> {
        let merged = &self.merged[Kind::Tools as usize];
        let offered = merged.offered().map(|(name, member, own, json)| OfferedTool {
            name: name.to_owned(),
            server: self.members[member].settings.name.clone(),
            own: own.clone(),
            definition: json.to_vec(),
        });
        offered.collect()
    }

    /// True if the client awaits an answer.
    pub(crate) fn is_awaited(&self) -> bool {
        !self.waiting.is_empty()
            || self.asked.values().any(|asked| matches!(asked.what, Request::Client(_)))
    }

    /// When [`Switchboard::tick`] has something to do.
    pub(crate) fn wakes_at(&self) -> Option<Instant> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// Does what is due.
    pub(crate) fn tick(&mut self, now: Instant) -> Vec<Effect> {
        while let Some(&(at, timer)) = self.timers.first().filter(|(at, _)| *at <= now) {
            self.timers.remove(&(at, timer));
            match timer {
                Timer::Patience => self.answer_waiting(now),
                Timer::Request(alias) => self.give_up(alias, now),
                Timer::Probe(member, alias) => self.probe_failed(member, alias),
                Timer::Discovered(member) => self.only_discovered(member, now),
                Timer::Opening(member) => {
                    let it = &self.members[member];
                    if it.state == State::Starting && it.opens_by == Some(at) {
                        let patience = it.settings.start_timeout.as_secs();
                        let how = match &it.refusal {
                            Some(why) => format!("refused to open: {why}"),
                            None => format!("{LATE} {patience} s"),
                        };
                        self.effects.push(Effect::End(member));
                        self.ended(member, &how, now);
                    }
                }
                Timer::Retry(member) => {
                    let it = &self.members[member];
                    if it.state == State::Down && !it.is_removed {
                        self.start(member, now);
                    }
                }
                Timer::Listen(member) => {
                    if self.members[member].listening.is_none() {
                        self.listen(member);
                    }
                }
            }
        }
        self.done()
    }

    fn done(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    fn say(&mut self, line: Vec<u8>) {
        self.effects.push(Effect::ToClient(Message::of(vec![Payload::from(line)])));
    }

    fn tell(&mut self, member: usize, line: Vec<u8>) {
        self.effects.push(Effect::ToMember(member, Message::of(vec![Payload::from(line)])));
    }

    fn alias(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// A request of our own on its way to an upstream.
    fn ask_ourselves(&mut self, member: usize, what: Request) -> u64 {
        let alias = self.alias();
        self.asked.insert(alias, Asked { member, until: None, timer: None, what });
        alias
    }

    fn start(&mut self, member: usize, now: Instant) {
        let starting = &mut self.members[member];
        starting.state = State::Starting;
        starting.run += 1;
        let run = starting.run;
        let until = now + starting.settings.start_timeout;
        starting.opens_by = Some(until);
        starting.refusal = None;
        self.timers.insert((until, Timer::Opening(member)));
        self.effects.push(Effect::Start(member, run));
        self.effects.push(Effect::Stand);
    }

    /// Starts what is to be there from the beginning.
    fn start_all(&mut self, now: Instant) {
        for member in self.order.clone() {
            let is_idle = self.members[member].state == State::Idle;
            let is_known = self.members[member].list(Kind::Tools).is_some();
            if is_idle && !(self.members[member].settings.is_lazy && is_known) {
                self.start(member, now);
            }
        }
    }

    /// Sends a client's request to its upstream, or keeps it until that can be asked.
    fn ask(&mut self, member: usize, asking: Asking, own: Option<String>, now: Instant) {
        let alias = self.alias();
        self.aliases.insert(asking.id.clone(), alias);
        let may_be_repeated = self.is_harmless(member, &asking, own.as_deref());
        let request =
            ClientRequest { asking, own, is_sent: false, may_be_repeated, suspension: None };
        let what = Request::Client(Box::new(request));
        let until = now + self.members[member].settings.call_timeout;
        self.asked.insert(alias, Asked { member, until: Some(until), timer: None, what });
        // Whoever waits for an upstream to start does not wait longer than for an answer.
        self.set_timer(alias, until);
        self.deliver(alias, now);
    }

    /// Sends a request that has an alias, as soon as its upstream can be asked.
    fn deliver(&mut self, alias: u64, now: Instant) {
        let Some(asked) = self.asked.get(&alias) else { return };
        let index = asked.member;
        let timeout = self.members[index].settings.call_timeout;
        let member = &mut self.members[index];
        match member.state {
            State::Open => self.send(alias, timeout, now),
            State::Starting => member.waiting.push(alias),
            State::Idle => {
                member.waiting.push(alias);
                self.start(index, now);
            }
            State::Down => {
                let pause = member
                    .down_until
                    .map_or(Duration::ZERO, |until| until.saturating_duration_since(now));
                if pause > SHORT_PAUSE {
                    let why = member.last_error.as_deref().unwrap_or("is not there");
                    let name = &member.settings.name;
                    let seconds = pause.as_secs().max(1);
                    let why = format!("upstream `{name}` {why}; it is tried again in {seconds} s");
                    self.fail(alias, CONNECTION_CLOSED, &why);
                } else {
                    member.waiting.push(alias);
                    self.timers.insert((now + pause, Timer::Retry(index)));
                }
            }
        }
    }

    /// Gives up a request that nothing has been heard of for too long.
    fn give_up(&mut self, alias: u64, now: Instant) {
        let Some(asked) = self.asked.get(&alias) else { return };
        let member = asked.member;
        // It has been heard of meanwhile.
        if let Some(until) = asked.until.filter(|until| *until > now) {
            return self.set_timer(alias, until);
        }
        let settings = &self.members[member].settings;
        let (name, patience) = (&settings.name, settings.call_timeout.as_secs());
        let why = format!("upstream `{name}` has not answered within {patience} s");
        self.fail(alias, TIMED_OUT, &why);
        self.tell(member, opening::cancelled(&alias.to_string(), &why));
    }

    fn set_timer(&mut self, alias: u64, until: Instant) {
        let Some(asked) = self.asked.get_mut(&alias) else { return };
        if let Some(before) = asked.timer.replace(until) {
            self.timers.remove(&(before, Timer::Request(alias)));
        }
        self.timers.insert((until, Timer::Request(alias)));
    }

    /// A request is over.
    fn finish(&mut self, alias: u64) -> Option<Asked> {
        let asked = self.asked.remove(&alias)?;
        if let Some(at) = asked.timer {
            self.timers.remove(&(at, Timer::Request(alias)));
        }
        if let Request::Client(request) = &asked.what {
            self.aliases.remove(&request.asking.id);
        }
        Some(asked)
    }

    /// Answers a client's request with an error.
    fn fail(&mut self, alias: u64, code: i32, why: &str) {
        let Some(asked) = self.finish(alias) else { return };
        if let Request::Client(request) = asked.what {
            // Who has been asked a question comes back for the answer, and is told then.
            if request.suspension.is_none() {
                self.say(opening::error(&request.asking.id, code, why));
            }
        }
    }

    /// True if a call can be made twice.
    fn is_harmless(&self, member: usize, asking: &Asking, own: Option<&str>) -> bool {
        match asking.method.as_str() {
            "tools/call" => own
                .and_then(|own| self.members[member].item(Kind::Tools, own))
                .is_some_and(|tool| tool.hints("readOnlyHint") || tool.hints("idempotentHint")),
            "prompts/get" | "resources/read" | "completion/complete" => true,
            _ => false,
        }
    }

    /// The only upstream, if there is but one.
    fn sole(&self) -> Option<usize> {
        match self.order.as_slice() {
            [sole] => Some(*sole),
            _ => None,
        }
    }

    /// The upstreams, in their order.
    fn present(&self) -> Vec<&Member> {
        self.order.iter().map(|at| &self.members[*at]).collect()
    }

    fn named(&self, name: &UpstreamName) -> Option<usize> {
        self.order.iter().copied().find(|at| self.members[*at].settings.name == *name)
    }

    /// Takes one more upstream, which is not listed before it is in the order. Returns its place.
    pub(crate) fn add(&mut self, settings: MemberSettings) -> usize {
        self.members.push(Member::new(settings));
        self.members.len() - 1
    }

    /// From now on these are the upstreams, in this order. All others end.
    pub(crate) fn arrange(&mut self, order: Vec<usize>, now: Instant) -> Vec<Effect> {
        for removed in std::mem::replace(&mut self.order, order) {
            if !self.order.contains(&removed) {
                self.effects.push(Effect::End(removed));
                self.members[removed].is_taken_out();
                self.ended(removed, "is not in the settings any more", now);
            }
        }
        for kind in Kind::ALL {
            if self.merge(kind) {
                self.tell_of_change(kind);
            }
        }
        // Before anybody has asked anything, nobody knows who will.
        if self.client.has_said_hello() {
            self.start_all(now);
        }
        self.answer_waiting(now);
        self.effects.push(Effect::Stand);
        self.done()
    }

    /// Ends an upstream and starts it anew.
    pub(crate) fn restart(&mut self, name: &UpstreamName, now: Instant) -> Vec<Effect> {
        let Some(member) = self.named(name) else { return Vec::new() };
        if matches!(self.members[member].state, State::Starting | State::Open) {
            self.effects.push(Effect::End(member));
            self.ended(member, "is started anew", now);
        }
        self.members[member].is_restarted();
        if self.members[member].state == State::Down {
            self.start(member, now);
        }
        self.done()
    }
}
