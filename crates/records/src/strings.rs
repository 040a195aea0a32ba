//! The strings of JSON: what they stand for, and the paths that keys lead along.

use std::borrow::Cow;

use forebay_wire::scan;
use memchr::memchr;

/// The text that a JSON string stands for.
pub fn text_of(json: &[u8]) -> Cow<'_, [u8]> {
    let written = &json[1..json.len().saturating_sub(1).max(1)];
    if memchr(b'\\', written).is_none() {
        return Cow::Borrowed(written);
    }
    match scan::string(json) {
        Some(text) => Cow::Owned(text.into_owned().into_bytes()),
        // Half a surrogate pair: no text can hold it.
        None => Cow::Borrowed(written),
    }
}

/// The text of a key, which is given without its quotes.
pub(crate) fn text_of_key(key: &[u8]) -> Vec<u8> {
    if memchr(b'\\', key).is_none() {
        return key.to_vec();
    }
    text_of(&[b"\"", key, b"\""].concat()).into_owned()
}

/// A key with its quotes, from the text around it.
pub(crate) fn quoted<'a>(json: &'a [u8], key: &[u8]) -> &'a [u8] {
    let start = key.as_ptr().addr() - json.as_ptr().addr();
    &json[start - 1..=start + key.len()]
}

/// The path of a member.
pub(crate) fn step(path: &str, key: &[u8]) -> String {
    let is_plain = key.iter().enumerate().all(|(index, byte)| {
        byte.is_ascii_alphabetic() || *byte == b'_' || (index > 0 && byte.is_ascii_digit())
    });
    let key = String::from_utf8_lossy(key);
    if is_plain && !key.is_empty() { format!("{path}.{key}") } else { format!("{path}[\"{key}\"]") }
}
