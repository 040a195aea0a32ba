//! The two ends of the pipes that join a session to what is beside it: lines in, lines out.

use std::io;

use forebay_wire::{
    Line,
    envelope::LineScanner,
    framing::{LineBuffer, Piece},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
    sync::Mutex,
};

use crate::{
    body::{Body, Hold, Message, Spool},
    streamable::streamed::Streamed,
};

const BUFFER_BYTES: usize = 64 * 1024;

/// Where the client's lines come from.
pub(crate) struct Lines {
    source: pipe::Receiver,
    buffer: LineBuffer,
    spool: Spool,
}

/// What has come.
#[derive(Debug)]
pub(crate) enum Incoming {
    Line(Body),
    /// A line that was too long to be kept, and why; what it was about is known all the same.
    Lost(Line, io::Error),
}

/// Where lines go to the client. Lines do not mix, whoever sends them.
pub(crate) struct Lane(Mutex<pipe::Sender>);

impl Lines {
    pub(crate) fn new(source: pipe::Receiver, spool: Spool) -> Self {
        Self { source, buffer: LineBuffer::new(BUFFER_BYTES), spool }
    }

    /// The next line; `None` once there are no more.
    pub(crate) async fn next(&mut self) -> Option<Incoming> {
        loop {
            if let Piece::Last(line) = self.buffer.piece() {
                let line = line.to_vec();
                self.buffer.consume(line.len());
                return Some(Incoming::Line(Body::Memory(line)));
            }
            if self.buffer.is_stuck() {
                return Some(self.long_line().await);
            }
            if !self.read_more().await {
                let rest = self.buffer.unfinished().to_vec();
                self.buffer.consume(rest.len());
                return (!rest.is_empty()).then_some(Incoming::Line(Body::Memory(rest)));
            }
        }
    }

    /// Takes a line of which only the beginning is in the buffer.
    async fn long_line(&mut self) -> Incoming {
        let spool = self.spool.clone();
        let mut hold = Hold::new(&spool);
        let mut scanner = LineScanner::new();
        let mut lost = None;
        loop {
            let piece = self.buffer.piece();
            let (count, is_last) = (piece.bytes().len(), matches!(piece, Piece::Last(_)));
            scanner.push(piece.bytes());
            if lost.is_none() {
                lost = hold.push(piece.bytes()).err();
            }
            self.buffer.consume(count);
            if is_last || !self.read_more().await {
                break;
            }
        }
        match lost {
            None => Incoming::Line(hold.finish()),
            Some(error) => Incoming::Lost(scanner.finish(), error),
        }
    }

    async fn read_more(&mut self) -> bool {
        let count = self.source.read(self.buffer.room()).await.unwrap_or(0);
        self.buffer.filled(count);
        count > 0
    }
}

impl Lane {
    pub(crate) fn new(sink: pipe::Sender) -> Self {
        Self(Mutex::new(sink))
    }

    /// Sends a message that has no line break in it, as a line.
    pub(crate) async fn send(&self, message: &Message) -> io::Result<()> {
        let mut sink = self.0.lock().await;
        if let Some(line) = message.short_line() {
            return sink.write_all(&line).await;
        }
        let mut chunks = Streamed::new(message);
        while let Some(chunk) = chunks.next() {
            match chunk {
                Ok(chunk) => sink.write_all(&chunk).await?,
                Err(error) => {
                    // What follows is not to be taken for the rest of this line.
                    sink.write_all(b"\n").await?;
                    return Err(error);
                }
            }
        }
        sink.write_all(b"\n").await
    }
}
