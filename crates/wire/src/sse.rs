//! Framing of server-sent events: one message is an event's data.
//!
//! [`Events`] takes bytes as they arrive and holds a few kilobytes of its own, however long an
//! event's data is. What an event means (which message it carries, where a stream is resumed) is
//! left to whoever asks.

#[cfg(any(test, fuzzing))]
pub mod judge;

use memchr::{memchr2, memchr2_iter, memchr3};

/// An id or a type longer than this is dropped, to bound what is held.
const MAX_VALUE_BYTES: usize = 4096;
/// The longest field name that means something.
const MAX_NAME_BYTES: usize = "event".len();
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Splits a stream of server-sent events, in any split of its bytes; data may be of any length.
#[derive(Debug, Default)]
pub struct Events {
    state: State,
    /// A line feed that comes next belongs to the line that has ended.
    after_carriage_return: bool,
    /// The current line's field, once its name is known.
    field: Field,
    /// What is kept of the current line: its name, then its value. At the start: the mark.
    kept: Vec<u8>,
    /// What is known of the current event.
    fields: Fields,
}

/// What comes next in a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token<'a> {
    /// A part of the event's data; where the data has several lines, a line feed is between them.
    Data(&'a [u8]),
    /// A comment has begun (servers send some to keep a connection alive).
    Comment,
    /// The event has ended. One that had neither data nor any of the other fields is none.
    End(Fields),
}

/// What an event has besides its data.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Fields {
    /// From where the stream can be resumed; empty takes back what was said before.
    pub id: Option<String>,
    /// The event's type; `message` if none is given.
    pub event: Option<String>,
    /// After how many milliseconds to connect again.
    pub retry: Option<u64>,
    /// The event has data, be it empty.
    pub has_data: bool,
}

#[derive(Debug, Default)]
enum State {
    /// At the start of the stream, where a byte order mark may stand.
    #[default]
    Start,
    LineStart,
    Name,
    /// After the colon, where one space is passed over.
    Space,
    Value,
}

#[derive(Debug, Default, Clone, Copy)]
enum Field {
    Data,
    Id,
    Event,
    Retry,
    #[default]
    Ignored,
}

impl Events {
    /// Takes the next token off the front of `input`; `None` once all of it has been taken.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Option<Token<'a>> {
        while let Some(first) = input.first() {
            let token = match self.state {
                State::Start => {
                    self.start(*first, input);
                    None
                }
                State::LineStart => self.line_start(*first, input),
                State::Name => self.name(input),
                State::Space => {
                    if *first == b' ' {
                        *input = &input[1..];
                    }
                    self.state = State::Value;
                    None
                }
                State::Value => self.value(input),
            };
            if token.is_some() {
                return token;
            }
        }
        None
    }

    fn start(&mut self, byte: u8, input: &mut &[u8]) {
        if BYTE_ORDER_MARK.get(self.kept.len()) == Some(&byte) {
            self.kept.push(byte);
            *input = &input[1..];
        } else if self.kept.is_empty() || self.kept == BYTE_ORDER_MARK {
            self.state = State::LineStart;
        } else {
            // Half a mark is the beginning of a name that nobody knows.
            self.state = State::Name;
        }
    }

    fn line_start<'a>(&mut self, byte: u8, input: &mut &'a [u8]) -> Option<Token<'a>> {
        let ends_the_last_line = std::mem::take(&mut self.after_carriage_return) && byte == b'\n';
        if ends_the_last_line {
            *input = &input[1..];
            return None;
        }
        if !matches!(byte, b'\n' | b'\r') {
            self.kept.clear();
            self.state = State::Name;
            return None;
        }
        self.end_line(byte, input);
        let fields = std::mem::take(&mut self.fields);
        (fields != Fields::default()).then_some(Token::End(fields))
    }

    fn name<'a>(&mut self, input: &mut &'a [u8]) -> Option<Token<'a>> {
        let end = memchr3(b':', b'\n', b'\r', input);
        let (part, rest) = input.split_at(end.unwrap_or(input.len()));
        self.keep(part, MAX_NAME_BYTES);
        *input = rest;
        end?;
        let has_colon = rest.starts_with(b":");
        if has_colon {
            *input = &rest[1..];
            self.state = State::Space;
        } else {
            self.state = State::Value;
        }
        self.field = match self.kept.as_slice() {
            b"data" => Field::Data,
            b"id" => Field::Id,
            b"event" => Field::Event,
            b"retry" => Field::Retry,
            _ => Field::Ignored,
        };
        let is_comment = self.kept.is_empty();
        self.kept.clear();
        match self.field {
            Field::Data => {
                let is_another_line = std::mem::replace(&mut self.fields.has_data, true);
                is_another_line.then_some(Token::Data(b"\n"))
            }
            Field::Ignored if is_comment => Some(Token::Comment),
            Field::Id | Field::Event | Field::Retry | Field::Ignored => None,
        }
    }

    fn value<'a>(&mut self, input: &mut &'a [u8]) -> Option<Token<'a>> {
        let end = memchr2(b'\n', b'\r', input).unwrap_or(input.len());
        let (part, rest) = input.split_at(end);
        if part.is_empty() {
            self.end_value();
            self.end_line(rest[0], input);
            return None;
        }
        *input = rest;
        match self.field {
            Field::Data => return Some(Token::Data(part)),
            Field::Id | Field::Event | Field::Retry => self.keep(part, MAX_VALUE_BYTES),
            Field::Ignored => {}
        }
        None
    }

    /// Keeps what belongs to the current line, up to one byte past the limit.
    fn keep(&mut self, part: &[u8], limit: usize) {
        let room = (limit + 1).saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn end_value(&mut self) {
        let text = String::from_utf8_lossy(&self.kept);
        // What is no UTF-8 grows when it is replaced.
        if text.len() > MAX_VALUE_BYTES {
            return;
        }
        match self.field {
            Field::Id if !self.kept.contains(&0) => self.fields.id = Some(text.into_owned()),
            Field::Event => self.fields.event = Some(text.into_owned()),
            Field::Retry if self.kept.iter().all(u8::is_ascii_digit) => {
                self.fields.retry = text.parse().ok().or(self.fields.retry);
            }
            Field::Id | Field::Retry | Field::Data | Field::Ignored => {}
        }
    }

    fn end_line(&mut self, terminator: u8, input: &mut &[u8]) {
        *input = &input[1..];
        self.after_carriage_return = terminator == b'\r';
        self.state = State::LineStart;
    }
}

/// Writes an event's fields other than its data, a line each. A value that is not one line is left
/// out.
pub fn write_fields(fields: &Fields, out: &mut Vec<u8>) {
    for (name, value) in [("event", &fields.event), ("id", &fields.id)] {
        let Some(value) = value else { continue };
        if memchr2(b'\n', b'\r', value.as_bytes()).is_none() {
            out.extend_from_slice(format!("{name}: {value}\n").as_bytes());
        }
    }
    if let Some(retry) = fields.retry {
        out.extend_from_slice(format!("retry: {retry}\n").as_bytes());
    }
}

/// Writes (a part of) an event's data: a line feed in it begins another line of data, and a carriage
/// return, which in JSON is white space, becomes a space.
///
/// The caller writes `data: ` before the first part, and two line feeds after the last one.
pub fn write_data(part: &[u8], out: &mut Vec<u8>) {
    let mut done = 0;
    for at in memchr2_iter(b'\n', b'\r', part) {
        out.extend_from_slice(&part[done..at]);
        out.extend_from_slice(if part[at] == b'\n' { b"\ndata: " } else { b" " });
        done = at + 1;
    }
    out.extend_from_slice(&part[done..]);
}

#[cfg(test)]
mod tests;
