//! What is sent: a page or its JSON twin, a file, or the way elsewhere; and what every reply says to browsers.

use askama::Template;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use serde::Serialize;

/// What every answer is sent with. Nothing is run or shown that is not ours, nobody frames or reads it
/// from another site, no other type is guessed, and nothing of it is kept by anyone.
const HEADERS: [(HeaderName, HeaderValue); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
             connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
    ),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    // With less, a form's origin would be told as `null`.
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

/// In which of its two forms a page is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Twin {
    /// For people.
    Html,
    /// For programs: the path ends with `.json`.
    Json,
}

impl Twin {
    /// The page that a path names, and in which form.
    pub(crate) fn of(path: &str) -> (&str, Self) {
        match path.strip_suffix(".json") {
            Some(page) => (page, Self::Json),
            None => (path, Self::Html),
        }
    }
}

/// Why a page could not be written.
#[derive(Debug)]
pub(crate) enum NotWritten {
    /// As a page.
    Html(askama::Error),
    /// As JSON.
    Json(serde_json::Error),
}

impl From<askama::Error> for NotWritten {
    fn from(error: askama::Error) -> Self {
        Self::Html(error)
    }
}

impl From<serde_json::Error> for NotWritten {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

/// A page in one of its forms.
pub(crate) fn written<P: Template + Serialize>(
    status: StatusCode,
    page: &P,
    twin: Twin,
) -> Result<Response<Bytes>, NotWritten> {
    Ok(match twin {
        Twin::Html => with(status, "text/html; charset=utf-8", page.render()?.into()),
        Twin::Json => with(status, "application/json", serde_json::to_vec_pretty(page)?.into()),
    })
}

/// Bytes of a type.
pub(crate) fn with(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Bytes> {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.extend(HEADERS);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// The way to another page, which is got.
pub(crate) fn moved(place: &str, cookie: Option<&str>) -> Response<Bytes> {
    let mut answer = with(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", Bytes::new());
    let headers = answer.headers_mut();
    // Addresses are encoded when they are put together.
    let place = HeaderValue::from_str(place).unwrap_or(HeaderValue::from_static("/"));
    headers.insert(header::LOCATION, place);
    if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(cookie).ok()) {
        headers.insert(header::SET_COOKIE, cookie);
    }
    answer
}

/// A method that no page has.
pub(crate) fn bad_method() -> Response<Bytes> {
    let body = Bytes::from_static(b"a page is got, and changed by POST\n");
    let mut answer = with(StatusCode::METHOD_NOT_ALLOWED, "text/plain; charset=utf-8", body);
    answer.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD, POST"));
    answer
}
