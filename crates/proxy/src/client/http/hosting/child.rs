//! What a session's child and the shared one have in common: a way in, what it says, a time of last use,
//! an end.

use std::{
    future::Future,
    pin::pin,
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};

use tokio::{
    sync::{OwnedSemaphorePermit, mpsc},
    time,
};

use tokio_util::sync::CancellationToken;

use crate::{
    body::{Body, Message},
    upstream::{
        child::how_it_ended,
        launcher::{Life, Lines},
    },
};

/// How far apart a child's exit and the end of its output may lie and still be one event.
const SETTLE: Duration = Duration::from_secs(1);

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

/// What a child says, up to its end.
pub(super) struct Output {
    lines: Lines,
    life: Life,
    /// How much longer its output is waited for after its exit: what it has started may hold the pipe open.
    patience: Duration,
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

impl Output {
    pub(super) fn new(lines: Lines, life: Life) -> Self {
        Self { lines, life, patience: SETTLE }
    }

    /// The next line; `None` when there is none any more. An exit is noticed only here, so whoever has a
    /// line in hand can finish with it.
    pub(super) async fn next(&mut self) -> Option<Body> {
        let Self { lines, life, patience } = self;
        let mut line = pin!(lines.next());
        tokio::select! {
            line = &mut line => line,
            _ = life.ended() => {
                // What the child has said last is still in the pipe.
                let since = Instant::now();
                let last = time::timeout(*patience, line).await;
                *patience = patience.saturating_sub(since.elapsed());
                last.ok().flatten()
            }
        }
    }

    /// How the child has ended, once there is no next line.
    pub(super) async fn how_it_ended(&mut self) -> String {
        match time::timeout(SETTLE, self.life.ended()).await {
            Ok(status) => how_it_ended(status),
            Err(_) => "closed its output without exiting".to_owned(),
        }
    }

    /// Sees the child off, whose input is closed.
    pub(super) async fn see_off(self, upstream: &str) {
        self.life.see_off(upstream).await;
    }
}
