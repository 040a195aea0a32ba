//! JSON that is written while it is sent: a value of any size costs no memory and can be sent again.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use forebay_wire::Id;
use serde_json::Value;

use crate::records::Records;

/// A JSON value on one line.
#[derive(Debug, Clone)]
pub(crate) struct Json {
    head: Bytes,
    middle: Middle,
    tail: Bytes,
}

#[derive(Debug, Clone)]
enum Middle {
    Nothing,
    /// As many of the part as fit into so many bytes.
    Repeated(&'static str, u64),
    /// So many records of this form.
    Records(Records, u64),
}

/// The bytes of a value, one after the other.
pub(crate) type Pieces = Box<dyn Iterator<Item = Bytes> + Send>;

const BLOCK_BYTES: usize = 1 << 16;

impl Json {
    pub(crate) fn whole(text: impl Into<Bytes>) -> Self {
        Self { head: text.into(), middle: Middle::Nothing, tail: Bytes::new() }
    }

    /// A string between `before` and `after`: a beginning, the same over and over up to about `count`
    /// bytes, and an end, all as they stand in a JSON string.
    pub(crate) fn repeated(count: u64, [head, part, tail]: [&'static str; 3]) -> Self {
        Self {
            head: Bytes::from(format!("\"{head}")),
            middle: Middle::Repeated(part, count),
            tail: Bytes::from(format!("{tail}\"")),
        }
    }

    /// A string that is a list of `count` records in JSON; the first of them holds `id`, so that no
    /// two results are the same.
    pub(crate) fn records(id: &Id, form: Records, count: u64) -> Self {
        let plain = id.as_json().trim_matches('"');
        let id = if plain.parse::<f64>().is_ok() {
            plain.to_owned()
        } else {
            id.as_json().replace('"', "\\\"")
        };
        Self {
            head: Bytes::from(format!(r#""[{{\"id\":{id}}}"#)),
            middle: Middle::Records(form, count),
            tail: Bytes::from_static(b"]\""),
        }
    }

    /// This value with something before and after it.
    pub(crate) fn within(self, before: &str, after: &str) -> Self {
        Self {
            head: [before.as_bytes(), &self.head].concat().into(),
            middle: self.middle,
            tail: [&self.tail, after.as_bytes()].concat().into(),
        }
    }

    /// This object with one more member before its own.
    pub(crate) fn with_member(self, member: &str) -> Self {
        let rest = self.head.slice(1..);
        let comma: &[u8] = if rest.starts_with(b"}") { b"" } else { b"," };
        Self { head: [b"{", member.as_bytes(), comma, &rest].concat().into(), ..self }
    }

    /// All bytes, if they are few.
    pub(crate) fn as_whole(&self) -> Option<Bytes> {
        match self.middle {
            Middle::Nothing if self.tail.is_empty() => Some(self.head.clone()),
            Middle::Nothing => Some([&self.head[..], &self.tail].concat().into()),
            Middle::Repeated(..) | Middle::Records(..) => None,
        }
    }

    pub(crate) fn pieces(&self) -> Pieces {
        let ends = |middle: Pieces| -> Pieces {
            let (head, tail) = (self.head.clone(), self.tail.clone());
            Box::new(std::iter::once(head).chain(middle).chain(std::iter::once(tail)))
        };
        match self.middle {
            Middle::Nothing => Box::new(self.as_whole().into_iter()),
            Middle::Repeated(part, count) => ends(repeated(part, count)),
            Middle::Records(form, count) => ends(all_records(form, count)),
        }
    }
}

fn repeated(part: &'static str, count: u64) -> Pieces {
    let block = Bytes::from(part.repeat((BLOCK_BYTES / part.len()).max(1)));
    // Only whole parts, so that no escape is cut in two.
    let mut left = count / part.len() as u64 * part.len() as u64;
    Box::new(std::iter::from_fn(move || {
        let bytes = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
        left -= bytes as u64;
        (bytes > 0).then(|| block.slice(..bytes))
    }))
}

/// The records, each with a comma before it. Up to a number of them are made once, because a
/// benchmark is to see how fast they are sent.
fn all_records(form: Records, count: u64) -> Pieces {
    const KEPT: u64 = 1_000_000;
    static RECORDS: Mutex<Option<((Records, u64), Bytes)>> = Mutex::new(None);
    if count > KEPT {
        const AT_ONCE: u64 = 500;
        let starts = (0..count.div_ceil(AT_ONCE)).map(|block| block * AT_ONCE);
        return Box::new(starts.map(move |start| {
            let end = count.min(start + AT_ONCE);
            (start + 1..=end).map(|number| form.record(number)).collect::<String>().into()
        }));
    }
    let mut records = RECORDS.lock().unwrap_or_else(PoisonError::into_inner);
    let text = match &*records {
        Some((made, text)) if *made == (form, count) => text.clone(),
        _ => Bytes::from((1..=count).map(|number| form.record(number)).collect::<String>()),
    };
    *records = Some(((form, count), text.clone()));
    Box::new(std::iter::once(text))
}

/// A response with `result`. A large one has its id last, as the TypeScript SDK writes it.
pub(crate) fn response(id: &Id, result: Json) -> Json {
    let id = id.as_json();
    match result.as_whole() {
        Some(result) => {
            let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
            Json::whole([head.as_bytes(), &result, b"}"].concat())
        }
        None => result.within(r#"{"result":"#, &format!(r#","jsonrpc":"2.0","id":{id}}}"#)),
    }
}

/// An error response.
pub(crate) fn error(id: Option<&Id>, code: i32, message: &str, data: Option<&Value>) -> Json {
    let id = id.map_or("null", Id::as_json);
    let message = Value::from(message);
    let data = data.map_or_else(String::new, |data| format!(r#","data":{data}"#));
    Json::whole(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}{data}}}}}"#
    ))
}

/// A notification.
pub(crate) fn notification(method: &str, params: Json) -> Json {
    params.within(&format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":"#), "}")
}
