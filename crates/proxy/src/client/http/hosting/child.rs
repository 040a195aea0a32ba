//! What a session's child and the shared one have in common: a way in, what it says, a time of last use,
//! an end.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};

use tokio::sync::{OwnedSemaphorePermit, mpsc};

use tokio_util::sync::CancellationToken;

use crate::body::Message;

/// A child as those see it who ask it something.
pub(super) struct Child {
    /// `None` once it takes nothing any more.
    open: Mutex<Option<Open>>,
    ending: CancellationToken,
    used: Mutex<Instant>,
}

struct Open {
    input: mpsc::Sender<Message>,
    /// One of those that may be there at once.
    _slot: Option<OwnedSemaphorePermit>,
}

impl Child {
    pub(super) fn new(input: mpsc::Sender<Message>, slot: Option<OwnedSemaphorePermit>) -> Self {
        Self {
            open: Mutex::new(Some(Open { input, _slot: slot })),
            ending: CancellationToken::new(),
            used: Mutex::new(Instant::now()),
        }
    }

    /// Lets `reading` come to its end, unless the child is to end before; returns how the child ended.
    pub(super) async fn attend(&self, reading: impl Future<Output = String>) -> String {
        tokio::select! {
            how = reading => how,
            () = self.ending.cancelled() => "was ended".to_owned(),
        }
    }

    /// Sends a message, when there is room for it; `false` if the child takes nothing any more.
    pub(super) async fn send(&self, message: Message) -> bool {
        match self.input() {
            Some(input) => input.send(message).await.is_ok(),
            None => false,
        }
    }

    /// Has a message sent, and does not wait for it.
    pub(super) fn tell(&self, message: Message) {
        if let Some(input) = self.input() {
            tokio::spawn(async move { input.send(message).await });
        }
    }

    /// Closes the way in; the child is then seen off.
    pub(super) fn end(&self) {
        self.open().take();
        self.ending.cancel();
    }

    /// True once it takes nothing any more.
    pub(super) fn is_over(&self) -> bool {
        self.ending.is_cancelled()
    }

    /// Says that somebody uses it.
    pub(super) fn touch(&self) {
        *self.used.lock() = Instant::now();
    }

    /// True if nobody has used it for so long.
    pub(super) fn is_unused_for(&self, idle: Duration) -> bool {
        self.used.lock().elapsed() >= idle
    }

    fn input(&self) -> Option<mpsc::Sender<Message>> {
        self.open().as_ref().map(|open| open.input.clone())
    }

    fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock()
    }
}
