//! What is told of a text that holds no records: its lines, its headings, how it begins and ends.

use std::collections::VecDeque;

use forebay_store::{
    Mapped,
    facts::{self, Heading},
};
use memchr::{memchr_iter, memmem};

const SHOWN_LINES: usize = 5;
const MAX_HEADINGS: usize = 200;
/// How often the memory of what has been read is given back.
const RELEASE_BYTES: usize = 16 * 1024 * 1024;

/// A text's outline.
#[derive(Debug)]
pub struct Outline {
    /// How many lines it has.
    pub lines: u64,
    /// How long the longest is.
    pub longest_line: usize,
    /// How it begins.
    pub head: Vec<String>,
    /// How it ends.
    pub tail: Vec<String>,
    /// Headings, or what is declared at the margin of source code, with the number of its line.
    pub headings: Vec<(u64, String)>,
    /// How many there are in all.
    pub heading_count: u64,
}

/// What has been found on the way through the lines. What a `#` at the margin means shows only at the
/// end.
#[derive(Debug, Default)]
struct Found {
    /// Lines that begin with `# `: headings of Markdown, or comments of code.
    hashed: Headings,
    others: Headings,
    /// It is a diff in which each file has a line of its own.
    names_files: bool,
    /// Lines at the margin that only code has.
    statements: u64,
    /// It has a fence around code, so that the rest is none.
    has_fences: bool,
}

#[derive(Debug, Default)]
struct Headings {
    shown: Vec<(u64, String)>,
    count: u64,
}

/// Goes through the lines of a text.
pub(crate) fn of(text: &Mapped) -> Outline {
    let mut outline = Outline {
        lines: 0,
        longest_line: 0,
        head: Vec::new(),
        tail: Vec::new(),
        headings: Vec::new(),
        heading_count: 0,
    };
    let mut found = Found::default();
    let mut tail = VecDeque::new();
    let (mut start, mut released) = (0, 0);
    for end in memchr_iter(b'\n', text).chain([text.len()]) {
        if start < text.len() {
            outline.see(&text[start..end], &mut tail);
            found.see(outline.lines, &text[start..end]);
        }
        start = end + 1;
        if start - released > RELEASE_BYTES {
            text.release_before(start);
            released = start;
        }
    }
    outline.tail = tail.into_iter().map(shortened).collect();
    (outline.headings, outline.heading_count) = found.headings();
    outline
}

impl Outline {
    fn see<'a>(&mut self, line: &'a [u8], tail: &mut VecDeque<&'a [u8]>) {
        self.lines += 1;
        self.longest_line = self.longest_line.max(line.len());
        if self.head.len() < SHOWN_LINES {
            self.head.push(shortened(line));
        } else {
            tail.push_back(line);
            if tail.len() > SHOWN_LINES {
                tail.pop_front();
            }
        }
    }

    /// The facts, for the metadata.
    pub(crate) fn facts(&self) -> facts::Text {
        let heading = |(line, text): &(u64, String)| Heading { line: *line, text: text.clone() };
        facts::Text {
            lines: self.lines,
            longest_line: self.longest_line,
            headings: self.headings.iter().map(heading).collect(),
            heading_count: self.heading_count,
            first_lines: self.head.clone(),
            last_lines: self.tail.clone(),
            ..facts::Text::default()
        }
    }
}

impl Found {
    fn see(&mut self, number: u64, line: &[u8]) {
        self.names_files |= line.starts_with(b"diff --git ");
        self.has_fences |= line.starts_with(b"```");
        self.statements += u64::from(is_statement(number, line));
        // Else the new file's name begins a file of a diff.
        let begins_a_file = !self.names_files && line.starts_with(b"+++ ");
        if begins_a_file || begins_a_part(line) {
            self.others.add(number, line);
        } else if is_hashed(line) {
            self.hashed.add(number, line);
        }
    }

    /// The first headings in the order of their lines, and how many there are.
    fn headings(self) -> (Vec<(u64, String)>, u64) {
        /// Fewer may stand in any text.
        const ENOUGH: u64 = 2;
        let Headings { shown: mut headings, mut count } = self.others;
        let is_code = self.statements >= ENOUGH && !self.has_fences;
        if !is_code {
            headings.extend(self.hashed.shown);
            headings.sort_unstable_by_key(|(line, _)| *line);
            headings.truncate(MAX_HEADINGS);
            count += self.hashed.count;
        }
        (headings, count)
    }
}

impl Headings {
    fn add(&mut self, number: u64, line: &[u8]) {
        self.count += 1;
        if self.shown.len() < MAX_HEADINGS {
            self.shown.push((number, shortened(line)));
        }
    }
}

/// True if a line is one of a language that writes comments with `#`, and of no prose.
fn is_statement(number: u64, line: &[u8]) -> bool {
    const WORDS: [&[u8]; 7] = [b"fi", b"done", b"esac", b"then", b"end", b"}", b")"];
    const BEGINNINGS: [&[u8]; 9] = [
        b"import ",
        b"def ",
        b"async def ",
        b"if __name__",
        b"if [",
        b"set -",
        b"echo ",
        b"local ",
        b"require ",
    ];
    let line = line.trim_ascii_end();
    let ends = |end: &[u8]| line.ends_with(end);
    (number == 1 && line.starts_with(b"#!"))
        || WORDS.contains(&line)
        || BEGINNINGS.iter().any(|word| line.starts_with(word))
        || (line.starts_with(b"class ") && ends(b":"))
        || (line.starts_with(b"from ") && memmem::find(line, b" import ").is_some())
        || is_shell_function(line)
}

/// `name() {`, as shells declare a function.
fn is_shell_function(line: &[u8]) -> bool {
    let Some(name) = line.strip_suffix(b"{") else { return false };
    let name = name.trim_ascii_end().strip_suffix(b"()").map(<[u8]>::trim_ascii_end);
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(byte);
    name.is_some_and(|name| !name.is_empty() && name.iter().all(is_letter))
}

/// True if a line is a heading in Markdown, or a comment in many languages.
fn is_hashed(line: &[u8]) -> bool {
    let hashes = line.iter().take_while(|byte| **byte == b'#').count();
    (1..=6).contains(&hashes) && line.get(hashes) == Some(&b' ')
}

/// True if a line begins a part of a text: a chapter, a file of a diff, or a declaration at the
/// margin.
fn begins_a_part(line: &[u8]) -> bool {
    const DECLARATIONS: [&[u8]; 21] = [
        b"def ",
        b"class ",
        b"function ",
        b"fn ",
        b"pub ",
        b"impl ",
        b"struct ",
        b"enum ",
        b"trait ",
        b"mod ",
        b"export ",
        b"interface ",
        b"declare ",
        b"async ",
        b"func ",
        b"type ",
        b"public ",
        b"namespace ",
        b"package ",
        b"diff --git ",
        b"Index: ",
    ];
    is_chapter(line)
        || DECLARATIONS.iter().any(|word| line.starts_with(word))
        || is_shell_function(line.trim_ascii_end())
}

/// `Chapter 3: …`, `PART II`, `Appendix A.`: a word for a part, and its number.
fn is_chapter(line: &[u8]) -> bool {
    const PARTS: [&str; 8] =
        ["chapter", "part", "section", "appendix", "book", "article", "act", "volume"];
    const MAX_BYTES: usize = 100;
    let Some(text) = line.get(..line.len().min(MAX_BYTES)) else { return false };
    let mut words = text.split(|byte| *byte == b' ');
    let (first, number) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let number = number.trim_ascii();
    let bare = number.strip_suffix(b":").or(number.strip_suffix(b".")).unwrap_or(number);
    let is_roman = !bare.is_empty() && bare.iter().all(|byte| b"IVXLCDM".contains(byte));
    let is_letter = bare.len() == 1 && bare[0].is_ascii_uppercase();
    let is_number = bare.first().is_some_and(u8::is_ascii_digit)
        && bare.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    line.len() <= MAX_BYTES
        && first.first().is_some_and(u8::is_ascii_uppercase)
        && PARTS.iter().any(|part| first.eq_ignore_ascii_case(part.as_bytes()))
        && (is_number || is_roman || is_letter)
}

/// The beginning of a line that is too long to show.
fn shortened(line: &[u8]) -> String {
    const MAX: usize = 500;
    String::from_utf8_lossy(&line[..line.len().min(MAX)]).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headings(text: &str) -> Vec<String> {
        let mut found = Found::default();
        text.lines().zip(1..).for_each(|(line, number)| found.see(number, line.as_bytes()));
        found.headings().0.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn comments_of_code_are_no_headings() {
        let python = "# Author: somebody\n# =====\nimport os\nfrom a import b\n\n# Helpers\n\
                      def f():\n    pass\n\nclass C:\n    # inner\n    x = 1\n";
        assert_eq!(headings(python), ["def f():", "class C:"]);
        let shell = "#!/bin/sh\n# Does it\nset -e\nbuild() {\n  echo x\n}\n# Now\nbuild\n";
        assert_eq!(headings(shell), ["build() {"]);
    }

    #[test]
    fn headings_of_markdown_are_told_also_where_it_shows_code() {
        let plain = "# Title\n\nWords from here import nothing.\n\n## Part\n\nWords.\n";
        assert_eq!(headings(plain), ["# Title", "## Part"]);
        let fenced = "# Title\n\n```\nimport os\nimport sys\n```\n\n## Part\n";
        assert_eq!(headings(fenced), ["# Title", "## Part"]);
        let indented = "# Title\n\n    import os\n    import sys\n    def f():\n\n## Part\n";
        assert_eq!(headings(indented), ["# Title", "## Part"]);
    }
}
