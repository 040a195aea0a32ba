//! The headers in which MCP says again what a message's body says.

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderName, HeaderValue};

pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

const ENCODED_START: &str = "=?base64?";
const ENCODED_END: &str = "?=";

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

#[cfg(test)]
mod tests {
    use super::*;

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
        }
    }
}
