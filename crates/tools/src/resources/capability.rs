//! The handshake says that there are resources, whether or not the upstream has any.

use forebay_proxy::session::Era;
use forebay_wire::walk;

/// Whether the upstream has resources of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Theirs {
    Has,
    HasNone,
}

/// A handshake's result that offers resources; `None` if it says nothing of what is offered.
pub(super) fn with_resources(result: &[u8], era: Era) -> Option<(Vec<u8>, Theirs)> {
    let (_, offered) = walk::members(result)?.find(|(key, _)| *key == b"capabilities")?;
    // In the modern era only whoever subscribes may be told.
    let tells_of_changes = era != Era::Modern;
    let resources = walk::members(offered)?.find(|(key, _)| *key == b"resources");
    let theirs = resources.and_then(|(_, value)| Some((value, walk::members(value)?)));
    let Some((value, mut members)) = theirs else {
        let ours = if tells_of_changes { r#"{"listChanged":true}"# } else { "{}" };
        let written = match resources {
            // Something that offers nothing, such as null.
            Some((_, value)) => replaced(result, value, ours.as_bytes()),
            None => inserted(result, offered, &format!(r#""resources":{ours}"#)),
        };
        return Some((written, Theirs::HasNone));
    };
    let told = members.find(|(key, _)| *key == b"listChanged").map(|(_, told)| told);
    let written = match told {
        _ if !tells_of_changes => result.to_vec(),
        Some(told) => replaced(result, told, b"true"),
        None => inserted(result, value, r#""listChanged":true"#),
    };
    Some((written, Theirs::Has))
}

/// The text with another value in the place of one of its parts.
fn replaced(text: &[u8], part: &[u8], value: &[u8]) -> Vec<u8> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    [&text[..start], value, &text[start + part.len()..]].concat()
}

/// The text with a member at the beginning of an object in it.
fn inserted(text: &[u8], object: &[u8], member: &str) -> Vec<u8> {
    let inside = object.as_ptr().addr() - text.as_ptr().addr() + 1;
    let is_empty = text[inside..].trim_ascii_start().starts_with(b"}");
    let separator: &[u8] = if is_empty { b"" } else { b"," };
    [&text[..inside], member.as_bytes(), separator, &text[inside..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_offered_and_nothing_else_changes() {
        for (given, expected, theirs) in [
            (r#"{"capabilities":{}}"#, r#"{"resources":{"listChanged":true}}"#, Theirs::HasNone),
            (
                r#"{"a":1,"capabilities": {"tools":{}}, "b":2}"#,
                r#"{"resources":{"listChanged":true},"tools":{}}"#,
                Theirs::HasNone,
            ),
            (
                r#"{"capabilities":{"resources":null}}"#,
                r#"{"resources":{"listChanged":true}}"#,
                Theirs::HasNone,
            ),
            (
                r#"{"capabilities":{"resources":{"subscribe":true}}}"#,
                r#"{"resources":{"listChanged":true,"subscribe":true}}"#,
                Theirs::Has,
            ),
            (
                r#"{"capabilities":{"resources":{"listChanged":false}}}"#,
                r#"{"resources":{"listChanged":true}}"#,
                Theirs::Has,
            ),
        ] {
            let (told, whose) = with_resources(given.as_bytes(), Era::Legacy).unwrap();
            let told = String::from_utf8(told).unwrap();
            assert!(told.contains(expected), "{given}: {told}");
            assert_eq!(whose, theirs, "{given}");
        }
        let theirs = br#"{"capabilities":{"resources":{}}}"#;
        for given in [&theirs[..], br#"{"capabilities":{}}"#] {
            let (told, _) = with_resources(given, Era::Modern).unwrap();
            assert_eq!(told, theirs);
        }
        assert_eq!(with_resources(b"{}", Era::Legacy), None);
    }
}
