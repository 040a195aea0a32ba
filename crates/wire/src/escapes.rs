//! Decodes the escapes of a JSON string, 64 bytes at a time.
//!
//! Records in a text block are full of escapes, one every few bytes: so their places are found for a
//! whole block at once, and what is between them is copied in words, too much rather than too little,
//! to be written over by what follows.

use crate::skip::Block;

/// The longest escape: a pair of surrogates.
pub const LONGEST: usize = 12;
/// How much room there must be behind what is decoded.
pub const SLACK: usize = 64 + WORD;

const WORD: usize = 16;

/// What the byte after a backslash stands for, or 0 if that takes more than this table.
const SINGLE: [u8; 256] = {
    let mut table = [0; 256];
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'/' as usize] = b'/';
    table[b'n' as usize] = b'\n';
    table[b't' as usize] = b'\t';
    table[b'r' as usize] = b'\r';
    table[b'b' as usize] = 8;
    table[b'f' as usize] = 12;
    table
};

/// Decodes `text` up to `limit`, or the end of the escape that goes past it, into `out`, which must
/// have room for all of it and [`SLACK`]. Returns how much that is, and how long it got; `None` if it
/// holds half a surrogate pair, which no text can.
pub fn decode(text: &[u8], limit: usize, out: &mut [u8]) -> Option<(usize, usize)> {
    let (mut at, mut written) = (0, 0);
    while let Some(bytes) = text.get(at..limit).and_then(|rest| rest.first_chunk::<64>()) {
        let mut backslashes = Block::of(bytes).equal_to(b'\\');
        // What of the block has been dealt with.
        let mut done = 0;
        while backslashes != 0 {
            let place = backslashes.trailing_zeros() as usize;
            copy_short(&bytes[done..], place - done, &mut out[written..]);
            written += place - done;
            let single = text.get(at + place + 1).map_or(0, |byte| SINGLE[usize::from(*byte)]);
            let length = if single == 0 {
                let (length, bytes) = escape(&text[at + place..], &mut out[written..])?;
                written += bytes;
                length
            } else {
                out[written] = single;
                written += 1;
                2
            };
            done = place + length;
            // What belongs to the escape is no escape of its own.
            backslashes &= if done < 64 { u64::MAX << done } else { 0 };
        }
        if let Some(rest) = bytes.get(done..) {
            out[written..written + rest.len()].copy_from_slice(rest);
            written += rest.len();
        }
        at += done.max(64);
    }
    while at < limit {
        let (length, bytes) = if text[at] == b'\\' {
            escape(&text[at..], &mut out[written..])?
        } else {
            out[written] = text[at];
            (1, 1)
        };
        at += length;
        written += bytes;
    }
    Some((at, written))
}

/// Copies `count` bytes, up to 64, and perhaps some more.
fn copy_short(from: &[u8], count: usize, to: &mut [u8]) {
    match (from.first_chunk::<WORD>(), to.first_chunk_mut::<WORD>()) {
        (Some(word), Some(room)) if count <= WORD => *room = *word,
        _ => to[..count].copy_from_slice(&from[..count]),
    }
}

/// Decodes the escape at the front of `text`. Returns its length, and how many bytes it stands for.
fn escape(text: &[u8], out: &mut [u8]) -> Option<(usize, usize)> {
    match text.get(1)? {
        b'u' => unicode(text, out),
        byte => {
            // An escape that JSON does not know stands for itself.
            let single = SINGLE[usize::from(*byte)];
            out[0] = if single == 0 { *byte } else { single };
            Some((2, 1))
        }
    }
}

fn unicode(text: &[u8], out: &mut [u8]) -> Option<(usize, usize)> {
    let unit = |at: usize| -> Option<u16> {
        let digits = std::str::from_utf8(text.get(at..at + 4)?).ok()?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(2)?;
    let second = (text.get(6..8) == Some(b"\\u")).then(|| unit(8)).flatten();
    let (decoded, length) = match (char::decode_utf16([first]).next(), second) {
        (Some(Ok(character)), _) => (character, 6),
        (_, Some(second)) => (char::decode_utf16([first, second]).next()?.ok()?, 12),
        (_, None) => return None,
    };
    Some((length, decoded.encode_utf8(out).len()))
}
