//! The bytes of a line that is kept for a while, in memory or, past a few MiB, in a file.
//!
//! A [`Hold`] collects a line as it arrives and becomes a [`Body`]. A [`Payload`] is a part of a
//! body: the JSON text of a result, say. A [`Message`] is what leaves: payloads one after the
//! other, so that replacing a value copies nothing around it.

mod spool;

use std::{
    fs::File,
    io::{self, Read, Write},
    ops::Range,
    sync::Arc,
};

use forebay_system::positioned;
use forebay_wire::{
    Line,
    envelope::LineScanner,
    scan::{self, Object, Outline, Scanner, Value},
    syntax::{self, NotJson, Utf8Check},
};

pub(crate) use self::spool::Hold;
pub use self::spool::{Share, Spool};

/// How much of a file is read at once.
const COPY_BYTES: usize = 64 * 1024;

/// A line, whole.
#[derive(Debug)]
pub enum Body {
    /// In memory.
    Memory(Vec<u8>),
    /// In a file that has no name any more and goes away with its handle.
    Spooled {
        /// The file.
        file: File,
        /// How long the line is.
        bytes: u64,
        /// What it takes of the spool's room.
        share: Share,
    },
}

/// Bytes to look into: borrowed from a read buffer, or a body's.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// A line in a read buffer.
    Line(&'a [u8]),
    /// A line that is kept.
    Held(&'a Body),
    /// A line that has been passed on without being kept: nothing can be read again.
    Gone,
}

/// A part of a body.
#[derive(Debug, Clone)]
pub struct Payload {
    body: Arc<Body>,
    span: Range<u64>,
}

/// A line to send.
#[derive(Debug, Clone)]
pub struct Message(Vec<Payload>);

impl Body {
    /// Its length.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Memory(memory) => memory.len() as u64,
            Self::Spooled { bytes, .. } => *bytes,
        }
    }

    /// Scans the line. If it cannot be read any more it counts as no message at all.
    pub(crate) fn line(&self) -> Line {
        let mut scanner = LineScanner::new();
        match self.each_chunk(|chunk| scanner.push(chunk)) {
            Ok(()) => scanner.finish(),
            Err(_) => Line::Other,
        }
    }

    /// Says whether the line is JSON. If it cannot be read any more nothing speaks against it.
    pub(crate) fn check(&self) -> Result<(), NotJson> {
        match self {
            Self::Memory(memory) => syntax::check(memory),
            Self::Spooled { file, bytes, .. } => {
                syntax::check_reader(FileReader { file, span: 0..*bytes }).unwrap_or(Ok(()))
            }
        }
    }

    fn each_chunk(&self, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        match self {
            Self::Memory(memory) => take(memory),
            Self::Spooled { file, bytes, .. } => {
                each_chunk(&mut FileReader { file, span: 0..*bytes }, take)?;
            }
        }
        Ok(())
    }
}

impl<'a> Source<'a> {
    /// A part of it, if that is in memory.
    pub(crate) fn in_memory(self, span: &Range<u64>) -> Option<&'a [u8]> {
        let bytes = match self {
            Self::Line(bytes) => bytes,
            Self::Held(Body::Memory(bytes)) => bytes,
            Self::Held(Body::Spooled { .. }) | Self::Gone => return None,
        };
        scan::slice(bytes, span)
    }
}

impl Source<'_> {
    /// Its length, as far as it is known.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Self::Line(bytes) => bytes.len() as u64,
            Self::Held(body) => body.bytes(),
            Self::Gone => 0,
        }
    }

    /// Finds the line's messages.
    pub(crate) fn line(self) -> Line {
        match self {
            Self::Line(bytes) => Line::of(bytes),
            Self::Held(body) => body.line(),
            Self::Gone => Line::Blank,
        }
    }

    /// Says whether the line is JSON.
    pub(crate) fn check(self) -> Result<(), NotJson> {
        match self {
            Self::Line(bytes) => syntax::check(bytes),
            Self::Held(body) => body.check(),
            Self::Gone => Ok(()),
        }
    }

    /// Says whether the line is UTF-8.
    pub(crate) fn is_utf8(self) -> io::Result<bool> {
        let mut check = Utf8Check::default();
        self.each_chunk(|chunk| check.push(chunk))?;
        Ok(check.first_invalid().is_none())
    }

    /// The bytes at `span`, if they are in memory.
    pub(crate) fn slice(&self, span: &Range<u64>) -> Option<&[u8]> {
        match self {
            Self::Line(bytes) => scan::slice(bytes, span),
            Self::Held(Body::Memory(bytes)) => scan::slice(bytes, span),
            Self::Held(Body::Spooled { .. }) | Self::Gone => None,
        }
    }

    /// Hands out the line's bytes, piece by piece.
    pub(crate) fn each_chunk(self, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        match self {
            Self::Line(bytes) => take(bytes),
            Self::Held(body) => body.each_chunk(take)?,
            Self::Gone => {}
        }
        Ok(())
    }

    /// Hands out the bytes at `span`, piece by piece.
    pub(crate) fn each_chunk_of(
        self,
        span: &Range<u64>,
        mut take: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        match self {
            Self::Line(_) | Self::Held(Body::Memory(_)) | Self::Gone => {
                take(self.slice(span).unwrap_or_default());
                Ok(())
            }
            Self::Held(Body::Spooled { file, .. }) => {
                each_chunk(&mut FileReader { file, span: span.clone() }, take)
            }
        }
    }

    /// Looks for members of the object at `span`; their spans count from the line's start.
    pub(crate) fn members<const N: usize>(
        self,
        span: &Range<u64>,
        keys: [&'static str; N],
    ) -> [Option<Value>; N] {
        let outline = match self {
            Self::Line(bytes) => in_slice(bytes, span, keys),
            Self::Held(Body::Memory(bytes)) => in_slice(bytes, span, keys),
            Self::Held(Body::Spooled { file, .. }) => in_file(file, span, keys).ok(),
            Self::Gone => None,
        };
        let Some(Outline::Object(Object { members, .. })) = outline else {
            return [const { None }; N];
        };
        members.map(|member| {
            member.map(|value| Value {
                span: span.start + value.span.start..span.start + value.span.end,
                scalar: value.scalar,
            })
        })
    }
}

fn in_slice<const N: usize>(
    bytes: &[u8],
    span: &Range<u64>,
    keys: [&'static str; N],
) -> Option<Outline<N>> {
    scan::slice(bytes, span).map(|object| scan::outline(object, keys))
}

fn in_file<const N: usize>(
    file: &File,
    span: &Range<u64>,
    keys: [&'static str; N],
) -> io::Result<Outline<N>> {
    let mut scanner = Scanner::new(keys);
    each_chunk(&mut FileReader { file, span: span.clone() }, |chunk| scanner.push(chunk))?;
    Ok(scanner.finish())
}

impl Payload {
    pub(crate) fn new(body: Arc<Body>, span: Range<u64>) -> Self {
        Self { body, span }
    }

    /// Its length.
    pub fn bytes(&self) -> u64 {
        self.span.end - self.span.start
    }

    /// The body that it is a part of, and where it stands there.
    pub(crate) fn place(&self) -> (&Body, &Range<u64>) {
        (&self.body, &self.span)
    }

    /// Looks for members of the object that this is, or of each object of the array that it is.
    pub fn outline<const N: usize>(&self, keys: [&'static str; N]) -> io::Result<Outline<N>> {
        match &*self.body {
            Body::Memory(memory) => {
                Ok(scan::outline(scan::slice(memory, &self.span).unwrap_or_default(), keys))
            }
            Body::Spooled { file, .. } => in_file(file, &self.span, keys),
        }
    }

    /// A part of this, by its place in it.
    #[must_use]
    pub fn part(&self, span: &Range<u64>) -> Self {
        let start = (self.span.start + span.start).min(self.span.end);
        let end = (self.span.start + span.end).min(self.span.end);
        Self { body: self.body.clone(), span: start..end.max(start) }
    }

    /// The text itself, if it is in memory.
    pub fn in_memory(&self) -> Option<&[u8]> {
        match &*self.body {
            Body::Memory(memory) => scan::slice(memory, &self.span),
            Body::Spooled { .. } => None,
        }
    }

    /// The text itself, which must fit into memory.
    pub fn to_vec(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.reader().read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads the text, wherever it is.
    pub fn reader(&self) -> Box<dyn Read + '_> {
        match &*self.body {
            Body::Memory(memory) => Box::new(scan::slice(memory, &self.span).unwrap_or_default()),
            Body::Spooled { file, .. } => Box::new(FileReader { file, span: self.span.clone() }),
        }
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        let span = 0..bytes.len() as u64;
        Self { body: Arc::new(Body::Memory(bytes)), span }
    }
}

impl Message {
    /// The line as it came.
    pub(crate) fn whole(body: Arc<Body>) -> Self {
        let span = 0..body.bytes();
        Self(vec![Payload { body, span }])
    }

    pub(crate) fn of(parts: Vec<Payload>) -> Self {
        Self(parts)
    }

    /// What it is made of, in order.
    pub(crate) fn parts(&self) -> &[Payload] {
        &self.0
    }

    /// Its length.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().map(Payload::bytes).sum()
    }

    /// The line with `text` in the place of what stood at `span` in `body`. If that is not in the
    /// line any more, nothing changes.
    pub(crate) fn with(self, body: &Arc<Body>, span: &Range<u64>, text: &str) -> Self {
        let stands_in = |payload: &Payload| {
            Arc::ptr_eq(&payload.body, body)
                && payload.span.start <= span.start
                && span.end <= payload.span.end
        };
        let mut parts = Vec::with_capacity(self.0.len() + 2);
        for payload in self.0 {
            if stands_in(&payload) {
                parts.push(Payload::new(body.clone(), payload.span.start..span.start));
                parts.push(Payload::from(text.as_bytes().to_vec()));
                parts.push(Payload::new(body.clone(), span.end..payload.span.end));
            } else {
                parts.push(payload);
            }
        }
        Self(parts)
    }

    /// The line as one body: the one that it was, if nothing in it is new.
    pub(crate) fn into_body(mut self, spool: &Spool) -> io::Result<Body> {
        if let [Payload { body, span }] = self.0.as_slice()
            && *span == (0..body.bytes())
            && let Some(Payload { body, span }) = self.0.pop()
        {
            match Arc::try_unwrap(body) {
                Ok(body) => return Ok(body),
                Err(body) => self.0.push(Payload { body, span }),
            }
        }
        let mut hold = Hold::new(spool);
        for piece in self.pieces() {
            hold.push(&piece?)?;
        }
        Ok(hold.finish())
    }

    /// The whole line in memory.
    pub(crate) fn into_bytes(self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.bytes()).unwrap_or(0));
        self.write_to(&mut bytes)?;
        Ok(bytes)
    }

    /// The line in pieces, none of them large.
    pub(crate) fn pieces(self) -> impl Iterator<Item = io::Result<Vec<u8>>> + Send + 'static {
        self.0.into_iter().flat_map(|Payload { body, span }| {
            let starts = span.clone().step_by(COPY_BYTES);
            starts.map(move |start| {
                let end = span.end.min(start + COPY_BYTES as u64);
                let mut piece = Vec::new();
                Payload::new(body.clone(), start..end).reader().read_to_end(&mut piece)?;
                Ok(piece)
            })
        })
    }

    /// The line with its end, if it is short enough to be written at once: whoever reads it is woken up once.
    /// In JSON a line break is white space between tokens.
    pub(crate) fn short_line(&self) -> Option<Vec<u8>> {
        if self.bytes() > COPY_BYTES as u64 {
            return None;
        }
        let mut line = Vec::with_capacity(usize::try_from(self.bytes()).unwrap_or(0) + 1);
        for payload in &self.0 {
            line.extend_from_slice(payload.in_memory()?);
        }
        for byte in line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
        line.push(b'\n');
        Some(line)
    }

    /// Writes the line.
    pub fn write_to(&self, sink: &mut impl Write) -> io::Result<()> {
        for payload in &self.0 {
            match payload.in_memory() {
                Some(bytes) => sink.write_all(bytes)?,
                None => drop(io::copy(&mut payload.reader(), sink)?),
            }
        }
        Ok(())
    }
}

fn each_chunk(reader: &mut dyn Read, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(()),
            count => take(&buffer[..count]),
        }
    }
}

/// Reads a part of a file without moving the file's own position.
struct FileReader<'a> {
    file: &'a File,
    span: Range<u64>,
}

impl Read for FileReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.span.end - self.span.start).unwrap_or(usize::MAX);
        let limit = buffer.len().min(left);
        let count = positioned::read(self.file, &mut buffer[..limit], self.span.start)?;
        if count == 0 && limit > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.span.start += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_line_is_written_at_once_and_a_long_one_is_not() {
        let parts = ["{\"a\":", "1\r\n", "}"].map(|part| Payload::from(part.as_bytes().to_vec()));
        assert_eq!(Message::of(parts.to_vec()).short_line().unwrap(), b"{\"a\":1  }\n");
        let long = Payload::from(vec![b' '; COPY_BYTES + 1]);
        assert!(Message::of(vec![long]).short_line().is_none());
    }

    #[test]
    fn a_message_is_its_parts_in_order() {
        let body = Arc::new(Body::Memory(b"abcdef".to_vec()));
        let parts = vec![
            Payload::new(body.clone(), 0..2),
            Payload::from(b"XY".to_vec()),
            Payload::new(body, 4..6),
        ];
        let mut out = Vec::new();
        Message::of(parts).write_to(&mut out).unwrap();
        assert_eq!(out, b"abXYef");
    }
}
