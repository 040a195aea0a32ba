//! Values as Python prints them, written anew as JSON: what `str()` makes of lists and dicts, and JSON
//! with `NaN`, commas too many, or without its end.

use std::fmt::Write as _;

use forebay_wire::syntax;
use serde_json::Value;

use super::around::{AFTER, Around};

const MAX_DEPTH: usize = 100;

/// The JSON of a list or a dict, and what has to be said of it; `None` if the text is neither.
pub(super) fn to_json(text: &str) -> Option<(Vec<u8>, Around)> {
    let text = text.trim();
    let mut reader = Reader { text, at: 0, json: String::with_capacity(text.len()), lost: 0 };
    let end = match text.as_bytes().first()? {
        b'[' | b'(' => reader.list(0),
        b'{' => reader.dict(0),
        _ => return None,
    };
    let mut around = Around::default();
    if let Err(Stop { complete: Some((count, bytes)) }) = end
        && reader.at == text.len()
        && count > 0
    {
        reader.json.truncate(bytes);
        reader.json.push(']');
        let rest = format!("the text ends within record {}, which is left out", count + 1);
        around.text(AFTER, rest.as_bytes());
    } else if end.is_err() || reader.at < text.len() {
        return None;
    }
    if reader.lost > 0 {
        let count = reader.lost;
        around.text(AFTER, format!("NaN and Infinity, {count} in all, are null").as_bytes());
    }
    Some((reader.json.into_bytes(), around))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    json: String,
    /// Numbers that JSON does not have.
    lost: usize,
}

/// Why reading ended.
struct Stop {
    /// How many elements of the outermost list are complete, and how long their JSON is.
    complete: Option<(usize, usize)>,
}

const NO: Stop = Stop { complete: None };

impl Reader<'_> {
    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn skip_space(&mut self) {
        let blank = self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.at += blank;
    }

    fn take(&mut self, word: &str) -> bool {
        let is_there = self.rest().starts_with(word.as_bytes());
        self.at += if is_there { word.len() } else { 0 };
        is_there
    }

    /// A list or a tuple.
    fn list(&mut self, depth: usize) -> Result<(), Stop> {
        let close = if self.take("[") { "]" } else { ")" };
        self.at += usize::from(close == ")");
        self.json.push('[');
        let mut count = 0;
        loop {
            let complete = (depth == 0).then_some((count, self.json.len()));
            self.skip_space();
            if self.take(close) {
                self.json.push(']');
                return Ok(());
            }
            if count > 0 {
                self.json.push(',');
            }
            self.value(depth + 1).map_err(|_| Stop { complete })?;
            count += 1;
            self.skip_space();
            if !self.take(",") && !self.rest().starts_with(close.as_bytes()) {
                // Of a number, more may have been cut off.
                let has_end = self.json.ends_with(['}', ']', '"']);
                let now = (depth == 0).then_some((count, self.json.len()));
                return Err(Stop { complete: if has_end { now } else { complete } });
            }
        }
    }

    fn dict(&mut self, depth: usize) -> Result<(), Stop> {
        self.at += 1;
        self.json.push('{');
        let mut is_first = true;
        loop {
            self.skip_space();
            if self.take("}") {
                self.json.push('}');
                return Ok(());
            }
            if !is_first {
                self.json.push(',');
            }
            is_first = false;
            self.key()?;
            self.skip_space();
            if !self.take(":") {
                return Err(NO);
            }
            self.json.push(':');
            self.skip_space();
            self.value(depth + 1)?;
            self.skip_space();
            if !self.take(",") && !self.rest().starts_with(b"}") {
                return Err(NO);
            }
        }
    }

    /// A key: a text, or a number or constant as Python prints it.
    fn key(&mut self) -> Result<(), Stop> {
        if matches!(self.rest().first(), Some(b'\'' | b'"')) {
            return self.string();
        }
        let end = self.rest().iter().position(|byte| matches!(byte, b':' | b'\n' | b'{' | b'['));
        let name = self.text[self.at..].get(..end.ok_or(NO)?).ok_or(NO)?.trim();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-._".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_plain) {
            return Err(NO);
        }
        self.at += name.len();
        let _ = write!(self.json, "\"{name}\"");
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<(), Stop> {
        if depth > MAX_DEPTH {
            return Err(NO);
        }
        match self.rest().first() {
            Some(b'[' | b'(') => self.list(depth),
            Some(b'{') => self.dict(depth),
            Some(b'\'' | b'"') => self.string(),
            Some(b'-' | b'.' | b'0'..=b'9') => self.number(),
            Some(b'A'..=b'Z' | b'a'..=b'z') => self.word(),
            _ => Err(NO),
        }
    }

    fn number(&mut self) -> Result<(), Stop> {
        if self.take("-Infinity") || self.take("-inf") {
            self.no_number();
            return Ok(());
        }
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let length = self.rest().iter().take_while(is_part).count();
        let number = &self.text[self.at..self.at + length];
        if syntax::check(number.as_bytes()).is_err() {
            return Err(NO);
        }
        self.json.push_str(number);
        self.at += length;
        Ok(())
    }

    fn no_number(&mut self) {
        self.lost += 1;
        self.json.push_str("null");
    }

    /// A constant, or a value that is printed as a call.
    fn word(&mut self) -> Result<(), Stop> {
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._".contains(byte);
        let length = self.rest().iter().take_while(is_part).count();
        let word = &self.text[self.at..self.at + length];
        let constant = match word {
            "True" | "true" => "true",
            "False" | "false" => "false",
            "None" | "null" => "null",
            "nan" | "NaN" | "inf" | "Infinity" => {
                self.at += length;
                self.no_number();
                return Ok(());
            }
            "Decimal" | "UUID" | "datetime.datetime" | "datetime.date" => {
                self.at += length;
                return self.call(word == "Decimal");
            }
            _ => return Err(NO),
        };
        self.at += length;
        self.json.push_str(constant);
        Ok(())
    }

    /// `Decimal('1.50')`, `UUID('…')`, `datetime.date(2024, 1, 2)`.
    fn call(&mut self, is_number: bool) -> Result<(), Stop> {
        let inner = self.rest().strip_prefix(b"(").ok_or(NO)?;
        let end = inner.iter().position(|byte| *byte == b')').ok_or(NO)?;
        let inside = self.text[self.at + 1..].get(..end).ok_or(NO)?;
        self.at += end + 2;
        if let Some(text) = inside.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
            let is_json = serde_json::from_str::<serde_json::Number>(text).is_ok();
            let written =
                if is_number && is_json { text.to_owned() } else { Value::from(text).to_string() };
            self.json.push_str(&written);
            return Ok(());
        }
        let time = time(inside).ok_or(NO)?;
        let _ = write!(self.json, "\"{time}\"");
        Ok(())
    }

    /// A text in either kind of quotes.
    fn string(&mut self) -> Result<(), Stop> {
        let quote = self.rest()[0];
        let body = &self.text[self.at + 1..];
        let mut text = String::new();
        let mut characters = body.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => text.push(escaped(&mut characters).ok_or(NO)?),
                _ if u32::from(character) == u32::from(quote) => {
                    self.at += at + 2;
                    self.json.push_str(&Value::from(text).to_string());
                    return Ok(());
                }
                other => text.push(other),
            }
        }
        self.at = self.text.len();
        Err(NO)
    }
}

/// The character that an escape stands for.
fn escaped(characters: &mut std::str::CharIndices<'_>) -> Option<char> {
    let (_, kind) = characters.next()?;
    let mut code = |digits: usize| -> Option<u32> {
        let mut code = 0;
        for _ in 0..digits {
            code = code * 16 + characters.next()?.1.to_digit(16)?;
        }
        Some(code)
    };
    let code = match kind {
        'n' => return Some('\n'),
        't' => return Some('\t'),
        'r' => return Some('\r'),
        'b' => return Some('\u{8}'),
        'f' => return Some('\u{c}'),
        '\\' | '\'' | '"' | '/' => return Some(kind),
        'x' => code(2)?,
        'U' => code(8)?,
        'u' => {
            let first = code(4)?;
            if (0xD800..0xDC00).contains(&first) {
                // JSON writes what is beyond four digits as two.
                let is_pair = characters.next()?.1 == '\\' && characters.next()?.1 == 'u';
                let mut second = 0;
                for _ in 0..4 {
                    second = second * 16 + characters.next()?.1.to_digit(16)?;
                }
                let low = is_pair.then_some(second)?.checked_sub(0xDC00)?;
                0x10000 + ((first - 0xD800) << 10) + low
            } else {
                first
            }
        }
        _ => return None,
    };
    char::from_u32(code)
}

/// A date or time from its parts: `2024, 1, 2, 3, 4, tzinfo=datetime.timezone.utc`.
fn time(parts: &str) -> Option<String> {
    let (parts, zone) = match parts.split_once(", tzinfo=") {
        Some((parts, "datetime.timezone.utc")) => (parts, "Z"),
        Some(_) => return None,
        None => (parts, ""),
    };
    let numbers: Vec<u32> =
        parts.split(',').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
    let [year, month, day, clock @ ..] = numbers.as_slice() else { return None };
    let date = format!("{year:04}-{month:02}-{day:02}");
    let part = |place: usize| clock.get(place).copied().unwrap_or(0);
    if clock.is_empty() {
        return Some(date);
    }
    let mut time = format!("{date}T{:02}:{:02}:{:02}", part(0), part(1), part(2));
    if part(3) > 0 {
        let _ = write!(time, ".{:06}", part(3));
    }
    Some(time + zone)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Option<String> {
        to_json(text).map(|(json, _)| String::from_utf8(json).unwrap())
    }

    #[test]
    fn what_python_prints_is_read_as_what_it_was() {
        let text = r#"[{'id': 1, 'name': "O'Neil", 'é\n"': None, 2: True, 'x': (1, -2.5e3,), 'd': Decimal('1.50'),
            't': datetime.datetime(2024, 1, 2, 3, 4, 5, 60), 'on': datetime.date(2024, 1, 2), 'u': '\x41\u00e9\U0001F600'}]"#;
        let expected = r#"[{"id":1,"name":"O'Neil","é\n\"":null,"2":true,"x":[1,-2.5e3],"d":1.50,"t":"2024-01-02T03:04:05.000060","on":"2024-01-02","u":"Aé😀"}]"#;
        assert_eq!(json(text).as_deref(), Some(expected));
        for other in
            ["[1, 23", "[<object at 0x1>]", "{'a': 1} and", "{1, 2}", "[01]", "words", "[1 2]"]
        {
            assert_eq!(json(other).as_deref(), (other == "[1, 23").then_some("[1]"), "{other}");
        }
    }

    #[test]
    fn what_json_does_not_have_is_null_and_counted() {
        let (json, around) =
            to_json(r#"[{"a": NaN, "b": -Infinity, "c": "\ud83d\ude00"},]"#).unwrap();
        assert_eq!(String::from_utf8(json).unwrap(), r#"[{"a":null,"b":null,"c":"😀"}]"#);
        let mut contents = super::super::Contents::default();
        around.tell(&mut contents);
        assert!(contents.envelope[0].1.contains("2 in all"), "{:?}", contents.envelope);
    }

    #[test]
    fn what_is_cut_off_is_told_as_such() {
        let (json, around) = to_json(r#"[{"a": 1}, {"a": 2}, {"a": "lon"#).unwrap();
        assert_eq!(String::from_utf8(json).unwrap(), r#"[{"a":1},{"a":2}]"#);
        let mut contents = super::super::Contents::default();
        around.tell(&mut contents);
        assert!(contents.envelope[0].1.contains("within record 3"), "{:?}", contents.envelope);
    }
}
