//! What has been said to a client in a session: streams of events, each of which the client may leave
//! and come back to.
//!
//! A stream is the answer to one POST, or the one that a GET opens. Events are kept after they have
//! been read, in case the client has not got them, within limits for the whole session.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use forebay_wire::{Envelope, Id, Kind};
use tokio::sync::Notify;

use crate::body::{Message, Source};

/// What may be kept of a session's streams, at most, for clients that come back.
const MAX_KEPT_BYTES: u64 = 8 * 1024 * 1024;
/// What may wait for a client that is there, before whoever sends has to.
const MAX_WAITING_BYTES: u64 = 4 * 1024 * 1024;
/// The same in events.
const MAX_WAITING_EVENTS: usize = 256;
/// A message up to this long is kept apart from the one that it was made of.
const MAX_COPIED_BYTES: u64 = 256 * 1024;

/// The stream that belongs to no request.
pub(super) const STANDALONE: u64 = 0;

/// The streams of a session.
#[derive(Default)]
pub(super) struct Log {
    inner: Mutex<Inner>,
    /// Something has been said or read, or a stream has ended.
    changed: Notify,
}

#[derive(Default)]
struct Inner {
    /// By number, so in the order in which they were opened.
    streams: BTreeMap<u64, Stream>,
    last: u64,
    /// Which stream waits for the answer to a request.
    waiting: HashMap<Id, u64>,
    /// Which stream waits for progress under a token.
    tokens: HashMap<Id, u64>,
    is_closed: bool,
}

#[derive(Default)]
struct Stream {
    events: VecDeque<Event>,
    /// The number of the last event that was said, and of the last that was read.
    said: u64,
    read: u64,
    /// How many answers are to come; after the last one the stream is over.
    awaited: usize,
    /// Counts those who have read it; only the last one still does.
    reader: u64,
    is_read: bool,
    /// The client takes events, not just the answer.
    takes_events: bool,
}

struct Event {
    number: u64,
    bytes: u64,
    message: Message,
}

/// Where a client stands in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) stream: u64,
    /// The last event that it has got.
    pub(super) event: u64,
}

/// What a reader gets next.
pub(super) enum Next {
    Event(Place, Message),
    /// There is nothing yet.
    Wait,
    Over,
}

impl Place {
    /// As it is written in an event's id.
    pub(super) fn id(self) -> String {
        format!("{}-{}", self.stream, self.event)
    }

    pub(super) fn parse(id: &str) -> Option<Self> {
        let (stream, event) = id.split_once('-')?;
        Some(Self { stream: stream.parse().ok()?, event: event.parse().ok()? })
    }
}

impl Log {
    /// Opens a stream for the answers to `asked`, and progress under `tokens`.
    pub(super) fn open(&self, asked: &[Id], tokens: &[Id], takes_events: bool) -> u64 {
        let mut inner = self.lock();
        inner.last += 1;
        let number = inner.last;
        let awaited = asked.len();
        inner.streams.insert(number, Stream { awaited, takes_events, ..Stream::default() });
        inner.waiting.extend(asked.iter().map(|id| (id.clone(), number)));
        inner.tokens.extend(tokens.iter().map(|token| (token.clone(), number)));
        number
    }

    /// Starts to read a stream; whoever has read it before does so no more. `None` if there is no
    /// such stream (any more).
    pub(super) fn read(&self, stream: u64) -> Option<u64> {
        let mut inner = self.lock();
        let stream = match stream {
            STANDALONE => inner.streams.entry(STANDALONE).or_default(),
            number => inner.streams.get_mut(&number)?,
        };
        stream.reader += 1;
        stream.is_read = true;
        let reader = stream.reader;
        drop(inner);
        self.changed.notify_waiters();
        Some(reader)
    }

    /// Where the standalone stream goes on for a client that does not say.
    pub(super) fn standalone_place(&self) -> Place {
        let event = self.lock().streams.get(&STANDALONE).map_or(0, |stream| stream.read);
        Place { stream: STANDALONE, event }
    }

    /// The reader is gone; it may come back.
    pub(super) fn leave(&self, stream: u64, reader: u64) {
        let mut inner = self.lock();
        if let Some(stream) = inner.streams.get_mut(&stream)
            && stream.reader == reader
        {
            stream.is_read = false;
        }
        inner.trim();
        drop(inner);
        self.changed.notify_waiters();
    }

    /// The next event after `place`, if it has been said.
    pub(super) fn next(&self, place: Place, reader: u64) -> Next {
        let mut inner = self.lock();
        let is_closed = inner.is_closed;
        let Some(stream) = inner.streams.get_mut(&place.stream) else { return Next::Over };
        if stream.reader != reader {
            return Next::Over;
        }
        let Some(event) = stream.events.iter().find(|event| event.number > place.event) else {
            let is_over = is_closed || (stream.awaited == 0 && place.stream != STANDALONE);
            return if is_over { Next::Over } else { Next::Wait };
        };
        let next = Place { event: event.number, ..place };
        let message = event.message.clone();
        stream.read = stream.read.max(next.event);
        drop(inner);
        self.changed.notify_waiters();
        Next::Event(next, message)
    }

    /// The answer, if it is the only thing that has been said in a stream that is over, and which
    /// then is forgotten.
    pub(super) fn take_sole_answer(&self, stream: u64) -> Option<Message> {
        let mut inner = self.lock();
        let has_only_the_answer =
            inner.streams.get(&stream).is_some_and(|it| it.awaited == 0 && it.said == 1);
        let stream = if has_only_the_answer { inner.streams.remove(&stream) } else { None };
        stream?.events.pop_front().map(|event| event.message)
    }

    /// True once something has been said in a stream, or it is over.
    pub(super) fn has_begun(&self, stream: u64) -> bool {
        let inner = self.lock();
        inner.is_closed
            || inner.streams.get(&stream).is_none_or(|stream| {
                // Without events the client waits for the last word.
                stream.awaited == 0 || (stream.takes_events && stream.said > 0)
            })
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
    pub(super) async fn say(
        &self,
        envelope: Option<&Envelope>,
        source: Source<'_>,
        message: Message,
    ) {
        let Some(destination) = self.lock().destination(envelope, source) else {
            tracing::debug!("upstream answered what nobody waits for; dropped");
            return;
        };
        self.until(|| self.lock().has_room(destination).then_some(())).await;
        self.say_in(destination, envelope, message);
    }

    fn say_in(&self, destination: u64, envelope: Option<&Envelope>, message: Message) {
        let bytes = message.bytes();
        // Apart from what it was made of, which may be far larger.
        let message = match message.clone() {
            short if bytes <= MAX_COPIED_BYTES => {
                short.into_bytes().map_or(message, |bytes| Message::of(vec![bytes.into()]))
            }
            _ => message,
        };
        let mut inner = self.lock();
        let answers = envelope.and_then(|envelope| match envelope.kind() {
            Kind::Response { id } => inner.waiting.remove(id),
            _ => None,
        });
        let stream = inner.streams.entry(destination).or_default();
        stream.said += 1;
        let number = stream.said;
        stream.events.push_back(Event { number, bytes, message });
        if answers.is_some() {
            stream.awaited = stream.awaited.saturating_sub(1);
            if stream.awaited == 0 {
                inner.tokens.retain(|_, number| *number != destination);
            }
        }
        inner.trim();
        drop(inner);
        self.changed.notify_waiters();
    }

    /// Nothing more will be said.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_waiters();
    }

    /// True if a client is reading or waits for an answer.
    pub(super) fn is_in_use(&self) -> bool {
        self.lock().streams.values().any(|stream| stream.is_read || stream.awaited > 0)
    }

    /// A request that has been cancelled gets no answer.
    pub(super) fn cancel(&self, id: &Id) {
        let mut inner = self.lock();
        if let Some(number) = inner.waiting.remove(id)
            && let Some(stream) = inner.streams.get_mut(&number)
        {
            stream.awaited = stream.awaited.saturating_sub(1);
        }
        drop(inner);
        self.changed.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// The stream that a message belongs to: that of its request, if it can be told, else that of the
    /// newest request under way, for most servers speak while they work on something. `None` if it
    /// is an answer that nobody waits for.
    fn destination(&self, envelope: Option<&Envelope>, source: Source<'_>) -> Option<u64> {
        let known = match envelope.map(|envelope| (envelope.kind(), &envelope.params)) {
            Some((Kind::Response { id }, _)) => return self.waiting.get(id).copied(),
            Some((Kind::Notification { method: "notifications/progress" }, Some(params))) => {
                let [token] = source.members(params, ["progressToken"]);
                let token = token.and_then(|token| Id::parse(&token.scalar?));
                token.and_then(|token| self.tokens.get(&token))
            }
            _ => None,
        };
        let under_way = |(number, stream): (&u64, &Stream)| {
            let is_heard = stream.takes_events && stream.awaited > 0 && stream.is_read;
            is_heard.then_some(*number)
        };
        let newest = || self.streams.iter().rev().find_map(under_way);
        Some(known.copied().or_else(newest).unwrap_or(STANDALONE))
    }

    /// False while a client that is there has much to read.
    fn has_room(&self, stream: u64) -> bool {
        let Some(stream) = self.streams.get(&stream).filter(|stream| stream.is_read) else {
            return true;
        };
        let waiting = stream.events.iter().filter(|event| event.number > stream.read);
        let (count, bytes) =
            waiting.fold((0, 0), |(count, bytes), event| (count + 1, bytes + event.bytes));
        self.is_closed || (count < MAX_WAITING_EVENTS && bytes < MAX_WAITING_BYTES)
    }

    /// Keeps within what may be kept: what has been read goes first, then what nobody is there to
    /// read, the oldest first. The last word in a stream stays until it has been read.
    fn trim(&mut self) {
        let mut kept: u64 = self.streams.values().map(Stream::bytes).sum();
        let mut count: usize = self.streams.values().map(|stream| stream.events.len()).sum();
        let is_over =
            |kept: u64, count: usize| kept > MAX_KEPT_BYTES || count > 4 * MAX_WAITING_EVENTS;
        for is_unread_dropped in [false, true] {
            for stream in self.streams.values_mut() {
                while is_over(kept, count) {
                    let Some(first) = stream.events.front() else { break };
                    let has_been_read = first.number <= stream.read;
                    let may_go = has_been_read
                        || (is_unread_dropped && !stream.is_read && stream.events.len() > 1);
                    if !may_go {
                        break;
                    }
                    if !has_been_read {
                        tracing::warn!(
                            "a client does not read; dropped the oldest of what it was told"
                        );
                    }
                    kept -= first.bytes;
                    count -= 1;
                    stream.events.pop_front();
                }
            }
        }
        // A stream that is over and has nothing left cannot be come back to.
        self.streams.retain(|number, stream| {
            *number == STANDALONE
                || stream.awaited > 0
                || stream.is_read
                || !stream.events.is_empty()
        });
    }
}

impl Stream {
    fn bytes(&self) -> u64 {
        self.events.iter().map(|event| event.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use forebay_wire::Line;

    use super::*;

    fn id(json: &str) -> Id {
        Id::parse(json.as_bytes()).unwrap()
    }

    async fn say(log: &Log, json: &str) {
        let Line::Message(envelope) = Line::of(json.as_bytes()) else { panic!("{json}") };
        let message = Message::of(vec![json.as_bytes().to_vec().into()]);
        log.say(Some(&envelope), Source::Line(json.as_bytes()), message).await;
    }

    fn drained(log: &Log, mut place: Place, reader: u64) -> (Vec<String>, bool) {
        let mut said = Vec::new();
        loop {
            match log.next(place, reader) {
                Next::Event(next, message) => {
                    place = next;
                    said.push(String::from_utf8(message.into_bytes().unwrap()).unwrap());
                }
                Next::Wait => return (said, false),
                Next::Over => return (said, true),
            }
        }
    }

    #[tokio::test]
    async fn each_message_goes_to_the_stream_of_its_request() {
        let log = Log::default();
        let first = log.open(&[id("1")], &[id("\"t\"")], true);
        let second = log.open(&[id("2")], &[], true);
        let readers = (log.read(first).unwrap(), log.read(second).unwrap());
        let progress = r#"{"method":"notifications/progress","params":{"progressToken":"t"}}"#;
        let question = r#"{"id":1,"method":"sampling/createMessage"}"#;
        let (one, two) = (r#"{"id":1,"result":{}}"#, r#"{"id":2,"result":{}}"#);
        for json in [progress, question, two, one, question] {
            say(&log, json).await;
        }
        let read = |stream, reader| drained(&log, Place { stream, event: 0 }, reader);
        assert_eq!(read(first, readers.0), (vec![progress.to_owned(), one.to_owned()], true));
        // While both are under way the newest is meant; then there is only the standalone stream.
        assert_eq!(read(second, readers.1), (vec![question.to_owned(), two.to_owned()], true));
        let standalone = log.read(STANDALONE).unwrap();
        assert_eq!(read(STANDALONE, standalone), (vec![question.to_owned()], false));
    }

    #[tokio::test]
    async fn a_client_that_comes_back_gets_what_it_has_not_got() {
        let log = Log::default();
        let stream = log.open(&[id("1")], &[id("7")], true);
        let reader = log.read(stream).unwrap();
        let progress = |n| {
            format!(
                r#"{{"method":"notifications/progress","params":{{"progressToken":7,"progress":{n}}}}}"#
            )
        };
        for n in 0..3 {
            say(&log, &progress(n)).await;
        }
        let Next::Event(place, _) = log.next(Place { stream, event: 0 }, reader) else { panic!() };
        log.leave(stream, reader);
        say(&log, r#"{"id":1,"result":{}}"#).await;
        let place = Place::parse(&place.id()).unwrap();
        let again = log.read(stream).unwrap();
        let (said, is_over) = drained(&log, place, again);
        assert_eq!(said, [progress(1), progress(2), r#"{"id":1,"result":{}}"#.to_owned()]);
        assert!(is_over);
        assert!(
            matches!(log.next(place, reader), Next::Over),
            "the first reader has been relieved"
        );
        assert!(log.read(99).is_none() && Place::parse("x").is_none());
    }

    #[tokio::test]
    async fn what_nobody_reads_is_bounded_and_the_last_word_stays() {
        let log = Log::default();
        let stream = log.open(&[id("1")], &[id("7")], true);
        let padding = "x".repeat(100_000);
        for _ in 0..200 {
            say(&log, &format!(r#"{{"method":"notifications/progress","params":{{"progressToken":7,"message":"{padding}"}}}}"#)).await;
        }
        say(&log, r#"{"id":1,"result":{}}"#).await;
        assert!(log.lock().streams[&stream].bytes() <= MAX_KEPT_BYTES);
        let reader = log.read(stream).unwrap();
        let (said, is_over) = drained(&log, Place { stream, event: 0 }, reader);
        assert_eq!(said.last().unwrap(), r#"{"id":1,"result":{}}"#);
        assert!(is_over);
    }

    #[tokio::test]
    async fn an_answer_alone_needs_no_stream() {
        let log = Log::default();
        let stream = log.open(&[id("1")], &[], true);
        assert!(!log.has_begun(stream) && log.take_sole_answer(stream).is_none());
        say(&log, r#"{"id":1,"result":{}}"#).await;
        assert!(log.has_begun(stream));
        assert!(log.take_sole_answer(stream).is_some());
        assert!(!log.is_in_use() && log.read(stream).is_none());
    }
}
