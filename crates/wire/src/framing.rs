//! Framing on stdio: one message a line.
//!
//! A [`LineBuffer`] is a fixed piece of memory between a reader and whoever takes lines from it; it
//! does not read by itself. Terminators (`\n`, `\r\n`) belong to their line, so that what leaves is
//! what came. A line longer than the buffer comes out as pieces.

use memchr::{memchr, memrchr};

/// A buffer of fixed size that is filled from one end and emptied in lines from the other.
#[derive(Debug)]
pub struct LineBuffer {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
    /// Where the last complete line ends; `start` if there is none.
    complete: usize,
}

/// A part of a line, from the front of a [`LineBuffer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The line goes on after these bytes.
    Open(&'a [u8]),
    /// The line ends with these bytes.
    Last(&'a [u8]),
}

impl<'a> Piece<'a> {
    /// The bytes, whichever part they are.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Self::Open(bytes) | Self::Last(bytes) => bytes,
        }
    }
}

impl LineBuffer {
    /// Allocates a buffer of `capacity` bytes.
    pub fn new(capacity: usize) -> Self {
        Self { bytes: vec![0; capacity].into_boxed_slice(), start: 0, end: 0, complete: 0 }
    }

    /// The free part to read into; empty only if an unfinished line fills the whole buffer.
    pub fn room(&mut self) -> &mut [u8] {
        if self.end == self.bytes.len() {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.complete -= self.start;
            self.start = 0;
        }
        &mut self.bytes[self.end..]
    }

    /// Says that `count` bytes of [`Self::room`] have been filled.
    pub fn filled(&mut self, count: usize) {
        let new_end = (self.end + count).min(self.bytes.len());
        if let Some(newline) = memrchr(b'\n', &self.bytes[self.end..new_end]) {
            self.complete = self.end + newline + 1;
        }
        self.end = new_end;
    }

    /// All complete lines, one after the other.
    pub fn complete(&self) -> &[u8] {
        &self.bytes[self.start..self.complete]
    }

    /// The line that has begun and not ended, after the complete ones.
    pub fn unfinished(&self) -> &[u8] {
        &self.bytes[self.complete..self.end]
    }

    /// True if no complete line is left and the unfinished one leaves no room.
    pub fn is_stuck(&self) -> bool {
        self.complete == self.start && self.end - self.start == self.bytes.len()
    }

    /// The front of the buffer up to the first line's end, or all there is.
    pub fn piece(&self) -> Piece<'_> {
        let held = &self.bytes[self.start..self.end];
        if self.complete == self.start {
            return Piece::Open(held);
        }
        match memchr(b'\n', held) {
            Some(newline) => Piece::Last(&held[..=newline]),
            None => Piece::Open(held),
        }
    }

    /// Drops `count` bytes from the front.
    pub fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
        self.complete = self.complete.max(self.start);
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            self.complete = 0;
        }
    }
}

/// Splits `bytes` into lines, each with its terminator.
pub fn lines(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let end = memchr(b'\n', bytes).map_or(bytes.len(), |newline| newline + 1);
        let (line, rest) = bytes.split_at(end);
        bytes = rest;
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Feeds `input` in portions of the given sizes and returns the lines that came out.
    fn through_buffer(input: &[u8], capacity: usize, portions: &[usize]) -> Vec<Vec<u8>> {
        let mut buffer = LineBuffer::new(capacity);
        let mut out = Vec::new();
        let mut long = Vec::new();
        let mut left = input;
        let mut sizes = portions.iter().cycle();
        loop {
            while let Piece::Last(bytes) = buffer.piece() {
                long.extend_from_slice(bytes);
                out.push(std::mem::take(&mut long));
                let count = bytes.len();
                buffer.consume(count);
            }
            if buffer.is_stuck() {
                let held = buffer.unfinished().to_vec();
                buffer.consume(held.len());
                long.extend(held);
            }
            if left.is_empty() {
                break;
            }
            let room = buffer.room();
            let count = (*sizes.next().unwrap()).min(room.len()).min(left.len());
            room[..count].copy_from_slice(&left[..count]);
            left = &left[count..];
            buffer.filled(count);
        }
        long.extend_from_slice(buffer.unfinished());
        if !long.is_empty() {
            out.push(long);
        }
        out
    }

    #[test]
    fn terminators_and_blank_lines_stay() {
        let input = b"{}\r\n\n\r\n[1]\nlast";
        let expected: Vec<&[u8]> = vec![b"{}\r\n", b"\n", b"\r\n", b"[1]\n", b"last"];
        assert_eq!(lines(input).collect::<Vec<_>>(), expected);
        assert_eq!(through_buffer(input, 64, &[1]), expected);
    }

    #[test]
    fn complete_lines_and_the_unfinished_one_are_told_apart() {
        let mut buffer = LineBuffer::new(16);
        buffer.room()[..8].copy_from_slice(b"ab\ncd\nef");
        buffer.filled(8);
        assert_eq!(buffer.complete(), b"ab\ncd\n");
        assert_eq!(buffer.unfinished(), b"ef");
        buffer.consume(6);
        assert_eq!(buffer.piece(), Piece::Open(b"ef"));
        assert!(!buffer.is_stuck());
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_lines(
            input in prop::collection::vec(prop_oneof![3 => any::<u8>(), 1 => Just(b'\n')], 0..600),
            capacity in 1_usize..100,
            portions in prop::collection::vec(1_usize..80, 1..20),
        ) {
            let expected: Vec<Vec<u8>> = lines(&input).map(<[u8]>::to_vec).collect();
            prop_assert_eq!(through_buffer(&input, capacity, &portions), expected);
        }
    }
}
