//! Tables in web pages, and the passages of a page on one line. A page need not be well-formed: what is
//! not closed is closed by what follows.
//!
//! A table that holds other tables only sets them out; it is none itself. Cells that span several
//! rows or columns stand in each of them.

mod grid;
mod passages;
mod tokens;

pub(super) use self::passages::passages;
use self::{
    grid::Grid,
    tokens::{Token, tokens},
};
use super::around::{Around, FOOTER};
use crate::table::{Raw, Records};

/// A page of whose text the tables are a smaller part than one in this many is prose.
const MIN_SHARE: usize = 4;
/// How far the front of a page is looked at.
const LOOKED_AT_BYTES: usize = 1_024;

/// A table of a page.
pub(super) struct Table {
    names: Vec<Vec<u8>>,
    /// Each row as JSON, and its cells.
    rows: Vec<(String, Vec<String>)>,
    /// How many rows are none, such as titles across all columns.
    skipped: usize,
}

impl Table {
    /// How many rows it has.
    pub(super) fn size(&self) -> usize {
        self.rows.len()
    }
}

/// The tables of a web page, if they are a good part of it, and what stands around them.
pub(super) fn tables(text: &str) -> Option<(Vec<Table>, Around)> {
    if !is_page(text) {
        return None;
    }
    let Page { title, words, open, finished, .. } = Page::read(text);
    let grids: Vec<Grid> =
        finished.into_iter().chain(open).filter(|grid| !grid.holds_tables).collect();
    let mut around = Around::default();
    around.text("title", title.as_bytes());
    let mut in_tables = 0;
    let mut tables = Vec::new();
    for grid in grids {
        let length = grid.text_length();
        let (caption, footer) = (grid.caption.trim().to_owned(), grid.footer());
        let Some(table) = grid.into_table() else { continue };
        in_tables += length;
        tables.push(table);
        around.text("caption", caption.as_bytes());
        around.text(FOOTER, footer.as_bytes());
    }
    around.json("tables", tables.len().to_string().as_bytes());
    let words = collapsed(&words);
    around.text("text", words.as_bytes());
    let is_prose = in_tables * MIN_SHARE < words.len();
    (!tables.is_empty() && !is_prose).then_some((tables, around))
}

/// Hands the rows of a table to `sink`.
pub(super) fn records<'a, R: Records<'a>>(table: &'a Table, mut sink: R) -> R {
    for (written, cells) in &table.rows {
        if sink.record(written.as_bytes()) {
            for (place, (name, cell)) in table.names.iter().zip(cells).enumerate() {
                sink.field(place, name, Raw::Cell(cell.as_bytes()));
            }
        }
    }
    for _ in 0..table.skipped {
        sink.skip();
    }
    sink
}

/// True if a text begins like a page, or a part of one, and has a table somewhere.
fn is_page(text: &str) -> bool {
    let mut rows = memchr::memchr_iter(b'<', text.as_bytes());
    // In XML there may be tables, too, but not of rows called so.
    begins_like_a_page(text)
        && rows.any(|at| {
            text.as_bytes().get(at + 1..at + 3).is_some_and(|name| name.eq_ignore_ascii_case(b"tr"))
        })
}

/// True if a text begins like a page, or a part of one.
fn begins_like_a_page(text: &str) -> bool {
    const TAGS: [&str; 14] = [
        "table", "body", "div", "section", "article", "main", "center", "h1", "h2", "h3", "p",
        "head", "style", "caption",
    ];
    let text = text.trim_start();
    let Some(inner) = text.strip_prefix('<') else { return false };
    let mut end = text.len().min(LOOKED_AT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text[..end].to_ascii_lowercase();
    let name = inner.split(|character: char| !character.is_ascii_alphanumeric()).next();
    let is_part = name.is_some_and(|name| TAGS.iter().any(|tag| name.eq_ignore_ascii_case(tag)));
    is_part || head.contains("<!doctype html") || head.contains("<html")
}

/// A page in the making.
#[derive(Default)]
struct Page {
    title: String,
    /// What is written outside of tables.
    words: String,
    open: Vec<Grid>,
    finished: Vec<Grid>,
    is_in_title: bool,
}

impl Page {
    fn read(text: &str) -> Self {
        let mut page = Self::default();
        for token in tokens(text) {
            match token {
                Token::Text(text) => page.write(&text),
                Token::Start(tag) => page.start(&tag),
                Token::End(name) => page.end(&name),
            }
        }
        page
    }

    fn write(&mut self, text: &str) {
        if self.is_in_title {
            self.title.push_str(text);
        } else if let Some(grid) = self.open.last_mut() {
            grid.write(text);
        } else {
            self.words.push_str(text);
        }
    }

    fn start(&mut self, tag: &tokens::Tag<'_>) {
        match (&*tag.name, self.open.last_mut()) {
            ("title", None) => self.is_in_title = self.title.is_empty(),
            ("table", outer) => {
                if let Some(outer) = outer {
                    outer.holds_tables = true;
                }
                self.open.push(Grid::default());
            }
            (name, Some(grid)) => grid.start(name, tag),
            (_, None) => self.separate(&tag.name),
        }
    }

    fn end(&mut self, name: &str) {
        match (name, self.open.last_mut()) {
            ("title", _) => self.is_in_title = false,
            ("table", Some(_)) => self.finished.extend(self.open.pop()),
            (name, Some(grid)) => grid.end(name),
            (name, None) => self.separate(name),
        }
    }

    /// Sets words apart that a tag sets apart.
    fn separate(&mut self, name: &str) {
        if !is_inline(name) {
            self.words.push(' ');
        }
    }
}

/// True if what a tag holds belongs to the words around it.
fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "a" | "abbr"
            | "b"
            | "bdi"
            | "cite"
            | "code"
            | "data"
            | "em"
            | "font"
            | "i"
            | "kbd"
            | "mark"
            | "q"
            | "s"
            | "small"
            | "span"
            | "strong"
            | "sub"
            | "sup"
            | "time"
            | "tt"
            | "u"
            | "var"
            | "wbr"
    )
}

/// A text with one blank wherever it has white space.
fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
