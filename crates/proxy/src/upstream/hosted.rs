//! What stands behind an endpoint of ours: a child process, or a group of upstreams. Messages in, lines out.

use std::{sync::Arc, time::Duration};

use futures_util::stream::poll_fn;
use tokio::sync::mpsc;

use super::{
    group::{Group, GroupSettings, Listening},
    launcher::{self, Launcher, Opened, feed},
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
}

/// What it says, up to its end.
pub(crate) enum Output {
    Child(launcher::Output),
    Group { group: Arc<Group>, said: mpsc::Receiver<Message>, spool: Spool },
}

impl Hosted {
    /// Starts a child.
    pub(crate) async fn child(launcher: &Arc<Launcher>) -> Result<Self, ProxyError> {
        let Opened { input: pipe, output } = launcher.open().await?;
        let (input, mut messages) = mpsc::channel(limits::MESSAGES_TO_A_CHILD);
        tokio::spawn(feed(pipe, poll_fn(move |context| messages.poll_recv(context))));
        Ok(Self { input, output: Output::Child(output) })
    }

    /// Starts a group, whose upstreams are started when there is something to ask.
    pub(crate) fn group(settings: Arc<GroupSettings>, spool: &Spool, grace: Duration) -> Self {
        let (group, said) = Group::start(settings, spool, grace, Listening::No);
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
        Self { input, output: Output::Group { group, said, spool: spool.clone() } }
    }
}

impl Output {
    /// What is said next; `None` when there is nothing any more.
    pub(crate) async fn next(&mut self) -> Option<Body> {
        match self {
            Self::Child(output) => output.next().await,
            Self::Group { said, spool, .. } => loop {
                match said.recv().await?.into_body(spool) {
                    Ok(body) => return Some(body),
                    Err(error) => events::answer_cannot_be_held(&error),
                }
            },
        }
    }

    /// How it has ended, once nothing is said any more.
    pub(crate) async fn how_it_ended(&mut self) -> String {
        match self {
            Self::Child(output) => output.how_it_ended().await,
            Self::Group { .. } => "was ended".to_owned(),
        }
    }

    /// Sees off what has no input any more.
    pub(crate) async fn see_off(self, name: &str) {
        match self {
            Self::Child(output) => output.see_off(name).await,
            Self::Group { group, .. } => group.end().await,
        }
    }
}
