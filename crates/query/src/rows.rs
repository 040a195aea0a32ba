//! Makes the rows of a dataset: its records as a Parquet file.
//!
//! Records are written down as JSON lines by whoever knows their form ([`forebay_records`]), and read by
//! DuckDB with the types that the metadata tell. What does not fit its type, which can only be where
//! not all records had been looked at, is kept as it is written: nothing is left out.

use std::{
    collections::BTreeSet,
    fs::{self, File, TryLockError},
    io::{self, BufWriter, Write},
    ops::Range,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use duckdb::Connection;
use forebay_records::{Written, write_lines, write_rows};
use forebay_store::{Dataset, Filter, Mapped, Store, StoreError, facts};

use crate::{
    Limits, PLACE, QueryError,
    columns::{self, Made, literal, quoted},
    engine::{self, Engine, WIDE, failure},
    plain::plain,
    tables::{self, Table},
    watch::Watch,
};

/// Where rows are made, and what that takes.
#[derive(Clone, Copy)]
pub(crate) struct Workshop<'a> {
    pub(crate) store: &'a Store,
    pub(crate) limits: &'a Limits,
    /// The folder for what is needed for a while.
    pub(crate) spill: &'a Path,
    pub(crate) watch: &'a Watch,
}

/// The file of a table's rows, made if it is not there.
pub(crate) fn file(workshop: Workshop<'_>, table: &Table) -> Result<PathBuf, QueryError> {
    let Workshop { store, limits, spill, watch } = workshop;
    let Table { dataset, index } = table;
    let index = &tables::stored(dataset, *index);
    if tables::is_result(dataset) {
        return Ok(store.plain_file_or_copy(dataset, 0, spill)?);
    }
    if dataset.is_of_files() {
        return Err(QueryError::Refused(no_table(store, dataset)));
    }
    if let Some(path) = store.rows(dataset, *index) {
        return Ok(path);
    }
    let mut path = dataset.rows_path(*index);
    if !store.is_writable() {
        path = spill.join(path.file_name().unwrap_or_default());
        if path.exists() {
            return Ok(path);
        }
    }
    let _alone = Alone::with(&path, watch)?;
    if let Some(path) = store.rows(dataset, *index) {
        return Ok(path);
    }
    // While it is open, nobody removes it.
    let part = dataset.main_part();
    let _held = dataset.open(part)?;
    let payload = store.map(dataset, part)?;
    let facts = tables::facts(dataset).get(*index);
    let lines = Lines::new(spill, &format!("{}_{index}.ndjson", dataset.id()));
    let of = payload.len() as u64;
    let mut out = Counted {
        out: BufWriter::with_capacity(1 << 20, File::create(&lines.0)?),
        watch,
        count: 0,
        of,
        what: dataset.id().as_str(),
    };
    let Written { rows, longest_line: longest } = match records(&payload, facts, &mut out) {
        Err(_) if watch.is_stopped() => return Err(watch.why()),
        other => other?,
    };
    out.out.flush()?;
    drop(payload);
    let made = facts.map_or_else(columns::of_lines, columns::of);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // A name that marks it as one that is left over, should we end before it has its own.
    let partial = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let is_lean = made.iter().map(|column| column.kind.leaves()).sum::<usize>() > WIDE;
    let source = Source { lines: &lines.0, longest, columns: made, is_lean };
    let written = write(source, &partial, limits, spill, watch);
    if !matches!(&written, Ok(count) if *count == rows) {
        let _ = fs::remove_file(&partial);
    }
    let count = written?;
    if count != rows {
        return Err(QueryError::Failed(format!("{count} rows were made of {rows} records")));
    }
    if !store.is_writable() {
        fs::rename(&partial, &path)?;
        return Ok(path);
    }
    let removed = || StoreError::Unknown(dataset.id().clone()).into();
    store.put_rows(dataset, *index, &partial)?.ok_or_else(removed)
}

/// What is said of a dataset of files alone: how they are called, and which table lists them.
fn no_table(store: &Store, dataset: &Dataset) -> String {
    const SHOWN: usize = 3;
    let files = &dataset.facts().files;
    let names: Vec<String> = files.iter().take(SHOWN).map(|file| plain(&file.name)).collect();
    let more = match files.len().saturating_sub(SHOWN) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let listed = match table_of_files(store, dataset) {
        Some(table) => format!(" The table {} lists them.", table.id()),
        None => String::new(),
    };
    format!(
        "{} has no table: it is files ({}{more}).{listed} read-saved-dataset tells what they are and \
         how to fetch them.",
        dataset.id(),
        names.join(", ")
    )
}

/// The table that was made of a dataset's files, right after them.
fn table_of_files(store: &Store, dataset: &Dataset) -> Option<Dataset> {
    const SOON: Duration = Duration::from_secs(60);
    const LOOKED_AT: u64 = 100;
    let metadata = dataset.metadata();
    let filter = Filter {
        tool: Some(format!("{}_files", metadata.description.tool)),
        from: Some(metadata.timestamp),
        until: metadata.timestamp.checked_add(SOON).ok(),
        limit: Some(LOOKED_AT),
        ..Filter::default()
    };
    let tables = store.list(&filter).ok()?;
    let mut tables = tables.iter().filter_map(|entry| store.dataset(&entry.id).ok());
    let id = dataset.id().as_str();
    tables.find(|table| table.facts().made_from.iter().any(|from| from == id))
}

/// Writes the records of a payload as JSON lines, or its lines if it has no table.
pub(crate) fn records(
    payload: &Mapped,
    facts: Option<&facts::Table>,
    out: &mut dyn Write,
) -> io::Result<Written> {
    match facts {
        Some(facts) => write_rows(payload, facts, out),
        None => write_lines(payload, out),
    }
}

/// Writes the rows; if that takes too much memory, once more with as little as can be.
fn write(
    mut source: Source<'_>,
    file: &Path,
    limits: &Limits,
    spill: &Path,
    watch: &Watch,
) -> Result<u64, QueryError> {
    loop {
        // Each thread has its own of every column.
        let threads = if source.is_lean { 1 } else { limits.threads };
        let limits = Limits { threads, ..limits.clone() };
        let engine = Engine::trusted(&limits, spill, BTreeSet::new())?;
        watch.interrupt_with(&engine.connection);
        match source.write(&engine.connection, file) {
            Err(_) if watch.is_stopped() => return Err(watch.why()),
            Err(error) if is_too_much(&error) && !source.is_lean => source.is_lean = true,
            other => return other.map_err(failure),
        }
        let _ = fs::remove_file(file);
    }
}

/// Makes processes that want the same rows wait for the one that makes them.
pub(crate) struct Alone {
    path: PathBuf,
    _file: File,
}

impl Alone {
    pub(crate) fn with(rows: &Path, watch: &Watch) -> Result<Self, QueryError> {
        const TICK: Duration = Duration::from_millis(10);
        let name = rows.file_name().unwrap_or_default().to_string_lossy();
        let path = rows.with_file_name(format!(".{name}.lock"));
        let file = forebay_store::lock_file(&path)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { path, _file: file }),
                Err(TryLockError::Error(error)) => return Err(error.into()),
                Err(TryLockError::WouldBlock) if watch.is_stopped() => return Err(watch.why()),
                Err(TryLockError::WouldBlock) => {
                    watch.progress(0.0, "another process is making the rows");
                    thread::sleep(TICK);
                }
            }
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A file of JSON lines that is removed when it has been read.
pub(crate) struct Lines(pub(crate) PathBuf);

impl Lines {
    pub(crate) fn new(spill: &Path, name: &str) -> Self {
        Self(spill.join(name))
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// JSON lines, and what they are to become.
struct Source<'a> {
    lines: &'a Path,
    longest: usize,
    columns: Vec<Made>,
    /// Each column must be cheap, because there are many, or because memory was not enough.
    is_lean: bool,
}

impl Source<'_> {
    /// Writes the rows, with the types that the metadata tell. Where these are of some records only,
    /// what does not fit its type stays as it is written.
    fn write(&mut self, connection: &Connection, file: &Path) -> duckdb::Result<u64> {
        match self.copy(connection, file) {
            Err(error) if is_misfit(&error) => {}
            other => return other,
        }
        if !self.is_lean {
            self.weaken_misfits(connection)?;
            match self.copy(connection, file) {
                Err(error) if is_misfit(&error) => {}
                other => return other,
            }
        }
        for column in &mut self.columns {
            column.kind = column.kind.as_written();
        }
        self.copy(connection, file)
    }

    /// Finds the columns with values that do not fit their type, and lets these be as written.
    fn weaken_misfits(&mut self, connection: &Connection) -> duckdb::Result<()> {
        for index in 0..self.columns.len() {
            let query =
                format!("SELECT count(\"{index}\") FROM {}", self.reading_of(index..index + 1));
            match connection.query_row(&query, [], |row| row.get::<_, i64>(0)) {
                Err(error) if is_misfit(&error) => {
                    let column = &mut self.columns[index];
                    column.kind = column.kind.as_written();
                }
                other => drop(other?),
            }
        }
        Ok(())
    }

    fn copy(&self, connection: &Connection, file: &Path) -> duckdb::Result<u64> {
        let mut selected = vec![format!("\"at\" AS {PLACE}")];
        for (index, column) in self.columns.iter().enumerate() {
            selected.push(format!("\"{index}\" AS {}", quoted(&column.name)));
        }
        let copy = format!(
            "COPY (SELECT {} FROM {}) TO {} ({})",
            selected.join(", "),
            self.reading(),
            literal(&file.to_string_lossy()),
            engine::parquet(self.is_lean),
        );
        connection.query_row(&copy, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
    }

    /// The lines as a table.
    fn reading(&self) -> String {
        self.reading_of(0..self.columns.len())
    }

    /// The lines as a table with some of the columns.
    fn reading_of(&self, columns: Range<usize>) -> String {
        let columns = columns.map(|index| (index.to_string(), self.columns[index].kind.sql()));
        let at = ("at".to_owned(), "UBIGINT".to_owned());
        reading(&[self.lines], self.longest, [at].into_iter().chain(columns))
    }
}

/// Files of JSON lines as a table, with the names and types of its columns.
pub(crate) fn reading(
    files: &[&Path],
    longest: usize,
    columns: impl Iterator<Item = (String, String)>,
) -> String {
    let files: Vec<String> = files.iter().map(|file| literal(&file.to_string_lossy())).collect();
    let columns: Vec<String> =
        columns.map(|(name, kind)| format!("'{name}': {}", literal(&kind))).collect();
    format!(
        "read_json([{}], format = 'newline_delimited', auto_detect = false, compression = 'uncompressed', \
         maximum_object_size = {}, columns = {{{}}})",
        files.join(", "),
        (longest + 1024).max(1 << 20),
        columns.join(", ")
    )
}

/// True if a value does not fit the type of its column.
pub(crate) fn is_misfit(error: &duckdb::Error) -> bool {
    let text = error.to_string();
    ["Invalid Input Error", "Conversion Error", "Binder Error", "Parser Error"]
        .iter()
        .any(|kind| text.contains(kind))
}

pub(crate) fn is_too_much(error: &duckdb::Error) -> bool {
    error.to_string().contains("Out of Memory")
}

/// Counts what is written, tells how far it is, and ends when it is told to.
struct Counted<'a, W> {
    out: W,
    watch: &'a Watch,
    count: u64,
    of: u64,
    what: &'a str,
}

impl<W: Write> Write for Counted<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.watch.is_stopped() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = self.out.write(bytes)?;
        let before = self.count >> 24;
        self.count += count as u64;
        if self.count >> 24 != before {
            // Reading is about a third of the work.
            #[expect(clippy::cast_precision_loss, reason = "it is an estimate")]
            let share = (self.count as f64 / self.of.max(1) as f64).min(1.0) / 3.0;
            self.watch.progress(share, &format!("preparing {}", self.what));
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
