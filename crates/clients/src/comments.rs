//! Comments in a client's file: where they stand, and whether one is lost.
//!
//! They are found by their marks alone, so that a part of a file, or one with masks in it, will do.

use std::ops::Range;

use crate::{document::line_start, form::Form, ledger::Change};

/// Where the comments of a text are, on lines of their own and behind values.
pub(crate) fn comments(form: Form, text: &str) -> Vec<Range<usize>> {
    let (mut found, mut at, mut before) = (Vec::new(), 0, '\n');
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        // In YAML, a mark within a word is a part of it, and so is a quote within a text without quotes.
        let is_yaml = form == Form::Yaml;
        let is_within = is_yaml && !before.is_whitespace();
        if let Some(length) = comment(form, rest).filter(|_| !is_within) {
            found.push(at..at + length);
            at += length;
        } else {
            let is_string = |length: &usize| !is_yaml || begins_a_value(text, at, *length);
            at += string(form, rest).filter(is_string).unwrap_or(first.len_utf8());
        }
        before = text[..at].chars().next_back().unwrap_or(first);
    }
    found
}

/// True if a comment within something that was changed went when it was changed, and has not come back with it.
pub(crate) fn is_one_lost(form: Form, changes: &[Change], text: &str) -> bool {
    let Ok(root) = form.read(text) else { return false };
    let all = |text: &str| -> Vec<String> {
        comments(form, text).into_iter().map(|range| text[range].to_owned()).collect()
    };
    let there = all(text);
    changes.iter().filter(|change| root.at(&change.place).is_some()).any(|change| {
        // One that our text had, too, is gone because somebody has removed it since.
        let ours = all(&change.ours);
        all(&change.original).iter().any(|it| !ours.contains(it) && !there.contains(it))
    })
}

/// True if what stands in quotes in YAML can be a value or a name: something must come before it, and it ends in its line.
/// One of several lines counts as none, so that no comment is lost in it.
fn begins_a_value(text: &str, at: usize, length: usize) -> bool {
    let before = text[line_start(text, at)..at].trim_end();
    let is_behind = before.is_empty() || before.ends_with([':', '-', '?', '[', '{', ',']);
    is_behind && !text[at..at + length].contains('\n')
}

/// How long the comment is that a text begins with.
fn comment(form: Form, text: &str) -> Option<usize> {
    let is_line = match form {
        Form::Json => text.starts_with("//"),
        Form::Toml | Form::Yaml => text.starts_with('#'),
    };
    if is_line {
        return Some(text.lines().next().unwrap_or_default().len());
    }
    let is_block = form == Form::Json && text.starts_with("/*");
    is_block.then(|| text[2..].find("*/").map_or(text.len(), |end| end + 4))
}

/// How long the string is that a text begins with.
fn string(form: Form, text: &str) -> Option<usize> {
    let marks: &[&str] = match form {
        Form::Json => &["\""],
        Form::Toml => &["\"\"\"", "'''", "\"", "'"],
        Form::Yaml => &["\"", "'"],
    };
    let mark = marks.iter().find(|mark| text.starts_with(**mark))?.as_bytes();
    let (bytes, has_escapes) = (text.as_bytes(), mark[0] == b'"');
    let mut at = mark.len();
    while at < bytes.len() {
        let is_doubled = form == Form::Yaml && !has_escapes && bytes[at..].starts_with(b"''");
        if has_escapes && bytes[at] == b'\\' || is_doubled {
            at += 2;
        } else if bytes[at..].starts_with(mark) {
            let end = at + mark.len();
            // Two quotes more may stand before the three that end a string of several lines.
            let more = bytes[end..].iter().take(2).take_while(|byte| **byte == mark[0]).count();
            return Some(if mark.len() == 3 { end + more } else { end });
        } else {
            at += 1;
        }
    }
    Some(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(form: Form, text: &str) -> Vec<&str> {
        comments(form, text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn comments_are_found_on_their_own_lines_and_behind_values_but_not_in_strings() {
        let json =
            "// one\r\n{ \"a//b\": \"x \\\" // no\", // two\n /* é\n three */ \"c\": [1] } /* end";
        assert_eq!(found(Form::Json, json), ["// one", "// two", "/* é\n three */", "/* end"]);
        let toml = "# one\na = \"x # no\" # two\r\nb = 'C:\\' # three\nc = \"\"\"\n# no \\\"\"\"\n\"\"\"\"\" # four\n\
                    d = '''\n# no'''# five";
        assert_eq!(found(Form::Toml, toml), ["# one", "# two", "# three", "# four", "# five"]);
        assert!(found(Form::Json, "\"# no").is_empty());
        let yaml =
            "# one\na: it's # two\nb: 'x '' # no' # three\nc: [\"# no\",'# no'] #four\nd: e#no";
        assert_eq!(found(Form::Yaml, yaml), ["# one", "# two", "# three", "#four"]);
        let open = "a: hits of the '90s # one\nb: 'x\n # two";
        assert_eq!(found(Form::Yaml, open), ["# one", "# two"]);
    }
}
