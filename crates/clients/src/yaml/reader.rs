//! Reads YAML from a parser's events.
//!
//! Where a block begins and ends follows from what is in it, and where a text in quotes or brackets ends from its marks: the
//! parser's own spans reach too far there.

use std::{iter::Peekable, ops::Range, vec::IntoIter};

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use crate::document::{Member, Node, Shape, Unreadable};

/// How deep lists and tables may be.
const MAX_DEPTH: usize = 80;

/// What is in a text: one document, which is a table or empty.
pub(crate) fn read(text: &str) -> Result<Node, Unreadable> {
    let offsets: Vec<usize> =
        text.char_indices().map(|(at, _)| at).chain(std::iter::once(text.len())).collect();
    let byte = |index: usize| offsets.get(index).copied().unwrap_or(text.len());
    let mut events = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| Unreadable {
            at: byte(error.marker().index()),
            what: error.info().to_owned(),
        })?;
        let range = byte(span.start.index())..byte(span.end.index());
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd => {}
            event => events.push((event, range)),
        }
    }
    let empty = || Node { span: text.len()..text.len(), shape: Shape::Table(Vec::new()) };
    let mut reader = Reader { text, events: events.into_iter().peekable(), done: 0, depth: 0 };
    let Some((Event::DocumentStart(_), range)) = reader.events.next() else { return Ok(empty()) };
    reader.done = range.end;
    let root = reader.node(range.end)?;
    reader.events.next();
    if let Some((_, range)) = reader.events.peek() {
        return Err(unreadable(range.start, "it has more than one document"));
    }
    match root.shape {
        Shape::Table(_) => Ok(root),
        Shape::Plain(ref text) if text == "null" => Ok(empty()),
        Shape::Text(_) | Shape::Plain(_) | Shape::List(_) => {
            Err(unreadable(root.span.start, "it is no table"))
        }
    }
}

fn unreadable(at: usize, what: &str) -> Unreadable {
    Unreadable { at, what: what.to_owned() }
}

/// Goes through the events of a file.
struct Reader<'a> {
    text: &'a str,
    events: Peekable<IntoIter<(Event<'a>, Range<usize>)>>,
    /// Where the last thing that was read ends.
    done: usize,
    depth: usize,
}

impl Reader<'_> {
    /// Reads what comes next. A block begins at `start`, which is behind the colon in front of it.
    fn node(&mut self, start: usize) -> Result<Node, Unreadable> {
        let Some((event, range)) = self.events.next() else {
            return Err(unreadable(self.text.len(), "it ends too soon"));
        };
        if self.depth == MAX_DEPTH {
            return Err(unreadable(range.start, "it is too deep"));
        }
        self.depth += 1;
        let node = match event {
            Event::Scalar(value, style, _, tag) => {
                self.scalar(&value, style, tag.as_deref(), range)
            }
            // Whoever changes what it stands for would change this, too.
            Event::Alias(_) => Err(unreadable(
                range.start,
                "it has an alias (`*`), which is not followed here; write what it stands for",
            )),
            Event::MappingStart(..) => self.table(start, &range),
            Event::SequenceStart(..) => self.list(start, &range),
            _ => Err(self.lost(range.start)),
        };
        self.depth -= 1;
        node
    }

    fn table(&mut self, start: usize, range: &Range<usize>) -> Result<Node, Unreadable> {
        let bracket = self.bracket(range, '{');
        let mut members: Vec<Member> = Vec::new();
        loop {
            let Some((event, key)) = self.events.next() else { return Err(self.lost(self.done)) };
            let (name, style, tag) = match event {
                Event::MappingEnd => break,
                Event::Scalar(name, style, _, tag) => (name, style, tag),
                _ => return Err(self.lost(key.start)),
            };
            let name_node = self.scalar(&name, style, tag.as_deref(), key)?;
            let begin = name_node.span.start;
            let colon = self.behind_blanks(self.done, &[]);
            // `? name` has its colon on a line of its own.
            let is_in_line = bracket.is_some() || !self.text[self.done..colon].contains('\n');
            if !(is_in_line && self.text[colon..].starts_with(':')) {
                return Err(self.lost(begin));
            }
            self.done = colon + 1;
            let value = self.node(colon + 1)?;
            let span = begin..value.span.end.max(colon + 1);
            members.push(Member { key: name.into_owned(), span, value });
        }
        let end = match bracket {
            Some(_) => self.closed('}')?,
            None => self.done,
        };
        Ok(Node { span: bracket.unwrap_or(start)..end, shape: Shape::Table(members) })
    }

    fn list(&mut self, start: usize, range: &Range<usize>) -> Result<Node, Unreadable> {
        let bracket = self.bracket(range, '[');
        let mut items = Vec::new();
        while !matches!(self.events.peek(), Some((Event::SequenceEnd, _)) | None) {
            let begin = self.events.peek().map_or(self.done, |(_, range)| range.start);
            items.push(self.node(begin)?);
        }
        self.events.next();
        let end = match bracket {
            Some(_) => self.closed(']')?,
            None => self.done,
        };
        Ok(Node { span: bracket.unwrap_or(start)..end, shape: Shape::List(items) })
    }

    fn scalar(
        &mut self,
        value: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        range: Range<usize>,
    ) -> Result<Node, Unreadable> {
        let text = self.text;
        let span = match style {
            ScalarStyle::Plain if value.is_empty() => self.done..self.done,
            ScalarStyle::Plain => {
                let begin = self.behind_properties(range.start);
                begin..begin + text[begin..range.end].trim_end().len()
            }
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
                let begin = self.behind_properties(range.start);
                begin..quotes_end(text, begin).ok_or_else(|| self.lost(begin))?
            }
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let head = text[self.done..range.end].find(['|', '>']);
                let begin = self.done + head.ok_or_else(|| self.lost(range.start))?;
                begin..begin + text[begin..range.end].trim_end().len()
            }
        };
        self.done = span.end;
        // The parser gives a last line an end that it has not.
        let has_no_end = range.end == text.len() && !text.ends_with('\n');
        let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let value = value.strip_suffix('\n').filter(|_| is_block && has_no_end).unwrap_or(value);
        let is_text = tag.is_some_and(|tag| tag.suffix == "str" || tag.handle.is_empty());
        let shape = match (style, tag) {
            _ if is_text => Shape::Text(value.to_owned()),
            // What somebody's own tag means is not known.
            (_, Some(_)) => Shape::Plain(text[range.start..span.end].to_owned()),
            (ScalarStyle::Plain, None) => plain(value),
            (_, None) => Shape::Text(value.to_owned()),
        };
        Ok(Node { span, shape })
    }

    /// Where the bracket is that a list or a table begins with, if it has one.
    fn bracket(&mut self, range: &Range<usize>, bracket: char) -> Option<usize> {
        let at = self.behind_properties(range.start);
        // What begins a block has nothing of its own there.
        let is_there = at < range.end && self.text[at..].starts_with(bracket);
        is_there.then(|| {
            self.done = at + 1;
            at
        })
    }

    /// Behind the bracket that comes next.
    fn closed(&mut self, bracket: char) -> Result<usize, Unreadable> {
        let at = self.behind_blanks(self.done, &[',']);
        if !self.text[at..].starts_with(bracket) {
            return Err(self.lost(at));
        }
        self.done = at + 1;
        Ok(at + 1)
    }

    /// Behind blanks, comments, and what else may be passed over.
    fn behind_blanks(&self, mut at: usize, passed: &[char]) -> usize {
        loop {
            let rest = &self.text[at..];
            let trimmed =
                rest.trim_start_matches(|c: char| c.is_whitespace() || passed.contains(&c));
            at += rest.len() - trimmed.len();
            let is_behind_blank = rest.len() > trimmed.len();
            if !(trimmed.starts_with('#') && is_behind_blank) {
                return at;
            }
            at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    /// Behind an anchor and a tag.
    fn behind_properties(&self, mut at: usize) -> usize {
        while self.text[at..].starts_with(['&', '!']) {
            let rest = &self.text[at..];
            let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
            at = self.behind_blanks(at + length, &[]);
        }
        at
    }

    fn lost(&self, at: usize) -> Unreadable {
        unreadable(at.min(self.text.len()), "it is written in a way that is not understood here")
    }
}

/// Where a text in quotes ends.
pub(super) fn quotes_end(text: &str, begin: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = *bytes.get(begin).filter(|byte| matches!(byte, b'"' | b'\''))?;
    let mut at = begin + 1;
    loop {
        match bytes.get(at)? {
            b'\\' if quote == b'"' => at += 2,
            byte if *byte == quote && quote == b'\'' && bytes.get(at + 1) == Some(&quote) => {
                at += 2;
            }
            byte if *byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// What stands without quotes: what it looks like.
fn plain(value: &str) -> Shape {
    let is_number = || {
        let is_digits =
            |text: &str, radix| !text.is_empty() && text.chars().all(|c| c.is_digit(radix));
        let digits = value.trim_start_matches(['+', '-']);
        let is_odd = [".inf", ".nan"].iter().any(|it| digits.eq_ignore_ascii_case(it));
        let is_prefixed = [("0x", 16), ("0o", 8), ("0b", 2)].iter().any(|(prefix, radix)| {
            digits.strip_prefix(prefix).is_some_and(|it| is_digits(it, *radix))
        });
        let is_decimal = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && digits.parse::<f64>().is_ok();
        is_odd || is_prefixed || is_decimal
    };
    match value {
        "" | "~" | "null" | "Null" | "NULL" => Shape::Plain("null".to_owned()),
        "true" | "True" | "TRUE" => Shape::Plain("true".to_owned()),
        "false" | "False" | "FALSE" => Shape::Plain("false".to_owned()),
        number if is_number() => Shape::Plain(number.to_owned()),
        text => Shape::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str) -> Vec<(String, String)> {
        fn collect(text: &str, node: &Node, found: &mut Vec<(String, String)>) {
            for member in node.members() {
                found.push((member.key.clone(), text[member.value.span.clone()].to_owned()));
                collect(text, &member.value, found);
            }
        }
        let mut found = Vec::new();
        collect(text, &read(text).unwrap(), &mut found);
        found
    }

    #[test]
    fn everything_ends_where_it_ends() {
        let text = "é: \"x\"   # one\nb: 'it''s' # two\nc:\n- - 1\n  - 2 # three\nd: {e: [f, ], } # four\ng: |\n  # h\n\n\
                    i: &j k l\n  m # five\nn: !!str 5\no:\np: &q {r: s}\n";
        let want = [
            ("é", "\"x\""),
            ("b", "'it''s'"),
            ("c", "\n- - 1\n  - 2"),
            ("d", "{e: [f, ], }"),
            ("e", "[f, ]"),
            ("g", "|\n  # h"),
            ("i", "k l\n  m"),
            ("n", "5"),
            ("o", ""),
            ("p", "{r: s}"),
            ("r", "s"),
        ];
        assert_eq!(spans(text), want.map(|(key, text)| (key.to_owned(), text.to_owned())));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (text, why) in [
            ("- a\n", "it is no table"),
            ("a: 1\n---\nb: 2\n", "it has more than one document"),
            ("? a\n: b\n", "it is written in a way that is not understood here"),
            ("{a: b}: c\n", "it is written in a way that is not understood here"),
        ] {
            assert_eq!(read(text).unwrap_err().what, why, "{text}");
        }
        for text in ["a: *b\n", "a:\n\t- b\n", "a: [b\n", "a: \"b\n", "a: b: c\n"] {
            assert!(read(text).is_err(), "{text}");
        }
        let deep = format!("a: {}{}", "[".repeat(MAX_DEPTH + 1), "]".repeat(MAX_DEPTH + 1));
        assert_eq!(read(&deep).unwrap_err().what, "it is too deep");
        assert_eq!(read("").unwrap().members().len(), 0);
        assert_eq!(read("# nothing\n---\n").unwrap().members().len(), 0);
    }
}
