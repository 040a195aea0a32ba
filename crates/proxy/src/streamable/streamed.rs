//! A message as the body of a request or a response: of known length, and never whole in memory if
//! it is not so already.

use std::{
    collections::VecDeque,
    io::{self, Read},
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::body::{Message, Payload};

/// How much is read from a file at once.
const CHUNK_BYTES: u64 = 64 * 1024;

/// Yields a message's bytes; by default there are none.
#[derive(Debug, Default)]
pub(crate) struct Streamed {
    parts: VecDeque<Payload>,
    left: u64,
}

impl Streamed {
    pub(crate) fn new(message: &Message) -> Self {
        let parts: VecDeque<Payload> = message.parts().iter().cloned().collect();
        let left = parts.iter().map(Payload::bytes).sum();
        Self { parts, left }
    }

    /// The next portion.
    pub(crate) fn next(&mut self) -> Option<io::Result<Bytes>> {
        let part = loop {
            let part = self.parts.pop_front()?;
            if part.bytes() > 0 {
                break part;
            }
        };
        let chunk = if part.in_memory().is_some() {
            Bytes::from_owner(InMemory(part))
        } else {
            match self.read(&part) {
                Ok(chunk) => chunk,
                Err(error) => return Some(Err(error)),
            }
        };
        self.left -= chunk.len() as u64;
        Some(Ok(chunk))
    }

    /// Reads the front of `part`, and leaves the rest of it for the next time.
    fn read(&mut self, part: &Payload) -> io::Result<Bytes> {
        let count = part.bytes().min(CHUNK_BYTES);
        let mut chunk = Vec::with_capacity(usize::try_from(count).unwrap_or_default());
        part.part(&(0..count)).reader().read_to_end(&mut chunk)?;
        self.parts.push_front(part.part(&(count..part.bytes())));
        Ok(chunk.into())
    }
}

impl Body for Streamed {
    type Data = Bytes;
    type Error = io::Error;

    // What has been spooled is read from the page cache, in portions, which does not hold up much.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Poll::Ready(self.next().map(|chunk| chunk.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// A part that is in memory, shared instead of copied.
struct InMemory(Payload);

impl AsRef<[u8]> for InMemory {
    fn as_ref(&self) -> &[u8] {
        self.0.in_memory().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::body::{Hold, Spool};

    #[test]
    fn a_message_of_any_parts_comes_out_whole_and_in_portions() {
        let directory = tempfile::tempdir().unwrap();
        let spool = Spool::new(8, u64::MAX, directory.path());
        let long = b"x".repeat(3 * usize::try_from(CHUNK_BYTES).unwrap() + 5);
        let mut hold = Hold::new(&spool);
        hold.push(&long).unwrap();
        let spooled = Payload::new(Arc::new(hold.finish()), 2..long.len() as u64);
        let parts = vec![b"{".to_vec().into(), spooled, Vec::new().into(), b"}".to_vec().into()];
        let mut body = Streamed::new(&Message::of(parts));

        let mut out = Vec::new();
        while !body.is_end_stream() {
            let left = body.size_hint().exact().unwrap();
            let chunk = body.next().unwrap().unwrap();
            assert!(!chunk.is_empty() && chunk.len() as u64 <= CHUNK_BYTES);
            assert_eq!(body.size_hint().exact().unwrap(), left - chunk.len() as u64);
            out.extend_from_slice(&chunk);
        }
        assert_eq!(out, [b"{", &long[2..], b"}"].concat());
    }
}
