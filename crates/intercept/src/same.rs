//! Whether two JSON texts say the same: but for white space, the order of members and escapes.
//!
//! Numbers are the same only if they are written the same: a parser would round long ones.

use forebay_records::text_of;
use forebay_wire::{
    syntax,
    walk::{self, Type},
};

const MAX_DEPTH: usize = 200;

/// True if both are JSON and say the same.
pub(crate) fn is_same_json(one: &[u8], other: &[u8]) -> bool {
    syntax::check(one).is_ok()
        && syntax::check(other).is_ok()
        && is_same(one.trim_ascii(), other.trim_ascii(), 0)
}

fn is_same(one: &[u8], other: &[u8], depth: usize) -> bool {
    if one == other {
        return true;
    }
    match (walk::type_of(one), walk::type_of(other)) {
        _ if depth == MAX_DEPTH => false,
        (Some(Type::String), Some(Type::String)) => text_of(one) == text_of(other),
        (Some(Type::Array), Some(Type::Array)) => {
            let (mut one, mut other) = (
                walk::elements(one).into_iter().flatten(),
                walk::elements(other).into_iter().flatten(),
            );
            loop {
                match (one.next(), other.next()) {
                    (None, None) => return true,
                    (Some(a), Some(b)) if is_same(a, b, depth + 1) => {}
                    _ => return false,
                }
            }
        }
        (Some(Type::Object), Some(Type::Object)) => {
            let (one, other) = (members(one), members(other));
            one.len() == other.len()
                && one.iter().zip(&other).all(|((key, value), (other_key, other_value))| {
                    key == other_key && is_same(value, other_value, depth + 1)
                })
        }
        _ => false,
    }
}

/// The members of an object by their keys.
fn members(object: &[u8]) -> Vec<(Vec<u8>, &[u8])> {
    let mut members: Vec<(Vec<u8>, &[u8])> = walk::members(object)
        .into_iter()
        .flatten()
        .map(|(key, value)| (text_of(&[b"\"", key, b"\""].concat()).into_owned(), value))
        .collect();
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_differently_may_be_the_same() {
        let one = br#"{"a": [1, "x\u0041", {"b": null}], "c": 1.50}"#;
        assert!(is_same_json(one, br#" {"c":1.50,"a":[1,"xA",{"b":null}]} "#));
        for other in [
            r#"{"a": [1, "xA", {"b": null}], "c": 1.5}"#,
            r#"{"a": [1, "xA", {"b": null}]}"#,
            r#"{"a": ["xA", 1, {"b": null}], "c": 1.50}"#,
            r#"{"a": [1, "xA", {"b": null}], "d": 1.50}"#,
            r#"{"a": [1, "xA", {"b": null}, 2], "c": 1.50}"#,
            "{",
        ] {
            assert!(!is_same_json(one, other.as_bytes()), "{other}");
        }
        let long = "123456789012345678901234567890";
        assert!(!is_same_json(long.as_bytes(), b"123456789012345678901234567891"));
    }
}
