//! Reads what a reference stands for, as far as whoever calls may see it.

use std::io::{BufRead as _, BufReader, Read as _};

use forebay_query::{ALL_ROWS, Observer, Query, Selected, is_result};
use forebay_store::{Dataset, DatasetId, facts::Encoding};
use forebay_wire::walk;

use super::{
    content::{Content, ContentKind, at_pointer},
    form::Reference,
    selection::{Format, Selection, What},
};
use crate::{
    Desk, Part, ToolError,
    arguments::counted,
    asked::named_in,
    error::refuse,
    read::{self, Page, Range},
    render,
};

/// Whoever reads, and how much of it.
pub(super) struct Resolver<'a> {
    /// The desk of whoever calls.
    pub(super) desk: &'a Desk,
    pub(super) observer: &'a dyn Observer,
    /// What all references of a call may have together.
    pub(super) max_bytes: u64,
}

/// What a reference stands for.
pub(super) struct Resolved {
    pub(super) content: Content,
    /// The datasets that it comes from.
    pub(super) datasets: Vec<DatasetId>,
    /// What the name of a file with it ends with.
    pub(super) extension: String,
}

impl Resolver<'_> {
    /// Reads it, if it fits in with what was read for the call before.
    pub(super) fn resolve(
        &self,
        reference: &Reference,
        before: u64,
    ) -> Result<Resolved, ToolError> {
        let (id, table) = self.desk.named(&reference.name)?;
        let dataset = self.desk.dataset(&id)?;
        let room = self.max_bytes.saturating_sub(before);
        let Selection { what, format } = &reference.selection;
        let mut datasets = vec![id.clone()];
        let content = match (what, format) {
            (What::Payload(block), None | Some(Format::Text)) if table.is_empty() => {
                self.payload(&dataset, *block, room)?
            }
            (What::Payload(_), format) => {
                let page = Page { part: EVERYTHING, ..Page::default() };
                self.records(&dataset, &table, &page, *format, room)?
            }
            (What::Records { fields, rows }, _) if !read::has_records(&dataset) => {
                self.lines(&dataset, fields, *rows, room)?
            }
            (What::Records { fields, rows }, format) => {
                let part = rows.map_or(EVERYTHING, part);
                let page = Page { part, fields: fields.clone(), ..Page::default() };
                self.records(&dataset, &table, &page, *format, room)?
            }
            (What::Pointer(pointer), _) => self.value(&dataset, pointer, room)?,
            (What::Sql(sql), format) => {
                let query = Query { sql: sql.clone(), dataset: Some(id), with_places: false };
                let named = named_in(sql).into_iter();
                datasets.extend(named.filter(|other| self.desk.dataset(other).is_ok()));
                let found = self.select(&query, room)?;
                datasets.extend(found.sources.iter().map(|source| source.dataset.clone()));
                written(&found, *format)?
            }
        };
        datasets.sort_unstable();
        datasets.dedup();
        let extension = extension(&dataset, what, content.kind, *format);
        Ok(Resolved { content, datasets, extension })
    }

    /// A payload as it was kept.
    fn payload(
        &self,
        dataset: &Dataset,
        block: Option<usize>,
        room: u64,
    ) -> Result<Content, ToolError> {
        if is_result(dataset) {
            let page = Page { part: EVERYTHING, ..Page::default() };
            return self.records(dataset, "", &page, None, room);
        }
        let part = read::part_of(dataset, block)?;
        let length = dataset.metadata().parts.get(part).map_or(0, |part| part.bytes);
        self.check(length, room)?;
        let mut bytes = Vec::new();
        dataset.open(part)?.read_to_end(&mut bytes)?;
        let kind = kind(dataset, part, &bytes);
        Ok(Content { bytes, kind })
    }

    /// Records as they stand in a payload, or in another form.
    fn records(
        &self,
        dataset: &Dataset,
        table: &str,
        page: &Page,
        format: Option<Format>,
        room: u64,
    ) -> Result<Content, ToolError> {
        if !read::has_records(dataset) {
            let content = self.payload(dataset, None, room)?;
            return match format {
                Some(Format::Csv) => {
                    refuse!("{} has no records to be written as CSV.", dataset.id())
                }
                Some(Format::Json | Format::Text) | None => Ok(content),
            };
        }
        let of = read::Records { desk: self.desk, dataset, table, observer: self.observer };
        match format {
            None | Some(Format::Json) => match of.all(page, room)? {
                Some(records) => {
                    let bytes = format!("[{}]", records.join(",")).into_bytes();
                    Ok(Content { bytes, kind: ContentKind::Records })
                }
                None => self.too_long(None, room),
            },
            Some(Format::Csv | Format::Text) => {
                let query = Query { sql: of.sql(page)?, ..Query::default() };
                written(&self.select(&query, room)?, format)
            }
        }
    }

    /// Lines of a text, counted from 0. However long it is, no more of it is held than is asked for.
    fn lines(
        &self,
        dataset: &Dataset,
        fields: &[String],
        rows: Option<Range>,
        room: u64,
    ) -> Result<Content, ToolError> {
        if !fields.is_empty() {
            return refuse!("{} is a text without fields: leave fields out.", dataset.id());
        }
        let place = read::part_of(dataset, None)?;
        let mut text = BufReader::new(dataset.open(place)?);
        let kind = kind(dataset, place, text.fill_buf()?);
        if kind == ContentKind::File {
            return refuse!("{} is a file without lines: leave rows out.", dataset.id());
        }
        let Part { offset, limit } = rows.map_or(EVERYTHING, part);
        let mut bytes = Vec::new();
        for line in 0..offset.saturating_add(limit) {
            let read = if line < offset {
                text.skip_until(b'\n')?
            } else {
                // One byte more tells that there is too much.
                let left = room.saturating_add(1) - bytes.len() as u64;
                text.by_ref().take(left).read_until(b'\n', &mut bytes)?
            };
            if bytes.len() as u64 > room {
                return self.too_long(None, room);
            }
            if read == 0 {
                break;
            }
        }
        if bytes.is_empty() {
            return refuse!("{} has no lines from {offset} on, counted from 0.", dataset.id());
        }
        Ok(Content { bytes, kind })
    }

    /// The value that a pointer leads to.
    fn value(&self, dataset: &Dataset, pointer: &str, room: u64) -> Result<Content, ToolError> {
        let found = if is_result(dataset) {
            let whole = self.payload(dataset, None, u64::MAX)?;
            self.fitting(at_pointer(&whole.bytes, pointer, None), room)?
        } else {
            let part = read::part_of(dataset, None)?;
            // Nobody removes it meanwhile.
            let _held = dataset.open(part)?;
            let payload = self.desk.store()?.map_once(dataset, part)?;
            let release = |rest: &[u8]| payload.release_before_slice(rest);
            self.fitting(at_pointer(&payload, pointer, Some(&release)), room)?
        };
        match found {
            Some(bytes) => Ok(Content { bytes, kind: ContentKind::Value }),
            None => refuse!(
                "There is nothing at {} in {}. A pointer leads through the JSON as it was kept, \
                 such as /items/0/name.",
                forebay_query::plain(pointer),
                dataset.id()
            ),
        }
    }

    /// A value for itself, if it is not too long.
    fn fitting(&self, value: Option<&[u8]>, room: u64) -> Result<Option<Vec<u8>>, ToolError> {
        value.map(|value| self.check(value.len() as u64, room).map(|()| value.to_vec())).transpose()
    }

    fn select(&self, query: &Query, room: u64) -> Result<Selected, ToolError> {
        let found = self.desk.service().select(query, ALL_ROWS, room, self.observer)?;
        let length = found.rows.iter().map(|row| row.len() as u64).sum();
        self.check(length, room)?;
        if found.has_more { self.too_long(None, room) } else { Ok(found) }
    }

    fn check(&self, length: u64, room: u64) -> Result<(), ToolError> {
        if length > room { self.too_long(Some(length), room) } else { Ok(()) }
    }

    fn too_long<T>(&self, length: Option<u64>, room: u64) -> Result<T, ToolError> {
        let length =
            length.map_or_else(|| "more bytes than that".to_owned(), |it| counted(it, "byte"));
        let max_bytes = self.max_bytes;
        let others = match max_bytes - room {
            0 => String::new(),
            others => format!(", of which its other references have {others}"),
        };
        refuse!(
            "It has {length}, and the references of a call may have {max_bytes} together (the \
             setting references.max_bytes){others}: select fewer rows or fields."
        )
    }
}

/// What a payload is, which begins like this.
fn kind(dataset: &Dataset, part: usize, beginning: &[u8]) -> ContentKind {
    // A text block that is no text was kept as it was written.
    let template = dataset.facts().template.as_ref();
    let holes = template.map(|template| template.holes.as_slice()).unwrap_or_default();
    let is_written = beginning.starts_with(b"\"")
        && holes.iter().any(|hole| hole.part == part && hole.encoding == Encoding::Json);
    let is_file = dataset.facts().files.iter().any(|file| file.block == part);
    match (is_file, is_written) {
        (true, _) => ContentKind::File,
        (false, true) => ContentKind::Value,
        (false, false) => ContentKind::Text,
    }
}

/// All there is.
const EVERYTHING: Part = Part { offset: 0, limit: ALL_ROWS };

fn part(rows: Range) -> Part {
    let limit = rows.to.map_or(ALL_ROWS, |last| last.saturating_add(1) - rows.from);
    Part { offset: rows.from, limit: limit.min(ALL_ROWS) }
}

/// Rows in a form.
fn written(found: &Selected, format: Option<Format>) -> Result<Content, ToolError> {
    let (text, kind) = match format {
        None | Some(Format::Json) => {
            (render::all(render::Format::Json, found), ContentKind::Records)
        }
        Some(Format::Csv) => (render::all(render::Format::Csv, found), ContentKind::Text),
        Some(Format::Text) => (column(found)?, ContentKind::Text),
    };
    Ok(Content { bytes: text.into_bytes(), kind })
}

/// The values of the one column, each on a line.
fn column(found: &Selected) -> Result<String, ToolError> {
    if found.columns.len() != 1 {
        return refuse!(
            "format=text writes one field, a line for each record, and there are {}: select one, \
             or write format=csv.",
            found.columns.len()
        );
    }
    let cell = |row: &String| {
        let cell = walk::elements(row.as_bytes()).and_then(|mut cells| cells.next());
        match cell.unwrap_or_default() {
            b"null" => String::new(),
            json => serde_json::from_slice(json)
                .unwrap_or_else(|_| String::from_utf8_lossy(json).into_owned()),
        }
    };
    Ok(found.rows.iter().map(cell).collect::<Vec<_>>().join("\n"))
}

/// How a file is called that holds this.
fn extension(dataset: &Dataset, what: &What, kind: ContentKind, format: Option<Format>) -> String {
    let is_whole = matches!(kind, ContentKind::Text | ContentKind::File);
    let is_payload = matches!(what, What::Payload(_)) && is_whole;
    let part = if let What::Payload(Some(block)) = what { *block } else { dataset.main_part() };
    let file = dataset.metadata().parts.get(part).filter(|_| is_payload);
    let own = file.and_then(|part| part.file.rsplit_once('.')).map(|(_, ending)| ending);
    match (format, kind) {
        (Some(Format::Csv), _) => "csv",
        (_, ContentKind::Value | ContentKind::Records) => "json",
        (_, ContentKind::Text | ContentKind::File) => own.unwrap_or("txt"),
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use forebay_query::Column;

    use super::*;

    fn found(columns: &[&str], rows: &[&str]) -> Selected {
        let column = |name: &&str| Column { name: (*name).to_owned(), kind: "VARCHAR".to_owned() };
        Selected {
            columns: columns.iter().map(column).collect(),
            rows: rows.iter().map(|row| (*row).to_owned()).collect(),
            has_more: false,
            sources: Vec::new(),
        }
    }

    #[test]
    fn rows_are_written_in_the_form_that_is_asked_for() {
        let rows = found(&["a", "b"], &[r#"["x,y",1.0]"#, "[null,2]"]);
        let written = |found: &Selected, format| {
            written(found, format).map(|it| String::from_utf8(it.bytes).unwrap())
        };
        let json = r#"[{"a":"x,y","b":1.0},{"a":null,"b":2}]"#;
        assert_eq!(written(&rows, None).unwrap(), json);
        assert_eq!(written(&rows, Some(Format::Csv)).unwrap(), "a,b\n\"x,y\",1.0\n,2");
        let told = written(&rows, Some(Format::Text)).unwrap_err().told();
        assert!(told.contains("there are 2"), "{told}");
        let one = found(&["a"], &[r#"["x\ny"]"#, "[null]", "[1.50]", r#"[{"c":1}]"#]);
        assert_eq!(written(&one, Some(Format::Text)).unwrap(), "x\ny\n\n1.50\n{\"c\":1}");
        assert_eq!(written(&found(&["a"], &[]), None).unwrap(), "[]");
    }

    #[test]
    fn a_range_of_rows_has_both_its_ends() {
        let of = |from, to| part(Range { from, to });
        assert_eq!(of(0, Some(99)), Part { offset: 0, limit: 100 });
        assert_eq!(of(7, Some(7)), Part { offset: 7, limit: 1 });
        assert_eq!(of(7, None), Part { offset: 7, limit: ALL_ROWS });
        assert_eq!(of(0, Some(u64::MAX)).limit, ALL_ROWS);
    }

    #[test]
    fn the_datasets_that_sql_names_are_found() {
        let sql = "SELECT * FROM dataset JOIN dataset_k3v9x2ma_authors a ON a.x=dataset_22222222.y";
        let names: Vec<String> = named_in(sql).iter().map(ToString::to_string).collect();
        assert_eq!(names, ["dataset_k3v9x2ma", "dataset_22222222"]);
    }
}
