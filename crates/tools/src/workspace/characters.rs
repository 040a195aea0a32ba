//! A part of a text by its characters, however long the text is.

use std::io::{self, ErrorKind, Read};

/// So much is read at once.
const CHUNK: usize = 64 * 1024;

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) text: String,
    /// How many characters the whole text has.
    pub(super) total: u64,
}

/// The `limit` characters from `offset` on. All of the text is read, and no more of it than that is held.
/// What is no UTF-8 counts as one character and reads as `\u{fffd}`. `go_on` is asked now and then.
pub(super) fn window(
    mut reader: impl Read,
    offset: u64,
    limit: u64,
    go_on: &dyn Fn() -> bool,
) -> io::Result<Window> {
    let mut window = Window { text: String::new(), total: 0 };
    let wanted = offset..offset.saturating_add(limit);
    let mut buffer = vec![0; CHUNK];
    let mut held = 0;
    loop {
        let count = match reader.read(&mut buffer[held..]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            other => other?,
        };
        if !go_on() {
            return Err(ErrorKind::Interrupted.into());
        }
        let is_end = count == 0;
        let filled = held + count;
        held = window.take(&buffer[..filled], &wanted, is_end);
        if is_end {
            return Ok(window);
        }
        // What may be the beginning of a character waits for the rest of it.
        buffer.copy_within(filled - held..filled, 0);
    }
}

impl Window {
    /// Takes the characters of some bytes; says how many at the end may be the beginning of one.
    fn take(&mut self, bytes: &[u8], wanted: &std::ops::Range<u64>, is_end: bool) -> usize {
        let mut rest = bytes;
        loop {
            let (valid, broken) = match std::str::from_utf8(rest) {
                Ok(text) => (text, None),
                Err(error) => {
                    let (valid, _) = rest.split_at(error.valid_up_to());
                    let broken = error.error_len();
                    // It was just found to be valid.
                    (std::str::from_utf8(valid).unwrap_or_default(), Some(broken))
                }
            };
            self.add(valid, wanted);
            rest = &rest[valid.len()..];
            let broken = match broken {
                None => return 0,
                Some(None) if !is_end => return rest.len(),
                Some(None) => rest.len(),
                Some(Some(length)) => length,
            };
            self.add("\u{fffd}", wanted);
            rest = &rest[broken..];
        }
    }

    fn add(&mut self, text: &str, wanted: &std::ops::Range<u64>) {
        // A character has one byte that does not go on with another.
        let count = text.bytes().filter(|byte| byte & 0xC0 != 0x80).count() as u64;
        let (start, end) = (self.total, self.total + count);
        self.total = end;
        if end <= wanted.start || start >= wanted.end {
            return;
        }
        let from = usize::try_from(wanted.start.saturating_sub(start)).unwrap_or(usize::MAX);
        let to = usize::try_from(wanted.end.min(end) - start).unwrap_or(usize::MAX);
        self.text.extend(text.chars().skip(from).take(to - from));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives a few bytes at a time.
    struct Trickle<'t>(&'t [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(self.1).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn of(bytes: &[u8], step: usize, offset: u64, limit: u64) -> Window {
        window(Trickle(bytes, step), offset, limit, &|| true).unwrap()
    }

    proptest! {
        #[test]
        fn a_window_holds_the_characters_that_are_there(
            bytes in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..200),
                ".{0,60}".prop_map(String::into_bytes),
            ],
            step in 1_usize..9,
            offset in 0_usize..80,
            limit in 1_usize..80,
        ) {
            let whole = String::from_utf8_lossy(&bytes).into_owned();
            let found = of(&bytes, step, offset as u64, limit as u64);
            prop_assert_eq!(found.text, whole.chars().skip(offset).take(limit).collect::<String>());
            prop_assert_eq!(found.total, whole.chars().count() as u64);
        }
    }

    #[test]
    fn windows_that_follow_each_other_are_the_whole_text() {
        let text = "größe 数 😀\n".repeat(20_000);
        let (mut whole, mut offset) = (String::new(), 0);
        loop {
            let part = of(text.as_bytes(), 60_001, offset, 8_000);
            if part.text.is_empty() {
                assert_eq!(part.total, offset);
                break;
            }
            offset += part.text.chars().count() as u64;
            whole.push_str(&part.text);
        }
        assert_eq!(whole, text);
    }

    #[test]
    fn whoever_does_not_want_it_any_more_is_heeded() {
        let endless = io::repeat(b'x');
        let error = window(endless, 0, 10, &|| false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
    }
}
