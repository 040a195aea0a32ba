//! JSON as a model reads it: without blanks, and what matters first.

use serde_json::Value;

/// An object whose members stay in their order.
pub(crate) fn object<'n>(members: impl IntoIterator<Item = (&'n str, Value)>) -> String {
    let members = members.into_iter().map(|(name, value)| member(name, &value.to_string()));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// A member of an object, whose value is JSON.
pub(crate) fn member(name: &str, json: &str) -> String {
    format!("{}:{json}", Value::from(name))
}

/// Writes `json`, which is valid, without what means nothing.
pub(crate) fn compact(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len());
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            b' ' | b'\n' | b'\r' | b'\t' if !in_string => continue,
            _ => {}
        }
        out.push(*byte);
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn members_stay_in_their_order() {
        assert_eq!(super::object([("b", 1.into()), ("a", "x".into())]), r#"{"b":1,"a":"x"}"#);
    }

    #[test]
    fn blanks_go_and_texts_stay() {
        let json = b"{ \"a \\\" b\" :\n\t[ 1.0 , \"x\\\\\" , { } ] }";
        assert_eq!(super::compact(json), b"{\"a \\\" b\":[1.0,\"x\\\\\",{}]}");
    }
}
