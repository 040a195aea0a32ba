//! A reader that yields a few bytes at a time, for code that must not care.

use std::io::{self, Read};

/// Yields at most so many bytes a read.
#[derive(Debug)]
pub struct Trickle<'a>(pub &'a [u8], pub usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let limit = buffer.len().min(self.1);
        self.0.read(&mut buffer[..limit])
    }
}
