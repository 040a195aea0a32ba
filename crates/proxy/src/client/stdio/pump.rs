//! One direction of a session: reads lines, asks the relay, sends on.
//!
//! Lines that pass are written straight from the read buffer, as many at once as have arrived. A
//! line longer than the buffer is either let through piece by piece, if nobody may want to see it,
//! or held, in memory and then on disk, until it is whole.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
};

use forebay_wire::{
    Id,
    envelope::LineScanner,
    framing::{LineBuffer, Piece, lines},
    reply,
};

use super::{couriers::Crew, supervise::Event};
use crate::{
    body::{Body, Hold, Message, Source, Spool},
    chain::{CallFailure, InnerCall, ToClient, ToUpstream, Ways},
    events, limits,
    pipe::{Inlet, Outlet},
    record::Side,
    relay::{ClientOnward, Consultation, OfInnerCall, Outgoing, Relay, UpstreamOnward},
};

/// As much as a pipe holds: a read rarely yields more.
const BUFFER_BYTES: usize = 64 * 1024;

/// What both directions share.
#[derive(Clone)]
pub(super) struct Pump {
    pub(super) relay: Arc<Relay>,
    pub(super) client: Arc<Outlet>,
    pub(super) upstream: Arc<Outlet>,
    pub(super) crew: Arc<Crew>,
    pub(super) spool: Spool,
    pub(super) events: mpsc::SyncSender<Event>,
    /// The way to the client has something in hand: read, and not yet sent.
    pub(super) is_delivering: Arc<AtomicBool>,
}

/// The side that lines went to does not take them any more.
struct SinkClosed;

impl Pump {
    /// Pumps until the client closes its side, then closes the upstream's input.
    pub(super) fn run_from_client(&self, input: Inlet) {
        let told = TellAtEnd(self, Event::ClientClosed);
        let mut pumping = Pumping::new(self, Side::Client, input);
        if pumping.run().is_err() {
            self.upstream.close();
            self.tell(Event::InputClosed);
            // The upstream may still answer, or be about to say how it ended; so the client is
            // heard to its end, and whatever it asks is answered in the end.
            while pumping.run().is_err() {}
        }
        drop(told);
        // A call that is still in the chain may yet be forwarded.
        self.crew.calls.wait_until_idle(limits::CHAIN_ENDS);
        self.upstream.close();
    }

    /// Pumps until the upstream closes its output or the client is gone.
    pub(super) fn run_from_upstream(&self, output: Inlet) {
        let mut told = TellAtEnd(self, Event::OutputClosed);
        if Pumping::new(self, Side::Upstream, output).run().is_err() {
            told.1 = Event::ClientGone;
        }
        self.is_delivering.store(false, Ordering::Relaxed);
        self.client.cut_off();
        self.relay.upstream_is_silent();
        self.crew.wait_until_idle(limits::CHAIN_ENDS);
    }

    /// Sends what the chain has decided.
    fn send_out(&self, outgoing: &Outgoing) -> io::Result<()> {
        let Outgoing { to_upstream, to_client } = outgoing;
        send_all(&self.client, to_client)?;
        send_all(&self.upstream, to_upstream.as_slice())
    }

    /// The ways from a hook to both sides.
    fn ways(&self) -> Ways {
        let upstream = ToPipe { relay: self.relay.clone(), upstream: self.upstream.clone() };
        let client: Arc<dyn ToClient> = self.client.clone();
        let session = Some(Arc::downgrade(&client));
        Ways { client, upstream: Arc::new(upstream), session, sampling: None }
    }

    fn tell(&self, event: Event) {
        // Nobody listens any more when the session is over.
        let _ = self.events.send(event);
    }
}

/// The way to the upstream for calls of hooks: the pipe that the client's go through.
struct ToPipe {
    relay: Arc<Relay>,
    upstream: Arc<Outlet>,
}

impl ToUpstream for ToPipe {
    fn ask(&self, request: Message, inner: &Arc<InnerCall>) {
        self.relay.expect(inner);
        if self.upstream.send_message(&request).is_err() {
            let why = format!("upstream `{}` takes nothing any more", self.relay.upstream());
            inner.fail(CallFailure::Gone(why));
        }
    }

    fn cancel(&self, id: &Id) {
        // That it takes nothing any more is noticed by the pump.
        let _ = self.upstream.send(&reply::cancelled(id, "nobody waits for it"));
    }
}

/// Tells of a pump's end, even if that is a panic.
struct TellAtEnd<'a>(&'a Pump, Event);

impl Drop for TellAtEnd<'_> {
    fn drop(&mut self) {
        self.0.tell(self.1);
    }
}

/// What becomes of a line of either side.
enum Onward {
    Client(ClientOnward),
    Inner(OfInnerCall),
}

/// A direction in motion.
struct Pumping<'a> {
    pump: &'a Pump,
    side: Side,
    source: Inlet,
    onward: &'a Arc<Outlet>,
    buffer: LineBuffer,
}

impl<'a> Pumping<'a> {
    fn new(pump: &'a Pump, side: Side, source: Inlet) -> Self {
        let onward = match side {
            Side::Client => &pump.upstream,
            Side::Upstream => &pump.client,
        };
        Self { pump, side, source, onward, buffer: LineBuffer::new(BUFFER_BYTES) }
    }

    /// Runs until the source is closed. After an error, what could not be sent has been dropped
    /// and it can be run again.
    fn run(&mut self) -> Result<(), SinkClosed> {
        loop {
            self.take_complete_lines()?;
            if self.buffer.is_stuck() {
                self.take_long_line()?;
            } else if !self.read_more() {
                break;
            }
        }
        // The last line may lack its terminator.
        let rest = self.buffer.unfinished().to_vec();
        self.buffer.consume(rest.len());
        if rest.is_empty() { Ok(()) } else { self.take_lines(&rest) }
    }

    fn read_more(&mut self) -> bool {
        self.note_delivering(false);
        let count = self.source.read(self.buffer.room());
        self.note_delivering(true);
        self.buffer.filled(count);
        count > 0
    }

    fn note_delivering(&self, is_delivering: bool) {
        if self.side == Side::Upstream {
            self.pump.is_delivering.store(is_delivering, Ordering::Relaxed);
        }
    }

    fn take_complete_lines(&mut self) -> Result<(), SinkClosed> {
        let complete = self.buffer.complete();
        let count = complete.len();
        let taken = self.take_lines(complete);
        self.buffer.consume(count);
        taken
    }

    /// Sends lines on, those that follow each other unchanged in one write.
    fn take_lines(&self, all: &[u8]) -> Result<(), SinkClosed> {
        let (mut sent, mut at) = (0, 0);
        let mut result = Ok(());
        for line in lines(all) {
            let end = at + line.len();
            match self.decide(Source::Line(line)) {
                Onward::Client(ClientOnward::Pass) => {}
                other => {
                    result = result.and(self.send(&all[sent..at]));
                    sent = end;
                    result = result.and(self.handle(other, || Body::Memory(line.to_vec())));
                }
            }
            at = end;
        }
        result.and(self.send(&all[sent..]))
    }

    fn decide(&self, source: Source<'_>) -> Onward {
        let relay = &self.pump.relay;
        match self.side {
            Side::Client => Onward::Client(relay.client_line(source)),
            // What may become of a client's line, too, is the same for both.
            Side::Upstream => match relay.upstream_line(source) {
                UpstreamOnward::Pass => Onward::Client(ClientOnward::Pass),
                UpstreamOnward::Consult(it) => Onward::Client(ClientOnward::Consult(it)),
                UpstreamOnward::Inner(it) => Onward::Inner(it),
            },
        }
    }

    fn send(&self, lines: &[u8]) -> Result<(), SinkClosed> {
        if lines.is_empty() {
            return Ok(());
        }
        self.onward.send(lines).map_err(|_| SinkClosed)
    }

    /// Does what a line that does not simply pass needs.
    fn handle(&self, onward: Onward, body: impl FnOnce() -> Body) -> Result<(), SinkClosed> {
        let onward = match onward {
            Onward::Client(onward) => onward,
            Onward::Inner(it) => {
                it.give(&Arc::new(body()));
                return Ok(());
            }
        };
        match onward {
            ClientOnward::Pass => {
                let message = Message::whole(Arc::new(body()));
                self.onward.send_message(&message).map_err(|_| SinkClosed)
            }
            ClientOnward::Answer(lines) => {
                self.reply(move |client| client.say(&lines));
                Ok(())
            }
            ClientOnward::Drop => Ok(()),
            ClientOnward::Consult(consultation) => self.consult(consultation, Arc::new(body())),
        }
    }

    fn consult(&self, consultation: Consultation, body: Arc<Body>) -> Result<(), SinkClosed> {
        let pump = self.pump.clone();
        let couriers = match self.side {
            Side::Client if pump.crew.calls.are_all_out() => {
                return self.turn_away(&consultation, &body);
            }
            Side::Client => &self.pump.crew.calls,
            Side::Upstream => &self.pump.crew.results,
        };
        let ways = pump.ways();
        if consultation.keeps_its_place() {
            let outgoing = pump.relay.consult_and_wait(consultation, body, ways);
            return pump.send_out(&outgoing).map_err(|_| SinkClosed);
        }
        let courier = couriers.set_out();
        pump.relay.clone().consult(consultation, body, ways, move |outgoing| {
            // A side that is gone is noticed by its pump.
            let _ = pump.send_out(&outgoing);
            drop(courier);
        });
        Ok(())
    }

    /// Does without the chain, in which too many calls are already.
    fn turn_away(&self, consultation: &Consultation, body: &Arc<Body>) -> Result<(), SinkClosed> {
        let Outgoing { to_upstream, to_client } = self.pump.relay.turn_away(consultation, body);
        if !to_client.is_empty() {
            self.reply(move |client| send_all(client, &to_client));
        }
        send_all(&self.pump.upstream, to_upstream.as_slice()).map_err(|_| SinkClosed)
    }

    /// Answers the client, which may not be reading, while the pump goes on.
    fn reply(&self, say: impl FnOnce(&Outlet) -> io::Result<()> + Send + 'static) {
        let client = self.pump.client.clone();
        // That it is gone is noticed by its pump.
        self.pump.crew.replies.send(move || drop(say(&client)));
    }

    /// Takes a line of which only the beginning is in the buffer.
    fn take_long_line(&mut self) -> Result<(), SinkClosed> {
        if self.side == Side::Upstream && self.pump.relay.lets_through_unread() {
            return self.let_through(None);
        }
        let spool = self.pump.spool.clone();
        let mut hold = Hold::new(&spool);
        loop {
            let piece = self.buffer.piece();
            if let Err(error) = hold.push(piece.bytes()) {
                events::line_cannot_be_held(&error);
                return self.let_through(Some(hold.finish()));
            }
            if !self.next_piece() {
                break;
            }
        }
        let body = hold.finish();
        let onward = self.decide(Source::Held(&body));
        self.handle(onward, || body)
    }

    /// Sends a line on while it arrives, after what of it has been held.
    fn let_through(&mut self, held: Option<Body>) -> Result<(), SinkClosed> {
        let onward = self.onward.clone();
        let mut scanner = LineScanner::new();
        let mut bytes = 0;
        let mut written = Ok(());
        if let Some(body) = held {
            bytes += body.bytes();
            // A held beginning that cannot be read again makes the line Other, which passes.
            let _ = Source::Held(&body).each_chunk(|chunk| scanner.push(chunk));
            written = onward.send_message(&Message::whole(Arc::new(body)));
        }
        let mut is_noted = false;
        loop {
            let piece = self.buffer.piece();
            bytes += piece.bytes().len() as u64;
            match piece {
                // Sent before it is scanned: the other side can read it meanwhile.
                Piece::Open(part) => {
                    written = written.and_then(|()| onward.send_piece(part));
                    scanner.push(part);
                }
                // Scanned before it is sent, so that nobody can react to the line first.
                Piece::Last(part) => {
                    scanner.push(part);
                    self.note_passed(std::mem::take(&mut scanner), bytes);
                    is_noted = true;
                    written = written.and_then(|()| onward.send_piece(part));
                }
            }
            if !self.next_piece() {
                break;
            }
        }
        if !is_noted {
            // The source ended without a terminator; the message may be whole all the same.
            self.note_passed(scanner, bytes);
        }
        written.map_err(|_: io::Error| SinkClosed)
    }

    fn note_passed(&self, scanner: LineScanner, bytes: u64) {
        match self.side {
            Side::Client => self.pump.relay.client_line_passed(&scanner.finish(), bytes),
            Side::Upstream => self.pump.relay.upstream_line_passed(&scanner.finish(), bytes),
        }
    }

    /// Drops the buffer's front piece and reads on; `false` if it was the line's last, or the
    /// source has ended.
    fn next_piece(&mut self) -> bool {
        let piece = self.buffer.piece();
        let (count, is_last) = (piece.bytes().len(), matches!(piece, Piece::Last(_)));
        self.buffer.consume(count);
        !is_last && self.read_more()
    }
}

fn send_all(outlet: &Outlet, messages: &[Message]) -> io::Result<()> {
    messages.iter().try_for_each(|message| outlet.send_message(message))
}

#[cfg(test)]
mod tests;
