//! What has been said to a client in a session: streams of events, each of which the client may leave
//! and come back to.
//!
//! A stream is the answer to one POST, or the one that a GET opens. Events are kept after they have
//! been read, in case the client has not got them, within limits for the whole session. [`streams`] has
//! the rules; here they are waited for.

mod streams;

use forebay_wire::{Envelope, Id};
use parking_lot::Mutex;
use tokio::sync::Notify;

use self::streams::Streams;
pub(super) use self::streams::{Next, Place, STANDALONE};
use crate::body::{Message, Source};

/// The streams of a session.
#[derive(Default)]
pub(super) struct Log {
    streams: Mutex<Streams>,
    /// Something has been said or read, or a stream has ended.
    changed: Notify,
}

impl Log {
    /// Opens a stream for the answers to `asked`, and progress under `tokens`; returns its number, and
    /// that of its first reader.
    pub(super) fn open(&self, asked: &[Id], tokens: &[Id], takes_events: bool) -> (u64, u64) {
        let mut streams = self.streams.lock();
        let stream = streams.open(asked, tokens, takes_events);
        // It has just been opened: there is one to read.
        (stream, streams.read(stream).unwrap_or_default())
    }

    /// Starts to read a stream; whoever has read it before does so no more. `None` if there is no
    /// such stream (any more).
    pub(super) fn read(&self, stream: u64) -> Option<u64> {
        self.change(|streams| streams.read(stream))
    }

    /// Where the standalone stream goes on for a client that does not say.
    pub(super) fn standalone_place(&self) -> Place {
        self.streams.lock().standalone_place()
    }

    /// The reader is gone. It may come back, if it knows where to.
    pub(super) fn leave(&self, stream: u64, reader: u64) {
        self.change(|streams| streams.leave(stream, reader));
    }

    /// The next event after `place`, if it has been said.
    pub(super) fn next(&self, place: Place, reader: u64) -> Next {
        let next = self.streams.lock().next(place, reader);
        if matches!(next, Next::Event(..)) {
            self.changed.notify_waiters();
        }
        next
    }

    /// The client has been given a place in this stream to come back to.
    pub(super) fn can_be_resumed(&self, stream: u64) {
        self.streams.lock().can_be_resumed(stream);
    }

    /// The answer, if it is the only thing that has been said in a stream that is over, and which
    /// then is forgotten.
    pub(super) fn take_sole_answer(&self, stream: u64) -> Option<Message> {
        self.streams.lock().take_sole_answer(stream)
    }

    /// True once something has been said in a stream, or it is over.
    pub(super) fn has_begun(&self, stream: u64) -> bool {
        self.streams.lock().has_begun(stream)
    }

    /// Waits until `ready` gives something.
    pub(super) async fn until<T>(&self, mut ready: impl FnMut() -> Option<T>) -> T {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // From here on nothing is missed.
            changed.as_mut().enable();
            if let Some(value) = ready() {
                return value;
            }
            changed.await;
        }
    }

    /// Says something to the client, in the stream that it belongs to. Waits for a client that is
    /// there and has much to read.
    pub(super) async fn say(&self, messages: &[Envelope], source: Source<'_>, message: Message) {
        let destination = self.streams.lock().destination(messages, source);
        let Some(destination) = destination else {
            tracing::debug!("upstream said what nobody waits for; dropped");
            return;
        };
        self.until(|| self.streams.lock().has_room(destination).then_some(())).await;
        self.change(|streams| streams.say(destination, messages, message));
    }

    /// Nothing more will be said.
    pub(super) fn close(&self) {
        self.change(Streams::close);
    }

    /// True if a client is reading.
    pub(super) fn is_read(&self) -> bool {
        self.streams.lock().is_read()
    }

    /// True if an answer is to come.
    pub(super) fn is_awaited(&self) -> bool {
        self.streams.lock().is_awaited()
    }

    /// A request that has been cancelled gets no answer.
    pub(super) fn cancel(&self, id: &Id) {
        self.change(|streams| streams.cancel(id));
    }

    /// Changes something, and tells those who wait.
    fn change<T>(&self, change: impl FnOnce(&mut Streams) -> T) -> T {
        let changed = change(&mut self.streams.lock());
        self.changed.notify_waiters();
        changed
    }
}
