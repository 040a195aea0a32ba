//! What goes back to a client: heads, JSON and streams of events.

use std::io;

use bytes::Bytes;
use forebay_wire::{
    Id, reply,
    sse::{self, Fields},
};
use futures_util::{Stream, StreamExt};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::Frame;

use crate::{body::Message, streamable::streamed::Streamed};

/// The body of a response.
pub(super) type Body = UnsyncBoxBody<Bytes, io::Error>;

/// An event is sent in pieces of about this length.
const WHOLE_BYTES: u64 = 256 * 1024;

const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// JSON-RPC's code for a request that is not one.
pub(super) const INVALID_REQUEST: i32 = -32600;
/// The code for a session that is not there, as the official SDKs use it.
pub(super) const NO_SESSION: i32 = -32001;

/// A response without a body.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    with_body(status, Bytes::new())
}

/// A plain text, for people.
pub(super) fn text(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = with_body(status, Bytes::from(format!("{text}\n")));
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}

/// A JSON-RPC error, which answers the request with that id if there is one.
pub(super) fn error(status: StatusCode, id: Option<&Id>, code: i32, why: &str) -> Response<Body> {
    json_bytes(status, Bytes::from(reply::error(id, code, why)))
}

/// JSON as it is.
pub(super) fn json_bytes(status: StatusCode, json: Bytes) -> Response<Body> {
    let mut response = with_body(status, json);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// A message as JSON, whose head is given apart from its length.
pub(super) fn json(status: StatusCode, headers: HeaderMap, message: &Message) -> Response<Body> {
    let bytes = message.bytes();
    let mut response = Response::new(Streamed::new(message).boxed_unsync());
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(bytes));
    response
        .headers_mut()
        .entry(header::CONTENT_TYPE)
        .or_insert(HeaderValue::from_static("application/json"));
    response
}

/// A stream of events, with what its head says besides that it is one.
pub(super) fn events(
    headers: HeaderMap,
    frames: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
) -> Response<Body> {
    let mut response = Response::new(stream_body(frames));
    *response.headers_mut() = headers;
    let head = response.headers_mut();
    head.entry(header::CONTENT_TYPE).or_insert(HeaderValue::from_static("text/event-stream"));
    head.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache, no-transform"));
    head.entry(ACCEL_BUFFERING).or_insert(HeaderValue::from_static("no"));
    response
}

/// A body that is passed on as it comes.
pub(super) fn stream_body(frames: impl Stream<Item = io::Result<Bytes>> + Send + 'static) -> Body {
    StreamBody::new(frames.map(|frame| frame.map(Frame::data))).boxed_unsync()
}

/// A body that is there already.
pub(super) fn whole(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

fn with_body(status: StatusCode, bytes: Bytes) -> Response<Body> {
    let mut response = Response::new(whole(bytes));
    *response.status_mut() = status;
    response
}

/// An event with a message as its data, in pieces none of which is large.
pub(super) fn event(fields: &Fields, message: Message) -> EventPieces {
    let mut head =
        Vec::with_capacity(usize::try_from(message.bytes().min(WHOLE_BYTES)).unwrap_or(0) + 64);
    sse::write_fields(fields, &mut head);
    head.extend_from_slice(b"data: ");
    EventPieces { head, pieces: Some(Box::new(message.pieces())), is_break_due: false }
}

/// An event whose data is empty, if it has any: of which only the fields matter.
pub(super) fn bare_event(fields: &Fields) -> Bytes {
    let mut event = Vec::new();
    sse::write_fields(fields, &mut event);
    event.extend_from_slice(if fields.has_data { b"data: \n\n" } else { b"\n" });
    Bytes::from(event)
}

/// The pieces of an event.
pub(super) struct EventPieces {
    /// What has been put together and not been given out.
    head: Vec<u8>,
    /// What of the message is left; `None` after its end.
    pieces: Option<Box<dyn Iterator<Item = io::Result<Vec<u8>>> + Send>>,
    /// A line feed has been held back: at the end of a message it is no part of it.
    is_break_due: bool,
}

impl Iterator for EventPieces {
    type Item = io::Result<Bytes>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut piece = std::mem::take(&mut self.head);
        while let Some(pieces) = &mut self.pieces {
            match pieces.next() {
                Some(Ok(mut part)) => {
                    if std::mem::take(&mut self.is_break_due) {
                        sse::write_data(b"\n", &mut piece);
                    }
                    self.is_break_due = part.pop_if(|byte| *byte == b'\n').is_some();
                    sse::write_data(&part, &mut piece);
                }
                Some(Err(error)) => {
                    self.pieces = None;
                    return Some(Err(error));
                }
                None => {
                    piece.extend_from_slice(b"\n\n");
                    self.pieces = None;
                }
            }
            if piece.len() as u64 >= WHOLE_BYTES {
                break;
            }
        }
        (!piece.is_empty()).then(|| Ok(Bytes::from(piece)))
    }
}
