//! What has been said in the streams of a session, and who waits for what. Without I/O.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    mem,
};

use forebay_wire::{Envelope, Id, Kind};

use crate::{
    body::{Message, Source},
    limits,
};

/// A message up to this long is kept apart from the one that it was made of.
const MAX_COPIED_BYTES: u64 = 256 * 1024;

/// The stream that belongs to no request.
pub(in super::super) const STANDALONE: u64 = 0;

/// The streams of a session.
#[derive(Default)]
pub(super) struct Streams {
    /// By number, so in the order in which they were opened.
    all: BTreeMap<u64, Stream>,
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
    /// How many have been said.
    answered: usize,
    /// Counts those who have read it; only the last one still does.
    reader: u64,
    is_read: bool,
    /// The client takes events, not just the answer.
    takes_events: bool,
    /// The client has been given a place to come back to.
    can_be_resumed: bool,
}

struct Event {
    number: u64,
    bytes: u64,
    message: Message,
}

/// Where a client stands in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Place {
    pub(in super::super) stream: u64,
    /// The last event that it has got.
    pub(in super::super) event: u64,
}

/// What a reader gets next.
pub(in super::super) enum Next {
    Event(Place, Message),
    /// There is nothing yet.
    Wait,
    Over,
}

impl Place {
    /// As it is written in an event's id.
    pub(in super::super) fn id(self) -> String {
        format!("{}-{}", self.stream, self.event)
    }

    pub(in super::super) fn parse(id: &str) -> Option<Self> {
        let (stream, event) = id.split_once('-')?;
        Some(Self { stream: stream.parse().ok()?, event: event.parse().ok()? })
    }
}

impl Streams {
    /// Opens a stream for the answers to `asked`, and progress under `tokens`.
    pub(super) fn open(&mut self, asked: &[Id], tokens: &[Id], takes_events: bool) -> u64 {
        self.last += 1;
        let (number, awaited) = (self.last, asked.len());
        self.all.insert(number, Stream { awaited, takes_events, ..Stream::default() });
        self.waiting.extend(asked.iter().map(|id| (id.clone(), number)));
        self.tokens.extend(tokens.iter().map(|token| (token.clone(), number)));
        number
    }

    /// Starts to read a stream; whoever has read it before does so no more. `None` if there is no
    /// such stream (any more).
    pub(super) fn read(&mut self, stream: u64) -> Option<u64> {
        let stream = match stream {
            STANDALONE => self.all.entry(STANDALONE).or_default(),
            number => self.all.get_mut(&number)?,
        };
        stream.reader += 1;
        stream.is_read = true;
        Some(stream.reader)
    }

    /// Where the standalone stream goes on for a client that does not say.
    pub(super) fn standalone_place(&self) -> Place {
        let event = self.all.get(&STANDALONE).map_or(0, |stream| stream.read);
        Place { stream: STANDALONE, event }
    }

    /// The reader is gone. It may come back, if it knows where to.
    pub(super) fn leave(&mut self, number: u64, reader: u64) {
        if let Some(stream) = self.all.get_mut(&number)
            && stream.reader == reader
        {
            stream.is_read = false;
            if !stream.can_be_resumed && number != STANDALONE {
                self.forget(number);
            }
        }
        self.trim();
    }

    /// The next event after `place`, if it has been said.
    pub(super) fn next(&mut self, place: Place, reader: u64) -> Next {
        let Some(stream) = self.all.get_mut(&place.stream) else { return Next::Over };
        if stream.reader != reader {
            return Next::Over;
        }
        let Some(event) = stream.events.iter().find(|event| event.number > place.event) else {
            let is_over = self.is_closed || (stream.awaited == 0 && place.stream != STANDALONE);
            return if is_over { Next::Over } else { Next::Wait };
        };
        let next = Place { event: event.number, ..place };
        let message = event.message.clone();
        stream.read = stream.read.max(next.event);
        stream.can_be_resumed = true;
        Next::Event(next, message)
    }

    /// The client has been given a place in this stream to come back to.
    pub(super) fn can_be_resumed(&mut self, stream: u64) {
        if let Some(stream) = self.all.get_mut(&stream) {
            stream.can_be_resumed = true;
        }
    }

    /// The answer, if it is the only thing that has been said in a stream that is over, and which
    /// then is forgotten.
    pub(super) fn take_sole_answer(&mut self, stream: u64) -> Option<Message> {
        let has_only_the_answer = self
            .all
            .get(&stream)
            .is_some_and(|it| it.awaited == 0 && it.said == 1 && it.answered == 1);
        let stream = if has_only_the_answer { self.all.remove(&stream) } else { None };
        stream?.events.pop_front().map(|event| event.message)
    }

    /// True once something has been said in a stream, or it is over.
    pub(super) fn has_begun(&self, stream: u64) -> bool {
        self.is_closed
            || self.all.get(&stream).is_none_or(|stream| {
                // Without events the client waits for the last word.
                stream.awaited == 0 || (stream.takes_events && stream.said > 0)
            })
    }

    /// Says something to the client, in the stream that it belongs to. If that has been forgotten since the
    /// destination was found, it is for nobody.
    pub(super) fn say(&mut self, destination: u64, messages: &[Envelope], message: Message) {
        let bytes = message.bytes();
        // Apart from what it was made of, which may be far larger.
        let message = match message.clone() {
            short if bytes <= MAX_COPIED_BYTES => {
                short.into_bytes().map_or(message, |bytes| Message::of(vec![bytes.into()]))
            }
            _ => message,
        };
        let stream = match destination {
            STANDALONE => self.all.entry(STANDALONE).or_default(),
            number => match self.all.get_mut(&number) {
                Some(stream) => stream,
                None => return,
            },
        };
        stream.said += 1;
        let number = stream.said;
        stream.events.push_back(Event { number, bytes, message });
        for envelope in messages {
            if let Kind::Response { id } = envelope.kind() {
                self.settle(id);
            }
        }
        self.trim();
    }

    /// Nothing more will be said.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// True if a client is reading.
    pub(super) fn is_read(&self) -> bool {
        self.all.values().any(|stream| stream.is_read)
    }

    /// True if an answer is to come.
    pub(super) fn is_awaited(&self) -> bool {
        self.all.values().any(|stream| stream.awaited > 0)
    }

    /// A request that has been cancelled gets no answer.
    pub(super) fn cancel(&mut self, id: &Id) {
        self.wait_no_more_for(id);
    }

    /// The stream that a message belongs to: that of its request, if it can be told, else that of the
    /// newest request under way, for most servers speak while they work on something. `None` if
    /// nobody waits for it.
    pub(super) fn destination(&self, messages: &[Envelope], source: Source<'_>) -> Option<u64> {
        let answered: Vec<&Id> = messages
            .iter()
            .filter_map(|envelope| match envelope.kind() {
                Kind::Response { id } => Some(id),
                _ => None,
            })
            .collect();
        if !answered.is_empty() {
            return answered.iter().find_map(|id| self.waiting.get(id)).copied();
        }
        if let Some(number) = messages.first().and_then(|it| self.of_progress(it, source)) {
            let takes_events = self.all.get(&number).is_some_and(|it| it.takes_events);
            return takes_events.then_some(number);
        }
        let under_way = |(number, stream): (&u64, &Stream)| {
            let is_heard = stream.takes_events && stream.awaited > 0 && stream.is_read;
            is_heard.then_some(*number)
        };
        Some(self.all.iter().rev().find_map(under_way).unwrap_or(STANDALONE))
    }

    /// The stream that waits for this progress.
    fn of_progress(&self, envelope: &Envelope, source: Source<'_>) -> Option<u64> {
        let Kind::Notification { method: "notifications/progress" } = envelope.kind() else {
            return None;
        };
        let [token] = source.members(envelope.params.as_ref()?, ["progressToken"]);
        self.tokens.get(&Id::parse(&token?.scalar?)?).copied()
    }

    /// A request has been answered.
    fn settle(&mut self, id: &Id) {
        if let Some(stream) = self.wait_no_more_for(id) {
            stream.answered += 1;
        }
    }

    /// The answer to a request has come, or will not: returns the stream that has waited for it.
    fn wait_no_more_for(&mut self, id: &Id) -> Option<&mut Stream> {
        let number = self.waiting.remove(id)?;
        let stream = self.all.get_mut(&number)?;
        stream.awaited = stream.awaited.saturating_sub(1);
        if stream.awaited == 0 {
            self.tokens.retain(|_, stream| *stream != number);
        }
        Some(stream)
    }

    /// Nobody will read this stream any more; what is still to come for it is for nobody.
    fn forget(&mut self, number: u64) {
        self.all.remove(&number);
        self.waiting.retain(|_, stream| *stream != number);
        self.tokens.retain(|_, stream| *stream != number);
    }

    /// False while a client that is there has much to read.
    pub(super) fn has_room(&self, stream: u64) -> bool {
        let Some(stream) = self.all.get(&stream).filter(|stream| stream.is_read) else {
            return true;
        };
        let waiting = stream.events.iter().filter(|event| event.number > stream.read);
        let (count, bytes) =
            waiting.fold((0, 0), |(count, bytes), event| (count + 1, bytes + event.bytes));
        self.is_closed || (count < limits::WAITING_EVENTS && bytes < limits::WAITING_BYTES)
    }

    /// Keeps within what may be kept: what has been read goes first, then what nobody is there to
    /// read, the oldest first. The last word in a stream goes only with the stream, and the newest
    /// such stream stays.
    fn trim(&mut self) {
        let mut over = Excess::of(self.all.values());
        for is_unread_dropped in [false, true] {
            for stream in self.all.values_mut() {
                while over.is_some() {
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
                    over.less(first.bytes);
                    stream.events.pop_front();
                }
            }
        }
        let unread = |stream: &Stream| !stream.is_read && !stream.events.is_empty();
        let mut left: Vec<u64> =
            self.all.iter().filter(|(_, it)| unread(it)).map(|(number, _)| *number).collect();
        left.pop();
        for number in left {
            if !over.is_some() {
                break;
            }
            tracing::warn!("a client does not come back for its answer; dropped it");
            let events = self.all.get_mut(&number).map(|stream| mem::take(&mut stream.events));
            events.into_iter().flatten().for_each(|event| over.less(event.bytes));
            // The one that belongs to no request stays: its numbers go on, wherever a client comes back to.
            if number != STANDALONE {
                self.forget(number);
            }
        }
        // A stream that is over and has nothing left cannot be come back to.
        self.all.retain(|number, stream| {
            *number == STANDALONE
                || stream.awaited > 0
                || stream.is_read
                || !stream.events.is_empty()
        });
    }
}

/// What is kept, as far as it may be too much.
struct Excess {
    bytes: u64,
    events: usize,
}

impl Excess {
    fn of<'a>(streams: impl Iterator<Item = &'a Stream>) -> Self {
        streams.flat_map(|stream| &stream.events).fold(
            Self { bytes: 0, events: 0 },
            |kept, event| Self { bytes: kept.bytes + event.bytes, events: kept.events + 1 },
        )
    }

    fn is_some(&self) -> bool {
        self.bytes > limits::KEPT_BYTES || self.events > limits::KEPT_EVENTS
    }

    fn less(&mut self, bytes: u64) {
        self.bytes -= bytes;
        self.events -= 1;
    }
}

#[cfg(test)]
mod tests;
