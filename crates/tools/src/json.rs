//! JSON as a model reads it: without blanks, and what matters first.

use std::borrow::Cow;

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

/// What DuckDB writes as JSON, with numbers that JSON does not have as texts.
pub(crate) fn valid(json: &str) -> Cow<'_, str> {
    const NUMBERS: [&str; 4] = ["NaN", "-NaN", "Infinity", "-Infinity"];
    if !json.contains("NaN") && !json.contains("Infinity") {
        return json.into();
    }
    let mut out = String::new();
    let (mut rest, mut in_string) = (json, false);
    while let Some(first) = rest.chars().next() {
        let number = NUMBERS.iter().find(|number| !in_string && rest.starts_with(**number));
        let length = match (number, first) {
            (Some(number), _) => number.len(),
            // What is escaped ends nothing.
            (None, '\\') => rest.chars().take(2).map(char::len_utf8).sum(),
            (None, _) => first.len_utf8(),
        };
        let (part, following) = rest.split_at(length);
        match number {
            Some(number) => out.extend(["\"", number, "\""]),
            None => out.push_str(part),
        }
        in_string ^= part == "\"";
        rest = following;
    }
    out.into()
}

#[cfg(test)]
mod tests {
    #[test]
    fn members_stay_in_their_order() {
        assert_eq!(super::object([("b", 1.into()), ("a", "x".into())]), r#"{"b":1,"a":"x"}"#);
    }

    #[test]
    fn numbers_that_json_does_not_have_are_texts() {
        let json = r#"[NaN,1,"NaN \" Infinity",{"a":-Infinity}]"#;
        let valid = r#"["NaN",1,"NaN \" Infinity",{"a":"-Infinity"}]"#;
        assert_eq!(super::valid(json), valid);
        assert_eq!(super::valid(valid), valid);
    }

    #[test]
    fn blanks_go_and_texts_stay() {
        let json = b"{ \"a \\\" b\" :\n\t[ 1.0 , \"x\\\\\" , { } ] }";
        assert_eq!(super::compact(json), b"{\"a \\\" b\":[1.0,\"x\\\\\",{}]}");
    }
}
