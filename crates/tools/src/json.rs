//! JSON as a model reads it: without blanks, and what matters first.

use forebay_wire::walk;
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

/// The text of a member's name, which is given without its quotes.
pub(crate) fn name(name: &[u8]) -> String {
    let quoted = [b"\"", name, b"\""].concat();
    serde_json::from_slice(&quoted).unwrap_or_else(|_| String::from_utf8_lossy(name).into_owned())
}

/// A member's value as it is written, and the object without it; `None` if it has no such member.
pub(crate) fn without<'j>(object: &'j [u8], member: &str) -> Option<(&'j [u8], Vec<u8>)> {
    let members = || walk::members(object).into_iter().flatten();
    let is_it = |key: &[u8]| name(key) == member;
    let (_, value) = members().find(|(key, _)| is_it(key))?;
    let others = members().filter(|(key, _)| !is_it(key));
    let others: Vec<Vec<u8>> =
        others.map(|(key, value)| [b"\"", key, b"\":", value].concat()).collect();
    Some((value, [&b"{"[..], &others.join(&b','), b"}"].concat()))
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
