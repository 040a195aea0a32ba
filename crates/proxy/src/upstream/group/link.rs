//! The way to one upstream of a group: it is started when that is wished, heard while it is there, and seen
//! off.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::stream::poll_fn;
use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::{
    Group, Plan,
    fan::Seat,
    noise::{Heard, Noise},
    shared::{Seated, Shared, SharedUpstreams, Sharing},
};
use crate::{
    ProxyError,
    body::{Message, Spool},
    router::UpstreamName,
    upstream::{
        Command, Remote, RemoteSettings,
        launcher::{Launcher, Opened, feed},
        stderr::Listener,
    },
};

/// How an upstream is reached.
#[derive(Clone)]
pub enum Way {
    /// It is a child process.
    Command(Command),
    /// It is reached by HTTP.
    Remote(Box<RemoteSettings>),
    /// It is not, for this reason.
    Never(String),
}

pub(super) struct Link {
    pub(super) name: UpstreamName,
    way: Way,
    pub(super) key: String,
    pub(super) fingerprint: String,
    sharing: Sharing,
    is_removed: AtomicBool,
    spool: Spool,
    grace: Duration,
    /// Hears what it says on stderr, if that is wished.
    pub(super) listener: Option<Listener>,
    orders: mpsc::UnboundedSender<Order>,
    /// The way in, while there is one. What an upstream is slow to read is kept for it, as are the calls that
    /// wait for it.
    input: Mutex<Option<Input>>,
}

/// The way into an upstream.
enum Input {
    Own(mpsc::UnboundedSender<Message>),
    Shared(Arc<Shared>, Seat),
}

/// An upstream that can be talked to.
enum Connection {
    Own(Opened),
    Shared(Seated),
}

pub(super) enum Order {
    /// For this run of the upstream.
    Start(u64),
    End,
}

impl Link {
    pub(super) fn new(
        plan: &Plan,
        spool: Spool,
        grace: Duration,
        listener: Option<Listener>,
    ) -> (Self, mpsc::UnboundedReceiver<Order>) {
        let (orders, inbox) = mpsc::unbounded_channel();
        let link = Self {
            name: plan.settings.name.clone(),
            way: plan.way.clone(),
            key: plan.key.clone(),
            fingerprint: plan.fingerprint.clone(),
            sharing: plan.sharing,
            is_removed: AtomicBool::new(false),
            spool,
            grace,
            listener,
            orders,
            input: Mutex::default(),
        };
        (link, inbox)
    }

    /// It is not one of the group any more.
    pub(super) fn remove(&self) {
        self.is_removed.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_removed(&self) -> bool {
        self.is_removed.load(Ordering::Relaxed)
    }

    pub(super) fn start(&self, run: u64) {
        let _ = self.orders.send(Order::Start(run));
    }

    pub(super) fn end(&self) {
        let _ = self.orders.send(Order::End);
    }

    /// Has a message sent. If the upstream has ended meanwhile, whoever waits for it has been told.
    pub(super) fn send(&self, message: Message) {
        match &*self.input.lock() {
            Some(Input::Own(input)) => drop(input.send(message)),
            Some(Input::Shared(shared, seat)) => shared.says(*seat, message),
            None => {}
        }
    }

    /// A connection of the group's own, or a seat at an upstream that others use, too.
    async fn connect(&self, upstreams: &SharedUpstreams, seat: Seat) -> Result<Connection, String> {
        if self.sharing == Sharing::Apart {
            return self.open().await.map(Connection::Own);
        }
        let place = upstreams.place(&self.fingerprint);
        let mut current = place.lock().await;
        if let Some(shared) = current.as_ref().filter(|it| !it.is_over()) {
            let is_for_all = match self.sharing {
                Sharing::Shared => Some(true),
                Sharing::Auto | Sharing::Apart => shared.is_modern().await,
            };
            match is_for_all {
                Some(true) => return Ok(Connection::Shared(shared.seat(seat))),
                Some(false) => return self.open().await.map(Connection::Own),
                // It has ended before it could be asked anything.
                None => {}
            }
        }
        let shared = Shared::start(self.open().await?, self.name.clone(), self.spool.clone());
        *current = Some(shared.clone());
        Ok(Connection::Shared(shared.seat(seat)))
    }

    /// Opens the way there, or says why that cannot be.
    async fn open(&self) -> Result<Opened, String> {
        let opened = match &self.way {
            Way::Command(command) => {
                let (name, spool) = (self.name.clone(), self.spool.clone());
                let launcher = Launcher::new(command.clone(), name, spool, self.grace);
                Arc::new(launcher.heard_by(self.listener.clone())).open().await
            }
            Way::Remote(settings) => Remote::new((**settings).clone())
                .and_then(|remote| Opened::remote(remote, &self.spool)),
            Way::Never(why) => return Err(why.clone()),
        };
        opened.map_err(|error| match error {
            ProxyError::UpstreamStart { hint, .. } => hint,
            other => other.to_string(),
        })
    }
}

/// Attends to an upstream until the group ends.
pub(super) async fn attend(
    group: Arc<Group>,
    member: usize,
    mut orders: mpsc::UnboundedReceiver<Order>,
) {
    let link = &group.link(member);
    loop {
        let run = tokio::select! {
            order = orders.recv() => match order {
                Some(Order::Start(run)) => run,
                // There is nothing to end.
                Some(Order::End) => continue,
                None => return,
            },
            () = group.closing.cancelled() => return,
        };
        let opened = tokio::select! {
            opened = link.connect(&group.settings.shared, group.seat) => opened,
            () = group.closing.cancelled() => return,
        };
        let how = match opened {
            Ok(Connection::Own(opened)) => converse(&group, member, run, opened, &mut orders).await,
            Ok(Connection::Shared(seated)) => share(&group, member, run, seated, &mut orders).await,
            Err(why) => format!("cannot be started: {why}"),
        };
        group.decide(|board, now| board.member_ended(member, run, &how, now)).await;
    }
}

/// Hears an upstream until it ends, and says how it did.
async fn converse(
    group: &Arc<Group>,
    member: usize,
    run: u64,
    Opened { input: pipe, mut output }: Opened,
    orders: &mut mpsc::UnboundedReceiver<Order>,
) -> String {
    let link = &group.link(member);
    let (input, mut messages) = mpsc::unbounded_channel();
    let messages = poll_fn(move |context| messages.poll_recv(context));
    let feeding = tokio::spawn(feed(pipe, messages));
    *link.input.lock() = Some(Input::Own(input));
    group.decide(|board, now| board.member_started(member, run, now)).await;
    let mut noise = Noise::default();
    let reading = async {
        while let Some(body) = output.next().await {
            match noise.hears(&body) {
                Heard::Message => {}
                Heard::Noise => continue,
                Heard::TooMuch => return Noise::WHY.to_owned(),
            }
            let body = Arc::new(body);
            group.decide(|board, now| board.member_said(member, run, &body, now)).await;
        }
        output.how_it_ended().await
    };
    let how = tokio::select! {
        how = reading => how,
        () = told_to_end(orders) => "was ended".to_owned(),
        () = group.closing.cancelled() => "was ended".to_owned(),
    };
    link.input.lock().take();
    let name = link.name.clone();
    group.at_work.spawn(async move {
        output.see_off(name.as_str()).await;
        feeding.abort();
    });
    how
}

/// Hears an upstream that others use, too, until it ends or the group leaves it; says how that was.
async fn share(
    group: &Arc<Group>,
    member: usize,
    run: u64,
    mut seated: Seated,
    orders: &mut mpsc::UnboundedReceiver<Order>,
) -> String {
    let link = &group.link(member);
    *link.input.lock() = Some(Input::Shared(seated.shared.clone(), seated.number()));
    group.decide(|board, now| board.member_started(member, run, now)).await;
    let reading = async {
        while let Some(body) = seated.next().await {
            group.decide(|board, now| board.member_said(member, run, &body, now)).await;
        }
    };
    let (how, is_told) = tokio::select! {
        () = reading => (None, false),
        () = told_to_end(orders) => (Some("was ended".to_owned()), true),
        () = group.closing.cancelled() => (Some("was ended".to_owned()), false),
    };
    link.input.lock().take();
    let how = how.unwrap_or_else(|| seated.how_it_ended());
    if is_told {
        seated.shared.retire();
    }
    group.at_work.spawn(seated.leave());
    how
}

async fn told_to_end(orders: &mut mpsc::UnboundedReceiver<Order>) {
    while let Some(order) = orders.recv().await {
        if matches!(order, Order::End) {
            return;
        }
    }
    std::future::pending::<()>().await;
}
