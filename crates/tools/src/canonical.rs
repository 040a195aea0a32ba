//! Arguments in one form, however a client happens to write them: members in the order of their names,
//! texts with the escapes that they need, no blanks. Numbers stay as they are written.

use std::collections::BTreeMap;

use forebay_wire::walk::{self, Type};
use serde_json::Value;

use crate::json;

/// What lies deeper stays as it is written.
const MAX_DEPTH: usize = 100;

/// The form of some JSON that all ways to write it share. Of members with the same name the last counts.
pub(crate) fn of(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len());
    write(json.trim_ascii(), 0, &mut out);
    out
}

fn write(value: &[u8], depth: usize, out: &mut Vec<u8>) {
    match walk::type_of(value) {
        Some(Type::Object) if depth < MAX_DEPTH => {
            let members = walk::members(value).into_iter().flatten();
            let members: BTreeMap<String, &[u8]> =
                members.map(|(key, value)| (json::name(key), value)).collect();
            out.push(b'{');
            for (place, (key, value)) in members.into_iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                out.extend(Value::from(key).to_string().into_bytes());
                out.push(b':');
                write(value, depth + 1, out);
            }
            out.push(b'}');
        }
        Some(Type::Array) if depth < MAX_DEPTH => {
            out.push(b'[');
            for (place, element) in walk::elements(value).into_iter().flatten().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                write(element, depth + 1, out);
            }
            out.push(b']');
        }
        Some(Type::String) => match serde_json::from_slice::<String>(value) {
            Ok(text) => out.extend(Value::from(text).to_string().into_bytes()),
            Err(_) => out.extend_from_slice(value),
        },
        Some(Type::Object | Type::Array | Type::Number | Type::Boolean | Type::Null) | None => {
            out.extend_from_slice(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_to_write_arguments_are_one() {
        let one =
            of(br#" { "b" : [ 1.0 , "\u0041\/" ], "a":{"y":null,"x":10000000000000000000000} }"#);
        let other = of(br#"{"a":{"x":10000000000000000000000,"y":null},"b":[1.0,"A/"]}"#);
        assert_eq!(String::from_utf8_lossy(&one), String::from_utf8_lossy(&other));
        assert_eq!(of(br#"{"a":1,"a":2}"#), br#"{"a":2}"#);
        for (one, other) in [
            (r#"{"a":1}"#, r#"{"a":1.0}"#),
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            ("[1,2]", "[2,1]"),
            (r#"{"a":"b,c"}"#, r#"{"a":"b","c":""}"#),
        ] {
            assert_ne!(of(one.as_bytes()), of(other.as_bytes()), "{one}");
        }
        let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(of(deep.as_bytes()).len(), deep.len());
    }
}
