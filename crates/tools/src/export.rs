//! `export-dataset`: a dataset, or the result of a query, as a file for others to use.

mod formulas;
mod made;
mod place;
mod xlsx;

use std::{
    fs::{self, File},
    io::{BufReader, BufWriter},
    path::{Path, PathBuf},
};

use forebay_query::{ALL_ROWS, Column, FileForm, Observer, Query, Source, WrittenFile};
use forebay_store::{Dataset, DatasetId};

use crate::{
    Desk, Formulas, ToolError,
    arguments::{Arguments, counted},
    definitions::Tool,
    desk::{Unnamed, unique},
    error::refuse,
    reply::Reply,
};
pub(crate) use made::{Made, link, place};
pub(crate) use place::{create, folder_of, placed, unwritable};

/// The form of an exported file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportForm {
    /// One that the query engine writes.
    File(FileForm),
    /// A workbook.
    Xlsx,
}

impl ExportForm {
    /// What they are called, which is also how their files end.
    pub const NAMED: [(&'static str, Self); 5] = [
        ("csv", Self::File(FileForm::Csv)),
        ("parquet", Self::File(FileForm::Parquet)),
        ("json", Self::File(FileForm::Json)),
        ("ndjson", Self::File(FileForm::Ndjson)),
        ("xlsx", Self::Xlsx),
    ];

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, form)| *form)
    }

    /// Whether it can be read as it stands.
    pub fn is_text(self) -> bool {
        match self {
            Self::File(FileForm::Csv | FileForm::Json | FileForm::Ndjson) => true,
            Self::File(FileForm::Parquet) | Self::Xlsx => false,
        }
    }

    fn extension(self) -> &'static str {
        Self::NAMED.iter().find(|(_, form)| *form == self).map_or("", |(name, _)| *name)
    }

    /// The media type of its files.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::File(FileForm::Csv) => "text/csv",
            Self::File(FileForm::Parquet) => "application/vnd.apache.parquet",
            Self::File(FileForm::Json) => "application/json",
            Self::File(FileForm::Ndjson) => "application/x-ndjson",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        }
    }
}

/// What is to be written: what a query gives, and what that is called.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The query.
    pub query: Query,
    /// How the file's name begins.
    pub name: String,
}

impl Subject {
    /// A query, or all of a dataset.
    pub fn new(
        desk: &Desk,
        sql: Option<String>,
        dataset: Option<(DatasetId, String)>,
    ) -> Result<Self, ToolError> {
        if let Some((id, _)) = &dataset {
            desk.dataset(id)?;
        }
        match (sql, dataset) {
            (Some(sql), dataset) => {
                let dataset = dataset.map(|(id, _)| id);
                Ok(Self {
                    query: Query { sql, dataset, with_places: false },
                    name: "query".to_owned(),
                })
            }
            (None, Some((id, table))) => {
                let name = forebay_query::table_name(&id, &table);
                let sql = format!("FROM {}", forebay_query::quoted(&name));
                Ok(Self { query: Query { sql, ..Query::default() }, name })
            }
            (None, None) => refuse!(
                "Give query or dataset_id: a SELECT, or the name of a dataset such as \
                 dataset_k3v9x2ma."
            ),
        }
    }

    /// The datasets that it is made of, as far as they are named, or known as what names stood for.
    pub(crate) fn datasets(&self, sources: &[Source]) -> Vec<String> {
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let words = self.query.sql.split(|letter| !is_part(letter));
        let named = words.filter_map(|word| {
            let id = word.get(..DatasetId::LENGTH).filter(|_| word.starts_with("dataset_"))?;
            DatasetId::parse(id)
        });
        let meant = sources.iter().map(|source| source.dataset.clone());
        let mut all: Vec<String> = Vec::new();
        for id in self.query.dataset.iter().cloned().chain(meant).chain(named) {
            if !all.iter().any(|known| known == id.as_str()) {
                all.push(id.to_string());
            }
        }
        all
    }
}

/// A file that was written.
#[derive(Debug, Clone)]
pub struct Exported {
    /// Where it is.
    pub path: PathBuf,
    /// The dataset that it is, if nobody has said where to write it.
    pub dataset: Option<Dataset>,
    /// How many rows it has.
    pub rows: u64,
    /// How long it is.
    pub bytes: u64,
    /// How it differs from what was to be written.
    pub notes: Vec<String>,
    /// What the names of tools in the query stood for.
    pub sources: Vec<Source>,
}

/// Writes a file: at `path`, where there must be none, or as a dataset that is nothing but this file.
pub fn export(
    desk: &Desk,
    subject: &Subject,
    form: ExportForm,
    path: Option<&Path>,
    observer: &dyn Observer,
) -> Result<Exported, ToolError> {
    let folder = folder_of(desk, path)?;
    // It has no name of its own before it is whole.
    let partial = Unnamed(folder.join(format!(".export-{}", unique())));
    let Outcome { rows, notes, sources } = write(desk, subject, form, &partial.0, observer)
        .map_err(|error| place::of_target(error, &partial.0, path.unwrap_or(&folder)))?;
    let bytes = fs::metadata(&partial.0)?.len();
    if let Some(path) = path {
        let path = placed(&partial.0, path)?;
        return Ok(Exported { path, dataset: None, rows, bytes, notes, sources });
    }
    let made = Made {
        tool: Tool::Export,
        name: format!("{}.{}", subject.name, form.extension()),
        media_type: form.media_type(),
        description: counted(rows, "row"),
        from: subject.datasets(&sources),
    };
    let dataset = made.keep(desk, File::open(&partial.0)?)?;
    let path = dataset.path(0);
    Ok(Exported { path, dataset: Some(dataset), rows, bytes, notes, sources })
}

/// Writes what [`export`] does to a file that has no name, for whoever passes it on; also says how it
/// differs from the rows.
pub fn export_nameless(
    desk: &Desk,
    subject: &Subject,
    form: ExportForm,
    observer: &dyn Observer,
) -> Result<(File, Vec<String>), ToolError> {
    let file = Unnamed(desk.scratch()?.join(format!("export-{}", unique())));
    let notes = write(desk, subject, form, &file.0, observer)?.notes;
    Ok((File::open(&file.0)?, notes))
}

/// What a file has become.
pub(crate) struct Outcome {
    pub(crate) rows: u64,
    /// How it differs from what was to be written.
    pub(crate) notes: Vec<String>,
    pub(crate) sources: Vec<Source>,
}

fn write(
    desk: &Desk,
    subject: &Subject,
    form: ExportForm,
    file: &Path,
    observer: &dyn Observer,
) -> Result<Outcome, ToolError> {
    match form {
        ExportForm::File(form) => {
            let (written, note) = written(desk, &subject.query, file, form, ALL_ROWS, observer)?;
            let notes = note.into_iter().chain(without_zones(&written.columns)).collect();
            Ok(Outcome { rows: written.rows, notes, sources: written.sources })
        }
        ExportForm::Xlsx => xlsx::write(desk, &subject.query, file, observer),
    }
}

/// The first rows of a query as a file of that form holds them, and how they differ from that. The
/// file has no name.
pub fn rows(
    desk: &Desk,
    query: &Query,
    form: FileForm,
    max_rows: u64,
    observer: &dyn Observer,
) -> Result<(WrittenFile, File, Option<String>), ToolError> {
    let file = Unnamed(desk.scratch()?.join(format!("rows-{}", unique())));
    let (written, note) = written(desk, query, &file.0, form, max_rows, observer)?;
    Ok((written, File::open(&file.0)?, note))
}

/// Writes rows to a file that does not exist, and says how it differs from them.
fn written(
    desk: &Desk,
    query: &Query,
    file: &Path,
    form: FileForm,
    max_rows: u64,
    observer: &dyn Observer,
) -> Result<(WrittenFile, Option<String>), ToolError> {
    let query = readable(desk, query, form, observer)?;
    let written = desk.service().write(&query, file, form, max_rows, observer)?;
    if form != FileForm::Csv || desk.formulas() == Formulas::AsWritten {
        return Ok((written, None));
    }
    let is_text: Vec<bool> = written.columns.iter().map(is_text).collect();
    let safe = Unnamed(file.with_extension("safe"));
    let out = create(&safe.0)?;
    let csv = BufReader::with_capacity(1 << 16, File::open(file)?);
    let count = formulas::disarm(csv, BufWriter::with_capacity(1 << 16, out), &is_text)?;
    if count == 0 {
        return Ok((written, None));
    }
    fs::rename(&safe.0, file)?;
    let note = format!(
        "{} that would be a formula in a spreadsheet, with a ' before it (the setting \
         escape_formulas)",
        counted(count, "text")
    );
    Ok((written, Some(note)))
}

/// What is said of columns of times: a file does not tell those in UTC from those that never had a zone.
fn without_zones(columns: &[Column]) -> Option<String> {
    const MOST: usize = 3;
    let is_time = |column: &&Column| {
        column.kind.starts_with("TIMESTAMP") && !column.kind.ends_with("TIME ZONE")
    };
    let times: Vec<&str> = columns.iter().filter(is_time).map(|it| it.name.as_str()).collect();
    let more = times.len().saturating_sub(MOST);
    let names = times[..times.len() - more].join(", ");
    let names = if more > 0 { format!("{names} and {more} more") } else { names };
    (!times.is_empty())
        .then(|| format!("times without a zone ({names}): those that had one are in UTC"))
}

/// True if a column may hold any text.
fn is_text(column: &Column) -> bool {
    let kind = column.kind.as_str();
    crate::render::is_nested(column)
        || ["VARCHAR", "ENUM", "BLOB", "BIT"].iter().any(|it| kind.starts_with(it))
}

pub(crate) fn answer(
    desk: &Desk,
    arguments: &Arguments,
    observer: &dyn Observer,
) -> Result<Reply, ToolError> {
    let Some(form) = arguments.word("format", &ExportForm::NAMED)? else {
        return refuse!("export-dataset needs format: csv, parquet, json, ndjson or xlsx.");
    };
    let sql = arguments.optional_text("query")?;
    let subject = Subject::new(desk, sql, arguments.dataset("dataset_id")?)?;
    let file = export(desk, &subject, form, None, observer)?;
    let mut said = format!(
        "{} written to {} ({}).",
        counted(file.rows, "row"),
        place(desk, &file.path, file.dataset.as_ref()),
        counted(file.bytes, "byte")
    );
    if !file.notes.is_empty() {
        said = format!("{said} In the file: {}.", file.notes.join("; "));
    }
    let link = file.dataset.and_then(|dataset| link(desk, &dataset));
    Ok(Reply::text(said).and_all(link).and_sources(&file.sources))
}

/// The query with nested values as JSON, where the form has no other way to write them.
fn readable(
    desk: &Desk,
    query: &Query,
    form: FileForm,
    observer: &dyn Observer,
) -> Result<Query, ToolError> {
    if form != FileForm::Csv {
        return Ok(query.clone());
    }
    let columns = desk.service().columns(query, observer)?;
    let nested: Vec<String> = columns
        .iter()
        .filter(|column| crate::render::is_nested(column))
        .map(|column| {
            let name = forebay_query::quoted(&column.name);
            format!("to_json({name}) AS {name}")
        })
        .collect();
    if nested.is_empty() {
        return Ok(query.clone());
    }
    let sql = forebay_query::bare(&query.sql);
    let sql = format!("SELECT * REPLACE ({}) FROM (\n{sql}\n)", nested.join(", "));
    Ok(Query { sql, ..query.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_that_a_file_has_without_their_zone() {
        let columns = |all: &[(&str, &str)]| -> Vec<Column> {
            let column = |(name, kind): &(&str, &str)| {
                let (name, kind) = ((*name).to_owned(), (*kind).to_owned());
                Column { name, kind }
            };
            all.iter().map(column).collect()
        };
        let others = [("a", "VARCHAR"), ("b", "TIMESTAMP WITH TIME ZONE"), ("c", "DATE")];
        assert_eq!(without_zones(&columns(&others)), None);
        let some = [("a", "VARCHAR"), ("t", "TIMESTAMP"), ("u", "TIMESTAMP_NS")];
        let told = without_zones(&columns(&some)).unwrap();
        assert_eq!(told, "times without a zone (t, u): those that had one are in UTC");
        let many = ["a", "b", "c", "d", "e"].map(|name| (name, "TIMESTAMP"));
        let told = without_zones(&columns(&many)).unwrap();
        assert!(told.contains("(a, b, c and 2 more)"), "{told}");
    }

    #[test]
    fn what_a_file_is_made_of_is_told() {
        let query = |sql: &str| Query { sql: sql.to_owned(), ..Query::default() };
        let sql = "SELECT * FROM dataset_k3v9x2ma JOIN dataset_22222222_authors USING (id), \
                   dataset_k3v9x2ma, datasets, dataset_k3";
        let subject = Subject { query: query(sql), name: "query".to_owned() };
        assert_eq!(subject.datasets(&[]), ["dataset_k3v9x2ma", "dataset_22222222"]);
    }
}
