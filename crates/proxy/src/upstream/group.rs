//! Many upstreams that look like one: lines in, lines out.
//!
//! [`switchboard`] decides, without I/O, who is meant by what is said. Here is what it decides about: each
//! upstream is a [`link`], started when that is wished and seen off when it has ended. What an upstream does
//! not read waits for it alone; what the client does not read, all wait for.

mod asking;
mod link;
pub(crate) mod lists;
mod member;
mod opening;
mod switchboard;

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::{
    sync::{Notify, mpsc},
    time,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::{
    link::Link,
    lists::Kind,
    switchboard::{Effect, Switchboard},
};
pub use self::{
    link::Way,
    member::{MemberSettings, Standing, State},
};
use super::beside::{self, Incoming, Session, Stop, told};
use crate::{
    body::{Body, Message, Spool},
    limits,
    router::Names,
};

/// The upstreams of a group, and what holds for them.
pub struct GroupSettings {
    /// What they and their tools are called.
    pub names: Arc<Names>,
    /// How each is reached, in the order of their names.
    pub plans: Vec<Plan>,
    /// What is known of them from before.
    pub memory: Option<Arc<dyn Memory>>,
}

/// How an upstream of a group is reached.
pub struct Plan {
    /// What holds for it.
    pub settings: MemberSettings,
    /// The way there.
    pub way: Way,
}

/// Remembers what upstreams have, from one process to the next, and how they stand.
pub trait Memory: Send + Sync {
    /// The tools that this upstream had: the result of a list.
    fn tools(&self, upstream: usize) -> Option<Vec<u8>>;

    /// These are the tools of an upstream: the result of a list.
    fn remember_tools(&self, upstream: usize, result: &[u8]);

    /// This is how the upstreams stand.
    fn stand(&self, standings: Vec<Standing>);
}

/// Upstreams under way.
pub(crate) struct Group {
    settings: Arc<GroupSettings>,
    board: Mutex<Switchboard>,
    links: Vec<Link>,
    to_client: mpsc::Sender<Message>,
    /// The next timer may be an earlier one.
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
    let (group, mut said) = Group::start(settings, &spool, grace);
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
        () = told(&mut stop, Stop::Soon) => {}
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
    ) -> (Arc<Self>, mpsc::Receiver<Message>) {
        let members = settings.plans.iter().map(|plan| plan.settings.clone()).collect();
        let mut board = Switchboard::new(settings.names.clone(), members);
        let mut links = Vec::new();
        let mut all_orders = Vec::new();
        for (at, plan) in settings.plans.iter().enumerate() {
            let memory = settings.memory.as_ref().and_then(|memory| memory.tools(at));
            if let Some(items) = memory.and_then(|result| lists::items(Kind::Tools, &result)) {
                board.remember(at, Kind::Tools, items);
            }
            let name = plan.settings.name.clone();
            let (link, orders) = Link::new(name, plan.way.clone(), spool.clone(), grace);
            links.push(link);
            all_orders.push(orders);
        }
        let (to_client, said) = mpsc::channel(limits::MESSAGES_OF_A_GROUP);
        let group = Arc::new(Self {
            settings,
            board: Mutex::new(board),
            links,
            to_client,
            is_rescheduled: Notify::new(),
            closing: CancellationToken::new(),
            at_work: TaskTracker::new(),
        });
        for (at, orders) in all_orders.into_iter().enumerate() {
            group.at_work.spawn(link::attend(group.clone(), at, orders));
        }
        group.at_work.spawn(group.clone().keep_time());
        (group, said)
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
        let (effects, is_rescheduled) = {
            let mut board = self.board.lock();
            let before = board.wakes_at();
            let effects = decide(&mut board, Instant::now());
            (effects, board.wakes_at() != before)
        };
        if is_rescheduled {
            self.is_rescheduled.notify_one();
        }
        for effect in effects {
            match effect {
                // A client that is gone is noticed by its session.
                Effect::ToClient(message) => drop(self.to_client.send(message).await),
                Effect::ToMember(member, message) => self.links[member].send(message),
                Effect::Start(member) => self.links[member].start(),
                Effect::End(member) => self.links[member].end(),
                Effect::Stand => self.remember(),
            }
        }
    }

    /// Tells whoever remembers how the upstreams stand, and what they have.
    fn remember(&self) {
        let Some(memory) = &self.settings.memory else { return };
        let (standings, tools) = {
            let mut board = self.board.lock();
            (board.standings(), board.new_tools())
        };
        memory.stand(standings);
        for (member, result) in tools {
            memory.remember_tools(member, &result);
        }
    }

    /// Lets the switchboard do what is due.
    async fn keep_time(self: Arc<Self>) {
        loop {
            let next = self.board.lock().wakes_at();
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

/// Starts all upstreams of a group, looks at how they stand once that is known, and ends them.
pub fn look(
    settings: Arc<GroupSettings>,
    spool: &Spool,
    grace: Duration,
) -> io::Result<Vec<Standing>> {
    /// How often they are looked at.
    const LOOK: Duration = Duration::from_millis(10);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let standings = runtime.block_on(async {
        let (group, mut said) = Group::start(settings, spool, grace);
        // As any client opens. What it is told is of no interest.
        let hello = opening::Client::default().initialize(0);
        group.take(Arc::new(Body::Memory(hello))).await;
        let is_known = |it: &Standing| match it.state {
            State::Idle | State::Starting => false,
            State::Open => it.tools.is_some(),
            State::Down => true,
        };
        while !group.board.lock().standings().iter().all(is_known) {
            let _ = time::timeout(LOOK, said.recv()).await;
        }
        let standings = group.board.lock().standings();
        group.end().await;
        standings
    });
    runtime.shutdown_background();
    Ok(standings)
}
