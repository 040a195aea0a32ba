//! A stream of events that is kept, so that it can be read again from any event on.

use std::{
    process::exit,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use futures_util::stream;
use hyper::body::Frame;
use tokio::sync::watch;

use crate::{
    call::Fault,
    json::{Json, Pieces},
};

use super::body::{Body, Cut, Guard};

/// A stream of a request, or of a GET.
pub(crate) struct Stream {
    number: u64,
    /// Legacy: each event has an id, and the first is only there to have one.
    is_resumable: bool,
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    events: Vec<Event>,
    has_ended: bool,
}

#[derive(Clone)]
struct Event {
    message: Json,
    fault: Option<Fault>,
}

/// Which part of a stream is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it, and what goes wrong in it does.
    Whole,
    /// The first event only.
    First,
    /// What follows that event.
    After(usize),
}

struct Reader {
    stream: Arc<Stream>,
    part: Part,
    next: usize,
    pieces: Pieces,
    fault: Option<Fault>,
    changed: watch::Receiver<()>,
    guard: Guard,
}

impl Stream {
    pub(crate) fn resumable(number: u64) -> Arc<Self> {
        let stream = Self { is_resumable: true, ..Self::new(number) };
        stream.push(Json::whole(Bytes::new()), None);
        Arc::new(stream)
    }

    pub(crate) fn fleeting() -> Arc<Self> {
        Arc::new(Self::new(0))
    }

    pub(crate) fn push(&self, message: Json, fault: Option<Fault>) {
        self.state().events.push(Event { message, fault });
        self.changed.send_replace(());
    }

    pub(crate) fn end(&self) {
        self.state().has_ended = true;
        self.changed.send_replace(());
    }

    /// Waits for the end, and gives the last message.
    pub(crate) async fn last(&self) -> Option<Json> {
        let mut changed = self.changed.subscribe();
        while !self.state().has_ended {
            changed.changed().await.ok()?;
        }
        self.state().events.last().map(|event| event.message.clone())
    }

    /// Reads a part of the stream as the body of a response; `guard` learns of its end.
    pub(crate) fn read(self: Arc<Self>, part: Part, guard: Guard) -> Body {
        let changed = self.changed.subscribe();
        let next = match part {
            Part::Whole | Part::First => 0,
            Part::After(index) => index + 1,
        };
        let pieces = Box::new(std::iter::empty());
        let reader = Reader { stream: self, part, next, pieces, fault: None, changed, guard };
        Body::of(stream::unfold(reader, |mut reader| async {
            let piece = reader.next().await?;
            Some((piece.map(Frame::data), reader))
        }))
    }

    fn new(number: u64) -> Self {
        let (changed, _) = watch::channel(());
        Self { number, is_resumable: false, state: Mutex::default(), changed }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An event as it is written.
    fn framed(&self, index: usize, message: Json) -> Json {
        let number = self.number;
        match (self.is_resumable, index) {
            (true, 0) => message.within(&format!("id: {number}-0\nretry: 10\ndata: "), "\n\n"),
            (true, _) => {
                message.within(&format!("event: message\nid: {number}-{index}\ndata: "), "\n\n")
            }
            (false, _) => message.within("event: message\ndata: ", "\n\n"),
        }
    }
}

impl Reader {
    async fn next(&mut self) -> Option<Result<Bytes, Cut>> {
        loop {
            if let Some(piece) = self.pieces.next() {
                return Some(Ok(piece));
            }
            if let Some(fault) = self.fault {
                // Now what has been written so far goes out.
                tokio::task::yield_now().await;
                match fault {
                    Fault::Die => exit(1),
                    _ => return Some(Err(Cut)),
                }
            }
            let (event, has_ended) = {
                let state = self.stream.state();
                (state.events.get(self.next).cloned(), state.has_ended)
            };
            match event {
                _ if self.part == Part::First && self.next > 0 => break,
                Some(event) => self.begin(event),
                None if has_ended => break,
                None => self.changed.changed().await.ok()?,
            }
        }
        self.guard.disarm();
        None
    }

    fn begin(&mut self, event: Event) {
        let framed = self.stream.framed(self.next, event.message);
        self.next += 1;
        // Who comes back gets what they have missed.
        let fault = event.fault.filter(|_| self.part == Part::Whole);
        let (pieces, fault) = super::faults::befall(&framed, fault);
        (self.pieces, self.fault) = (pieces, fault);
    }
}
