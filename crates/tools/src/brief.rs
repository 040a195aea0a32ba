//! The arguments of a call in few characters: still JSON, and still different where calls differ.

use serde_json::{Map, Value};

/// No value is cut to fewer characters than this.
const MIN_ROOM: usize = 12;

/// A value that has about `room` characters as compact JSON. What is cut is marked with `…`, and what
/// is left out is counted.
pub fn brief(value: &Value, room: usize) -> Value {
    if length(value) <= room {
        return value.clone();
    }
    match value {
        Value::String(text) => cut(text, room.max(MIN_ROOM)).into(),
        Value::Array(values) => {
            let parts: Vec<Part> =
                values.iter().map(|value| Part { around: 1, length: length(value) }).collect();
            let (count, room) = share(&parts, room);
            let left_out = values.len() - count;
            let note = (left_out > 0).then(|| format!("… ({left_out} more)").into());
            values[..count].iter().map(|value| brief(value, room)).chain(note).collect()
        }
        Value::Object(members) => {
            let parts: Vec<Part> =
                members.iter().map(|(name, value)| Part::of(name, value)).collect();
            let (count, room) = share(&parts, room);
            let left_out = members.len() - count;
            let note =
                (left_out > 0).then(|| ("…".to_owned(), Value::from(format!("({left_out} more)"))));
            let kept = members.iter().take(count);
            let kept = kept.map(|(name, value)| (name.clone(), brief(value, room)));
            kept.chain(note).collect::<Map<_, _>>().into()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// A value in a list or an object.
struct Part {
    /// How many characters stand around it: its name, a comma.
    around: usize,
    /// How many it has itself.
    length: usize,
}

impl Part {
    fn of(name: &str, value: &Value) -> Self {
        Self { around: name.chars().count() + 4, length: length(value) }
    }
}

/// How many parts fit, from the first on, and how long each may be: short ones leave their room to
/// long ones.
fn share(parts: &[Part], room: usize) -> (usize, usize) {
    let total =
        |each: usize| parts.iter().map(|part| part.around + part.length.min(each)).sum::<usize>();
    let mut each = room;
    while each > MIN_ROOM && total(each) > room {
        each = (each * 3 / 4).max(MIN_ROOM);
    }
    let mut used = 0;
    let fits = |part: &&Part| {
        used += part.around + part.length.min(each);
        used <= room
    };
    (parts.iter().take_while(fits).count().max(1), each)
}

/// The beginning and the end of a text: paths and addresses differ in their ends.
fn cut(text: &str, room: usize) -> String {
    // Two are its quotes, one says that something is missing.
    let kept = room - 3;
    let letters: Vec<char> = text.chars().collect();
    let (head, tail) = (kept - kept / 2, kept / 2);
    let head = letters.iter().take(head);
    head.chain(&['…']).chain(&letters[letters.len().saturating_sub(tail)..]).collect()
}

fn length(value: &Value) -> usize {
    value.to_string().chars().count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(value: &Value, room: usize) -> String {
        brief(value, room).to_string()
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let arguments = json!({"page": 2, "labels": ["a", "b"], "deep": {"x": null}});
        assert_eq!(text(&arguments, 60), arguments.to_string());
    }

    #[test]
    fn a_long_value_leaves_room_for_the_others() {
        let path = |file: &str| json!({"path": format!("/home/me{}/{file}.rs", "/deep".repeat(50)), "page": 7});
        let [one, other] = ["one", "other"].map(|file| text(&path(file), 60));
        assert_eq!(one, r#"{"page":7,"path":"/home/me/deep/d…eep/deep/one.rs"}"#);
        assert_ne!(one, other);
        let both = text(&json!({"a": "x".repeat(500), "b": "y".repeat(500)}), 80);
        assert!(both.contains("xx…xx") && both.contains("yy…yy") && both.len() < 90, "{both}");
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let ids: Vec<u32> = (100..200).collect();
        assert_eq!(
            text(&json!({"ids": ids}), 40),
            r#"{"ids":[100,101,102,103,104,105,106,"… (93 more)"]}"#
        );
        let many: Map<String, Value> =
            (0..100).map(|n| (format!("name{n:02}"), n.into())).collect();
        let many = text(&many.into(), 60);
        assert!(many.contains(r#""…":"(95 more)""#), "{many}");
    }
}
