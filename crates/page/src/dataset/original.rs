//! The original as it came, as text, a part at a time.

use askama::Template;
use forebay_store::Dataset;
use forebay_text::{counted, grouped, size};
use serde::Serialize;

use super::Head;
use crate::{
    Pages,
    frame::{Frame, Section},
    given::Given,
    problem::Problem,
};

/// How much of the original stands on a page.
const PART_BYTES: usize = 32_000;
/// A line is not cut for so many bytes.
const LINE_BYTES: usize = 4_000;

/// A part of the original.
#[derive(Template, Serialize)]
#[template(path = "original.html")]
pub(crate) struct Original {
    #[serde(skip)]
    frame: Frame,
    dataset: Head,
    block: usize,
    part: Option<Excerpt>,
}

/// Some lines of a payload.
#[derive(Serialize)]
pub(crate) struct Excerpt {
    /// Which byte it begins with.
    from: usize,
    /// Which byte comes after it.
    to: usize,
    bytes: usize,
    /// The number of its first line, from 1 on.
    first_line: usize,
    lines: Vec<String>,
    /// Whether its first line begins before it.
    #[serde(skip)]
    begins_within: bool,
}

impl Original {
    pub(crate) fn of(pages: &Pages, id: &str, given: &Given) -> Result<Self, Problem> {
        let given = given.only(&["block", "from"])?;
        let dataset = pages.dataset(id)?;
        let block = given.number("block")?.and_then(|block| usize::try_from(block).ok());
        let block = block.unwrap_or_else(|| dataset.main_part());
        if block >= dataset.payload_count() {
            let blocks = counted(dataset.payload_count() as u64, "block");
            return Err(Problem::missing(format!("It has {blocks}, counted from 0.")));
        }
        let from = given.number("from")?.unwrap_or_default();
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let part = Excerpt::of(pages, &dataset, block, from, PART_BYTES)?;
        if let Some(part) = part.as_ref().filter(|part| from > 0 && from >= part.bytes) {
            let bytes = counted(part.bytes as u64, "byte");
            return Err(Problem::refused(format!(
                "That is past the end: it has {bytes}, counted from 0."
            )));
        }
        let frame = Frame::new(Section::Shelf, format!("{} · original", dataset.id()));
        Ok(Self { frame, dataset: Head::of(&dataset, "Original"), block, part })
    }

    fn head(&self) -> &Head {
        &self.dataset
    }

    fn at(&self, from: usize) -> String {
        let given = Given::default().and("block", &self.block.to_string());
        given.and("from", &from.to_string()).at(&format!("{}/original", self.dataset.path()))
    }

    fn before(&self) -> Option<String> {
        let part = self.part.as_ref().filter(|part| part.from > 0)?;
        Some(self.at(part.from.saturating_sub(PART_BYTES)))
    }

    fn next(&self) -> Option<String> {
        let part = self.part.as_ref().filter(|part| part.to < part.bytes)?;
        Some(self.at(part.to))
    }

    /// The blocks of the result, each with its link, if there are several.
    fn blocks(&self) -> Vec<(usize, String, bool)> {
        if self.dataset.blocks < 2 {
            return Vec::new();
        }
        let link = |block: usize| {
            let given = Given::default().and("block", &block.to_string());
            given.at(&format!("{}/original", self.dataset.path()))
        };
        (0..self.dataset.blocks).map(|block| (block, link(block), block == self.block)).collect()
    }
}

impl Excerpt {
    /// What a payload holds from a byte on; `None` if it is no text.
    pub(super) fn of(
        pages: &Pages,
        dataset: &Dataset,
        block: usize,
        from: usize,
        length: usize,
    ) -> Result<Option<Self>, Problem> {
        if forebay_query::is_result(dataset) {
            return Ok(None);
        }
        let file = dataset.facts().files.iter().find(|file| file.block == block);
        if file.is_some_and(|file| !is_text(&file.media_type)) {
            return Ok(None);
        }
        let _held = dataset.open(block)?;
        let payload = pages.desk.store()?.map_once(dataset, block)?;
        Ok(Some(Self::within(&payload, from, length)))
    }

    fn within(payload: &[u8], from: usize, length: usize) -> Self {
        let from = boundary(payload, from.min(payload.len()));
        let mut to = boundary(payload, from.saturating_add(length).min(payload.len()));
        // Up to the end of a line, if that is near.
        let reach = to.saturating_add(LINE_BYTES).min(payload.len());
        if let Some(end) = payload[to..reach].iter().position(|byte| *byte == b'\n') {
            to += end + 1;
        }
        let newlines = memchr::memchr_iter(b'\n', &payload[..from]).count();
        let text = String::from_utf8_lossy(&payload[from..to]);
        let lines = text.lines().map(str::to_owned).collect();
        let begins_within = from > 0 && payload[from - 1] != b'\n';
        Self { from, to, bytes: payload.len(), first_line: newlines + 1, lines, begins_within }
    }

    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.lines.iter().enumerate();
        lines.map(|(index, line)| (self.first_line + index, line.as_str()))
    }

    pub(super) fn told(&self) -> String {
        let (from, to) = (grouped(self.from as u64), grouped(self.to as u64));
        let within = if self.begins_within { ", from within a line" } else { "" };
        format!("bytes {from} to {to} of {}{within}", grouped(self.bytes as u64))
    }

    pub(super) fn is_all(&self) -> bool {
        self.from == 0 && self.to == self.bytes
    }

    pub(super) fn size(&self) -> String {
        size(self.bytes as u64)
    }
}

/// The place itself, or the next one that is not within a character.
fn boundary(payload: &[u8], mut at: usize) -> usize {
    while payload.get(at).is_some_and(|byte| byte & 0xC0 == 0x80) {
        at += 1;
    }
    at
}

fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || ["json", "xml", "yaml", "csv", "svg"].iter().any(|it| media_type.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_with_a_line_and_begins_with_a_character() {
        let text = "one\ntwö\nthree\n".as_bytes();
        let part = Excerpt::within(text, 0, 5);
        assert_eq!(
            (part.lines.as_slice(), part.to),
            (&["one".to_owned(), "twö".to_owned()][..], 9)
        );
        let next = Excerpt::within(text, part.to, 100);
        assert_eq!((next.first_line, next.lines.as_slice()), (3, &["three".to_owned()][..]));
        assert!(next.to == text.len() && !next.begins_within && !next.is_all());
        let within = Excerpt::within(text, 7, 100);
        assert_eq!((within.from, within.begins_within), (8, true), "not within the ö");
        assert!(Excerpt::within(text, 99, 100).lines.is_empty());
    }
}
