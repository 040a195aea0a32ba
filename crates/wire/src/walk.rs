//! Goes through the elements of an array, or the members of an object, without reading into them.
//!
//! For JSON that is in memory, or mapped, and valid; anything else ends the walk early, never with a
//! panic. Values come out as their text.

use crate::{
    skip::{self, Skipper},
    valid,
};

/// How much of a value is passed over before whoever asked is told.
const STEP: usize = 16 * 1024 * 1024;

/// The elements of an array.
#[derive(Clone)]
pub struct Elements<'a> {
    rest: &'a [u8],
    is_first: bool,
    passed: Passed<'a>,
}

/// The members of an object.
#[derive(Clone)]
pub struct Members<'a> {
    rest: &'a [u8],
    is_first: bool,
    passed: Passed<'a>,
}

/// Told, within a long value too, what is still to come: whoever has mapped the text can give the
/// memory of the rest back.
pub type Passed<'a> = Option<&'a dyn Fn(&[u8])>;

/// What kind of value a JSON text is, by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// `{`
    Object,
    /// `[`
    Array,
    /// `"`
    String,
    /// A digit or a minus sign.
    Number,
    /// `true` or `false`
    Boolean,
    /// `null`
    Null,
}

/// The elements of `json`, if it is an array.
pub fn elements(json: &[u8]) -> Option<Elements<'_>> {
    elements_telling(json, None)
}

/// [`elements`] of a text so long that its memory is to be given back on the way.
pub fn elements_telling<'a>(json: &'a [u8], passed: Passed<'a>) -> Option<Elements<'a>> {
    let rest = json.trim_ascii_start().strip_prefix(b"[")?;
    Some(Elements { rest, is_first: true, passed })
}

/// The members of `json`, if it is an object.
pub fn members(json: &[u8]) -> Option<Members<'_>> {
    members_telling(json, None)
}

/// [`members`] of a text so long that its memory is to be given back on the way.
pub fn members_telling<'a>(json: &'a [u8], passed: Passed<'a>) -> Option<Members<'a>> {
    let rest = json.trim_ascii_start().strip_prefix(b"{")?;
    Some(Members { rest, is_first: true, passed })
}

/// What begins with the first value of an object, whose end is not looked for.
pub fn first_value(json: &[u8]) -> Option<&[u8]> {
    let (key, rest) = value(json.trim_ascii_start().strip_prefix(b"{")?.trim_ascii_start())?;
    key.starts_with(b"\"").then_some(())?;
    Some(rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start())
}

/// Splits the value at the front of `json` from what follows it.
pub fn value(json: &[u8]) -> Option<(&[u8], &[u8])> {
    split_value(json, None)
}

/// [`value`] of a text so long that its memory is to be given back on the way.
pub fn value_telling<'a>(json: &'a [u8], passed: Passed<'_>) -> Option<(&'a [u8], &'a [u8])> {
    split_value(json, passed)
}

/// Splits a list of objects, or what is left of one from a comma on, behind the first of them that ends
/// after `at`.
pub fn split_objects(list: &[u8], at: usize) -> Option<(&[u8], &[u8])> {
    skip::object_end_after(list, at).map(|end| list.split_at(end))
}

/// A number at the front of a text.
#[derive(Debug, Clone, Copy)]
pub struct Number<'a> {
    /// As it is written.
    pub json: &'a [u8],
    /// It has neither a fraction nor an exponent.
    pub is_integer: bool,
    /// It has an exponent.
    pub has_exponent: bool,
}

impl Number<'_> {
    /// True if it is written as JSON demands.
    pub fn is_valid(&self) -> bool {
        if !self.is_integer {
            return valid::is_valid(self.json, None);
        }
        let digits = self.json.strip_prefix(b"-").unwrap_or(self.json);
        match digits {
            [] => false,
            [b'0', rest @ ..] => rest.is_empty(),
            _ => !digits.contains(&b'-'),
        }
    }
}

/// Splits the number at the front of `json` from what follows it.
pub fn number(json: &[u8]) -> (Number<'_>, &[u8]) {
    let mut seen = 0;
    let mut end = 0;
    while let Some(byte) = json.get(end) {
        let class = NUMBER_BYTES[usize::from(*byte)];
        if class == 0 {
            break;
        }
        seen |= class;
        end += 1;
    }
    let (number, rest) = json.split_at(end);
    let (is_integer, has_exponent) = (seen & (POINT | EXPONENT) == 0, seen & EXPONENT != 0);
    (Number { json: number, is_integer, has_exponent }, rest)
}

const DIGIT: u8 = 1;
const POINT: u8 = 2;
const EXPONENT: u8 = 4;

/// What each byte is in a number; 0 if it ends one.
const NUMBER_BYTES: [u8; 256] = {
    let mut table = [0; 256];
    let mut digit = b'0';
    while digit <= b'9' {
        table[digit as usize] = DIGIT;
        digit += 1;
    }
    table[b'-' as usize] = DIGIT;
    table[b'+' as usize] = EXPONENT;
    table[b'.' as usize] = POINT;
    table[b'e' as usize] = EXPONENT;
    table[b'E' as usize] = EXPONENT;
    table
};

/// Tells a value's type; `None` if it is no JSON.
pub fn type_of(json: &[u8]) -> Option<Type> {
    Some(match json.first()? {
        b'{' => Type::Object,
        b'[' => Type::Array,
        b'"' => Type::String,
        b'-' | b'0'..=b'9' => Type::Number,
        b't' | b'f' => Type::Boolean,
        b'n' => Type::Null,
        _ => return None,
    })
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.rest = after_separator(self.rest, &mut self.is_first)?;
        let (value, rest) = split_value(self.rest, self.passed)?;
        self.rest = rest;
        Some(value)
    }
}

impl<'a> Iterator for Members<'a> {
    /// A key as it is written, without its quotes, and its value.
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.rest = after_separator(self.rest, &mut self.is_first)?;
        let (key, rest) = split_value(self.rest, None)?;
        let key = key.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let rest = rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        let (value, rest) = split_value(rest, self.passed)?;
        self.rest = rest;
        Some((key, value))
    }
}

fn after_separator<'a>(rest: &'a [u8], is_first: &mut bool) -> Option<&'a [u8]> {
    let rest = rest.trim_ascii_start();
    if std::mem::take(is_first) {
        return Some(rest);
    }
    Some(rest.strip_prefix(b",")?.trim_ascii_start())
}

/// Splits the string at the front of `json`: what is between its quotes, whether that stands for
/// itself (it has no escapes, and no controls, which JSON forbids), and what follows.
pub fn text(json: &[u8]) -> Option<(&[u8], bool, &[u8])> {
    let body = json.strip_prefix(b"\"")?;
    let mut is_plain = true;
    let mut at = 0;
    loop {
        // Most strings are short: a word at a time finds their end before a search has begun.
        while let Some(word) = body[at..].first_chunk::<8>() {
            let before = valid::plain_bytes(*word);
            at += before;
            if before < 8 {
                break;
            }
        }
        match body.get(at)? {
            b'"' => return Some((&body[..at], is_plain, &body[at + 1..])),
            b'\\' => {
                is_plain = false;
                at += 2;
                if at > body.len() {
                    return None;
                }
            }
            0..=0x1F => {
                is_plain = false;
                at += 1;
            }
            _ => at += 1,
        }
    }
}

fn split_value<'a>(json: &'a [u8], passed: Passed<'_>) -> Option<(&'a [u8], &'a [u8])> {
    let end = match type_of(json)? {
        Type::Object | Type::Array => container_end(json, passed)?,
        Type::String => text(json)?.0.len() + 2,
        Type::Number | Type::Boolean | Type::Null => json
            .iter()
            .position(|byte| {
                matches!(byte, b',' | b']' | b'}' | b':' | b' ' | b'\n' | b'\r' | b'\t')
            })
            .unwrap_or(json.len()),
    };
    json.split_at_checked(end)
}

fn container_end(json: &[u8], passed: Passed<'_>) -> Option<usize> {
    let mut skipper = Skipper::after_opening();
    let mut at = 1;
    loop {
        let end = json.len().min(at + STEP);
        if let Some(used) = skipper.skip(&json[at..end]) {
            return Some(at + used);
        }
        if end == json.len() {
            return None;
        }
        at = end;
        if let Some(passed) = passed {
            passed(&json[at..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_and_members_come_out_as_they_are_written() {
        let json = br#" [1, "a\"]", {"x": [2]} ,null , [] ]"#;
        let found: Vec<&[u8]> = elements(json).unwrap().collect();
        let expected: Vec<&[u8]> = vec![b"1", br#""a\"]""#, br#"{"x": [2]}"#, b"null", b"[]"];
        assert_eq!(found, expected);

        let json = br#"{ "a" : 1,"b\n":"\\" , "a":{}}"#;
        let found: Vec<(&[u8], &[u8])> = members(json).unwrap().collect();
        let expected: Vec<(&[u8], &[u8])> =
            vec![(b"a", b"1"), (br"b\n", br#""\\""#), (b"a", b"{}")];
        assert_eq!(found, expected);
        assert_eq!(elements(b"[ ]").unwrap().count() + members(b"{}").unwrap().count(), 0);
    }

    #[test]
    fn a_list_is_split_behind_an_object() {
        let list = br#"[{"a":"}{"},{"a":[{}, {"b":"}]"}]},{"c":1}]"#;
        let (first, second) = split_objects(list, list.len() / 2).unwrap();
        assert_eq!(second, br#",{"c":1}]"#, "{}", String::from_utf8_lossy(first));
        assert!(split_objects(b"[1,2,3]", 3).is_none() && split_objects(b"[", 0).is_none());
    }

    #[test]
    fn what_is_broken_ends_the_walk() {
        for json in ["[", "[1,", "[1 2]", "[\"", "[\"\\", "[{]", "[,1]", "[x]"] {
            assert!(elements(json.as_bytes()).unwrap().count() <= 1, "{json}");
        }
        for json in ["{", "{\"a\"", "{\"a\":", "{1:2}", "{\"a\" 1}"] {
            assert_eq!(members(json.as_bytes()).unwrap().count(), 0, "{json}");
        }
        assert!(elements(b"{}").is_none() && members(b"[]").is_none());
    }
}
