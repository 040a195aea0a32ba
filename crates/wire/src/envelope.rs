//! A message's envelope: its id, its method, and where the rest of it stands.
//!
//! `params`, `result` and `error` are places, not values; reading them is left to whoever has a
//! reason to.

use std::{
    hash::{Hash, Hasher},
    ops::Range,
};

use crate::scan::{self, Object, Outline, Scanner, Value};

const KEYS: [&str; 5] = ["id", "method", "params", "result", "error"];

/// Scans a line for its messages, in any split of its bytes.
#[derive(Debug, Clone)]
pub struct LineScanner(Scanner<5>);

/// What a line holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// White space only.
    Blank,
    /// One message.
    Message(Envelope),
    /// Several messages in an array (protocol revision 2025-03-26).
    Batch(Vec<Envelope>),
    /// Anything else: another JSON value, or no JSON at all.
    Other,
}

/// The facts of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Where the message stands in its line.
    pub span: Range<u64>,
    /// The request's id, or that of the request it answers. `null` counts as none.
    pub id: Option<Id>,
    /// The method, decoded.
    pub method: Option<String>,
    /// Where the parameters stand.
    pub params: Option<Range<u64>>,
    /// Where the result stands.
    pub result: Option<Range<u64>>,
    /// Where the error stands.
    pub error: Option<Range<u64>>,
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind<'a> {
    /// A request: someone waits for the answer.
    Request {
        /// Its id.
        id: &'a Id,
        /// Its method.
        method: &'a str,
    },
    /// A notification: nobody waits.
    Notification {
        /// Its method.
        method: &'a str,
    },
    /// The answer to the request with that id.
    Response {
        /// The request's id.
        id: &'a Id,
    },
    /// None of these.
    Other,
}

/// A request's id or a progress token: a string or a number, kept as it was written.
///
/// Two ids are equal when JSON says so: `1` and `1.0`, `"a"` and `"\u0061"`; never `1` and `"1"`.
#[derive(Debug, Clone)]
pub struct Id {
    written: String,
    meaning: Meaning,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Meaning {
    Integer(i64),
    /// A number that is no `i64`, as written.
    Number,
    Text(String),
    /// A string that cannot be decoded (a lone surrogate), as written.
    Opaque,
}

impl LineScanner {
    /// Starts a scan.
    pub fn new() -> Self {
        Self(Scanner::new(KEYS))
    }

    /// Takes the line's next bytes into account.
    pub fn push(&mut self, chunk: &[u8]) {
        self.0.push(chunk);
    }

    /// The request that the line answers, if that is known before the line has ended.
    pub fn answers(&self) -> Option<Id> {
        let (object, scanned) = self.0.unfinished()?;
        let [id, method, _, result, error] = &object.members;
        let has_outcome = result.is_some()
            || error.is_some()
            || scanned.is_some_and(|at| matches!(KEYS[at], "result" | "error"));
        let id = Id::parse(id.as_ref()?.scalar.as_ref()?)?;
        (method.is_none() && has_outcome).then_some(id)
    }

    /// Ends the scan.
    pub fn finish(self) -> Line {
        Line::from_outline(self.0.finish())
    }
}

impl Default for LineScanner {
    fn default() -> Self {
        Self::new()
    }
}

impl Line {
    /// Scans a whole line.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_outline(scan::outline(bytes, KEYS))
    }

    /// The line's messages.
    pub fn messages(&self) -> &[Envelope] {
        match self {
            Self::Message(envelope) => std::slice::from_ref(envelope),
            Self::Batch(envelopes) => envelopes,
            Self::Blank | Self::Other => &[],
        }
    }

    fn from_outline(outline: Outline<5>) -> Self {
        match outline {
            Outline::Blank => Self::Blank,
            Outline::Object(object) => Self::Message(Envelope::from_object(object)),
            Outline::Array(objects) => {
                Self::Batch(objects.into_iter().map(Envelope::from_object).collect())
            }
            Outline::Crowd | Outline::Other => Self::Other,
        }
    }
}

impl Envelope {
    /// Says whether this is a request, a notification or a response.
    pub fn kind(&self) -> Kind<'_> {
        match (&self.method, &self.id) {
            (Some(method), Some(id)) => Kind::Request { id, method },
            (Some(method), None) => Kind::Notification { method },
            (None, Some(id)) if self.result.is_some() || self.error.is_some() => {
                Kind::Response { id }
            }
            (None, _) => Kind::Other,
        }
    }

    /// The id, if this is a request.
    pub fn request(&self) -> Option<&Id> {
        match self.kind() {
            Kind::Request { id, .. } => Some(id),
            Kind::Notification { .. } | Kind::Response { .. } | Kind::Other => None,
        }
    }

    fn from_object(object: Object<5>) -> Self {
        let [id, method, params, result, error] = object.members;
        let span = |value: Option<Value>| value.map(|value| value.span);
        Self {
            span: object.span,
            id: id.and_then(|value| Id::parse(&value.scalar?)),
            method: method.and_then(|value| Some(scan::string(&value.scalar?)?.into_owned())),
            params: span(params),
            result: span(result),
            error: span(error),
        }
    }
}

impl Id {
    /// Reads an id as written in JSON; `None` if it is neither a string nor a number.
    pub fn parse(json: &[u8]) -> Option<Self> {
        let written = std::str::from_utf8(json).ok()?;
        let meaning = match json.first()? {
            b'"' => {
                scan::string(json).map_or(Meaning::Opaque, |text| Meaning::Text(text.into_owned()))
            }
            b'-' | b'0'..=b'9' => number(written),
            _ => return None,
        };
        Some(Self { written: written.to_owned(), meaning })
    }

    /// The id as it was written, ready to be put into JSON again.
    pub fn as_json(&self) -> &str {
        &self.written
    }
}

fn number(written: &str) -> Meaning {
    /// Integers up to here are exact in a double.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    if let Ok(integer) = written.parse() {
        return Meaning::Integer(integer);
    }
    match written.parse::<f64>() {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be a small integer")]
        Ok(float) if float.fract() == 0.0 && float.abs() <= MAX_EXACT => {
            Meaning::Integer(float as i64)
        }
        _ => Meaning::Number,
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        match (&self.meaning, &other.meaning) {
            (Meaning::Number, Meaning::Number) | (Meaning::Opaque, Meaning::Opaque) => {
                self.written == other.written
            }
            (mine, theirs) => mine == theirs,
        }
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.meaning.hash(state);
        if matches!(self.meaning, Meaning::Number | Meaning::Opaque) {
            self.written.hash(state);
        }
    }
}

#[cfg(test)]
mod tests;
