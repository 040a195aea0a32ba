//! What a reference stands for, as JSON in the form that a parameter takes.
//!
//! Pure: the bytes have been read.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use forebay_wire::{syntax, walk};

use super::{form::Spelling, wanted::Wanted};
use crate::{ToolError, error::refuse, json};

/// What was read of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    pub(super) kind: ContentKind,
}

/// What the bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentKind {
    /// A payload as it was kept, or lines: a text, which may be JSON.
    Text,
    /// A JSON value out of a payload, as it is written there.
    Value,
    /// A JSON list of records.
    Records,
    /// A file that is no text, unless it happens to be one.
    File,
}

impl Content {
    /// The JSON that stands in the place of the reference. A path is written by whoever has a file.
    pub(super) fn written_as(
        self,
        wanted: Wanted,
        spelling: Spelling,
    ) -> Result<Vec<u8>, ToolError> {
        match (wanted, spelling) {
            (Wanted::Text | Wanted::Path, _) | (Wanted::Any, Spelling::Text) => self.into_string(),
            (Wanted::Mirrored, _) => refuse!(
                "The parameter is said again in a header (x-mcp-header), and takes no reference: \
                 write the value itself."
            ),
            (Wanted::Base64, _) => Ok(quoted(&BASE64_STANDARD.encode(&self.bytes))),
            (Wanted::Json, _) => self.into_json(),
            (Wanted::Plain, _) => self.into_plain(),
            (Wanted::Any, Spelling::Object) if self.is_json() => Ok(self.bytes),
            (Wanted::Any, Spelling::Object) => self.into_string(),
        }
    }

    fn is_json(&self) -> bool {
        match self.kind {
            ContentKind::Text | ContentKind::File => syntax::check(&self.bytes).is_ok(),
            ContentKind::Value | ContentKind::Records => true,
        }
    }

    fn into_string(self) -> Result<Vec<u8>, ToolError> {
        // A value that is a text is that text already.
        if self.kind == ContentKind::Value && self.bytes.starts_with(b"\"") {
            return Ok(self.bytes);
        }
        match String::from_utf8(self.bytes) {
            Ok(text) => Ok(quoted(&text)),
            // Whoever takes a file in a text takes it in base64.
            Err(bytes) if self.kind == ContentKind::File => {
                Ok(quoted(&BASE64_STANDARD.encode(bytes.as_bytes())))
            }
            Err(_) => refuse!(
                "It is not text, and the parameter takes text: select records with format=json or \
                 format=csv."
            ),
        }
    }

    fn into_json(self) -> Result<Vec<u8>, ToolError> {
        if self.is_json() {
            return Ok(self.bytes);
        }
        if self.kind == ContentKind::File {
            return refuse!("It is a file, and the parameter takes JSON.");
        }
        refuse!("It is no JSON, and the parameter takes JSON: select its records with format=json.")
    }

    /// The one value that a record holds, or what is a plain value itself.
    fn into_plain(self) -> Result<Vec<u8>, ToolError> {
        let json = self.into_json()?;
        let mut value = json.trim_ascii();
        if let Some(mut records) = walk::elements(value)
            && let (Some(record), None) = (records.next(), records.next())
        {
            value = record;
        }
        if let Some(mut members) = walk::members(value)
            && let (Some((_, member)), None) = (members.next(), members.next())
        {
            value = member;
        }
        match walk::type_of(value) {
            Some(walk::Type::Number | walk::Type::Boolean) => Ok(value.to_vec()),
            Some(_) | None => refuse!(
                "The parameter takes a number or a truth value: select one, with pointer=/… or \
                 with sql=SELECT …, which gives one row of one column."
            ),
        }
    }
}

/// The value that a JSON pointer leads to, as it is written; the text of a key is compared, not how it
/// is written. Of members with the same name the last one counts. `passed` is told what is still to come.
pub(super) fn at_pointer<'j>(
    json: &'j [u8],
    pointer: &str,
    passed: walk::Passed<'j>,
) -> Option<&'j [u8]> {
    let mut value = json.trim_ascii();
    for step in pointer.split('/').skip(1) {
        let key = step.replace("~1", "/").replace("~0", "~");
        value = if let Some(mut elements) = walk::elements_telling(value, passed) {
            let is_number = key == "0" || !key.starts_with(['0', '+']);
            elements.nth(key.parse().ok().filter(|_| is_number)?)?
        } else {
            let is_meant = |(name, _): &(&[u8], &[u8])| json::name(name) == key;
            walk::members_telling(value, passed)?.filter(is_meant).last()?.1
        };
    }
    Some(value)
}

fn quoted(text: &str) -> Vec<u8> {
    serde_json::Value::from(text).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(kind: ContentKind, bytes: &str, wanted: Wanted, spelling: Spelling) -> String {
        let content = Content { bytes: bytes.as_bytes().to_vec(), kind };
        match content.written_as(wanted, spelling) {
            Ok(json) => String::from_utf8(json).unwrap(),
            Err(error) => error.told(),
        }
    }

    #[test]
    fn what_is_given_is_in_the_form_that_is_wanted() {
        use ContentKind::{File, Records, Text, Value};
        use Spelling::{Object, Text as Written};
        let json = "{\n \"a\": 1.0}";
        for (kind, bytes, wanted, spelling, expected) in [
            (Text, "a\n\"b\"\u{1}é", Wanted::Text, Object, r#""a\n\"b\"\u0001é""#),
            (Text, json, Wanted::Text, Object, r#""{\n \"a\": 1.0}""#),
            (Text, json, Wanted::Json, Written, json),
            (Text, json, Wanted::Any, Written, r#""{\n \"a\": 1.0}""#),
            (Text, json, Wanted::Any, Object, json),
            (Text, "plain", Wanted::Any, Object, "\"plain\""),
            (Text, "plain", Wanted::Base64, Written, "\"cGxhaW4=\""),
            (File, "<svg/>", Wanted::Text, Written, "\"<svg/>\""),
            (File, "<svg/>", Wanted::Base64, Written, "\"PHN2Zy8+\""),
            (Value, r#""\ud800 a""#, Wanted::Text, Written, r#""\ud800 a""#),
            (Value, r#"{"b":[]}"#, Wanted::Text, Written, r#""{\"b\":[]}""#),
            (Value, "1e400", Wanted::Plain, Written, "1e400"),
            (Records, r#"[{"n": 42}]"#, Wanted::Plain, Written, "42"),
            (Records, r#"[{"n":1}]"#, Wanted::Text, Object, r#""[{\"n\":1}]""#),
            (Records, r#"[{"n":true}]"#, Wanted::Json, Written, r#"[{"n":true}]"#),
        ] {
            assert_eq!(given(kind, bytes, wanted, spelling), expected, "{bytes} {wanted:?}");
        }
    }

    #[test]
    fn what_cannot_be_in_that_form_is_told_with_what_to_select() {
        use ContentKind::{Records, Text};
        let given = |kind, bytes: &str, wanted| given(kind, bytes, wanted, Spelling::Text);
        assert!(given(Text, "a,b\n1,2", Wanted::Json).contains("format=json"));
        for records in ["[]", r#"[{"a":1},{"a":2}]"#, r#"[{"a":1,"b":2}]"#, r#"[{"a":"x"}]"#] {
            assert!(given(Records, records, Wanted::Plain).contains("pointer=/…"), "{records}");
        }
        let bytes = Content { bytes: vec![0xFF], kind: Text };
        let told = bytes.clone().written_as(Wanted::Text, Spelling::Text).unwrap_err().told();
        assert!(told.contains("not text"), "{told}");
        assert_eq!(bytes.written_as(Wanted::Base64, Spelling::Text).unwrap(), b"\"/w==\"");
        let file = Content { bytes: vec![0xFF], kind: ContentKind::File };
        for wanted in [Wanted::Text, Wanted::Any] {
            let given = file.clone().written_as(wanted, Spelling::Text).unwrap();
            assert_eq!(given, b"\"/w==\"", "a file in a text is in base64");
        }
        let told = file.written_as(Wanted::Json, Spelling::Text).unwrap_err().told();
        assert!(told.contains("It is a file"), "{told}");
    }

    #[test]
    fn a_pointer_leads_where_the_standard_says() {
        let json = r#" {"foo": ["bar", {"x": 1.50}], "": 0, "a/b": 1, "m~n": 8, "k\"l": 6, "u\u0041": 7, "d": 1, "d": 2} "#;
        for (pointer, expected) in [
            ("", Some(json.trim())),
            ("/foo/0", Some("\"bar\"")),
            ("/foo/1/x", Some("1.50")),
            ("/", Some("0")),
            ("/a~1b", Some("1")),
            ("/m~0n", Some("8")),
            ("/k\"l", Some("6")),
            ("/uA", Some("7")),
            ("/d", Some("2")),
            ("/foo/01", None),
            ("/foo/2", None),
            ("/foo/-", None),
            ("/nothing/x", None),
            ("/a~1b/x", None),
        ] {
            let found = at_pointer(json.as_bytes(), pointer, None);
            assert_eq!(found, expected.map(str::as_bytes), "{pointer}");
        }
    }
}
