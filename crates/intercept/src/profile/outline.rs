//! What is told of a text that holds no records: its lines, its headings, how it begins and ends.

use std::collections::VecDeque;

use forebay_store::Mapped;
use memchr::memchr_iter;
use serde_json::{Value, json};

const SHOWN_LINES: usize = 5;
const MAX_HEADINGS: usize = 200;
/// How often the memory of what has been read is given back.
const RELEASE_BYTES: usize = 16 * 1024 * 1024;

/// A text's outline.
#[derive(Debug)]
pub(crate) struct Outline {
    pub(crate) lines: u64,
    pub(crate) longest_line: usize,
    pub(crate) head: Vec<String>,
    pub(crate) tail: Vec<String>,
    /// Headings, or what is declared at the margin of source code, with the number of its line.
    pub(crate) headings: Vec<(u64, String)>,
    /// How many there are in all.
    pub(crate) heading_count: u64,
    /// It is a diff in which each file has a line of its own.
    names_files: bool,
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
        names_files: false,
    };
    let mut tail = VecDeque::new();
    let (mut start, mut released) = (0, 0);
    for end in memchr_iter(b'\n', text).chain([text.len()]) {
        if start < text.len() {
            outline.see(&text[start..end], &mut tail);
        }
        start = end + 1;
        if start - released > RELEASE_BYTES {
            text.release_before(start);
            released = start;
        }
    }
    outline.tail = tail.into_iter().map(shortened).collect();
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
        self.names_files |= line.starts_with(b"diff --git ");
        // Else the new file's name begins a file of a diff.
        let begins_a_file = !self.names_files && line.starts_with(b"+++ ");
        if begins_a_file || is_heading(line) {
            self.heading_count += 1;
            if self.headings.len() < MAX_HEADINGS {
                self.headings.push((self.lines, shortened(line)));
            }
        }
    }

    /// The facts, for the metadata.
    pub(crate) fn facts(&self) -> Value {
        let headings: Vec<Value> =
            self.headings.iter().map(|(line, text)| json!({"line": line, "text": text})).collect();
        json!({
            "lines": self.lines, "longestLine": self.longest_line,
            "headings": headings, "headingCount": self.heading_count,
            "firstLines": self.head, "lastLines": self.tail,
        })
    }
}

/// True if a line begins a part of a text: a Markdown heading, a chapter, a file of a diff, or a
/// declaration at the margin.
fn is_heading(line: &[u8]) -> bool {
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
    let hashes = line.iter().take_while(|byte| **byte == b'#').count();
    let is_markdown = (1..=6).contains(&hashes) && line.get(hashes) == Some(&b' ');
    is_markdown || is_chapter(line) || DECLARATIONS.iter().any(|word| line.starts_with(word))
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
