//! YAML as Goose has it: blocks by indentation, lists and tables in brackets within them, comments, CRLF.
//!
//! How it is read is in [`reader`]. What comes of a change is read again: if anything else in the file says something else
//! then, the change is not made.

mod reader;

use std::ops::Range;

use self::reader::quotes_end;
pub(crate) use self::reader::read;
use crate::{
    document::{Edit, Member, Node, Shape, Splice, indent, line_start, newline},
    json,
    value::{Value, same},
};

/// Words that are no texts without quotes, to one parser or another.
const NO_TEXTS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// The same as JSON, for whoever reads no YAML; `None` if it cannot be read.
pub fn json_of_yaml(text: &str) -> Option<String> {
    Some(json::line(&with_plain_json(read(text).ok()?.value())))
}

/// With what JSON cannot say as a text.
fn with_plain_json(value: Value) -> Value {
    match value {
        Value::Plain(text) if serde_json::from_str::<serde_json::Value>(&text).is_err() => {
            Value::Text(text)
        }
        Value::List(items) => Value::List(items.into_iter().map(with_plain_json).collect()),
        Value::Table(members) => Value::Table(
            members.into_iter().map(|(key, value)| (key, with_plain_json(value))).collect(),
        ),
        Value::Text(_) | Value::Plain(_) => value,
    }
}

pub(crate) fn stretch(text: &str, place: &[String]) -> Option<Range<usize>> {
    let root = read(text).ok()?;
    let (key, above) = place.split_last()?;
    Some(root.at(above)?.member(key)?.span.clone())
}

pub(crate) fn edit(text: &str, place: &[String], edits: &[(&str, Edit)]) -> Option<Splice> {
    let root = read(text).ok()?;
    let (key, above) = place.split_last()?;
    let entry = root.at(above)?.member(key)?;
    let is_in_brackets = is_in_brackets(text, &entry.value);
    let mut splices = Vec::new();
    for (key, edit) in edits {
        let member = entry.value.member(key)?;
        match edit {
            Edit::Value(value) => {
                let name = &text[member.span.start..colon(text, member)?];
                let made = format!("{name}: {}", line(value));
                splices.push(Splice { range: member.span.clone(), text: made });
            }
            Edit::Members(with) if with.is_empty() => {
                splices.push(removal(text, &entry.value, member)?);
            }
            Edit::Members(with) => {
                let separator = match indent(text, member.span.start) {
                    Some(indent) if !is_in_brackets => format!("{}{indent}", newline(text)),
                    None if !is_in_brackets => return None,
                    Some(_) | None => ", ".to_owned(),
                };
                let made: Vec<String> = with
                    .iter()
                    .map(|(key, value)| format!("{}: {}", name(key), line(value)))
                    .collect();
                splices.push(Splice { range: member.span.clone(), text: made.join(&separator) });
            }
        }
    }
    let splice = Splice::together(text, entry.span.clone(), splices);
    let splice = with_all_else_kept(text, place, splice)?;
    // Nor may the entry itself say something else but for what is changed.
    let now = read(&splice.clone().into_text(text)).ok()?;
    let is_kept = |member: &&Member| !edits.iter().any(|(key, _)| *key == member.key);
    let mut kept = entry.value.members().iter().filter(is_kept);
    let now = now.at(place)?.value();
    let is_same = |it: &Member| same(now.get(&it.key), Some(&it.value.value()));
    kept.all(is_same).then_some(splice)
}

pub(crate) fn add(text: &str, place: &[String], key: &str, value: &Value) -> Option<Splice> {
    let root = read(text).ok()?;
    let Some(table) = root.at(place) else {
        let (last, above) = place.split_last()?;
        return add(text, above, last, &Value::Table(vec![(key.to_owned(), value.clone())]));
    };
    let members = match &table.shape {
        Shape::Table(members) => members.as_slice(),
        // A name with nothing behind it.
        Shape::Plain(text) if text == "null" => &[],
        Shape::Text(_) | Shape::Plain(_) | Shape::List(_) => return None,
    };
    let newline = newline(text);
    let splice = match (members.last(), is_in_brackets(text, table)) {
        (Some(last), true) => Splice {
            range: last.span.end..last.span.end,
            text: format!(", {}: {}", name(key), line(value)),
        },
        (Some(last), false) => {
            let outer = indent(text, last.span.start)?;
            let unit = unit(text, outer, &members[0]);
            let at = end_of_line(text, last.span.end);
            let made = block(key, value, outer, &unit, newline);
            Splice { range: at..at, text: format!("{newline}{made}") }
        }
        (None, true) if place.is_empty() => {
            Splice { range: table.span.clone(), text: block(key, value, "", "  ", newline) }
        }
        (None, false) if place.is_empty() => {
            let lead = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
            let made = block(key, value, "", "  ", newline);
            Splice { range: text.len()..text.len(), text: format!("{lead}{made}{newline}") }
        }
        // Brackets with nothing in them give way to lines, if they stand behind a name that has lines of its own.
        (None, _) => {
            let (last, above) = place.split_last()?;
            let above = root.at(above)?;
            let named = above.member(last)?;
            let lines = indent(text, named.span.start).filter(|_| !is_in_brackets(text, above));
            match lines {
                Some(outer) => {
                    let unit = unit(text, outer, named);
                    let inner = format!("{outer}{unit}");
                    let made = block(key, value, &inner, &unit, newline);
                    let range = colon(text, named)? + 1..table.span.end;
                    Splice { range, text: format!("{newline}{made}") }
                }
                None if !is_in_brackets(text, table) => return None,
                None => Splice {
                    range: table.span.start + 1..table.span.end - 1,
                    text: format!(" {}: {} ", name(key), line(value)),
                },
            }
        }
    };
    let is_made = table.value().is_null();
    let all = if is_made { place.to_vec() } else { [place, &[key.to_owned()]].concat() };
    with_all_else_kept(text, &all, splice)
}

pub(crate) fn remove(text: &str, place: &[String]) -> Option<Splice> {
    let root = read(text).ok()?;
    let (key, above) = place.split_last()?;
    let table = root.at(above)?;
    let splice = removal(text, table, table.member(key)?)?;
    with_all_else_kept(text, place, splice)
}

/// A value on lines of its own, as the member of a table that is indented by `outer`.
pub(crate) fn block(key: &str, value: &Value, outer: &str, unit: &str, newline: &str) -> String {
    let name = name(key);
    match value {
        Value::Table(members) if !members.is_empty() => {
            let inner = format!("{outer}{unit}");
            let member = |(key, value): &(String, Value)| {
                format!("{newline}{}", block(key, value, &inner, unit, newline))
            };
            format!("{outer}{name}:{}", members.iter().map(member).collect::<String>())
        }
        Value::Text(_) | Value::Plain(_) | Value::List(_) | Value::Table(_) => {
            format!("{outer}{name}: {}", line(value))
        }
    }
}

/// A value on one line.
fn line(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Plain(text) => text.clone(),
        Value::List(items) => {
            format!("[{}]", items.iter().map(line).collect::<Vec<_>>().join(", "))
        }
        Value::Table(members) if members.is_empty() => "{}".to_owned(),
        Value::Table(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{}: {}", name(key), line(value)))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
    }
}

fn name(key: &str) -> String {
    let is_plain = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && !NO_TEXTS.iter().any(|word| key.eq_ignore_ascii_case(word));
    if is_plain { key.to_owned() } else { quoted(key) }
}

/// A text in quotes, with what parsers take for the end of a line, or do not take at all, by its number.
fn quoted(text: &str) -> String {
    let escaped = |character: char| match character {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        odd if odd.is_control()
            || matches!(odd, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') =>
        {
            format!("\\u{:04X}", u32::from(odd))
        }
        other => other.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

/// The splice, if nothing but what is at `place` says something else after it.
fn with_all_else_kept(text: &str, place: &[String], splice: Splice) -> Option<Splice> {
    let elsewhere = |text: &str| Some(read(text).ok()?.value().without(place));
    let is_kept = elsewhere(text)?.says_the_same_as(&elsewhere(&splice.clone().into_text(text))?);
    is_kept.then_some(splice)
}

/// What goes with a member that goes: its lines, or a part of what is in brackets. Comments on lines of their own stay.
fn removal(text: &str, table: &Node, member: &Member) -> Option<Splice> {
    let members = table.members();
    let at = members.iter().position(|it| it.span == member.span)?;
    let Range { start, end } = member.span.clone();
    let gone = |range| Splice { range, text: String::new() };
    if is_in_brackets(text, table) {
        return Some(gone(match (members.get(at + 1), members[..at].last()) {
            (Some(next), _) => start..next.span.start,
            (None, Some(former)) => former.span.end..end,
            // With the comma that may stand behind it.
            (None, None) => table.span.start + 1..table.span.end - 1,
        }));
    }
    indent(text, start)?;
    // A name with nothing behind it is no table.
    if members.len() == 1 {
        return Some(Splice { range: start..end, text: "{}".to_owned() });
    }
    let line = line_start(text, start);
    Some(gone(match text[end..].find('\n') {
        Some(at) => line..end + at + 1,
        None => text[..line].trim_end_matches(['\r', '\n']).len()..text.len(),
    }))
}

/// Where the colon behind a name is.
fn colon(text: &str, member: &Member) -> Option<usize> {
    let start = member.span.start;
    let behind_name = quotes_end(text, start).unwrap_or(start + member.key.len());
    Some(behind_name + text.get(behind_name..)?.find(':')?)
}

fn is_in_brackets(text: &str, table: &Node) -> bool {
    text[table.span.start..].starts_with('{')
}

/// Where the line with `at` ends, before what ends it.
fn end_of_line(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    if end > at && text[..end].ends_with('\r') { end - 1 } else { end }
}

/// By how much a file indents: what stands before the members of the first table within this one, or of any.
fn unit(text: &str, outer: &str, member: &Member) -> String {
    let first = member.value.members().first();
    let inner = first.and_then(|first| indent(text, first.span.start));
    let own = inner.and_then(|inner| inner.strip_prefix(outer));
    let indents = text.lines().map(|line| line.len() - line.trim_start_matches(' ').len());
    let any = indents.into_iter().find(|count| *count > 0).map(|count| " ".repeat(count));
    let own = own.filter(|unit| !unit.is_empty()).map(str::to_owned);
    own.or(any).unwrap_or_else(|| "  ".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_written_so_that_they_are_read_as_they_were() {
        for text in [
            "a",
            "",
            "yes",
            "5",
            "a: b # c",
            "\"\\\n\r\t\u{1}\u{85}\u{2028}\u{feff}",
            "東京 é 🦆",
            "- x",
            "*y",
        ] {
            let made = block("k", &Value::text(text), "", "  ", "\n") + "\n";
            assert_eq!(read(&made).unwrap().value().get("k"), Some(&Value::text(text)), "{made}");
            let made = format!("{}: 1\n", name(text));
            assert_eq!(read(&made).unwrap().members()[0].key, text, "{made}");
        }
    }

    #[test]
    fn a_change_that_changes_anything_else_is_not_made() {
        // The blank line behind the last member is part of the text in front of it once that member goes.
        let text = "e:\n  a: 1\n  t: |+\n    x\n  h: 2\n\nf: 3\n";
        let place = ["e".to_owned()];
        assert!(edit(text, &place, &[("h", Edit::Members(Vec::new()))]).is_none());
        assert!(edit(text, &place, &[("a", Edit::Members(Vec::new()))]).is_some());
        // So is the end of a line behind a text that has none.
        let text = "e:\n  t: |\n    x";
        assert_eq!(read(text).unwrap().value().get("e").unwrap().get("t"), Some(&Value::text("x")));
        assert!(add(text, &place, "k", &Value::text("v")).is_none());
    }

    #[test]
    fn json_of_it_says_the_same() {
        let text = "a: {b: [1, 0x1F, .5, yes, ~, ], \"c\": d}\ne: true\nf: &g h\n";
        let want =
            r#"{ "a": { "b": [1, "0x1F", ".5", "yes", null], "c": "d" }, "e": true, "f": "h" }"#;
        assert_eq!(json_of_yaml(text).as_deref(), Some(want));
        assert_eq!(json_of_yaml("- a"), None);
    }
}
