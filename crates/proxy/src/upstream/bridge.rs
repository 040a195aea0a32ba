//! A remote upstream as a session on stdio sees one: lines in, lines out.
//!
//! Each line of the client's is posted; what comes back, in whichever form, becomes lines again.
//! All of it runs on one thread beside the session. A message is written whole once it has come whole, so
//! that a long one holds up no other while it arrives.

mod exchange;
mod failure;
mod legacy;
mod posting;
mod refusal;
mod stream;

use std::{
    collections::{HashMap, HashSet},
    io,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};

use forebay_wire::Id;
use http::{HeaderMap, Method};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::{AbortHandle, JoinSet},
    time::{sleep, timeout},
};

use self::{
    legacy::Legacy,
    posting::{Posting, PostingKind},
    stream::Reception,
};
use super::{
    Remote,
    beside::{self, Incoming, Lane, Lines, Session, Stop, told},
};
use crate::{
    body::{Message, Spool},
    events, limits,
    streamable::{look, tool_headers::ToolHeaders},
};

/// Starts a bridge to `remote`.
pub(crate) fn start(remote: Remote, spool: Spool) -> io::Result<beside::Started> {
    beside::start("bridge", spool.clone(), move |Session { lines, lane, stop }| {
        let bridge = Arc::new(Bridge {
            remote,
            spool,
            lane: Arc::new(lane),
            legacy: Legacy::new(),
            pending: Mutex::default(),
            running: Mutex::default(),
            tools: Mutex::default(),
            has_warned: AtomicBool::new(false),
        });
        bridge.run(lines, stop)
    })
}

struct Bridge {
    remote: Remote,
    spool: Spool,
    lane: Arc<Lane>,
    legacy: Legacy,
    /// The client's requests that have not been answered.
    pending: Mutex<HashSet<Id>>,
    /// The modern ones, which are cancelled by closing their connection.
    running: Mutex<HashMap<Id, AbortHandle>>,
    tools: Mutex<ToolHeaders>,
    /// It has been told that the upstream cannot be reached.
    has_warned: AtomicBool,
}

/// What is being done, besides reading the client's lines.
#[derive(Default)]
struct UnderWay {
    /// Is waited for when the client has closed.
    calls: JoinSet<()>,
    /// Ends when all else has.
    apart: JoinSet<()>,
}

impl Bridge {
    /// Runs until the client has closed and all it asked is answered, or it is told to stop.
    async fn run(self: Arc<Self>, mut lines: Lines, mut stop: watch::Receiver<Stop>) {
        let (sender, mut incoming) = mpsc::channel(1);
        let mut under_way = UnderWay::default();
        under_way.apart.spawn(async move {
            while let Some(line) = lines.next().await {
                if sender.send(line).await.is_err() {
                    break;
                }
            }
        });
        let listening = self.clone();
        under_way.apart.spawn(async move { listening.listen_apart().await });
        loop {
            tokio::select! {
                line = incoming.recv() => match line {
                    Some(line) => self.take(line, &mut under_way, &mut stop).await,
                    None => break,
                },
                Some(_) = under_way.calls.join_next() => {}
                Some(_) = under_way.apart.join_next() => {}
                () = told(&mut stop, Stop::Soon) => break,
            }
        }
        tokio::select! {
            () = async { while under_way.calls.join_next().await.is_some() {} } => {}
            () = told(&mut stop, Stop::Soon) => {}
        }
        drop(under_way);
        tokio::select! {
            _ = timeout(limits::FAREWELL, self.say_goodbye()) => {}
            () = told(&mut stop, Stop::Now) => {}
        }
    }

    /// Sends a line on its way, and waits for it if what follows must not overtake it.
    async fn take(
        self: &Arc<Self>,
        incoming: Incoming,
        under_way: &mut UnderWay,
        stop: &mut watch::Receiver<Stop>,
    ) {
        let posting = match incoming {
            Incoming::Line(body) => {
                let bytes = body.bytes();
                let bridge = self.clone();
                let read = move || Posting::of(body, &bridge.tools());
                look::work(bytes, read).await.map(Arc::new)
            }
            Incoming::Lost(line, error) => {
                let requests = posting::requests(&line);
                self.pending().extend(requests.iter().cloned());
                self.fail(&requests, &format!("the request is too large to be held: {error}"))
                    .await;
                return;
            }
        };
        let Some(posting) = posting else { return };
        self.pending().extend(posting.requests.iter().cloned());
        match &posting.kind {
            PostingKind::Initialize => {
                self.legacy.remember_initialize(posting.clone());
                self.carry_in_turn(posting, limits::OPENING, under_way, stop).await;
            }
            PostingKind::Cancelled(id) => {
                self.settle(id);
                let modern = self.running().remove(id);
                match modern {
                    Some(call) => call.abort(),
                    None => self.carry_in_turn(posting, limits::ACCEPTANCE, under_way, stop).await,
                }
            }
            PostingKind::Initialized => {
                self.legacy.remember_initialized(posting.clone());
                self.carry_in_turn(posting, limits::ACCEPTANCE, under_way, stop).await;
            }
            PostingKind::OneWay => {
                self.carry_in_turn(posting, limits::ACCEPTANCE, under_way, stop).await;
            }
            PostingKind::Call => self.carry_along(&posting, &mut under_way.calls),
            PostingKind::Subscription => self.carry_along(&posting, &mut under_way.apart),
        }
    }

    /// Carries a request while others go on.
    fn carry_along(self: &Arc<Self>, posting: &Arc<Posting>, tasks: &mut JoinSet<()>) {
        let (bridge, carried) = (self.clone(), posting.clone());
        let task = tasks.spawn(async move {
            bridge.carry(&carried).await;
            let mut running = bridge.running();
            carried.requests.iter().for_each(|id| drop(running.remove(id)));
        });
        if posting.is_modern {
            // The task has not begun: nothing else runs on this thread meanwhile.
            let handles = posting.requests.iter().map(|id| (id.clone(), task.clone()));
            self.running().extend(handles);
        }
    }

    /// Carries a line before what follows it, for which `patience` may be lost.
    async fn carry_in_turn(
        self: &Arc<Self>,
        posting: Arc<Posting>,
        patience: Duration,
        under_way: &mut UnderWay,
        stop: &mut watch::Receiver<Stop>,
    ) {
        let (done, is_done) = oneshot::channel::<()>();
        let bridge = self.clone();
        under_way.calls.spawn(async move {
            let is_carried = bridge.carry(&posting).await;
            if is_carried && posting.kind == PostingKind::Initialized && bridge.legacy.is_open() {
                bridge.legacy.is_ready();
            }
            drop(done);
        });
        tokio::select! {
            _ = is_done => {}
            () = sleep(patience) => {}
            () = told(stop, Stop::Soon) => {}
        }
    }

    /// Answers what will not be answered any more, and ends a legacy session.
    async fn say_goodbye(&self) {
        let left: Vec<Id> = self.pending().iter().cloned().collect();
        let reason = format!("the session with upstream `{}` was ended", self.remote.name());
        self.fail(&left, &reason).await;
        let mut headers = HeaderMap::new();
        if self.legacy.add_headers(&mut headers) {
            // An upstream need not let us; either way it is over.
            if let Err(error) = self.remote.send(Method::DELETE, headers, None).await {
                events::not_delivered(self.remote.name(), &error.to_string());
            }
        }
    }

    /// Sends a message to the client, even if whoever sends it is cancelled half way.
    async fn say(&self, message: Message) {
        let lane = self.lane.clone();
        // A client that is gone is noticed by its session.
        let _ = tokio::spawn(async move { lane.send(&message).await }).await;
    }

    /// Takes note that a request is over; `false` if it was already.
    fn settle(&self, id: &Id) -> bool {
        self.pending().remove(id)
    }

    /// True if someone waits for what a stream is to answer.
    fn is_awaited(&self, reception: &Reception<'_>) -> bool {
        let pending = self.pending();
        reception.left.iter().any(|id| pending.contains(id))
    }

    fn pending(&self) -> MutexGuard<'_, HashSet<Id>> {
        self.pending.lock()
    }

    fn running(&self) -> MutexGuard<'_, HashMap<Id, AbortHandle>> {
        self.running.lock()
    }

    fn tools(&self) -> MutexGuard<'_, ToolHeaders> {
        self.tools.lock()
    }
}
