//! What a payload is: told by looking at it, since nothing else says so.
//!
//! Each form has a file of its own, which says whether a text is of that form and hands its records
//! to a [`Builder`], one after the other, where they lie. YAML, XML and what Python prints are written
//! anew as JSON first. What is of no known form is text, and gets an outline instead of a table.

mod access;
mod aligned;
mod around;
mod delimited;
mod html;
mod json;
mod jsonlines;
mod listing;
mod log;
mod markdown;
mod python;
mod stanzas;
mod syslog;
mod times;
mod wrapped;
mod xml;
mod yaml;

use std::{borrow::Cow, cmp::Reverse};

use forebay_store::Mapped;

use self::{around::Around, wrapped::Found};
use crate::table::{Builder, Records, Rules, Table};

/// A text that has to be written anew as JSON is looked at up to this length.
const MAX_REWRITTEN_BYTES: usize = 16 * 1024 * 1024;
/// Of the tables in a text the largest are described, up to this many.
const MAX_TABLES: usize = 12;

/// The forms, by the names that the metadata gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON.
    Json,
    /// JSON values one after the other, mostly one in each line.
    Ndjson,
    /// What Python prints of its dictionaries and lists.
    Python,
    /// Comma-separated values, or separated by another sign.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// Markdown with tables.
    Markdown,
    /// Columns that are aligned, as programs print them.
    Table,
    /// YAML.
    Yaml,
    /// XML.
    Xml,
    /// HTML.
    Html,
    /// Entries of a log.
    Log,
    /// Blocks of lines such as `name: value`.
    Stanzas,
    /// Lines that are alike.
    Lines,
    /// Any other text.
    Text,
}

/// A payload seen as what it is.
pub(crate) struct View<'a> {
    pub(crate) format: Format,
    content: Content<'a>,
    around: Around,
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
pub struct Counts {
    /// How many tables.
    pub tables: usize,
    /// How many values beside them.
    pub envelope: usize,
}

/// What a text was told to be.
type Told<'a> = (Format, Content<'a>, Around);

enum Content<'a> {
    Json(Cow<'a, [u8]>),
    Ndjson(&'a [u8]),
    Sequence(Cow<'a, [u8]>),
    Delimited(&'a [u8], u8),
    Html(Vec<html::Table>),
    Aligned(Vec<aligned::Table<'a>>),
    Markdown(Vec<&'a [u8]>),
    Access(&'a [u8]),
    Syslog(&'a [u8]),
    Log(&'a [u8]),
    Stanzas(&'a [u8]),
    Lines(&'a [u8]),
    Text,
}

impl Format {
    /// What the metadata call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Python => "python",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Markdown => "markdown",
            Self::Table => "table",
            Self::Yaml => "yaml",
            Self::Xml => "xml",
            Self::Html => "html",
            Self::Log => "log",
            Self::Stanzas => "stanzas",
            Self::Lines => "lines",
            Self::Text => "text",
        }
    }

    /// What a file of this form ends with.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Python | Self::Table | Self::Stanzas | Self::Lines | Self::Text => "txt",
            named => named.name(),
        }
    }
}

/// Tells what a payload is, from how it begins where that is enough.
pub(crate) fn of(payload: &Mapped) -> View<'_> {
    let text: &[u8] = payload.strip_prefix(b"\xef\xbb\xbf").unwrap_or(payload);
    let (format, content, around) = match text.trim_ascii_start().first() {
        Some(b'{' | b'[' | b'"') => json_or_text(text, payload),
        _ => plain(text, payload),
    };
    View { format, content, around, payload }
}

/// Tells what a payload is that only looked like JSON.
pub(crate) fn not_json(payload: &Mapped) -> View<'_> {
    let (format, content, around) = plain(payload, payload);
    View { format, content, around, payload }
}

/// A payload seen as nothing but lines, or text.
pub(crate) fn text(payload: &Mapped) -> View<'_> {
    let (format, content) = lines_or_text(payload);
    View { format, content, around: Around::default(), payload }
}

/// What a text is that begins like JSON. Whether it is to its end shows when it is read.
fn json_or_text<'a>(text: &'a [u8], payload: &Mapped) -> Told<'a> {
    let text = text.trim_ascii();
    match (text.first(), text.last()) {
        (Some(b'{'), Some(b'}')) if jsonlines::are_lines(text) => {
            (Format::Ndjson, Content::Ndjson(text), Around::default())
        }
        (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')) => {
            let inner =
                if text.len() <= MAX_REWRITTEN_BYTES { wrapped::in_member(text) } else { None };
            match inner {
                Some(found) => json_in_text(found),
                None => (Format::Json, Content::Json(Cow::Borrowed(text)), Around::default()),
            }
        }
        (Some(b'"'), Some(b'"')) => match wrapped::in_string(text) {
            Some(found) => json_in_text(found),
            None => plain(text, payload),
        },
        _ => plain(text, payload),
    }
}

fn json_in_text<'a, J: Into<Cow<'a, [u8]>>>(found: Found<J>) -> Told<'a> {
    let Found { json, is_sequence, around } = found;
    if is_sequence {
        (Format::Ndjson, Content::Sequence(json.into()), around)
    } else {
        (Format::Json, Content::Json(json.into()), around)
    }
}

/// What a text is that is not JSON as a whole.
fn plain<'a>(text: &'a [u8], payload: &Mapped) -> Told<'a> {
    if jsonlines::is_sequence(text) {
        return (Format::Ndjson, Content::Sequence(Cow::Borrowed(text)), Around::default());
    }
    let rewritable = rewritable(text);
    if let Some((json, around)) = rewritable.and_then(python::to_json) {
        return (Format::Python, Content::Json(Cow::Owned(json)), around);
    }
    if let Some(found) = wrapped::in_prose(text) {
        return json_in_text(found);
    }
    if let Some((tables, around)) = rewritable.and_then(html::tables) {
        return (Format::Html, Content::Html(tables), around);
    }
    if let Some(passages) = rewritable.and_then(html::passages) {
        return (Format::Html, Content::Html(vec![passages]), Around::default());
    }
    if let Some(json) = rewritable.and_then(xml::to_json) {
        return (Format::Xml, Content::Json(Cow::Owned(json)), Around::default());
    }
    let (tables, around) = aligned::tables(text);
    if !tables.is_empty() {
        return (Format::Table, Content::Aligned(tables), around);
    }
    let (tables, around) = markdown::tables(text, &|rest| payload.release_before_slice(rest));
    if !tables.is_empty() {
        return (Format::Markdown, Content::Markdown(tables), around);
    }
    if let Some(told) = log(text) {
        return told;
    }
    if stanzas::are_stanzas(text) {
        return (Format::Stanzas, Content::Stanzas(text), stanzas::around(text));
    }
    if let Some((lines, delimiter, around)) = delimited::table(text) {
        let format = if delimiter == b'\t' { Format::Tsv } else { Format::Csv };
        return (format, Content::Delimited(lines, delimiter), around);
    }
    if let Some(json) = rewritable.and_then(yaml::to_json) {
        return (Format::Yaml, Content::Json(Cow::Owned(json)), yaml::around(text));
    }
    let (format, content) = lines_or_text(text);
    (format, content, Around::default())
}

/// What kind of log a text is.
fn log(text: &[u8]) -> Option<Told<'_>> {
    if access::is_access_log(text) {
        return Some((Format::Log, Content::Access(text), access::around(text)));
    }
    if syslog::is_syslog(text) {
        let (entries, around) = log::from_first(text, syslog::begins);
        return Some((Format::Log, Content::Syslog(entries), around));
    }
    if log::is_log(text) {
        let (entries, around) = log::from_first(text, log::begins);
        return Some((Format::Log, Content::Log(entries), around));
    }
    None
}

fn lines_or_text(text: &[u8]) -> (Format, Content<'_>) {
    if listing::is_listing(text) {
        return (Format::Lines, Content::Lines(text));
    }
    (Format::Text, Content::Text)
}

/// A text that is short enough to be written anew.
fn rewritable(text: &[u8]) -> Option<&str> {
    (text.len() <= MAX_REWRITTEN_BYTES).then(|| std::str::from_utf8(text).ok()).flatten()
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
        let mut contents = self.tables(rules)?;
        self.around.tell(&mut contents);
        Some(contents)
    }

    fn tables(&self, rules: Rules) -> Option<Contents> {
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
            Content::Html(found) => several(found, html::Table::size, |table| {
                Some(html::records(table, builder(rules)))
            }),
            Content::Aligned(found) => several(found, aligned::Table::size, |table| {
                aligned::records(table, builder(rules))
            }),
            Content::Markdown(found) => several(
                found,
                |text| text.len(),
                |text| Some(markdown::records(text, builder(rules))),
            ),
            Content::Access(text) => table(access::records(text, builder(rules))?, "list"),
            Content::Syslog(text) => table(syslog::records(text, builder(rules)), "list"),
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
            Content::Html(found) => rows = html::records(found.get(place(path)?)?, rows),
            Content::Aligned(found) => {
                rows = aligned::records(found.get(place(path)?)?, rows)?;
            }
            Content::Markdown(found) => {
                rows = markdown::records(found.get(place(path)?)?, rows);
            }
            Content::Access(text) => rows = access::records(text, rows)?,
            Content::Syslog(text) => rows = syslog::records(text, rows),
            Content::Log(text) => rows = log::records(text, rows),
            Content::Stanzas(text) => rows = stanzas::records(text, rows),
            Content::Lines(text) => rows = listing::records(text, rows),
            Content::Text => return None,
        }
        Some(rows)
    }
}

/// Describes the tables of a text that may have several, the largest first; `size` is about how
/// large one is.
fn several<'a, T>(
    found: &'a [T],
    size: impl Fn(&T) -> usize,
    read: impl Fn(&'a T) -> Option<Builder<'a>>,
) -> Option<Contents> {
    let mut largest: Vec<(usize, &T)> = found.iter().enumerate().collect();
    // Stable: of equally long ones the first comes first.
    largest.sort_by_key(|(_, table)| Reverse(size(table)));
    largest.truncate(MAX_TABLES);
    let tables = largest.iter().map(|(index, table)| {
        let path = if found.len() == 1 { "$".to_owned() } else { format!("$[{index}]") };
        Some(read(table)?.finish(path, "list", None))
    });
    let mut tables = tables.collect::<Option<Vec<Table>>>()?;
    let read = tables.len();
    tables.retain(|table| table.records > 0);
    tables.sort_by_key(|table| Reverse(table.records));
    let counts = Counts { tables: found.len() - (read - tables.len()), envelope: 0 };
    Some(Contents { tables, envelope: Vec::new(), counts })
}

/// Which of several tables a path means.
fn place(path: &str) -> Option<usize> {
    if path == "$" {
        return Some(0);
    }
    path.strip_prefix("$[")?.strip_suffix(']')?.parse().ok()
}

/// The names of columns, no two the same; those without one are numbered.
fn column_names<'a>(given: impl Iterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    for (place, name) in given.map(<[u8]>::trim_ascii).enumerate() {
        let mut name = if name.is_empty() {
            format!("column_{}", place + 1).into_bytes()
        } else {
            name.to_vec()
        };
        if names.contains(&name) {
            name.extend(format!("_{}", place + 1).into_bytes());
        }
        names.push(name);
    }
    names
}

/// The lines of a text that are not blank.
fn filled_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| !line.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests;
