//! TOML as Codex has it: a table may be written under a header, as an inline table or with dotted keys, all in
//! one file.
//!
//! A file is taken apart into its headers and assignments, each with its whole path and its place; what is
//! asked is answered by these.

use std::ops::Range;

use ::toml::de::DeTable;
use toml_parser::{
    ParseError, Source,
    decoder::ScalarKind,
    parser::{Event, EventKind, RecursionGuard, ValidateWhitespace, parse_document},
};

use crate::{
    document::{Edit, Member, Node, Place, Shape, Splice, Unreadable, indent, line_start, newline},
    value::Value,
};

/// How deep lists and inline tables may be.
const MAX_DEPTH: u32 = 80;

/// `[a.b]` or `[[a.b]]`.
#[derive(Debug)]
struct Header {
    path: Place,
    span: Range<usize>,
    opens: Part<'static>,
}

/// `a.b = 1`, on a line or in an inline table.
#[derive(Debug)]
struct Assignment {
    /// From the root on.
    path: Place,
    /// From the first part of the key to the end of the value.
    span: Range<usize>,
    /// Where the last part of the key begins.
    last_key: usize,
    value: Node,
    within: Within,
}

/// What an assignment is part of.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Within {
    Lines,
    /// An inline table, with the end of what comes before it there and the start of what comes after it.
    Inline {
        before: Option<usize>,
        after: Option<usize>,
    },
}

/// What a part of a file puts into the tree.
#[derive(Debug, Clone, Copy)]
enum Part<'a> {
    Table,
    /// One more table of a list.
    Item,
    Value(&'a Node),
}

#[derive(Debug, Default)]
struct Parts {
    headers: Vec<Header>,
    assignments: Vec<Assignment>,
}

pub(crate) fn read(text: &str) -> Result<Node, Unreadable> {
    let parts = parts(text)?;
    let mut root = Node { span: 0..text.len(), shape: Shape::Table(Vec::new()) };
    let headers = parts.headers.iter().map(|it| (&it.path, &it.span, it.opens));
    let lines = parts.assignments.iter().filter(|it| it.within == Within::Lines);
    let lines = lines.map(|it| (&it.path, &it.span, Part::Value(&it.value)));
    let mut all: Vec<_> = headers.chain(lines).collect();
    // Which table of a list is meant depends on what stands before.
    all.sort_by_key(|(_, span, _)| span.start);
    for (path, span, part) in all {
        put(&mut root, path, span, part);
    }
    Ok(root)
}

pub(crate) fn stretch(text: &str, place: &[String]) -> Option<Range<usize>> {
    parts(text).ok()?.stretch(place)
}

pub(crate) fn edit(text: &str, place: &[String], edits: &[(&str, Edit)]) -> Option<Splice> {
    let parts = parts(text).ok()?;
    let mut splices = Vec::new();
    for (key, edit) in edits {
        let path = [place, &[(*key).to_owned()]].concat();
        match edit {
            Edit::Value(value) => {
                let range = parts.assignment(&path)?.value.span.clone();
                splices.push(Splice { range, text: literal(value) });
            }
            Edit::Members(with) if with.is_empty() => splices.extend(parts.removal(text, &path)?),
            Edit::Members(with) => {
                let old = parts.assignment(&path)?;
                let prefix = &text[old.span.start..old.last_key];
                let separator = match (&old.within, indent(text, old.span.start)) {
                    (Within::Lines, Some(indent)) => format!("{}{indent}", newline(text)),
                    (Within::Lines, None) => newline(text).to_owned(),
                    (Within::Inline { .. }, _) => ", ".to_owned(),
                };
                let made: Vec<String> = with
                    .iter()
                    .map(|(key, value)| format!("{prefix}{} = {}", quoted_key(key), literal(value)))
                    .collect();
                splices.push(Splice { range: old.span.clone(), text: made.join(&separator) });
            }
        }
    }
    Some(Splice::together(text, parts.stretch(place)?, splices))
}

pub(crate) fn add(text: &str, place: &[String], key: &str, value: &Value) -> Option<Splice> {
    let parts = parts(text).ok()?;
    // No header may add to an inline table.
    if let Some(table) = parts.assignment(place) {
        let made = format!("{} = {}", quoted_key(key), literal(value));
        let inside = table.value.span.start + 1..table.value.span.end - 1;
        let range = match table.value.members().last() {
            Some(last) => last.span.end..last.span.end,
            None => inside,
        };
        let lead = if range.is_empty() && !table.value.members().is_empty() { ", " } else { " " };
        let tail = if table.value.members().is_empty() { " " } else { "" };
        return Some(Splice { range, text: format!("{lead}{made}{tail}") });
    }
    let newline = newline(text);
    let path: Vec<String> = place.iter().map(String::as_str).chain([key]).map(quoted_key).collect();
    let mut lines = vec![format!("[{}]", path.join("."))];
    let members = value.as_table()?;
    lines.extend(
        members.iter().map(|(key, value)| format!("{} = {}", quoted_key(key), literal(value))),
    );
    let made = lines.join(newline);
    // Behind a last line that has no end, ours has none.
    let made = match text.trim_end_matches(['\n', '\r']) {
        "" => format!("{made}{newline}"),
        _ if text.ends_with('\n') => format!("{newline}{made}{newline}"),
        _ => format!("{newline}{newline}{made}"),
    };
    Some(Splice { range: text.len()..text.len(), text: made })
}

pub(crate) fn remove(text: &str, place: &[String]) -> Option<Splice> {
    let parts = parts(text).ok()?;
    let stretch = parts.stretch(place)?;
    Some(Splice::together(text, stretch, parts.removal(text, place)?))
}

impl Parts {
    /// The one assignment that gives what is at `path` its value.
    fn assignment(&self, path: &[String]) -> Option<&Assignment> {
        self.assignments.iter().find(|it| it.path == path)
    }

    fn stretch(&self, place: &[String]) -> Option<Range<usize>> {
        if let Some(whole) = self.assignment(place) {
            return Some(whole.span.clone());
        }
        let headers = self.headers.iter().filter(|it| it.path.starts_with(place));
        let assignments = self.assignments.iter().filter(|it| it.path.starts_with(place));
        let spans = headers.map(|it| &it.span).chain(assignments.map(|it| &it.span));
        spans.cloned().reduce(|one, other| one.start.min(other.start)..one.end.max(other.end))
    }

    /// What goes with what is at `path`: lines with all that is on them, or a part of an inline table.
    fn removal(&self, text: &str, path: &[String]) -> Option<Vec<Splice>> {
        let gone = |range| Splice { range, text: String::new() };
        let whole_lines = |span: &Range<usize>| {
            let end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at + 1);
            gone(line_start(text, span.start)..end)
        };
        if let Some(Assignment { span, within: Within::Inline { before, after }, .. }) =
            self.assignment(path)
        {
            let range = match (before, after) {
                (_, Some(after)) => span.start..*after,
                (Some(before), None) => *before..span.end,
                (None, None) => span.clone(),
            };
            return Some(vec![gone(range)]);
        }
        let headers = self.headers.iter().filter(|it| it.path.starts_with(path));
        let is_line = |it: &&Assignment| it.path.starts_with(path) && it.within == Within::Lines;
        let assignments = self.assignments.iter().filter(is_line);
        let spans = headers.map(|it| &it.span).chain(assignments.map(|it| &it.span));
        let all: Vec<Splice> = spans.map(whole_lines).collect();
        if all.is_empty() { None } else { Some(all) }
    }
}

/// Puts a part where it belongs in the tree.
fn put(node: &mut Node, path: &[String], span: &Range<usize>, part: Part<'_>) {
    let Some((key, rest)) = path.split_first() else { return };
    let members = match &mut node.shape {
        Shape::Table(members) => members,
        // What follows `[[a]]` and is said of `a` is said of this one table.
        Shape::List(items) => {
            if let Some(last) = items.last_mut() {
                last.span.end = span.end;
                put(last, path, span, part);
            }
            return;
        }
        Shape::Text(_) | Shape::Plain(_) => return,
    };
    let empty = || Node { span: span.clone(), shape: Shape::Table(Vec::new()) };
    let at = members.iter().position(|member| member.key == *key).unwrap_or_else(|| {
        members.push(Member { key: key.clone(), span: span.clone(), value: empty() });
        members.len() - 1
    });
    let member = &mut members[at];
    member.span = member.span.start.min(span.start)..member.span.end.max(span.end);
    if let (Part::Value(value), []) = (part, rest) {
        member.value = value.clone();
        return;
    }
    member.value.span = member.span.clone();
    match (part, &mut member.value.shape) {
        (Part::Item, Shape::List(items)) if rest.is_empty() => items.push(empty()),
        (Part::Item, first) if rest.is_empty() => *first = Shape::List(vec![empty()]),
        (Part::Table | Part::Item | Part::Value(_), _) => put(&mut member.value, rest, span, part),
    }
}

fn parts(text: &str) -> Result<Parts, Unreadable> {
    // Tables that stand twice and the like are known to whoever makes sense of it all.
    if let Err(error) = DeTable::parse(text) {
        let at = error.span().map_or(0, |span| span.start);
        return Err(Unreadable { at, what: error.message().to_owned() });
    }
    let source = Source::new(text);
    let tokens = source.lex().into_vec();
    let (mut events, mut errors): (Vec<Event>, Vec<ParseError>) = (Vec::new(), Vec::new());
    {
        let mut validated = ValidateWhitespace::new(&mut events, source);
        let mut guarded = RecursionGuard::new(&mut validated, MAX_DEPTH);
        parse_document(&tokens, &mut guarded, &mut errors);
    }
    if let Some(error) = errors.first() {
        let at = error.unexpected().map_or(0, |span| span.start());
        return Err(Unreadable { at, what: error.description().to_owned() });
    }
    let is_said = |event: &Event| {
        !matches!(event.kind(), EventKind::Whitespace | EventKind::Comment | EventKind::Newline)
    };
    let events: Vec<Event> = events.into_iter().filter(is_said).collect();
    Reader { source, events: &events, at: 0, parts: Parts::default() }.read()
}

/// Goes through the events of a file.
struct Reader<'a> {
    source: Source<'a>,
    events: &'a [Event],
    at: usize,
    parts: Parts,
}

impl Reader<'_> {
    fn read(mut self) -> Result<Parts, Unreadable> {
        let mut table: Place = Vec::new();
        while let Some(kind) = self.peek() {
            match kind {
                EventKind::StdTableOpen | EventKind::ArrayTableOpen => {
                    let is_of_list = kind == EventKind::ArrayTableOpen;
                    let opens = if is_of_list { Part::Item } else { Part::Table };
                    let start = self.next_span().start;
                    let (path, _) = self.key();
                    let end = self.next_span().end;
                    table.clone_from(&path);
                    self.parts.headers.push(Header { path, span: start..end, opens });
                }
                EventKind::SimpleKey => {
                    self.assignment(&table, Within::Lines).ok_or_else(|| self.lost())?;
                }
                _ => return Err(self.lost()),
            }
        }
        Ok(self.parts)
    }

    /// What is valid has been made sure of before; this is for what the two readers see differently.
    fn lost(&self) -> Unreadable {
        let at = self.events.get(self.at).map_or(0, |event| event.span().start());
        Unreadable { at, what: "it is written in a way that is not understood here".to_owned() }
    }

    fn peek(&self) -> Option<EventKind> {
        self.events.get(self.at).map(Event::kind)
    }

    fn next_span(&mut self) -> Range<usize> {
        let span = self.events.get(self.at).map(|event| event.span().start()..event.span().end());
        self.at += 1;
        span.unwrap_or_default()
    }

    /// A dotted key, and where its last part begins.
    fn key(&mut self) -> (Place, usize) {
        let (mut path, mut last) = (Vec::new(), 0);
        while let Some(kind @ (EventKind::SimpleKey | EventKind::KeySep)) = self.peek() {
            if kind == EventKind::SimpleKey {
                let event = &self.events[self.at];
                let mut decoded = std::borrow::Cow::Borrowed("");
                if let Some(raw) = self.source.get(event) {
                    raw.decode_key(&mut decoded, &mut ());
                }
                last = event.span().start();
                path.push(decoded.into_owned());
            }
            self.at += 1;
        }
        (path, last)
    }

    /// Reads `key = value`, and returns its place among the assignments.
    fn assignment(&mut self, table: &[String], within: Within) -> Option<usize> {
        let start = self.events.get(self.at)?.span().start();
        let (key, last_key) = self.key();
        if self.peek()? != EventKind::KeyValSep {
            return None;
        }
        self.at += 1;
        let path = [table, &key].concat();
        let value = self.value(&path)?;
        let span = start..value.span.end;
        self.parts.assignments.push(Assignment { path, span, last_key, value, within });
        Some(self.parts.assignments.len() - 1)
    }

    fn value(&mut self, path: &[String]) -> Option<Node> {
        match self.peek()? {
            EventKind::Scalar => self.scalar(),
            EventKind::ArrayOpen => {
                let start = self.next_span().start;
                let mut items = Vec::new();
                loop {
                    match self.peek()? {
                        EventKind::ArrayClose => break,
                        EventKind::ValueSep => self.at += 1,
                        _ => {
                            // What is assigned in a list has no path of its own.
                            let known = self.parts.assignments.len();
                            items.push(self.value(path)?);
                            self.parts.assignments.truncate(known);
                        }
                    }
                }
                let end = self.next_span().end;
                Some(Node { span: start..end, shape: Shape::List(items) })
            }
            EventKind::InlineTableOpen => self.inline_table(path),
            _ => None,
        }
    }

    fn inline_table(&mut self, path: &[String]) -> Option<Node> {
        let start = self.next_span().start;
        let mut table = Node { span: start..start, shape: Shape::Table(Vec::new()) };
        let mut inside: Vec<usize> = Vec::new();
        loop {
            match self.peek()? {
                EventKind::InlineTableClose => break,
                EventKind::ValueSep => self.at += 1,
                _ => {
                    let within = Within::Inline { before: None, after: None };
                    inside.push(self.assignment(path, within)?);
                }
            }
        }
        let spans: Vec<Range<usize>> =
            inside.iter().map(|at| self.parts.assignments[*at].span.clone()).collect();
        for (order, at) in inside.iter().enumerate() {
            let before = order.checked_sub(1).map(|order| spans[order].end);
            let after = spans.get(order + 1).map(|span| span.start);
            let assignment = &mut self.parts.assignments[*at];
            assignment.within = Within::Inline { before, after };
            put(
                &mut table,
                &assignment.path[path.len()..],
                &assignment.span,
                Part::Value(&assignment.value),
            );
        }
        table.span.end = self.next_span().end;
        Some(table)
    }

    fn scalar(&mut self) -> Option<Node> {
        let event = self.events.get(self.at)?;
        let span = event.span().start()..event.span().end();
        let mut decoded = std::borrow::Cow::Borrowed("");
        let kind = self.source.get(event)?.decode_scalar(&mut decoded, &mut ());
        self.at += 1;
        let shape = match kind {
            ScalarKind::String => Shape::Text(decoded.into_owned()),
            ScalarKind::Boolean(_)
            | ScalarKind::DateTime
            | ScalarKind::Float
            | ScalarKind::Integer(_) => Shape::Plain(self.source.input()[span.clone()].to_owned()),
        };
        Some(Node { span, shape })
    }
}

fn quoted_key(key: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !key.is_empty() && key.bytes().all(is_bare) { key.to_owned() } else { quoted(key) }
}

/// A text in quotes, with its escapes.
fn quoted(text: &str) -> String {
    let escaped = |character: char| match character {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        control if control.is_control() => format!("\\u{:04X}", u32::from(control)),
        other => other.to_string(),
    };
    let inside: Vec<String> = text.chars().map(escaped).collect();
    format!("\"{}\"", inside.concat())
}

/// A value on one line.
pub(crate) fn literal(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Plain(text) => text.clone(),
        Value::List(items) => {
            format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        Value::Table(members) if members.is_empty() => "{}".to_owned(),
        Value::Table(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{} = {}", quoted_key(key), literal(value)))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
    }
}
