//! What changes in a text, as a patch that people can read.

use std::{ops::Range, path::Path};

use forebay_text::{command_without_secrets, is_secret_name, without_secrets};

use crate::{
    catalogue::Client,
    comments::comments,
    document::{Node, Place, Shape, Splice, text_of},
    form::Form,
    tables::{tables, tables_of_projects},
    url::{self, MASK},
};

/// How many lines are shown around what changes.
const CONTEXT: usize = 3;

/// Tables whose values may be secrets, whatever their names.
const SECRET: [&str; 5] = ["env", "environment", "headers", "http_headers", "envs"];

/// The text, with the values of variables and headers masked, and with what looks like a secret anywhere else: in the
/// arguments of servers, beside them and in comments.
pub(crate) fn masked(form: Form, text: &str, client: &Client) -> String {
    let (bom, text) = text_of(text.as_bytes()).unwrap_or(("", text));
    let Ok(root) = form.read(text) else { return text.to_owned() };
    let mut search = Search { named: tables(&root, client).unwrap_or_default(), masks: Vec::new() };
    search.named.extend(tables_of_projects(client));
    search.through(&root, &mut Vec::new());
    let made = Splice::together(text, 0..text.len(), search.masks).text;
    let comments = comments(form, &made).into_iter().map(|range| {
        let text = made[range.clone()].split_inclusive('\n').map(without_secrets).collect();
        Splice { range, text }
    });
    let made = Splice::together(&made, 0..made.len(), comments.collect()).text;
    format!("{bom}{made}")
}

/// Looks for secrets in a file.
struct Search {
    /// The tables whose members somebody has given a name: `token-server` is no secret.
    named: Vec<Place>,
    masks: Vec<Splice>,
}

impl Search {
    /// Looks at what is at `place`, and at all that is in it.
    fn through(&mut self, node: &Node, place: &mut Place) {
        match &node.shape {
            Shape::Text(text) => self.word(node, &shown(text)),
            Shape::Plain(_) => {}
            Shape::List(items) => self.words(items, place),
            Shape::Table(members) => {
                let has_names = self.named.contains(place);
                for member in members {
                    if SECRET.contains(&member.key.as_str()) {
                        self.all(&member.value);
                    } else if !has_names && is_secret_name(&member.key) {
                        self.secret(&member.value);
                    } else {
                        place.push(member.key.clone());
                        self.through(&member.value, place);
                        place.pop();
                    }
                }
            }
        }
    }

    /// The words of a command, or of any other list.
    fn words(&mut self, items: &[Node], place: &mut Place) {
        let word = |item: &Node| match &item.shape {
            Shape::Text(text) | Shape::Plain(text) => text.clone(),
            Shape::List(_) | Shape::Table(_) => String::new(),
        };
        let words: Vec<String> = items.iter().map(word).collect();
        for (item, safe) in items.iter().zip(command_without_secrets(&words, shown)) {
            match &item.shape {
                Shape::Text(_) | Shape::Plain(_) => self.word(item, &safe),
                Shape::List(_) | Shape::Table(_) => self.through(item, place),
            }
        }
    }

    /// A text, or what else is one word, which may be shown as `safe`.
    fn word(&mut self, node: &Node, safe: &str) {
        if matches!(&node.shape, Shape::Text(word) | Shape::Plain(word) if word != safe) {
            // In quotes, as all notations write it.
            let text = serde_json::Value::from(safe).to_string();
            self.masks.push(Splice { range: node.span.clone(), text });
        }
    }

    /// What has the name of a secret. That there is none, or whether there is to be one, is no secret.
    fn secret(&mut self, node: &Node) {
        if !matches!(&node.shape, Shape::Plain(text) if ["true", "false", "null"].contains(&text.as_str()))
        {
            self.inside(node, Self::secret);
        }
    }

    /// Every value, whatever it is.
    fn all(&mut self, node: &Node) {
        self.inside(node, Self::all);
    }

    fn inside(&mut self, node: &Node, each: fn(&mut Self, &Node)) {
        match &node.shape {
            // In YAML, there may be nothing behind a name.
            Shape::Plain(_) if node.span.is_empty() => {}
            Shape::Text(_) | Shape::Plain(_) => {
                self.masks.push(Splice { range: node.span.clone(), text: format!("\"{MASK}\"") });
            }
            Shape::List(items) => items.iter().for_each(|item| each(self, item)),
            Shape::Table(members) => members.iter().for_each(|member| each(self, &member.value)),
        }
    }
}

/// A text as it may be shown.
fn shown(text: &str) -> String {
    let shown = url::shown(text);
    // What is no URL may have one in it, and anything else beside it.
    if !text.contains("://") || shown == *text {
        without_secrets(text)
    } else if shown.contains(MASK) {
        without_secrets(&shown)
    } else {
        format!("{}?{MASK}", without_secrets(&shown))
    }
}

/// A line, or another part, of both texts or of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Both(&'a str),
    Old(&'a str),
    New(&'a str),
}

/// A patch in the unified form; empty if nothing changes.
pub(crate) fn unified(path: &Path, before: &str, after: &str) -> String {
    let lines = lines(before, after);
    let is_change = |at: &usize| !matches!(lines[*at], Line::Both(_));
    let changed: Vec<usize> = (0..lines.len()).filter(is_change).collect();
    let mut hunks: Vec<Range<usize>> = Vec::new();
    for at in changed {
        let (start, end) = (at.saturating_sub(CONTEXT), (at + CONTEXT + 1).min(lines.len()));
        match hunks.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            Some(_) | None => hunks.push(start..end),
        }
    }
    if hunks.is_empty() {
        return String::new();
    }
    let path = path.display();
    let mut made = vec![format!("--- {path}\n+++ {path}\n")];
    for hunk in hunks {
        let count = |lines: &[Line<'_>]| {
            let old = lines.iter().filter(|line| !matches!(line, Line::New(_))).count();
            let new = lines.iter().filter(|line| !matches!(line, Line::Old(_))).count();
            (old, new)
        };
        let ((old_start, new_start), (old, new)) =
            (count(&lines[..hunk.start]), count(&lines[hunk.clone()]));
        made.push(format!("@@ -{},{old} +{},{new} @@\n", old_start + 1, new_start + 1));
        for line in &lines[hunk] {
            let (mark, line) = match line {
                Line::Both(line) => (' ', line),
                Line::Old(line) => ('-', line),
                Line::New(line) => ('+', line),
            };
            made.push(format!("{mark}{}\n", line.trim_end_matches('\r')));
        }
    }
    made.concat()
}

/// The lines of both texts in the fewest steps from one to the other (Myers).
fn lines<'a>(before: &'a str, after: &'a str) -> Vec<Line<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tails = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = tails.take_while(|(a, b)| a == b).count();
    let middle = shortest(&old[start..old.len() - end], &new[start..new.len() - end]);
    let head = old[..start].iter().map(|line| Line::Both(line));
    let tail = old[old.len() - end..].iter().map(|line| Line::Both(line));
    head.chain(middle).chain(tail).collect()
}

pub(crate) fn shortest<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let (width, height) = (old.len().cast_signed(), new.len().cast_signed());
    let middle = width + height + 1;
    // How far each diagonal has come after each number of steps.
    let mut reach = vec![0_isize; (2 * middle + 1).cast_unsigned()];
    let at = |diagonal: isize| (diagonal + middle).cast_unsigned();
    let mut history: Vec<Vec<isize>> = Vec::new();
    'search: for steps in 0..=width + height {
        history.push(reach.clone());
        for diagonal in (-steps..=steps).step_by(2) {
            let is_down = diagonal == -steps
                || (diagonal != steps && reach[at(diagonal - 1)] < reach[at(diagonal + 1)]);
            let mut x = if is_down { reach[at(diagonal + 1)] } else { reach[at(diagonal - 1)] + 1 };
            while x < width
                && x - diagonal < height
                && old[x.cast_unsigned()] == new[(x - diagonal).cast_unsigned()]
            {
                x += 1;
            }
            reach[at(diagonal)] = x;
            if x >= width && x - diagonal >= height {
                break 'search;
            }
        }
    }
    let (mut x, mut y, mut made) = (width, height, Vec::new());
    for (steps, reach) in history.iter().enumerate().rev() {
        let (steps, diagonal) = (steps.cast_signed(), x - y);
        let is_down = diagonal == -steps
            || (diagonal != steps && reach[at(diagonal - 1)] < reach[at(diagonal + 1)]);
        let former = if is_down { diagonal + 1 } else { diagonal - 1 };
        let (from_x, from_y) =
            if steps == 0 { (0, 0) } else { (reach[at(former)], reach[at(former)] - former) };
        while x > from_x && y > from_y {
            made.push(Line::Both(old[(x - 1).cast_unsigned()]));
            (x, y) = (x - 1, y - 1);
        }
        if steps > 0 {
            if is_down {
                made.push(Line::New(new[(y - 1).cast_unsigned()]));
            } else {
                made.push(Line::Old(old[(x - 1).cast_unsigned()]));
            }
            (x, y) = (from_x, from_y);
        }
    }
    made.reverse();
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::CLIENTS;

    #[test]
    fn a_patch_shows_what_goes_and_comes_with_what_is_around_it() {
        let before = (1..=20).map(|it| format!("line {it}\n")).collect::<Vec<_>>().concat();
        let after = before.replace("line 4\n", "line four\nand more\n").replace("line 18\n", "");
        let patch = unified(Path::new("file"), &before, &after);
        assert_eq!(
            patch,
            "--- file\n+++ file\n@@ -1,7 +1,8 @@\n line 1\n line 2\n line 3\n-line 4\n+line four\n+and more\n \
             line 5\n line 6\n line 7\n@@ -15,6 +16,5 @@\n line 15\n line 16\n line 17\n-line 18\n line 19\n \
             line 20\n"
        );
        assert_eq!(unified(Path::new("file"), &before, &before), "");
    }

    fn masked_of(client: &str, text: &str) -> String {
        let client = CLIENTS.iter().find(|it| it.name == client).unwrap();
        masked(client.form, text, client)
    }

    #[test]
    fn every_table_of_a_list_in_toml_is_masked() {
        let text = r#"[[hooks]]
token = "s3cret"
name = "one"

[[hooks.steps]]
args = ["--api-key", "s3cret"]

[hooks.steps.env]
PLACE = "s3cret"

[[hooks.steps]]
password = "s3cret"

[[hooks]]
token = "s3cret"

[mcp_servers.a]
command = "a"

[[mcp_servers.a.more]]
api_key = "s3cret"

[[mcp_servers.a.more]]
env = { PLACE = "s3cret" }
"#;
        assert_eq!(masked_of("codex", text), text.replace("s3cret", "***"));
    }

    #[test]
    fn words_are_masked_as_such_beside_what_is_no_text() {
        let text = r#"{"mcpServers":{"a":{"command":"a","args":
            ["--token", "s3cret", 5, "--password", 7341, {"token": "s3cret"}, ["--token", "s3cret"], "--port", 80, true]}}}"#;
        let want = text.replace("s3cret", "***").replace("7341", r#""***""#);
        assert_eq!(masked_of("cursor", text), want);
    }
}
