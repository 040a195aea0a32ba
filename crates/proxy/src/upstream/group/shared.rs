//! Upstreams that several groups share: one process, a seat for each of them.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

use futures_util::stream::poll_fn;
use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::{
    fan::{Fan, Heard, Said, Seat},
    noise::{self, Noise},
    opening,
};
use crate::{
    body::{Body, Message, Payload, Spool},
    events, limits,
    router::UpstreamName,
    upstream::launcher::{Opened, feed},
};

/// Whether groups share an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// If its revision of the protocol has no sessions.
    #[default]
    Auto,
    /// They do.
    Shared,
    /// Each has its own.
    Apart,
}

/// The upstreams that can be shared, by what tells them apart.
#[derive(Default)]
pub(super) struct SharedUpstreams {
    places: Mutex<HashMap<String, Place>>,
    seats: AtomicU64,
}

/// Where an upstream is, if it has been started. Locked while it is, so that it is started once.
type Place = Arc<AsyncMutex<Option<Arc<Shared>>>>;

/// An upstream that is shared.
pub(super) struct Shared {
    name: UpstreamName,
    spool: Spool,
    fan: Mutex<Fan>,
    input: mpsc::UnboundedSender<Message>,
    seats: Mutex<HashMap<Seat, Inbox>>,
    /// What it is, as soon as that is known: with sessions or without.
    is_modern: watch::Sender<Option<bool>>,
    /// How it has ended.
    how: Mutex<Option<String>>,
    /// Another one is to be started for whoever comes.
    is_retired: AtomicBool,
    closing: CancellationToken,
    gone: CancellationToken,
}

/// What was said to one of those who share an upstream, and is not read yet.
#[derive(Clone)]
struct Inbox {
    sender: mpsc::UnboundedSender<Arc<Body>>,
    waiting: Arc<AtomicUsize>,
}

/// The seat of a group at an upstream.
pub(super) struct Seated {
    pub(super) shared: Arc<Shared>,
    seat: Seat,
    waiting: Arc<AtomicUsize>,
    said: mpsc::UnboundedReceiver<Arc<Body>>,
}

impl SharedUpstreams {
    /// A seat that nobody has had.
    pub(super) fn new_seat(&self) -> Seat {
        self.seats.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn place(&self, fingerprint: &str) -> Place {
        self.places.lock().entry(fingerprint.to_owned()).or_default().clone()
    }
}

impl Shared {
    /// Takes over an upstream that has just been opened.
    pub(super) fn start(opened: Opened, name: UpstreamName, spool: Spool) -> Arc<Self> {
        let Opened { input: pipe, mut output } = opened;
        let (input, mut messages) = mpsc::unbounded_channel();
        let feeding = tokio::spawn(feed(pipe, poll_fn(move |context| messages.poll_recv(context))));
        let shared = Arc::new(Self {
            name,
            spool,
            fan: Mutex::default(),
            input,
            seats: Mutex::default(),
            is_modern: watch::Sender::new(None),
            how: Mutex::default(),
            is_retired: AtomicBool::new(false),
            closing: CancellationToken::new(),
            gone: CancellationToken::new(),
        });
        let heard = shared.clone();
        tokio::spawn(async move {
            let mut noise = Noise::default();
            let reading = async {
                while let Some(body) = output.next().await {
                    match noise.hears(&body) {
                        noise::Heard::Message => {}
                        noise::Heard::Noise => continue,
                        noise::Heard::TooMuch => return Noise::WHY.to_owned(),
                    }
                    heard.hears(&Arc::new(body));
                }
                output.how_it_ended().await
            };
            let how = tokio::select! {
                how = reading => how,
                () = heard.closing.cancelled() => "was ended".to_owned(),
            };
            heard.has_ended(how);
            output.see_off(heard.name.as_str()).await;
            feeding.abort();
            heard.gone.cancel();
        });
        shared
    }

    /// True if nobody can be seated any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_retired.load(Ordering::Relaxed) || self.closing.is_cancelled()
    }

    /// Whether it has no sessions; `None` if it ends before that is known.
    pub(super) async fn is_modern(&self) -> Option<bool> {
        let mut known = self.is_modern.subscribe();
        tokio::select! {
            known = known.wait_for(Option::is_some) => known.ok().and_then(|known| *known),
            () = self.closing.cancelled() => None,
        }
    }

    /// Gives a group its seat.
    pub(super) fn seat(self: &Arc<Self>, seat: Seat) -> Seated {
        let (sender, said) = mpsc::unbounded_channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        self.seats.lock().insert(seat, Inbox { sender, waiting: waiting.clone() });
        self.fan.lock().takes_seat(seat);
        // It may have ended meanwhile, and told those who were seated then.
        if self.closing.is_cancelled() {
            self.seats.lock().remove(&seat);
        }
        Seated { shared: self.clone(), seat, waiting, said }
    }

    /// Sends what somebody says, unless it has been said already.
    pub(super) fn says(&self, seat: Seat, message: Message) {
        let body = match message.into_body(&self.spool) {
            Ok(body) => body,
            Err(error) => return events::line_cannot_be_held(&error),
        };
        let said = self.fan.lock().says(seat, &body);
        match said {
            Said::Send => drop(self.input.send(Message::whole(Arc::new(body)))),
            Said::Drop => {}
            Said::Answer(line) => self.tell(seat, &Arc::new(Body::Memory(line))),
        }
    }

    fn hears(&self, body: &Arc<Body>) {
        let (heard, is_modern) = {
            let mut fan = self.fan.lock();
            (fan.hears(body), fan.is_modern())
        };
        if is_modern.is_some() {
            self.is_modern
                .send_if_modified(|known| std::mem::replace(known, is_modern) != is_modern);
        }
        match heard {
            Heard::For(seat) => self.tell(seat, body),
            Heard::ForAll => {
                let seats: Vec<Seat> = self.seats.lock().keys().copied().collect();
                for seat in seats {
                    self.tell(seat, body);
                }
            }
            Heard::ForNobody => tracing::debug!(upstream = %self.name, "said something for nobody"),
            Heard::Openings(answers) => {
                for (seat, line) in answers {
                    self.tell(seat, &Arc::new(Body::Memory(line)));
                }
            }
            Heard::Refuse(line) => drop(self.input.send(Message::of(vec![Payload::from(line)]))),
        }
    }

    /// Tells one of them. Whoever does not read holds up nobody: beyond some lines it is told answers alone.
    fn tell(&self, seat: Seat, body: &Arc<Body>) {
        let Some(inbox) = self.seats.lock().get(&seat).cloned() else { return };
        let is_full = inbox.waiting.load(Ordering::Relaxed) >= limits::LINES_OF_A_SHARED_UPSTREAM;
        let is_answer = |line: forebay_wire::Line| {
            line.messages()
                .iter()
                .any(|it| matches!(it.kind(), forebay_wire::Kind::Response { .. }))
        };
        if is_full && !is_answer(body.line()) {
            return tracing::debug!(upstream = %self.name, "a client does not read");
        }
        inbox.waiting.fetch_add(1, Ordering::Relaxed);
        let _ = inbox.sender.send(body.clone());
    }

    /// Has another one started for whoever comes. It ends when all have left it, each for its own reason.
    pub(super) fn retire(&self) {
        self.is_retired.store(true, Ordering::Relaxed);
    }

    fn has_ended(&self, how: String) {
        *self.how.lock() = Some(how);
        self.closing.cancel();
        // Those who listen hear that there is nothing more.
        self.seats.lock().clear();
    }

    /// How it has ended.
    fn how(&self) -> String {
        self.how.lock().clone().unwrap_or_else(|| "was ended".to_owned())
    }
}

impl Seated {
    pub(super) fn number(&self) -> Seat {
        self.seat
    }

    /// What is said next; `None` when it has ended.
    pub(super) async fn next(&mut self) -> Option<Arc<Body>> {
        let body = self.said.recv().await?;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        Some(body)
    }

    /// How it has ended, once nothing is said any more.
    pub(super) fn how_it_ended(&self) -> String {
        self.shared.how()
    }

    /// Gives the seat back. If it was the last one, the upstream is seen off.
    pub(super) async fn leave(self) {
        let shared = self.shared.clone();
        shared.seats.lock().remove(&self.seat);
        let (left, is_empty) = {
            let mut fan = shared.fan.lock();
            (fan.leaves(self.seat), fan.is_empty())
        };
        for alias in left {
            let line = opening::cancelled(&alias.to_string(), "the client has left");
            let _ = shared.input.send(Message::of(vec![Payload::from(line)]));
        }
        if is_empty {
            shared.closing.cancel();
            shared.gone.cancelled().await;
        }
    }
}
