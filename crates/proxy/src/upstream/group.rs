//! Many upstreams that look like one: lines in, lines out.
//!
//! [`switchboard`] decides, without I/O, who is meant by what is said. Here is what it decides about: each
//! upstream is a [`link`], started when that is wished and seen off when it has ended. What an upstream does
//! not read waits for it alone; what the client does not read, all wait for. Groups of one program may share
//! an upstream ([`shared`]).

mod asking;
mod fan;
mod link;
pub(crate) mod lists;
mod member;
mod noise;
mod opening;
mod shared;
mod switchboard;

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::{Mutex, RwLock};
use tokio::{
    sync::{Notify, broadcast, mpsc},
    time,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::{
    fan::Seat,
    link::Link,
    lists::Kind,
    shared::SharedUpstreams,
    switchboard::{Effect, Switchboard},
};
pub use self::{
    link::Way,
    member::{MemberSettings, OfferedTool, Standing, State},
    shared::Sharing,
};
use super::{
    beside::{self, Incoming, Session, Stop, told},
    stderr::Listener,
};
use crate::{
    body::{Body, Message, Spool},
    limits,
    router::{Names, UpstreamName},
};

/// The upstreams of groups, and what holds for them. It can change while they are under way.
pub struct GroupSettings {
    names: Arc<Names>,
    plans: RwLock<Arc<Vec<Plan>>>,
    memory: Option<Arc<dyn Memory>>,
    changes: broadcast::Sender<Change>,
    /// As the group says in which something changed last.
    latest: Mutex<Latest>,
    shared: SharedUpstreams,
}

/// How the upstreams stand, and what they offer.
struct Latest {
    standings: Arc<[Standing]>,
    tools: Arc<[OfferedTool]>,
}

/// How an upstream of a group is reached.
pub struct Plan {
    /// What holds for it.
    pub settings: MemberSettings,
    /// The way there.
    pub way: Way,
    /// What it is remembered by: another one if it may have other tools.
    pub key: String,
    /// What tells it from one with the same name of which something else is written.
    pub fingerprint: String,
    /// Whether groups share it.
    pub sharing: Sharing,
}

/// Remembers what upstreams have, from one process to the next.
pub trait Memory: Send + Sync {
    /// The tools that the upstream with this key had: the result of a list.
    fn tools(&self, key: &str) -> Option<Vec<u8>>;

    /// These are the tools of an upstream: the result of a list.
    fn remember_tools(&self, key: &str, result: &[u8]);
}

#[derive(Clone)]
enum Change {
    /// There are other plans.
    Plans,
    /// An upstream is to be started anew.
    Restart(UpstreamName),
}

impl GroupSettings {
    /// Settings of groups whose upstreams are called as `names` say.
    pub fn new(names: Arc<Names>, plans: Vec<Plan>, memory: Option<Arc<dyn Memory>>) -> Self {
        let (changes, _) = broadcast::channel(limits::CHANGES_OF_A_GROUP);
        let latest = Mutex::new(Latest { standings: Arc::new([]), tools: Arc::new([]) });
        Self {
            names,
            plans: RwLock::new(Arc::new(plans)),
            memory,
            changes,
            latest,
            shared: SharedUpstreams::default(),
        }
    }

    /// Whether any group is under way. How its upstreams stand is known beyond its end.
    pub fn is_under_way(&self) -> bool {
        // Each group heeds changes until it ends.
        self.changes.receiver_count() > 0
    }

    /// How each upstream stands, in their order.
    pub fn standings(&self) -> Arc<[Standing]> {
        self.latest.lock().standings.clone()
    }

    /// All tools of theirs that are known.
    pub fn tools(&self) -> Arc<[OfferedTool]> {
        self.latest.lock().tools.clone()
    }

    /// The name by which an upstream's tool can be called, whether or not it is known.
    pub fn leading_to(&self, upstream: &UpstreamName, tool: &str) -> String {
        self.names.leading_to(upstream, tool)
    }

    /// From now on these are the upstreams. Those that are as they were go on.
    pub fn rearrange(&self, plans: Vec<Plan>) {
        self.names.rearrange(plans.iter().map(|plan| plan.settings.name.clone()).collect());
        *self.plans.write() = Arc::new(plans);
        // Where there is no group there is nobody to tell.
        let _ = self.changes.send(Change::Plans);
    }

    /// Starts an upstream anew, wherever it is under way.
    pub fn restart(&self, name: &UpstreamName) {
        let _ = self.changes.send(Change::Restart(name.clone()));
    }

    fn plans(&self) -> Arc<Vec<Plan>> {
        self.plans.read().clone()
    }
}

/// Whether what upstreams say on stderr is heard on its way to ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listening {
    No,
    ToStderr,
}

/// An upstream that was looked at.
#[derive(Debug, Clone)]
pub struct Seen {
    /// How it stood.
    pub standing: Standing,
    /// The end of what it said on stderr.
    pub said: String,
}

/// Upstreams under way.
pub(crate) struct Group {
    settings: Arc<GroupSettings>,
    /// Where it sits at upstreams that it shares.
    seat: Seat,
    board: Mutex<Switchboard>,
    /// In the order of the switchboard's places.
    links: RwLock<Vec<Arc<Link>>>,
    spool: Spool,
    grace: Duration,
    listening: Listening,
    to_client: mpsc::Sender<Message>,
    /// When the switchboard is looked at next, and that this is too late.
    alarm: Mutex<Option<Instant>>,
    is_rescheduled: Notify,
    closing: CancellationToken,
    /// Those who have started or see off an upstream.
    at_work: TaskTracker,
}

/// Starts a group beside a session on stdio.
pub(crate) fn start(
    settings: Arc<GroupSettings>,
    spool: Spool,
    grace: Duration,
) -> io::Result<beside::Started> {
    beside::start("group", spool.clone(), move |session| run(settings, spool, grace, session))
}

/// Runs a group until its client closes, or it is told to stop.
async fn run(settings: Arc<GroupSettings>, spool: Spool, grace: Duration, session: Session) {
    let Session { mut lines, lane, mut stop } = session;
    let (group, mut said) = Group::start(settings, &spool, grace, Listening::No);
    let saying = tokio::spawn(async move {
        while let Some(message) = said.recv().await {
            if lane.send(&message).await.is_err() {
                break;
            }
        }
    });
    let mut deadline = stop.clone();
    let reading = async {
        while let Some(incoming) = lines.next().await {
            match incoming {
                Incoming::Line(body) => group.take(Arc::new(body)).await,
                Incoming::Lost(line, error) => group.refuse(&line, &error).await,
            }
        }
        group.answered().await;
    };
    tokio::select! {
        () = reading => {}
        // What is under way may come to its end.
        () = told(&mut stop, Stop::Soon) => drop(time::timeout(grace, group.answered()).await),
    }
    tokio::select! {
        () = group.end() => {}
        () = told(&mut deadline, Stop::Now) => {}
    }
    drop(group);
    let _ = time::timeout(limits::FAREWELL, saying).await;
}

impl Group {
    /// Starts a group. What it says is for its client.
    pub(crate) fn start(
        settings: Arc<GroupSettings>,
        spool: &Spool,
        grace: Duration,
        listening: Listening,
    ) -> (Arc<Self>, mpsc::Receiver<Message>) {
        let changes = settings.changes.subscribe();
        let seat = settings.shared.new_seat();
        let board = Switchboard::new(settings.names.clone(), fan::before_first_alias(seat));
        let (to_client, said) = mpsc::channel(limits::MESSAGES_OF_A_GROUP);
        let group = Arc::new(Self {
            settings,
            seat,
            board: Mutex::new(board),
            links: RwLock::default(),
            spool: spool.clone(),
            grace,
            listening,
            to_client,
            alarm: Mutex::default(),
            is_rescheduled: Notify::new(),
            closing: CancellationToken::new(),
            at_work: TaskTracker::new(),
        });
        // Nobody has said anything yet, so there is nothing else to be done.
        drop(group.arranged());
        group.remember();
        group.at_work.spawn(group.clone().keep_time());
        group.at_work.spawn(group.clone().heed(changes));
        (group, said)
    }

    /// Takes over the plans as they are now: upstreams that are as they were go on.
    fn arranged(self: &Arc<Self>) -> Vec<Effect> {
        let plans = self.settings.plans();
        let (mut links, mut board) = (self.links.write(), self.board.lock());
        let mut order = Vec::new();
        for plan in plans.iter() {
            let is_same =
                |link: &Arc<Link>| link.fingerprint == plan.fingerprint && !link.is_removed();
            if let Some(at) = links.iter().position(is_same) {
                order.push(at);
                continue;
            }
            let at = board.add(plan.settings.clone());
            let known = self.settings.memory.as_ref().and_then(|memory| memory.tools(&plan.key));
            if let Some(items) = known.and_then(|result| lists::items(Kind::Tools, &result)) {
                board.remember(at, Kind::Tools, items);
            }
            let listener = match self.listening {
                Listening::No => None,
                Listening::ToStderr => Some(Listener::default()),
            };
            let (link, orders) = Link::new(plan, self.spool.clone(), self.grace, listener);
            links.push(Arc::new(link));
            order.push(at);
            self.at_work.spawn(link::attend(self.clone(), at, orders));
        }
        for (at, link) in links.iter().enumerate() {
            if !order.contains(&at) {
                link.remove();
            }
        }
        board.arrange(order, Instant::now())
    }

    /// Heeds what changes in the settings.
    async fn heed(self: Arc<Self>, mut changes: broadcast::Receiver<Change>) {
        loop {
            let change = tokio::select! {
                change = changes.recv() => change,
                () = self.closing.cancelled() => return,
            };
            match change {
                Ok(Change::Restart(name)) => {
                    self.decide(|board, now| board.restart(&name, now)).await;
                }
                // Whatever was missed, the plans are those that hold.
                Ok(Change::Plans) | Err(broadcast::error::RecvError::Lagged(_)) => {
                    let effects = self.arranged();
                    self.decide(|_, _| effects).await;
                }
                Err(broadcast::error::RecvError::Closed) => return,
            }
        }
    }

    fn link(&self, member: usize) -> Arc<Link> {
        self.links.read()[member].clone()
    }

    /// Takes a line of the client's.
    pub(crate) async fn take(&self, body: Arc<Body>) {
        self.decide(|board, now| board.client_said(&body, now)).await;
    }

    /// Answers what has come in a line that was too long to be held.
    async fn refuse(&self, line: &forebay_wire::Line, error: &io::Error) {
        let why = format!("the request is too large to be held: {error}");
        for id in line.messages().iter().filter_map(forebay_wire::Envelope::request) {
            let refusal = opening::error(id, forebay_wire::reply::CONNECTION_CLOSED, &why);
            let _ = self.to_client.send(Message::of(vec![refusal.into()])).await;
        }
    }

    /// Lets the switchboard decide, and does what it says.
    async fn decide(&self, decide: impl FnOnce(&mut Switchboard, Instant) -> Vec<Effect>) {
        let (effects, is_too_late) = {
            let mut board = self.board.lock();
            let effects = decide(&mut board, Instant::now());
            // Waking up too early costs less than setting the alarm for each call and its answer.
            let (next, alarm) = (board.wakes_at(), *self.alarm.lock());
            (effects, next.is_some() && (alarm.is_none() || next < alarm))
        };
        if is_too_late {
            self.is_rescheduled.notify_one();
        }
        for effect in effects {
            match effect {
                // A client that is gone is noticed by its session.
                Effect::ToClient(message) => drop(self.to_client.send(message).await),
                Effect::ToMember(member, message) => self.link(member).send(message),
                Effect::Start(member, run) => self.link(member).start(run),
                Effect::End(member) => self.link(member).end(),
                Effect::Stand => self.remember(),
            }
        }
    }

    /// Tells whoever remembers how the upstreams stand, and what they have.
    fn remember(&self) {
        // Those that end with their client are not down.
        if self.closing.is_cancelled() {
            return;
        }
        let (standings, offered, new) = {
            let mut board = self.board.lock();
            (board.standings(), board.offered_tools(), board.new_tools())
        };
        *self.settings.latest.lock() =
            Latest { standings: standings.into(), tools: offered.into() };
        let Some(memory) = &self.settings.memory else { return };
        for (member, result) in new {
            memory.remember_tools(&self.link(member).key, &result);
        }
    }

    /// Lets the switchboard do what is due.
    async fn keep_time(self: Arc<Self>) {
        loop {
            let next = {
                let board = self.board.lock();
                let next = board.wakes_at();
                *self.alarm.lock() = next;
                next
            };
            let due = async {
                match next {
                    Some(at) => time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = due => self.decide(Switchboard::tick).await,
                () = self.is_rescheduled.notified() => {}
                () = self.closing.cancelled() => return,
            }
        }
    }

    /// Waits until all that the client has asked is answered.
    async fn answered(&self) {
        /// How often that is looked at; nobody is waiting who would notice.
        const LOOK: Duration = Duration::from_millis(5);
        while self.board.lock().is_awaited() {
            time::sleep(LOOK).await;
        }
    }

    /// Ends all upstreams, and waits until they have ended.
    pub(crate) async fn end(&self) {
        self.closing.cancel();
        self.at_work.close();
        self.at_work.wait().await;
    }
}

/// Starts all upstreams of a group, looks at how they stand once that is known or `patience` has run out, and ends
/// them, each within `grace`. What they say on stderr goes to ours.
pub fn look(
    settings: Arc<GroupSettings>,
    spool: &Spool,
    patience: Duration,
    grace: Duration,
) -> io::Result<Vec<Seen>> {
    /// How often they are looked at.
    const LOOK: Duration = Duration::from_millis(10);
    /// How long what they have started in turn may hold stderr open.
    const SETTLE: Duration = Duration::from_millis(200);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let seen = runtime.block_on(async {
        let (group, mut said) = Group::start(settings, spool, grace, Listening::ToStderr);
        // As any client opens. What it is told is of no interest.
        let hello = opening::Client::default().initialize(0);
        group.take(Arc::new(Body::Memory(hello))).await;
        let is_known = |it: &Standing| match it.state {
            State::Idle | State::Starting => false,
            State::Open => it.tools.is_some(),
            State::Down => true,
        };
        let waiting = async {
            while !group.board.lock().standings().iter().all(is_known) {
                let _ = time::timeout(LOOK, said.recv()).await;
            }
        };
        // One may open and never tell what it has.
        let _ = time::timeout(patience, waiting).await;
        let standings = group.board.lock().standings();
        let settled = Instant::now() + SETTLE;
        let said = |standing: &Standing| {
            let links = group.links.read();
            let link = links.iter().find(|link| link.name == standing.name)?;
            let patience = match standing.state {
                State::Down => settled.saturating_duration_since(Instant::now()),
                // It has not ended, and what it says when it is ended tells nothing.
                State::Idle | State::Starting | State::Open => Duration::ZERO,
            };
            Some(link.listener.as_ref()?.said(patience))
        };
        let seen = |standing| Seen { said: said(&standing).unwrap_or_default(), standing };
        let seen = standings.into_iter().map(seen).collect();
        group.end().await;
        seen
    });
    runtime.shutdown_background();
    Ok(seen)
}
