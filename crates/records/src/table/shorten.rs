//! Shortens a record value by value, so that no long text hides the rest of it.
//!
//! What comes out is JSON again; what is left out of a text, a list or an object is marked in it. What
//! has been shortened before can be shortened again: marks are added up.

use std::fmt::Write as _;

use forebay_wire::{
    scan,
    walk::{self, Type},
};
use serde_json::Value;

/// How much of each value is kept.
#[derive(Debug, Clone, Copy)]
struct Limits {
    chars: usize,
    items: usize,
    members: usize,
    depth: usize,
}

/// From much to little.
const STEPS: [Limits; 7] = [
    Limits { chars: 1_000, items: 20, members: 200, depth: 8 },
    Limits { chars: 200, items: 5, members: 60, depth: 5 },
    Limits { chars: 80, items: 3, members: 40, depth: 4 },
    Limits { chars: 40, items: 2, members: 30, depth: 3 },
    Limits { chars: 24, items: 1, members: 20, depth: 2 },
    Limits { chars: 12, items: 1, members: 12, depth: 1 },
    Limits { chars: 8, items: 0, members: 6, depth: 1 },
];

/// An object or a list in at most `max_bytes`; `None` if it is neither, or cannot be that short.
pub fn to_fit(json: &[u8], max_bytes: usize) -> Option<String> {
    let json = json.trim_ascii();
    if !matches!(json.first(), Some(b'{' | b'[')) {
        return None;
    }
    STEPS.iter().find_map(|limits| {
        let mut out = String::new();
        limits.value(json, 0, &mut out)?;
        (out.len() <= max_bytes).then_some(out)
    })
}

impl Limits {
    fn value(&self, json: &[u8], depth: usize, out: &mut String) -> Option<()> {
        match walk::type_of(json)? {
            Type::Object if depth >= self.depth => {
                let count = walk::members(json)?.map(|(key, value)| members_in(key, value)).sum();
                match count {
                    0_u64 => out.push_str("{}"),
                    _ => drop(write!(out, "{{\"…\":{count}}}")),
                }
            }
            Type::Object => self.object(json, depth, out)?,
            Type::Array if depth >= self.depth => {
                let count = walk::elements(json)?.map(elements_in).sum();
                match count {
                    0_u64 => out.push_str("[]"),
                    _ => drop(write!(out, "[\"… {count}\"]")),
                }
            }
            Type::Array => self.list(json, depth, out)?,
            Type::String => self.text(json, out),
            Type::Number | Type::Boolean | Type::Null => {
                out.push_str(std::str::from_utf8(json).ok()?);
            }
        }
        Some(())
    }

    fn object(&self, json: &[u8], depth: usize, out: &mut String) -> Option<()> {
        out.push('{');
        let mut left_out = 0;
        for (index, (key, value)) in walk::members(json)?.enumerate() {
            if index >= self.members || is_mark(key, value) {
                left_out += members_in(key, value);
                continue;
            }
            if index > 0 {
                out.push(',');
            }
            out.push('"');
            out.push_str(&String::from_utf8_lossy(key));
            out.push_str("\":");
            self.value(value, depth + 1, out)?;
        }
        if left_out > 0 {
            let comma = if out.ends_with('{') { "" } else { "," };
            let _ = write!(out, "{comma}\"…\":{left_out}");
        }
        out.push('}');
        Some(())
    }

    fn list(&self, json: &[u8], depth: usize, out: &mut String) -> Option<()> {
        out.push('[');
        let mut left_out = 0;
        for (index, value) in walk::elements(json)?.enumerate() {
            if index >= self.items || mark(value).is_some() {
                left_out += elements_in(value);
                continue;
            }
            if index > 0 {
                out.push(',');
            }
            self.value(value, depth + 1, out)?;
        }
        if left_out > 0 {
            let comma = if out.ends_with('[') { "" } else { "," };
            let _ = write!(out, "{comma}\"… {left_out}\"");
        }
        out.push(']');
        Some(())
    }

    fn text(&self, json: &[u8], out: &mut String) {
        // A long text is not decoded for the few characters that are shown.
        let head = &json[..json.len().min(8 * self.chars + 16)];
        let whole = (head.len() == json.len()).then(|| scan::string(json)).flatten();
        let text = match &whole {
            Some(text) => text.as_ref().to_owned(),
            None => String::from_utf8_lossy(head.strip_prefix(b"\"").unwrap_or(head)).into_owned(),
        };
        let mut shown: String = text.chars().take(self.chars).collect();
        if whole.is_none() || shown.len() < text.len() {
            shown.push('…');
        }
        out.push_str(&Value::from(shown).to_string());
    }
}

/// True for the member that says how many were left out of an object.
fn is_mark(key: &[u8], value: &[u8]) -> bool {
    key == "…".as_bytes() && walk::type_of(value) == Some(Type::Number)
}

/// How many members this one stands for.
fn members_in(key: &[u8], value: &[u8]) -> u64 {
    let number = || std::str::from_utf8(value).ok()?.parse().ok();
    if is_mark(key, value) { number().unwrap_or(1) } else { 1 }
}

/// How many elements were left out of a list, if this one says so.
fn mark(element: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(element).ok()?;
    text.strip_prefix("\"… ")?.strip_suffix('"')?.parse().ok()
}

/// How many elements this one stands for.
fn elements_in(element: &[u8]) -> u64 {
    mark(element).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_long_text_hides_what_follows_it() {
        let record = format!(
            r#"{{"body":"{}","tags":[1,2,3,4,5,6,7],"user":{{"name":"Ann","more":{{"a":1}}}},"n":1.50}}"#,
            "x".repeat(5_000)
        );
        let short = to_fit(record.as_bytes(), 200).unwrap();
        let expected = r#"{"body":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…","tags":[1,2,3,"… 4"],"user":{"name":"Ann","more":{"a":1}},"n":1.50}"#;
        assert_eq!(short, expected);
        assert!(serde_json::from_str::<Value>(&short).is_ok());
        let shorter = to_fit(record.as_bytes(), 90).unwrap();
        assert_eq!(shorter, r#"{"body":"xxxxxxxxxxxx…","tags":["… 7"],"user":{"…":2},"n":1.50}"#);
        assert_eq!(to_fit(b"12,abc", 100), None);
    }

    #[test]
    fn what_was_left_out_before_is_still_counted() {
        let list: Vec<u32> = (0..1_000).collect();
        let members: Vec<String> = list.iter().map(|n| format!("\"c{n}\":{n}")).collect();
        let record = format!(r#"{{"l":{list:?},"o":{{{}}}}}"#, members.join(","));
        let once = to_fit(record.as_bytes(), 4_096).unwrap();
        assert!(once.contains(r#""… 980"]"#) && once.contains(r#","…":800}"#), "{once}");
        let twice = to_fit(once.as_bytes(), 200).unwrap();
        assert!(twice.contains(r#""… 999"]"#) && twice.contains(r#","…":980}"#), "{twice}");
    }
}
