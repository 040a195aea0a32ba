//! Decides whether a line is valid JSON.
//!
//! Asked of every line that comes from the client, which is owed a parse error, and of those an
//! upstream sends that are short enough to look at. Depth costs little memory and no stack.

use std::io::{self, Read};

use serde::de::IgnoredAny;

use crate::{valid, walk::Passed};

/// Why a line is not JSON, in words for whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotJson(String);

impl std::fmt::Display for NotJson {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for NotJson {}

/// Checks that `bytes` are one JSON value in UTF-8.
pub fn check(bytes: &[u8]) -> Result<(), NotJson> {
    if let Err(error) = std::str::from_utf8(bytes) {
        return Err(not_utf8(error.valid_up_to() as u64));
    }
    if valid::is_valid(bytes, None) {
        return Ok(());
    }
    // It is wrong: a parser says where.
    serde_json::from_slice::<IgnoredAny>(bytes)
        .map(drop)
        .map_err(|error| NotJson(error.to_string()))
}

/// True if `bytes` are one JSON value, apart from their UTF-8. For a text so long that its memory is
/// to be given back on the way.
pub fn is_valid_telling(bytes: &[u8], passed: Passed<'_>) -> bool {
    valid::is_valid(bytes, passed)
}

/// True if `bytes` are UTF-8. For a text so long that its memory is to be given back on the way.
pub fn is_utf8_telling(bytes: &[u8], passed: Passed<'_>) -> bool {
    const STEP: usize = 16 * 1024 * 1024;
    let mut utf8 = Utf8Check::default();
    for (index, part) in bytes.chunks(STEP).enumerate() {
        utf8.push(part);
        if let Some(passed) = passed {
            passed(&bytes[index * STEP..]);
        }
    }
    utf8.first_invalid().is_none()
}

/// Checks that `reader` yields one JSON value in UTF-8, without holding it in memory.
///
/// The outer error is the reader's own.
pub fn check_reader(reader: impl Read) -> io::Result<Result<(), NotJson>> {
    let mut utf8 = Utf8Reader { inner: reader, check: Utf8Check::default() };
    // serde_json takes its bytes one by one; without a buffer each would be a call.
    let parsed = serde_json::from_reader::<_, IgnoredAny>(io::BufReader::with_capacity(
        64 * 1024,
        &mut utf8,
    ));
    match (parsed, utf8.check.first_invalid()) {
        (Err(error), _) if error.is_io() => Err(error.into()),
        (_, Some(at)) => Ok(Err(not_utf8(at))),
        (Err(error), None) => Ok(Err(NotJson(error.to_string()))),
        (Ok(_), None) => Ok(Ok(())),
    }
}

fn not_utf8(at: u64) -> NotJson {
    NotJson(format!("invalid UTF-8 at byte {at}"))
}

/// Notices whether bytes are UTF-8, in any split of them.
#[derive(Debug, Default)]
pub struct Utf8Check {
    /// The beginning of a character whose rest has not come yet.
    carry: Vec<u8>,
    /// How many bytes before `carry` are known to be good.
    seen: u64,
    invalid_at: Option<u64>,
}

impl Utf8Check {
    /// Takes the next bytes into account.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !self.carry.is_empty() && !bytes.is_empty() {
            let mut carry = std::mem::take(&mut self.carry);
            carry.push(bytes[0]);
            bytes = &bytes[1..];
            self.push_after_whole_characters(&carry);
        }
        self.push_after_whole_characters(bytes);
    }

    /// Where the first byte stands that is not UTF-8, once all bytes have been seen.
    pub fn first_invalid(&self) -> Option<u64> {
        self.invalid_at.or((!self.carry.is_empty()).then_some(self.seen))
    }

    fn push_after_whole_characters(&mut self, bytes: &[u8]) {
        let Err(error) = std::str::from_utf8(bytes) else {
            self.seen += bytes.len() as u64;
            return;
        };
        self.seen += error.valid_up_to() as u64;
        if error.error_len().is_some() {
            self.invalid_at.get_or_insert(self.seen);
        } else {
            self.carry = bytes[error.valid_up_to()..].to_vec();
        }
    }
}

/// Passes bytes on and looks at them on the way; the first that is not UTF-8 ends the stream.
struct Utf8Reader<R> {
    inner: R,
    check: Utf8Check,
}

impl<R: Read> Read for Utf8Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.check.invalid_at.is_some() {
            return Ok(0);
        }
        let count = self.inner.read(buffer)?;
        self.check.push(&buffer[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use forebay_testkit::trickle::Trickle;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nesting_of_100_000_levels_is_only_memory() {
        let deep = [b"[".repeat(100_000), b"]".repeat(100_000)].concat();
        assert_eq!(check(&deep), Ok(()));
        assert_eq!(check_reader(deep.as_slice()).unwrap(), Ok(()));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(
            check(b"{oops").unwrap_err().to_string(),
            "key must be a string at line 1 column 2"
        );
        assert_eq!(check(b"\"\xff\"").unwrap_err().to_string(), "invalid UTF-8 at byte 1");
        let split = check_reader(Trickle(b"\"\xe2\x82\"", 1)).unwrap();
        assert_eq!(split.unwrap_err().to_string(), "invalid UTF-8 at byte 1");
    }

    proptest! {
        #[test]
        fn the_reader_judges_as_the_slice(
            text in r#"[\[\]{}",:0-9ae\\éé漢]{0,40}"#,
            noise in prop::option::of(any::<(u8, prop::sample::Index)>()),
            portion in 1_usize..9,
        ) {
            let mut bytes = format!("[\"{text}\"]").into_bytes();
            if let Some((byte, index)) = noise {
                let at = index.index(bytes.len());
                bytes[at] = byte;
            }
            let whole = check(&bytes).is_ok();
            let streamed = check_reader(Trickle(&bytes, portion)).unwrap().is_ok();
            prop_assert_eq!(whole, streamed);
        }
    }
}
