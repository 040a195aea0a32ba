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

use super::{Group, Plan};
use crate::{
    ProxyError,
    body::{Message, Spool},
    router::UpstreamName,
    upstream::{
        Command, Remote, RemoteSettings,
        launcher::{Launcher, Opened, feed},
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
    name: UpstreamName,
    way: Way,
    pub(super) key: String,
    pub(super) fingerprint: String,
    is_removed: AtomicBool,
    spool: Spool,
    grace: Duration,
    orders: mpsc::UnboundedSender<Order>,
    /// The way in, while there is one. What an upstream is slow to read is kept for it, as are the calls that
    /// wait for it.
    input: Mutex<Option<mpsc::UnboundedSender<Message>>>,
}

pub(super) enum Order {
    Start,
    End,
}

impl Link {
    pub(super) fn new(
        plan: &Plan,
        spool: Spool,
        grace: Duration,
    ) -> (Self, mpsc::UnboundedReceiver<Order>) {
        let (orders, inbox) = mpsc::unbounded_channel();
        let link = Self {
            name: plan.settings.name.clone(),
            way: plan.way.clone(),
            key: plan.key.clone(),
            fingerprint: plan.fingerprint.clone(),
            is_removed: AtomicBool::new(false),
            spool,
            grace,
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

    pub(super) fn start(&self) {
        let _ = self.orders.send(Order::Start);
    }

    pub(super) fn end(&self) {
        let _ = self.orders.send(Order::End);
    }

    /// Has a message sent. If the upstream has ended meanwhile, whoever waits for it has been told.
    pub(super) fn send(&self, message: Message) {
        if let Some(input) = &*self.input.lock() {
            let _ = input.send(message);
        }
    }

    /// Opens the way there, or says why that cannot be.
    async fn open(&self) -> Result<Opened, String> {
        let opened = match &self.way {
            Way::Command(command) => {
                let (name, spool) = (self.name.clone(), self.spool.clone());
                Arc::new(Launcher::new(command.clone(), name, spool, self.grace)).open().await
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
        tokio::select! {
            order = orders.recv() => match order {
                Some(Order::Start) => {}
                // There is nothing to end.
                Some(Order::End) => continue,
                None => return,
            },
            () = group.closing.cancelled() => return,
        }
        let opened = tokio::select! {
            opened = link.open() => opened,
            () = group.closing.cancelled() => return,
        };
        let how = match opened {
            Ok(opened) => converse(&group, member, opened, &mut orders).await,
            Err(why) => Some(format!("cannot be started: {why}")),
        };
        if let Some(how) = how {
            group.decide(|board, now| board.member_ended(member, &how, now)).await;
        }
    }
}

/// Hears an upstream until it ends, and says how it did; `None` if the switchboard has ended it. That knows of
/// it, and may have ordered another start already.
async fn converse(
    group: &Arc<Group>,
    member: usize,
    Opened { input: pipe, mut output }: Opened,
    orders: &mut mpsc::UnboundedReceiver<Order>,
) -> Option<String> {
    let link = &group.link(member);
    let (input, mut messages) = mpsc::unbounded_channel();
    let messages = poll_fn(move |context| messages.poll_recv(context));
    let feeding = tokio::spawn(feed(pipe, messages));
    *link.input.lock() = Some(input);
    group.decide(|board, now| board.member_started(member, now)).await;
    let reading = async {
        while let Some(body) = output.next().await {
            let body = Arc::new(body);
            group.decide(|board, now| board.member_said(member, &body, now)).await;
        }
        output.how_it_ended().await
    };
    let how = tokio::select! {
        // Whoever is told to end may end before that is looked at.
        biased;
        () = told_to_end(orders) => None,
        how = reading => Some(how),
        () = group.closing.cancelled() => Some("was ended".to_owned()),
    };
    link.input.lock().take();
    let name = link.name.clone();
    group.at_work.spawn(async move {
        output.see_off(name.as_str()).await;
        feeding.abort();
    });
    how
}

async fn told_to_end(orders: &mut mpsc::UnboundedReceiver<Order>) {
    while let Some(order) = orders.recv().await {
        if matches!(order, Order::End) {
            return;
        }
    }
    std::future::pending().await
}
