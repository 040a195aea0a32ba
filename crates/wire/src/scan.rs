//! Finds chosen members of a JSON object, or of each object of an array, in any split of its bytes.
//!
//! The scanner follows the structure at the top and skips over whatever is nested below it. For
//! each chosen key it yields where the value stands and, for a short scalar, the value itself. As
//! in every common parser, the last of several equal keys counts. A scan holds a few hundred bytes,
//! however large the message.

use std::{borrow::Cow, ops::Range};

use crate::skip::{Skipper, string_part};

/// A scalar longer than this is found but not kept.
const MAX_SCALAR_BYTES: usize = 64 * 1024;
/// A scalar of an object in an array that is longer than this is not kept either: there may be many.
const MAX_SCALAR_BYTES_OF_MANY: usize = 4 * 1024;
/// A key longer than this, as written, is none that anyone looks for.
const MAX_KEY_BYTES: usize = 512;
/// The objects of an array with more than this are not told apart, to bound what a scan holds.
const MAX_OBJECTS: usize = 10_000;

/// What stands in the scanned bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outline<const N: usize> {
    /// Nothing but white space.
    Blank,
    /// One object.
    Object(Object<N>),
    /// An array; its elements that are objects.
    Array(Vec<Object<N>>),
    /// An array of more objects than a scan holds.
    Crowd,
    /// Neither an object nor an array, or not well-formed at the top.
    Other,
}

/// An object: where it stands, and its chosen members in the order of the keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object<const N: usize> {
    /// From its opening bracket to just after its closing one.
    pub span: Range<u64>,
    /// The members found, in the order of the scanner's keys.
    pub members: [Option<Value>; N],
}

/// A member's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// Where it stands, counted from the first byte scanned.
    pub span: Range<u64>,
    /// The text of a string (with its quotes), number or literal; `None` for an object, an array
    /// or a scalar too long to keep.
    pub scalar: Option<Vec<u8>>,
}

/// Scans bytes as they arrive for the members named by `keys`.
#[derive(Debug, Clone)]
pub struct Scanner<const N: usize> {
    keys: [&'static str; N],
    state: State,
    /// How many bytes have been scanned.
    position: u64,
    in_array: bool,
    /// The object being scanned; `None` between the elements of an array.
    object: Option<Object<N>>,
    objects: Vec<Object<N>>,
    is_crowd: bool,
    key: Vec<u8>,
    /// Which of `keys` the current member is.
    wanted: Option<usize>,
    value_start: u64,
    scalar: Vec<u8>,
}

#[derive(Debug, Clone)]
enum State {
    Start,
    /// Before a member's key; the flag says whether the object may end here instead.
    BeforeKey {
        may_end: bool,
    },
    InKey {
        escaped: bool,
    },
    BeforeColon,
    /// Before a value; the flag says whether the array may end here instead.
    BeforeValue {
        may_end: bool,
    },
    InString {
        escaped: bool,
    },
    InLiteral,
    InContainer(Skipper),
    AfterValue,
    Done,
    Malformed,
}

/// Scans all of `json` at once for `keys`.
pub fn outline<const N: usize>(json: &[u8], keys: [&'static str; N]) -> Outline<N> {
    let mut scanner = Scanner::new(keys);
    scanner.push(json);
    scanner.finish()
}

/// Returns the text of the members of the object `json` that are named by `keys`.
pub fn members<'a, const N: usize>(
    json: &'a [u8],
    keys: [&'static str; N],
) -> [Option<&'a [u8]>; N] {
    let Outline::Object(object) = outline(json, keys) else { return [None; N] };
    object.members.map(|member| member.and_then(|value| slice(json, &value.span)))
}

/// Returns the bytes at `span`, if it lies within `bytes`.
pub fn slice<'a>(bytes: &'a [u8], span: &Range<u64>) -> Option<&'a [u8]> {
    bytes.get(usize::try_from(span.start).ok()?..usize::try_from(span.end).ok()?)
}

/// Decodes a JSON string as it is written, quotes included.
pub fn string(json: &[u8]) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', inner).is_none() {
        return std::str::from_utf8(inner).ok().map(Cow::Borrowed);
    }
    serde_json::from_slice(json).ok().map(Cow::Owned)
}

impl<const N: usize> Scanner<N> {
    /// Starts a scan for the members named by `keys`.
    pub fn new(keys: [&'static str; N]) -> Self {
        Self {
            keys,
            state: State::Start,
            position: 0,
            in_array: false,
            object: None,
            objects: Vec::new(),
            is_crowd: false,
            key: Vec::new(),
            wanted: None,
            value_start: 0,
            scalar: Vec::new(),
        }
    }

    /// Takes the next bytes into account, however the whole is split.
    pub fn push(&mut self, mut chunk: &[u8]) {
        while !chunk.is_empty() {
            let used = self.step(chunk);
            self.position += used as u64;
            chunk = chunk.get(used..).unwrap_or_default();
        }
    }

    /// The object at the top as far as it has been scanned, and which member is being scanned; `None` if
    /// it has ended, or is something else.
    pub fn unfinished(&self) -> Option<(&Object<N>, Option<usize>)> {
        let is_sound = !self.in_array && !matches!(self.state, State::Malformed);
        self.object.as_ref().filter(|_| is_sound).map(|object| (object, self.wanted))
    }

    /// Ends the scan.
    pub fn finish(mut self) -> Outline<N> {
        match self.state {
            State::Start => Outline::Blank,
            State::Done if self.is_crowd => Outline::Crowd,
            State::Done if self.in_array => Outline::Array(self.objects),
            State::Done => self.objects.pop().map_or(Outline::Other, Outline::Object),
            State::BeforeKey { .. }
            | State::InKey { .. }
            | State::BeforeColon
            | State::BeforeValue { .. }
            | State::InString { .. }
            | State::InLiteral
            | State::InContainer(_)
            | State::AfterValue
            | State::Malformed => Outline::Other,
        }
    }

    /// Handles the front of `chunk` (not empty) and returns how much of it was used.
    ///
    /// Only [`State::InLiteral`] may use nothing, and then it leaves its state.
    fn step(&mut self, chunk: &[u8]) -> usize {
        match &mut self.state {
            State::InKey { .. } => self.in_key(chunk),
            State::InString { .. } => self.in_string(chunk),
            State::InLiteral => self.in_literal(chunk),
            State::InContainer(skipper) => match skipper.skip(chunk) {
                Some(used) => {
                    self.end_value(used, None);
                    used
                }
                None => chunk.len(),
            },
            State::Malformed => chunk.len(),
            State::Start
            | State::BeforeKey { .. }
            | State::BeforeColon
            | State::BeforeValue { .. }
            | State::AfterValue
            | State::Done => {
                match chunk.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
                    None => chunk.len(),
                    Some(at) => {
                        self.between_tokens(chunk[at], at as u64);
                        at + 1
                    }
                }
            }
        }
    }

    /// Handles the first byte of a token, `ahead` bytes after the current position.
    fn between_tokens(&mut self, byte: u8, ahead: u64) {
        let at = self.position + ahead;
        self.state = match (&self.state, byte) {
            (State::Start, b'{') => self.open_object(at),
            (State::Start, b'[') => {
                self.in_array = true;
                State::BeforeValue { may_end: true }
            }
            (State::BeforeKey { .. }, b'"') => {
                self.key.clear();
                State::InKey { escaped: false }
            }
            (State::BeforeKey { may_end: true } | State::AfterValue, b'}')
                if self.object.is_some() =>
            {
                self.close_object(at + 1)
            }
            (State::BeforeColon, b':') => State::BeforeValue { may_end: false },
            (State::BeforeValue { may_end: true }, b']') => State::Done,
            (State::AfterValue, b']') if self.object.is_none() => State::Done,
            (State::BeforeValue { .. }, b'{') if self.object.is_none() => self.open_object(at),
            (State::BeforeValue { .. }, _) => self.open_value(byte, at),
            (State::AfterValue, b',') if self.object.is_some() => {
                State::BeforeKey { may_end: false }
            }
            (State::AfterValue, b',') => State::BeforeValue { may_end: false },
            _ => State::Malformed,
        };
    }

    fn open_object(&mut self, at: u64) -> State {
        self.object = Some(Object { span: at..at, members: [const { None }; N] });
        State::BeforeKey { may_end: true }
    }

    fn close_object(&mut self, end: u64) -> State {
        match self.object.take() {
            Some(_) if self.objects.len() == MAX_OBJECTS => self.is_crowd = true,
            Some(mut object) => {
                object.span.end = end;
                self.objects.push(object);
            }
            None => {}
        }
        if self.in_array { State::AfterValue } else { State::Done }
    }

    fn open_value(&mut self, byte: u8, at: u64) -> State {
        self.value_start = at;
        self.scalar.clear();
        match byte {
            b'{' | b'[' => State::InContainer(Skipper::after_opening()),
            b'"' => {
                self.keep(b"\"");
                State::InString { escaped: false }
            }
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                self.keep(&[byte]);
                State::InLiteral
            }
            _ => State::Malformed,
        }
    }

    /// Ends the current value `ahead` bytes after the current position.
    fn end_value(&mut self, ahead: usize, scalar: Option<Vec<u8>>) {
        let span = self.value_start..self.position + ahead as u64;
        if let (Some(object), Some(wanted)) = (&mut self.object, self.wanted.take()) {
            object.members[wanted] = Some(Value { span, scalar });
        }
        self.state = State::AfterValue;
    }

    fn end_scalar(&mut self, ahead: usize) {
        let kept = self.wanted.is_some() && self.scalar.len() <= self.max_scalar_bytes();
        let scalar = kept.then(|| std::mem::take(&mut self.scalar));
        self.end_value(ahead, scalar);
    }

    fn in_key(&mut self, chunk: &[u8]) -> usize {
        let State::InKey { escaped } = &mut self.state else { return 0 };
        let (used, ended) = string_part(chunk, escaped);
        let text = &chunk[..used - usize::from(ended)];
        if self.key.len() <= MAX_KEY_BYTES {
            self.key.extend_from_slice(&text[..text.len().min(MAX_KEY_BYTES + 1)]);
        }
        if ended {
            self.wanted = self.key_index();
            self.state = State::BeforeColon;
        }
        used
    }

    fn key_index(&self) -> Option<usize> {
        if memchr::memchr(b'\\', &self.key).is_none() {
            return self.keys.iter().position(|key| key.as_bytes() == self.key);
        }
        let decoded = string(&[b"\"", self.key.as_slice(), b"\""].concat())?.into_owned();
        self.keys.iter().position(|key| *key == decoded)
    }

    fn in_string(&mut self, chunk: &[u8]) -> usize {
        let State::InString { escaped } = &mut self.state else { return 0 };
        let (used, ended) = string_part(chunk, escaped);
        self.keep(&chunk[..used]);
        if ended {
            self.end_scalar(used);
        }
        used
    }

    fn in_literal(&mut self, chunk: &[u8]) -> usize {
        let end = chunk
            .iter()
            .position(|byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'+' | b'-' | b'.' | b'E'))
            .unwrap_or(chunk.len());
        self.keep(&chunk[..end]);
        if end < chunk.len() {
            self.end_scalar(end);
        }
        end
    }

    fn max_scalar_bytes(&self) -> usize {
        if self.in_array { MAX_SCALAR_BYTES_OF_MANY } else { MAX_SCALAR_BYTES }
    }

    /// Keeps a scalar's bytes if someone wants them, up to one past the limit.
    fn keep(&mut self, bytes: &[u8]) {
        if self.object.is_some() && self.wanted.is_some() {
            let room = (self.max_scalar_bytes() + 1).saturating_sub(self.scalar.len());
            self.scalar.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }
}

#[cfg(test)]
mod tests;
