//! What stands behind an endpoint of ours: a child process, or a group of upstreams. Messages in, lines out.

use std::{future, sync::Arc, time::Duration};

use futures_util::stream::poll_fn;
use tokio::sync::mpsc;

use super::{
    group::{Group, GroupSettings},
    launcher::{self, Launcher, Lines, Opened, feed},
};
use crate::{
    ProxyError,
    body::{Body, Message, Spool},
    events, limits,
};

/// Something that has just been started.
pub(crate) struct Hosted {
    /// The way in; when all senders are dropped it is closed.
    pub(crate) input: mpsc::Sender<Message>,
    pub(crate) output: Output,
    pub(crate) life: Life,
}

/// What it says.
pub(crate) enum Output {
    Child(Lines),
    Group(mpsc::Receiver<Message>, Spool),
}

/// What is there as long as it lives.
pub(crate) enum Life {
    Child(launcher::Life),
    Group(Arc<Group>),
}

impl Hosted {
    /// Starts a child.
    pub(crate) async fn child(launcher: &Arc<Launcher>) -> Result<Self, ProxyError> {
        let Opened { input: pipe, output, life } = launcher.open().await?;
        let (input, mut messages) = mpsc::channel(limits::MESSAGES_TO_A_CHILD);
        tokio::spawn(feed(pipe, poll_fn(move |context| messages.poll_recv(context))));
        Ok(Self { input, output: Output::Child(output), life: Life::Child(life) })
    }

    /// Starts a group, whose upstreams are started when there is something to ask.
    pub(crate) fn group(settings: Arc<GroupSettings>, spool: &Spool, grace: Duration) -> Self {
        let (group, said) = Group::start(settings, spool, grace);
        let (input, mut messages) = mpsc::channel::<Message>(limits::MESSAGES_TO_A_CHILD);
        let (taking, room) = (group.clone(), spool.clone());
        tokio::spawn(async move {
            while let Some(message) = messages.recv().await {
                match message.into_body(&room) {
                    Ok(body) => taking.take(Arc::new(body)).await,
                    Err(error) => events::line_cannot_be_held(&error),
                }
            }
        });
        let output = Output::Group(said, spool.clone());
        Self { input, output, life: Life::Group(group) }
    }
}

impl Output {
    /// What is said next; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Body> {
        match self {
            Self::Child(lines) => lines.next().await,
            Self::Group(said, spool) => loop {
                match said.recv().await?.into_body(spool) {
                    Ok(body) => return Some(body),
                    Err(error) => events::answer_cannot_be_held(&error),
                }
            },
        }
    }
}

impl Life {
    /// Waits for the end, and says how it came.
    pub(crate) async fn ended(&mut self) -> String {
        match self {
            Self::Child(life) => life.ended().await,
            // It is there for as long as it is wanted.
            Self::Group(_) => future::pending().await,
        }
    }

    /// Lets what has no input any more end by itself, tells it to, and makes it.
    pub(crate) async fn see_off(self, name: &str) {
        match self {
            Self::Child(life) => life.see_off(name).await,
            Self::Group(group) => group.end().await,
        }
    }
}
