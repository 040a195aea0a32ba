//! Which headers go on, and what they say of a message.

use http::{HeaderMap, HeaderName, header};

pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Of one connection, or of one body on it.
const OF_THE_CONNECTION: [HeaderName; 8] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::CONTENT_LENGTH,
];

/// Said to us, and nobody else's business: the client's token was made for us, and where a page that
/// calls us comes from is for us to check. What is encoded we could not read.
const FOR_US_ALONE: [HeaderName; 6] = [
    header::HOST,
    header::AUTHORIZATION,
    header::COOKIE,
    header::ORIGIN,
    header::REFERER,
    header::ACCEPT_ENCODING,
];

/// What of a client's headers goes on to a remote upstream.
pub(crate) fn to_upstream(headers: &HeaderMap) -> HeaderMap {
    without(headers, |name| FOR_US_ALONE.contains(name) || name.as_str().starts_with("sec-"))
}

/// What of a remote upstream's headers goes back to the client.
pub(crate) fn to_client(headers: &HeaderMap) -> HeaderMap {
    without(headers, |name| *name == header::SET_COOKIE)
}

fn without(headers: &HeaderMap, is_kept_back: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    // What `Connection` names is of the connection too.
    let named: Vec<String> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let goes_on = |name: &HeaderName| {
        !OF_THE_CONNECTION.contains(name)
            && name.as_str() != "keep-alive"
            && !is_kept_back(name)
            && !named.iter().any(|named| named == name.as_str())
    };
    let mut kept = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers.iter().filter(|(name, _)| goes_on(name)) {
        kept.append(name.clone(), value.clone());
    }
    kept
}

/// A header's value as text, if it is there and is ASCII.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// True if the content is of this type, whatever parameters follow it.
pub(crate) fn has_type(headers: &HeaderMap, wanted: &str) -> bool {
    text(headers, &header::CONTENT_TYPE).is_some_and(|value| {
        let essence = value.split(';').next().unwrap_or_default();
        essence.trim().eq_ignore_ascii_case(wanted)
    })
}

/// True if the client takes content of this type, or any.
pub(crate) fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let mut values = headers.get_all(header::ACCEPT).iter().peekable();
    values.peek().is_none()
        || values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).any(
            |range| {
                let range = range.split(';').next().unwrap_or_default().trim();
                let (kind, _) = wanted.split_once('/').unwrap_or((wanted, ""));
                range.eq_ignore_ascii_case(wanted)
                    || range == "*/*"
                    || range.strip_suffix("/*").is_some_and(|it| it.eq_ignore_ascii_case(kind))
            },
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(headers: &[(&str, &str)]) -> HeaderMap {
        headers
            .iter()
            .map(|(name, value)| {
                (name.parse::<HeaderName>().unwrap(), value.parse::<http::HeaderValue>().unwrap())
            })
            .collect()
    }

    fn names(headers: &HeaderMap) -> Vec<&str> {
        let mut names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn what_is_for_us_or_for_the_connection_stays_here() {
        let headers = map(&[
            ("host", "localhost"),
            ("authorization", "Bearer for-us"),
            ("origin", "http://localhost"),
            ("sec-fetch-mode", "cors"),
            ("connection", "keep-alive, X-Hop"),
            ("x-hop", "1"),
            ("content-length", "3"),
            ("mcp-session-id", "s"),
            ("mcp-param-region", "eu"),
            ("traceparent", "00-"),
        ]);
        let kept = ["mcp-param-region", "mcp-session-id", "traceparent"];
        assert_eq!(names(&to_upstream(&headers)), kept);
        let headers = map(&[("set-cookie", "a=b"), ("mcp-session-id", "s"), ("keep-alive", "5")]);
        assert_eq!(names(&to_client(&headers)), ["mcp-session-id"]);
    }

    #[test]
    fn types_are_told_apart_whatever_their_parameters() {
        let headers = map(&[("content-type", "Text/Event-Stream; charset=utf-8")]);
        assert!(has_type(&headers, "text/event-stream") && !has_type(&headers, "application/json"));
        let accepting = |value| accepts(&map(&[("accept", value)]), "text/event-stream");
        assert!(accepting("application/json, text/event-stream;q=0.5"));
        assert!(accepting("text/*") && accepting("*/*"));
        assert!(!accepting("application/json"));
        assert!(accepts(&HeaderMap::new(), "text/event-stream"));
    }
}
