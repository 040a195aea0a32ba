//! What a modern request says twice: in its body, and in headers for those who do not read bodies.

use base64::{Engine, engine::general_purpose::STANDARD};
use forebay_wire::{
    Envelope, Kind,
    reply::{INVALID_PARAMS, METHOD_NOT_FOUND},
    scan,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::headers::PROTOCOL_VERSION;
use crate::{body::Source, protocol::methods::PROTOCOL_VERSION as BODY_VERSION};

/// The code for headers that do not match the body.
const HEADER_MISMATCH: i32 = -32020;

pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const ENCODED_START: &str = "=?base64?";
const ENCODED_END: &str = "?=";

/// True if a message belongs to the modern era.
pub(crate) fn is_modern(envelope: &Envelope, source: Source<'_>) -> bool {
    version(envelope, source).is_some() || envelope.method.as_deref() == Some("server/discover")
}

/// Why a modern request is not for the upstream to see.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) status: StatusCode,
    pub(crate) code: i32,
    pub(crate) what: String,
}

/// Says what a request has wrong, if anything.
pub(crate) fn check(
    headers: &HeaderMap,
    envelope: &Envelope,
    source: Source<'_>,
) -> Result<(), Mistake> {
    let Kind::Request { method, .. } = envelope.kind() else { return Ok(()) };
    // An upstream on stdio takes the era of a conversation from how it opens. All clients share it,
    // and none may open another era for the others.
    if method == "initialize" {
        let what = "this revision has no `initialize`; send `server/discover`".to_owned();
        return Err(Mistake { status: StatusCode::NOT_FOUND, code: METHOD_NOT_FOUND, what });
    }
    if version(envelope, source).is_none() {
        let what = format!("`_meta` must say the revision, as `{BODY_VERSION}`");
        return Err(Mistake { status: StatusCode::BAD_REQUEST, code: INVALID_PARAMS, what });
    }
    let is_object = |value: scan::Value| value.scalar.is_none();
    if !meta(envelope, source, CAPABILITIES).is_some_and(is_object) {
        let what = format!("`_meta` must say what the client can do, as `{CAPABILITIES}`");
        return Err(Mistake { status: StatusCode::BAD_REQUEST, code: INVALID_PARAMS, what });
    }
    check_headers(headers, envelope, source, method).map_err(|what| Mistake::of_headers(&what))
}

impl Mistake {
    /// A header does not say what the body says.
    pub(crate) fn of_headers(what: &str) -> Self {
        let what = format!("Header mismatch: {what}");
        Self { status: StatusCode::BAD_REQUEST, code: HEADER_MISMATCH, what }
    }
}

fn check_headers(
    headers: &HeaderMap,
    envelope: &Envelope,
    source: Source<'_>,
    method: &str,
) -> Result<(), String> {
    let expected_name = match method {
        "tools/call" | "prompts/get" => param(envelope, source, "name"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => param(envelope, source, "taskId"),
        "resources/read" => param(envelope, source, "uri"),
        _ => None,
    };
    same(headers, &PROTOCOL_VERSION, version(envelope, source).as_deref())?;
    same(headers, &METHOD, Some(method))?;
    same(headers, &NAME, expected_name.as_deref())
}

/// Checks a header against what the body says; what the body does not say is not checked.
fn same(headers: &HeaderMap, name: &HeaderName, expected: Option<&str>) -> Result<(), String> {
    let Some(expected) = expected else { return Ok(()) };
    let Some(written) = written(headers, name) else {
        return Err(format!("{name} is missing; the body says '{expected}'"));
    };
    let given = if *name == NAME { decoded(&written) } else { Some(written.trim().to_owned()) };
    if given.as_deref() == Some(expected) {
        return Ok(());
    }
    Err(format!("{name} header value '{written}' does not match body value '{expected}'"))
}

/// A header's value, if it is there and is ASCII. Several with that name are one list, as in all of
/// HTTP: who reads the first of them must not see something else than who reads the last.
pub(crate) fn written(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values: Result<Vec<&str>, _> =
        headers.get_all(name).iter().map(HeaderValue::to_str).collect();
    values.ok().filter(|values| !values.is_empty()).map(|values| values.join(", "))
}

/// A name or an argument as a header's value: as it is where that is safe, or else encoded.
pub(crate) fn encoded(value: &str) -> HeaderValue {
    let is_visible = |byte: u8| matches!(byte, b'\t' | b' '..=b'~');
    let is_padded = value.trim_matches([' ', '\t']) != value;
    let seems_encoded = value.starts_with(ENCODED_START) && value.ends_with(ENCODED_END);
    if value.bytes().all(is_visible)
        && !is_padded
        && !seems_encoded
        && let Ok(plain) = HeaderValue::from_str(value)
    {
        return plain;
    }
    let encoded = format!("{ENCODED_START}{}{ENCODED_END}", STANDARD.encode(value));
    // Nothing but letters, digits and signs is left.
    HeaderValue::from_str(&encoded).unwrap_or(HeaderValue::from_static(""))
}

/// The value of a header that may be encoded; `None` if it is not what it says.
pub(crate) fn decoded(written: &str) -> Option<String> {
    let written = written.trim();
    match written.strip_prefix(ENCODED_START).and_then(|rest| rest.strip_suffix(ENCODED_END)) {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(written.to_owned()),
    }
}

/// The revision that a request says in its body.
pub(crate) fn version(envelope: &Envelope, source: Source<'_>) -> Option<String> {
    let version = meta(envelope, source, BODY_VERSION)?;
    scan::string(&version.scalar?).map(std::borrow::Cow::into_owned)
}

fn meta(envelope: &Envelope, source: Source<'_>, key: &'static str) -> Option<scan::Value> {
    let [meta] = source.members(envelope.params.as_ref()?, ["_meta"]);
    let [value] = source.members(&meta?.span, [key]);
    value
}

fn param(envelope: &Envelope, source: Source<'_>, key: &'static str) -> Option<String> {
    let [value] = source.members(envelope.params.as_ref()?, [key]);
    scan::string(&value?.scalar?).map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use forebay_wire::Line;

    use super::*;

    fn checked(json: &str, pairs: &[(HeaderName, &str)]) -> Result<(), i32> {
        let Line::Message(envelope) = Line::of(json.as_bytes()) else { panic!("{json}") };
        let source = Source::Line(json.as_bytes());
        assert!(is_modern(&envelope, source));
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, value.parse().unwrap());
        }
        check(&headers, &envelope, source).map_err(|mistake| mistake.code)
    }

    #[test]
    fn nobody_opens_another_era_for_all() {
        let meta = format!(r#""_meta":{{"{BODY_VERSION}":"2026-07-28"}}"#);
        let initialize = format!(r#"{{"id":1,"method":"initialize","params":{{{meta}}}}}"#);
        assert_eq!(checked(&initialize, &[]), Err(METHOD_NOT_FOUND));
        let bare = r#"{"id":1,"method":"server/discover","params":{}}"#;
        assert_eq!(checked(bare, &[]), Err(INVALID_PARAMS));
    }

    #[test]
    fn headers_say_what_the_body_says() {
        let call = |name: &str| {
            format!(
                r#"{{"id":1,"method":"tools/call","params":{{"name":"{name}","_meta":{{"{BODY_VERSION}":"2026-07-28","{CAPABILITIES}":{{}}}}}}}}"#
            )
        };
        let pairs = |name| [(PROTOCOL_VERSION, "2026-07-28"), (METHOD, "tools/call"), (NAME, name)];
        assert_eq!(checked(&call("echo"), &pairs("echo")), Ok(()));
        assert_eq!(checked(&call("é"), &pairs("=?base64?w6k=?=")), Ok(()));
        assert!(checked(&call("echo"), &pairs("other")).is_err());
        assert!(checked(&call("echo"), &pairs("=?base64?!?=")).is_err());
        assert!(checked(&call("echo"), &pairs("echo")[..2]).is_err());
        assert!(checked(&call("echo"), &pairs("echo")[1..]).is_err());
        let twice = [&pairs("echo")[..], &[(NAME, "other")]].concat();
        assert!(checked(&call("echo"), &twice).is_err(), "two names are none");
        let wrong = [(PROTOCOL_VERSION, "2025-11-25"), (METHOD, "tools/call"), (NAME, "echo")];
        assert!(checked(&call("echo"), &wrong).is_err());
    }

    #[test]
    fn values_are_encoded_as_the_specification_shows() {
        for (value, expected) in [
            ("us-west1", "us-west1"),
            ("file:///a b.json", "file:///a b.json"),
            ("", ""),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("\u{7f}", "=?base64?fw==?="),
        ] {
            assert_eq!(encoded(value), expected, "{value:?}");
            assert_eq!(decoded(encoded(value).to_str().unwrap()).as_deref(), Some(value));
        }
    }
}
