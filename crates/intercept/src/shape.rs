//! What a payload is: told by looking at it, since nothing else says so.
//!
//! Each form has a file of its own, which says whether a text is of that form and hands its records
//! to a [`Builder`], one after the other, where they lie. YAML and XML are written anew as JSON
//! first. What is of no known form is text, and gets an outline instead of a table.

mod delimited;
mod json;
mod jsonlines;
mod listing;
mod log;
mod markdown;
mod stanzas;
mod wrapped;
mod xml;
mod yaml;

use std::borrow::Cow;

use forebay_store::Mapped;

pub(crate) use self::json::{quoted, step};
use crate::profile::{Builder, Records, Rules, Table};

/// A text that has to be written anew as JSON is looked at up to this length.
const MAX_REWRITTEN_BYTES: usize = 16 * 1024 * 1024;

/// The forms, by the names that the metadata gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Ndjson,
    Csv,
    Tsv,
    Markdown,
    Yaml,
    Xml,
    Log,
    Stanzas,
    Lines,
    Text,
}

/// A payload seen as what it is.
pub(crate) struct View<'a> {
    pub(crate) format: Format,
    content: Content<'a>,
    payload: &'a Mapped,
}

/// What is found in a view.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Tables, the largest first.
    pub(crate) tables: Vec<Table>,
    /// Values beside the tables: where they are, and as they are written, as far as they are short.
    pub(crate) envelope: Vec<(String, String)>,
    /// How many there are of each, in all.
    pub(crate) counts: Counts,
}

/// How many tables, and values beside them, there are.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) tables: usize,
    pub(crate) envelope: usize,
}

enum Content<'a> {
    Json(Cow<'a, [u8]>),
    Ndjson(&'a [u8]),
    Sequence(&'a [u8]),
    Delimited(&'a [u8], u8),
    Markdown(Vec<&'a [u8]>),
    Log(&'a [u8]),
    Stanzas(&'a [u8]),
    Lines(&'a [u8]),
    Text,
}

impl Format {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Markdown => "markdown",
            Self::Yaml => "yaml",
            Self::Xml => "xml",
            Self::Log => "log",
            Self::Stanzas => "stanzas",
            Self::Lines => "lines",
            Self::Text => "text",
        }
    }

    /// What a file of this form ends with.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Stanzas | Self::Lines | Self::Text => "txt",
            named => named.name(),
        }
    }
}

/// Tells what a payload is, from how it begins where that is enough.
pub(crate) fn of(payload: &Mapped) -> View<'_> {
    let text: &[u8] = payload.strip_prefix(b"\xef\xbb\xbf").unwrap_or(payload);
    let (format, content) = match text.trim_ascii_start().first() {
        Some(b'{' | b'[' | b'"') => json_or_text(text, payload),
        _ => plain(text, payload),
    };
    View { format, content, payload }
}

/// Tells what a payload is that only looked like JSON.
pub(crate) fn not_json(payload: &Mapped) -> View<'_> {
    let (format, content) = plain(payload, payload);
    View { format, content, payload }
}

/// A payload seen as nothing but lines, or text.
pub(crate) fn text(payload: &Mapped) -> View<'_> {
    if listing::is_listing(payload) {
        return View { format: Format::Lines, content: Content::Lines(payload), payload };
    }
    View { format: Format::Text, content: Content::Text, payload }
}

/// What a text is that begins like JSON. Whether it is to its end shows when it is read.
fn json_or_text<'a>(text: &'a [u8], payload: &Mapped) -> (Format, Content<'a>) {
    let text = text.trim_ascii();
    match (text.first(), text.last()) {
        (Some(b'{'), Some(b'}')) if jsonlines::are_lines(text) => {
            (Format::Ndjson, Content::Ndjson(text))
        }
        (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')) => {
            let inner =
                if text.len() <= MAX_REWRITTEN_BYTES { wrapped::in_member(text) } else { None };
            (Format::Json, Content::Json(inner.map_or(Cow::Borrowed(text), Cow::Owned)))
        }
        (Some(b'"'), Some(b'"')) => match wrapped::in_string(text) {
            Some(json) => (Format::Json, Content::Json(Cow::Owned(json))),
            None => plain(text, payload),
        },
        _ => plain(text, payload),
    }
}

/// What a text is that is not JSON as a whole.
fn plain<'a>(text: &'a [u8], payload: &Mapped) -> (Format, Content<'a>) {
    if jsonlines::is_sequence(text) {
        return (Format::Ndjson, Content::Sequence(text));
    }
    if let Some(json) = wrapped::in_prose(text) {
        return (Format::Json, Content::Json(Cow::Borrowed(json)));
    }
    if let Some(json) = rewritten(text, xml::to_json) {
        return (Format::Xml, Content::Json(Cow::Owned(json)));
    }
    let tables = markdown::tables(text, &|rest| payload.release_before_slice(rest));
    if !tables.is_empty() {
        return (Format::Markdown, Content::Markdown(tables));
    }
    if log::is_log(text) {
        return (Format::Log, Content::Log(text));
    }
    if stanzas::are_stanzas(text) {
        return (Format::Stanzas, Content::Stanzas(text));
    }
    if let Some(delimiter) = delimited::delimiter(text) {
        let format = if delimiter == b'\t' { Format::Tsv } else { Format::Csv };
        return (format, Content::Delimited(text, delimiter));
    }
    if let Some(json) = rewritten(text, yaml::to_json) {
        return (Format::Yaml, Content::Json(Cow::Owned(json)));
    }
    if listing::is_listing(text) {
        return (Format::Lines, Content::Lines(text));
    }
    (Format::Text, Content::Text)
}

fn rewritten(text: &[u8], to_json: fn(&str) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    if text.len() > MAX_REWRITTEN_BYTES {
        return None;
    }
    to_json(std::str::from_utf8(text).ok()?)
}

impl Contents {
    fn of(tables: Vec<Table>) -> Self {
        let counts = Counts { tables: tables.len(), envelope: 0 };
        Self { tables, envelope: Vec::new(), counts }
    }
}

impl View<'_> {
    /// Goes through all records; `None` if the text is not what it seemed to be.
    pub(crate) fn contents(&self, rules: Rules) -> Option<Contents> {
        let builder = |rules| Builder::new(rules, self.payload);
        let table = |builder: Builder<'_>, kind| {
            let table = builder.finish("$".to_owned(), kind, None);
            let tables = if table.records > 0 { vec![table] } else { Vec::new() };
            Some(Contents::of(tables))
        };
        match &self.content {
            Content::Json(json) => {
                let has_cells = self.format == Format::Xml;
                json::contents(json, Rules { has_cells, ..rules }, self.payload)
            }
            Content::Ndjson(text) => table(jsonlines::records(text, builder(rules))?, "list"),
            Content::Sequence(text) => table(jsonlines::sequence(text, builder(rules))?, "list"),
            Content::Delimited(text, delimiter) => {
                table(delimited::records(text, *delimiter, builder(rules))?, "list")
            }
            Content::Markdown(found) => {
                let mut tables: Vec<Table> = found
                    .iter()
                    .enumerate()
                    .map(|(index, text)| {
                        let path = format!("$[{index}]");
                        markdown::records(text, builder(rules)).finish(path, "list", None)
                    })
                    .collect();
                // Stable: of equally long ones the first comes first.
                tables.sort_by_key(|table| std::cmp::Reverse(table.records));
                Some(Contents::of(tables))
            }
            Content::Log(text) => table(log::records(text, builder(rules)), "list"),
            Content::Stanzas(text) => table(stanzas::records(text, builder(rules)), "list"),
            Content::Lines(text) => table(listing::records(text, builder(rules)), "values"),
            Content::Text => Some(Contents::default()),
        }
    }
}

impl View<'_> {
    /// Hands the records of the table at `path` to `rows`; `None` if there is no such table.
    pub(crate) fn rows<R>(&self, path: &str, mut rows: R) -> Option<R>
    where
        R: for<'r> Records<'r>,
    {
        match &self.content {
            Content::Json(json) => json::rows(json, path, self.payload, &mut rows)?,
            Content::Ndjson(text) => rows = jsonlines::records(text, rows)?,
            Content::Sequence(text) => rows = jsonlines::sequence(text, rows)?,
            Content::Delimited(text, delimiter) => {
                rows = delimited::records(text, *delimiter, rows)?;
            }
            Content::Markdown(found) => {
                let at = |(index, _): &(usize, _)| format!("$[{index}]") == path;
                let (_, text) = found.iter().enumerate().find(at)?;
                rows = markdown::records(text, rows);
            }
            Content::Log(text) => rows = log::records(text, rows),
            Content::Stanzas(text) => rows = stanzas::records(text, rows),
            Content::Lines(text) => rows = listing::records(text, rows),
            Content::Text => return None,
        }
        Some(rows)
    }
}

/// The lines of a text that are not blank.
fn filled_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| !line.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests;
