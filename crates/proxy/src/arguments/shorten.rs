//! Makes long arguments short while they are read, in any split of their bytes.
//!
//! The beginning of each argument stays, so that a long one hides none of the others. The result is
//! JSON again, and says how long that is which was cut.

use std::mem;

/// How much stays of each argument.
const ARGUMENT_BYTES: usize = 1024;
/// How much stays of all; arguments beyond it are counted.
const TOTAL_BYTES: usize = 16 * 1024;

/// Shortens an object member by member, and anything else as a whole.
#[derive(Debug, Default)]
pub(super) struct Shortener {
    written: Vec<u8>,
    /// The beginning of the member, or of the whole, without white space.
    begun: Vec<u8>,
    /// How long it is, without white space outside of strings.
    bytes: u64,
    /// How much of that is the member's name, with its colon.
    name_bytes: u64,
    is_object: bool,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    left_out: u64,
}

impl Shortener {
    /// Takes the next bytes of JSON that is valid.
    pub(super) fn push(&mut self, mut chunk: &[u8]) {
        while let [byte, rest @ ..] = chunk {
            // Most of what is long is text, of which most needs no look.
            let is_plain = |byte: &u8| !matches!(byte, b'"' | b'\\');
            if self.in_string && !self.is_escaped && is_plain(byte) {
                let end = chunk.iter().position(|byte| !is_plain(byte)).unwrap_or(chunk.len());
                self.note(&chunk[..end]);
                chunk = &chunk[end..];
            } else {
                self.take(*byte);
                chunk = rest;
            }
        }
    }

    /// The arguments, shortened.
    pub(super) fn finish(mut self) -> Vec<u8> {
        if !self.is_object {
            return self.mended();
        }
        if self.left_out > 0 {
            self.separate();
            self.written.extend(format!("\"…\":\"({} more)\"", self.left_out).bytes());
        }
        self.written.push(b'}');
        self.written
    }

    fn take(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return self.note(&[byte]);
        }
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => return,
            b'{' if self.depth == 0 && self.bytes == 0 => {
                self.is_object = true;
                self.depth = 1;
                self.written.push(b'{');
                return;
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b'"' => self.in_string = true,
            _ => {}
        }
        let ends_member = matches!((byte, self.depth), (b',', 1) | (b'}', 0));
        if self.is_object && ends_member {
            return self.end_member();
        }
        self.note(&[byte]);
        if byte == b':' && self.is_object && self.depth == 1 {
            self.name_bytes = self.bytes;
        }
    }

    fn note(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let room = ARGUMENT_BYTES - self.begun.len();
        self.begun.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn end_member(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let member = self.mended();
        if self.written.len() + member.len() > TOTAL_BYTES {
            self.left_out += 1;
        } else {
            self.separate();
            self.written.extend(member);
        }
    }

    fn separate(&mut self) {
        if self.written.len() > 1 {
            self.written.push(b',');
        }
    }

    /// What has begun, as it stands or made whole again.
    fn mended(&mut self) -> Vec<u8> {
        let begun = mem::take(&mut self.begun);
        let bytes = mem::take(&mut self.bytes);
        let value_bytes = bytes - mem::take(&mut self.name_bytes);
        let is_whole = begun.len() as u64 == bytes;
        match (is_whole, self.is_object) {
            (true, _) => begun,
            (false, false) => mended(&begun, value_bytes),
            (false, true) => {
                // A member alone is no JSON.
                let object = mended(&[b"{", begun.as_slice()].concat(), value_bytes);
                object[1..object.len() - 1].to_vec()
            }
        }
    }
}

/// Ends the beginning of a JSON text, which has no white space between tokens, where it can be ended,
/// and says how long the whole was.
fn mended(begun: &[u8], bytes: u64) -> Vec<u8> {
    // What closes the containers that are open, and the end of the last value that is whole.
    let mut open: Vec<u8> = Vec::new();
    let mut whole_to = 0;
    let mut is_name = false;
    let mut at = 0;
    while let Some(byte) = begun.get(at) {
        match byte {
            b'{' | b'[' => {
                open.push(if *byte == b'{' { b'}' } else { b']' });
                is_name = *byte == b'{';
                at += 1;
                whole_to = at;
            }
            b'}' | b']' => {
                open.pop();
                at += 1;
                whole_to = at;
            }
            b',' => {
                is_name = open.last() == Some(&b'}');
                at += 1;
            }
            b':' => {
                is_name = false;
                at += 1;
            }
            b'"' => match string_end(&begun[at..]) {
                Some(end) => {
                    at += end;
                    whole_to = if is_name { whole_to } else { at };
                }
                None if is_name => break,
                None => return cut_in_text(&begun[..at], &begun[at..], bytes, &open),
            },
            _ => {
                let rest = &begun[at..];
                let Some(end) = rest.iter().position(|byte| b",]}".contains(byte)) else { break };
                at += end;
                whole_to = at;
            }
        }
    }
    let mut out = begun[..whole_to].to_vec();
    if !matches!(out.last(), None | Some(b'{' | b'[')) {
        out.push(b',');
    }
    out.extend(match open.last() {
        Some(b'}') => format!("\"…\":\"({bytes} bytes)\"").into_bytes(),
        _ => format!("\"… ({bytes} bytes)\"").into_bytes(),
    });
    out.extend(open.iter().rev());
    out
}

/// Ends a text within it.
fn cut_in_text(before: &[u8], text: &[u8], bytes: u64, open: &[u8]) -> Vec<u8> {
    let mut out = [before, &text[..whole_characters(text)]].concat();
    out.extend(format!("… ({bytes} bytes)\"").into_bytes());
    out.extend(open.iter().rev());
    out
}

/// Where the string at the front of `json` ends, if it does.
fn string_end(json: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match json.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// How much of the beginning of a string holds no half of a character.
fn whole_characters(text: &[u8]) -> usize {
    const ESCAPE: usize = 6;
    let valid = match std::str::from_utf8(text) {
        Ok(_) => text.len(),
        Err(error) => error.valid_up_to(),
    };
    let mut at = 0;
    while at < valid {
        let rest = &text[at..valid];
        let is_first_half =
            matches!(rest, [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..]);
        let length = match rest {
            [b'\\', b'u', ..] if is_first_half => 2 * ESCAPE,
            [b'\\', b'u', ..] => ESCAPE,
            [b'\\', ..] => 2,
            _ => 1,
        };
        if length > rest.len() {
            return at;
        }
        at += length;
    }
    valid
}

#[cfg(test)]
mod tests;
