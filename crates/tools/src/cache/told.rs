//! A result that is given again says so: in `_meta`, and in a last text block.

use std::{ops::Range, time::Duration};

use forebay_wire::walk;
use serde_json::{Value, json};

/// The key under which programs find the age.
const AGE: &str = "forebay/age_seconds";

/// A result with its age; all else stays byte by byte.
pub(super) fn with_age(result: &[u8], age: Duration) -> Vec<u8> {
    let seconds = age.as_secs();
    let mut out = result.to_vec();
    let meta = format!("{}:{seconds}", Value::from(AGE));
    if let Some(place) = member(result, b"_meta") {
        insert(&mut out, &place, &meta);
    } else {
        let whole = 0..out.trim_ascii_end().len();
        insert(&mut out, &whole, &format!("\"_meta\":{{{meta}}}"));
    }
    // It may have moved.
    if let Some(place) = member(&out, b"content") {
        let text = format!("Given again from {seconds} s ago; for a new result add refresh: true.");
        insert(&mut out, &place, &json!({"type": "text", "text": text}).to_string());
    }
    out
}

/// Where the object or list stands that is a member.
fn member(json: &[u8], name: &[u8]) -> Option<Range<usize>> {
    let mut members = walk::members(json)?;
    let (_, value) =
        members.find(|(key, value)| *key == name && value.starts_with(opening(name)))?;
    let start = value.as_ptr().addr() - json.as_ptr().addr();
    Some(start..start + value.len())
}

/// What the member of this name begins with, if it is what it should be.
fn opening(name: &[u8]) -> &'static [u8] {
    if name == b"content" { b"[" } else { b"{" }
}

/// Adds something at the end of the object or list that stands there.
fn insert(out: &mut Vec<u8>, place: &Range<usize>, added: &str) {
    let end = place.end - 1;
    let inside = out[place.start..end].trim_ascii();
    let separator = if inside.len() > 1 { "," } else { "" };
    out.splice(end..end, format!("{separator}{added}").into_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_is_added_and_all_else_stays() {
        let told = |json: &str| {
            let told = with_age(json.as_bytes(), Duration::from_millis(42_900));
            String::from_utf8(told).unwrap()
        };
        let block = r#"{"text":"Given again from 42 s ago; for a new result add refresh: true.","type":"text"}"#;
        assert_eq!(
            told(r#"{ "content" : [{"type":"text","text":"1.0"}], "x":1e3 }"#),
            format!(
                r#"{{ "content" : [{{"type":"text","text":"1.0"}},{block}], "x":1e3 ,"_meta":{{"forebay/age_seconds":42}}}}"#
            )
        );
        assert_eq!(
            told(r#"{"_meta":{"a":1},"content":[ ]}"#),
            format!(r#"{{"_meta":{{"a":1,"forebay/age_seconds":42}},"content":[ {block}]}}"#)
        );
        assert_eq!(told(r#"{"_meta":{}}"#), r#"{"_meta":{"forebay/age_seconds":42}}"#);
        assert_eq!(told("{}\n"), "{\"_meta\":{\"forebay/age_seconds\":42}}\n");
    }
}
