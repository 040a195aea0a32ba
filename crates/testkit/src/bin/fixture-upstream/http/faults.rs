//! What goes wrong with a result on its way.

use bytes::Bytes;
use futures_util::stream;
use hyper::{Response, StatusCode, body::Frame, header};
use std::process::exit;

use crate::{
    call::Fault,
    json::{Json, Pieces},
};

use super::body::{Body, Cut};

/// What is written instead of `message`, and what happens then: `Cut` or `Die`.
pub(crate) fn befall(message: &Json, fault: Option<Fault>) -> (Pieces, Option<Fault>) {
    let instead =
        |bytes: &'static [u8]| -> Pieces { Box::new(std::iter::once(Bytes::from_static(bytes))) };
    match fault {
        None | Some(Fault::Redirect | Fault::Error | Fault::Refuse | Fault::Forget) => {
            (message.pieces(), None)
        }
        Some(fault @ (Fault::Cut | Fault::Die)) => {
            let half: Pieces = match message.as_whole() {
                Some(whole) => Box::new(std::iter::once(whole.slice(..whole.len() / 2))),
                None => Box::new(message.pieces().take(1)),
            };
            (half, Some(fault))
        }
        Some(Fault::Garbage) => (instead(b"\x00\xff\xfe no event, no JSON\n\n"), None),
        Some(Fault::Malformed) => {
            (instead(b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[}\n\n"), None)
        }
        Some(Fault::Silence) => (Box::new(std::iter::empty()), None),
    }
}

/// A JSON body that `fault` befalls.
pub(crate) fn json_body(message: &Json, fault: Option<Fault>) -> Body {
    let whole = message.as_whole();
    match (fault, whole) {
        (None | Some(Fault::Forget), Some(whole)) => Body::Whole(whole),
        (Some(Fault::Malformed), _) => {
            Body::Whole(Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"id\":"))
        }
        (_, whole) => {
            let (mut pieces, fault) = befall(message, fault);
            let frames = stream::unfold((), move |()| {
                let piece = pieces.next();
                async move {
                    match (piece, fault) {
                        (Some(piece), _) => Some((Ok(Frame::data(piece)), ())),
                        (None, None) => None,
                        (None, Some(fault)) => {
                            // Now what has been written so far goes out.
                            tokio::task::yield_now().await;
                            if fault == Fault::Die {
                                exit(1);
                            }
                            Some((Err(Cut), ()))
                        }
                    }
                }
            });
            let length = whole.filter(|_| fault.is_some()).map(|whole| whole.len() as u64);
            Body::Stream(Box::pin(frames), length)
        }
    }
}

/// The response that is given instead of any result, if the fault is of that kind.
pub(crate) fn refusal(fault: Option<Fault>) -> Option<Response<Body>> {
    let (status, name, value, text) = match fault? {
        Fault::Redirect => {
            (StatusCode::TEMPORARY_REDIRECT, header::LOCATION, "/elsewhere", "moved")
        }
        Fault::Error => {
            let (name, value) = (header::RETRY_AFTER, "1");
            (StatusCode::INTERNAL_SERVER_ERROR, name, value, "the fixture fails on purpose")
        }
        Fault::Refuse => {
            let value = r#"Bearer resource_metadata="http://127.0.0.1/metadata""#;
            (StatusCode::UNAUTHORIZED, header::WWW_AUTHENTICATE, value, "who are you?")
        }
        Fault::Cut
        | Fault::Die
        | Fault::Garbage
        | Fault::Malformed
        | Fault::Silence
        | Fault::Forget => return None,
    };
    let mut response = Response::new(Body::Whole(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(name, header::HeaderValue::from_static(value));
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/plain"));
    Some(response)
}
