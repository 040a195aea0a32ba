//! What is told of a text that holds no records: its lines, its headings, how it begins and ends.

use std::collections::VecDeque;

use forebay_store::Mapped;
use memchr::memchr_iter;
use serde_json::{Value, json};

const SHOWN_LINES: usize = 5;
const MAX_HEADINGS: usize = 40;
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
        if is_heading(line) {
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
        })
    }
}

/// True if a line begins a part of a text: a Markdown heading, or a declaration at the margin.
fn is_heading(line: &[u8]) -> bool {
    const DECLARATIONS: [&[u8]; 19] = [
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
    ];
    let hashes = line.iter().take_while(|byte| **byte == b'#').count();
    let is_markdown = (1..=6).contains(&hashes) && line.get(hashes) == Some(&b' ');
    is_markdown || DECLARATIONS.iter().any(|word| line.starts_with(word))
}

/// The beginning of a line that is too long to show.
fn shortened(line: &[u8]) -> String {
    const MAX: usize = 200;
    String::from_utf8_lossy(&line[..line.len().min(MAX)]).trim_end().to_owned()
}
