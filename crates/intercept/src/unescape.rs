//! Turns the text of a JSON string into the bytes that it stands for, piece by piece.

use std::{
    io::{self, Read, Write},
    panic,
    sync::mpsc,
    thread,
};

use forebay_proxy::body::Payload;
use forebay_records::both;
use forebay_wire::{escapes, syntax::Utf8Check};

/// Why a string could not be decoded.
#[derive(Debug)]
pub(crate) enum Trouble {
    Io(io::Error),
    /// It holds half a surrogate pair, or is no UTF-8: no text can.
    NotText,
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// How much is read at once.
const CHUNK: usize = 256 * 1024;
/// A shorter string is decoded sooner than a thread is started.
const MIN_SPLIT_BYTES: usize = 256 * 1024;
/// The longest escape, and the closing quote on top.
const LONGEST: usize = escapes::LONGEST + 1;

/// Copies the string that `json` yields, quotes included, to `sink`, decoded: on this thread, while
/// another writes.
pub(crate) fn copy(json: &mut dyn Read, sink: &mut (dyn Write + Send)) -> Result<(), Trouble> {
    /// Pieces that are decoded and not yet written, at most.
    const AHEAD: usize = 2;
    let (pieces, decoded) = mpsc::sync_channel::<Vec<u8>>(AHEAD);
    let (used, spare) = mpsc::channel::<Vec<u8>>();
    thread::scope(|scope| {
        let writer =
            thread::Builder::new().name("keeper".to_owned()).spawn_scoped(scope, || {
                decoded.into_iter().try_for_each(|piece| -> io::Result<()> {
                    sink.write_all(&piece)?;
                    // Nobody takes the last ones.
                    let _ = used.send(piece);
                    Ok(())
                })
            })?;
        let copied = decode_in_pieces(json, |piece| {
            let next = spare.try_recv().unwrap_or_default();
            // If nobody takes it, the writer says why.
            pieces.send(std::mem::replace(piece, next)).is_ok()
        });
        drop(pieces);
        match writer.join() {
            Ok(written) => written?,
            Err(panic) => panic::resume_unwind(panic),
        }
        copied
    })
}

/// Writes what a string says, in memory or not, to `sink`; returns how long that is.
pub(crate) fn part(json: &Payload, sink: &mut (dyn Write + Send)) -> Result<usize, Trouble> {
    if let Some(json) = json.in_memory() {
        let text = whole(json)?;
        sink.write_all(&text)?;
        return Ok(text.len());
    }
    let mut counted = Counted { sink, bytes: 0 };
    copy(&mut *json.reader(), &mut counted)?;
    Ok(counted.bytes)
}

/// Counts what is written.
struct Counted<'a> {
    sink: &'a mut (dyn Write + Send),
    bytes: usize,
}

impl Write for Counted<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let count = self.sink.write(buffer)?;
        self.bytes += count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// Decodes a string piece by piece, each into a buffer that `take` may keep; `take` says whether to go
/// on.
fn decode_in_pieces(
    json: &mut dyn Read,
    mut take: impl FnMut(&mut Vec<u8>) -> bool,
) -> Result<(), Trouble> {
    let mut buffer = vec![0; CHUNK];
    let mut decoded = Vec::new();
    let mut utf8 = Utf8Check::default();
    let mut held = 0;
    let mut is_first = true;
    loop {
        let count = json.read(&mut buffer[held..])?;
        let is_end = count == 0;
        let available = held + count;
        let start = usize::from(std::mem::take(&mut is_first)).min(available);
        let text = &buffer[start..available];
        // The closing quote is the last byte of all, and no part of the text.
        let sure = text.len().saturating_sub(if is_end { 1 } else { LONGEST });
        // What is decoded is never longer than what stood for it.
        decoded.resize(CHUNK + escapes::SLACK, 0);
        let (used, written) = escapes::decode(text, sure, &mut decoded).ok_or(Trouble::NotText)?;
        decoded.truncate(written);
        utf8.push(&decoded);
        if !take(&mut decoded) {
            return Ok(());
        }
        if is_end {
            return if utf8.first_invalid().is_none() { Ok(()) } else { Err(Trouble::NotText) };
        }
        buffer.copy_within(start + used..available, 0);
        held = available - start - used;
    }
}

/// The string that `json` is, quotes included, decoded with two threads.
pub(crate) fn whole(json: &[u8]) -> Result<Vec<u8>, Trouble> {
    let text = json.get(1..json.len().saturating_sub(1)).unwrap_or_default();
    let (first, second) = text.split_at(middle(text));
    // What is decoded is never longer than what stood for it.
    let mut out = vec![0; text.len() + 2 * escapes::SLACK];
    let (head, tail) = out.split_at_mut(first.len() + escapes::SLACK);
    let (second, first) =
        both(text.len() >= MIN_SPLIT_BYTES, || decode(second, tail), || decode(first, head));
    let (first_bytes, second_bytes) = (first?, second?);
    let start = head.len();
    out.copy_within(start..start + second_bytes, first_bytes);
    out.truncate(first_bytes + second_bytes);
    Ok(out)
}

/// What the beginning of some JSON says: if it is a string, decoded.
pub(crate) fn head(json: &[u8]) -> String {
    let Some(text) = json.strip_prefix(b"\"") else {
        return String::from_utf8_lossy(json).into_owned();
    };
    let mut out = vec![0; text.len() + escapes::SLACK];
    let sure = text.len().saturating_sub(LONGEST);
    let written = escapes::decode(text, sure, &mut out).map_or(0, |(_, written)| written);
    String::from_utf8_lossy(&out[..written]).into_owned()
}

/// A place near the middle of `text` that is in no escape and no character.
fn middle(text: &[u8]) -> usize {
    const SEARCHED: usize = 4_096;
    let half = text.len() / 2;
    let is_between = |at: &usize| {
        text[*at].is_ascii() && memchr::memchr(b'\\', &text[at - LONGEST..*at]).is_none()
    };
    let mut places = half.max(LONGEST)..text.len().min(half + SEARCHED);
    places.find(is_between).unwrap_or(text.len())
}

/// Decodes all of `text` into `out`; returns how long it got.
fn decode(text: &[u8], out: &mut [u8]) -> Result<usize, Trouble> {
    let (_, written) = escapes::decode(text, text.len(), out).ok_or(Trouble::NotText)?;
    match std::str::from_utf8(&out[..written]) {
        Ok(_) => Ok(written),
        Err(_) => Err(Trouble::NotText),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use forebay_testkit::trickle::Trickle;
    use proptest::prelude::*;

    use super::*;

    fn read(json: &[u8], portion: usize) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let read = copy(&mut Trickle(json, portion), &mut out).ok().map(|()| out);
        assert_eq!(read, whole(json).ok(), "both ways");
        read
    }

    /// The same JSON in ASCII alone.
    fn escaped(json: &str) -> String {
        let mut out = String::new();
        for character in json.chars() {
            if character.is_ascii() {
                out.push(character);
            } else {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
        out
    }

    proptest! {
        #[test]
        fn a_string_decodes_as_a_parser_does(
            text in "(\\PC|[\"\\\\\n\t\u{1}😀漢]){0,200}", ascii in any::<bool>(), portion in 1_usize..50
        ) {
            let mut json = serde_json::Value::from(text.as_str()).to_string();
            if ascii {
                json = escaped(&json);
            }
            prop_assert_eq!(read(json.as_bytes(), portion), Some(text.into_bytes()));
        }
    }

    #[test]
    fn the_head_of_a_string_is_decoded_as_far_as_it_is_sure() {
        let text = "line\n\"é\" 😀 ".repeat(50);
        let json = escaped(&serde_json::Value::from(text.as_str()).to_string());
        for end in 1..json.len() {
            let head = head(&json.as_bytes()[..end]);
            assert!(text.starts_with(&head) && head.len() + 2 * LONGEST + 4 > end / 6, "{head}");
        }
        assert_eq!(head(b"{\"a\":1"), "{\"a\":1");
    }

    #[test]
    fn half_a_surrogate_pair_is_no_text() {
        for json in [r#""\ud800""#, r#""\ud800\u0041""#, r#""a\udc00b""#, r#""\ud8""#] {
            assert_eq!(read(json.as_bytes(), 64), None, "{json}");
        }
        assert_eq!(read(br#""\/\u0041""#, 3), Some(b"/A".to_vec()));
    }
}
