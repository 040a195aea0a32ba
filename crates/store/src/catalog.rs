//! An index over the datasets, in SQLite, shared by every process on the machine.
//!
//! But for [`usage`], [`tallies`] and [`activity`] it holds nothing that the files do not hold: it can be lost, and is made anew.
//! Whatever is asked every day is found by an index or stands in [`totals`], so that it costs the same
//! however much is kept.

pub(crate) mod activity;
pub(crate) mod facets;
mod filter;
pub(crate) mod outlines;
pub(crate) mod savings;
pub(crate) mod size_class;
pub(crate) mod tallies;
pub(crate) mod totals;
pub(crate) mod usage;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use forebay_system::{access, identity::FileId};
use jiff::Timestamp;
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, params,
    params_from_iter, types::Type,
};

use self::filter::EACH_TAGS;
pub use self::filter::{Filter, Sorting};
use crate::{
    Dataset, DatasetId, Scope, Viewer,
    database::{files, is_damage, make_private},
    layout::Folder,
};

/// Counts up whenever the tables change; a catalog of another version is made anew.
pub const VERSION: i32 = 14;

const TABLES: &str = "
    CREATE TABLE datasets (
        id TEXT PRIMARY KEY,
        folder TEXT NOT NULL,
        timestamp INTEGER NOT NULL,
        tool TEXT NOT NULL DEFAULT '',
        server TEXT NOT NULL DEFAULT '',
        content TEXT NOT NULL DEFAULT '',
        bytes INTEGER NOT NULL DEFAULT 0,
        stored_bytes INTEGER NOT NULL DEFAULT 0,
        records INTEGER,
        pinned INTEGER NOT NULL DEFAULT 0,
        principal TEXT NOT NULL DEFAULT 'local',
        session TEXT NOT NULL DEFAULT '',
        project TEXT NOT NULL DEFAULT '',
        -- There is nothing to compress: all its payloads are, or would get no shorter.
        packed INTEGER NOT NULL DEFAULT 0,
        -- It is among the counts of what has passed.
        counted INTEGER NOT NULL DEFAULT 0,
        -- The kinds of its payloads and the tags that it was given, with a blank before and behind each.
        tags TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID;
    CREATE INDEX by_content ON datasets (content);
    CREATE INDEX unpacked ON datasets (timestamp, id) WHERE NOT packed;
    CREATE INDEX by_age ON datasets (timestamp, id);
    -- What a filter lets through stands in one of these, in the order in which it is listed.
    CREATE INDEX by_time ON datasets (principal, timestamp DESC, id);
    CREATE INDEX by_size ON datasets (principal, bytes DESC, timestamp DESC, id, tool, server);
    CREATE INDEX by_tags ON datasets (principal, tags, timestamp DESC, id, tool, server);
    CREATE INDEX by_tool ON datasets (principal, tool, timestamp DESC, id, server);
    CREATE INDEX by_server ON datasets (principal, server, timestamp DESC, id, tool);
    CREATE INDEX by_session ON datasets (principal, session, timestamp DESC, id, tool, server);
    CREATE INDEX by_project ON datasets (principal, project, timestamp DESC, id, tool, server);
    CREATE INDEX by_project_and_tool
        ON datasets (principal, project, tool, timestamp DESC, id, server);";

/// A line of the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The dataset's name.
    pub id: DatasetId,
    /// When it was captured.
    pub timestamp: Timestamp,
    /// The tool that gave it.
    pub tool: String,
    /// The upstream it belongs to.
    pub server: String,
    /// How long its payloads are.
    pub bytes: u64,
    /// How much of the disk they take; equal payloads are counted with each dataset.
    pub stored_bytes: u64,
    /// How many records it holds, if it is a table.
    pub records: Option<u64>,
    /// Whether it is to be kept for good.
    pub is_pinned: bool,
    /// The kinds of its payloads, and the tags that it was given.
    pub tags: Vec<String>,
    pub(crate) folder: Folder,
    pub(crate) content: String,
}

impl Entry {
    /// The hash that two datasets share if their payloads are equal; another edition has another.
    pub fn content(&self) -> &str {
        &self.content
    }
}

/// The index itself.
#[derive(Debug)]
pub(crate) struct Catalog {
    connection: Connection,
    home: Home,
}

/// Where a catalog is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    /// In this file.
    File(Option<FileId>),
    /// In memory, because there can be no file.
    Memory,
}

impl Catalog {
    /// Opens the catalog at `path`. `None` if there is none, or it is damaged or of another version:
    /// only then may it be made anew. One that is locked or cannot be read is an error.
    pub(crate) fn open(path: &Path, patience: Duration) -> rusqlite::Result<Option<Self>> {
        // A link could lead to any database.
        let is_else = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|it| !it.is_file());
        if files(path).iter().any(is_else) {
            return Ok(None);
        }
        for path in files(path) {
            let _ = make_private(&path);
        }
        let sound = Self::connect(path, OpenFlags::empty(), patience)
            .and_then(|catalog| catalog.if_sound(path));
        match sound {
            Err(error) if is_damage(&error) || !path.exists() => Ok(None),
            other => other,
        }
    }

    /// Waits from now on no longer than this for another process.
    pub(crate) fn set_patience(&self, patience: Duration) -> rusqlite::Result<()> {
        self.connection.busy_timeout(patience)
    }

    /// Makes an empty catalog in the empty file at `path`.
    pub(crate) fn create(path: &Path) -> rusqlite::Result<Self> {
        let catalog = Self::connect(path, OpenFlags::empty(), Duration::ZERO)?;
        catalog.connection.pragma_update(None, "journal_mode", "WAL")?;
        catalog.lay_out()
    }

    /// Makes an empty catalog that is gone with this process.
    pub(crate) fn in_memory() -> rusqlite::Result<Self> {
        Self { connection: Connection::open_in_memory()?, home: Home::Memory }.lay_out()
    }

    fn lay_out(self) -> rusqlite::Result<Self> {
        self.connection.execute_batch(&format!(
            "BEGIN IMMEDIATE; {TABLES} {} {} {} PRAGMA user_version = {VERSION}; COMMIT;",
            totals::TABLE,
            usage::TABLE,
            activity::TABLES
        ))?;
        Ok(self)
    }

    fn connect(path: &Path, flags: OpenFlags, patience: Duration) -> rusqlite::Result<Self> {
        let flags = flags | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // Before it is opened: one that is put in its place meanwhile is seen to be another.
        let home = Home::File(FileId::at(path));
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(patience)?;
        // The files are the truth: what a power loss takes from the catalog can be made anew.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        Ok(Self { connection, home })
    }

    /// True if the file that is open is the one at `path`.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        match self.home {
            Home::File(file) => file.is_some() && file == FileId::at(path),
            Home::Memory => true,
        }
    }

    fn if_sound(self, path: &Path) -> rusqlite::Result<Option<Self>> {
        // A number that is wrong in the first bytes makes it one that nobody may write to.
        if self.connection.is_readonly("main")? && access::can_write(path) {
            return Ok(None);
        }
        let version: i32 =
            self.connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        // Its pages are looked at as they are needed, and all of them when the store is tidied.
        Ok((version == VERSION).then_some(self))
    }

    /// True if its pages hang together. Takes a look at all of them.
    pub(crate) fn is_sound(&self) -> rusqlite::Result<bool> {
        let verdict: String =
            self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        Ok(verdict == "ok")
    }

    /// Does all of `work` or nothing of it, with one write to the disk.
    pub(crate) fn at_once<T>(
        &self,
        work: impl FnOnce(&Self) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let transaction =
            Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let outcome = work(self)?;
        transaction.commit()?;
        Ok(outcome)
    }

    /// True if every page, index and value is as it should be; takes longer than a look at opening.
    pub(crate) fn is_whole(&self) -> rusqlite::Result<bool> {
        let verdict = self
            .connection
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0))?;
        Ok(verdict == "ok")
    }

    /// Notes that a dataset exists, or what it has become.
    pub(crate) fn settle(&self, dataset: &Dataset) -> rusqlite::Result<()> {
        let metadata = dataset.metadata();
        let description = &metadata.description;
        let mut settle = self.connection.prepare_cached(
            "INSERT INTO datasets (id, folder, timestamp, tool, server, content, bytes,
                                   stored_bytes, records, session, project, packed, pinned,
                                   principal, tags)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
             ON CONFLICT (id) DO UPDATE SET content = ?6, bytes = ?7, stored_bytes = ?8, records = ?9,
                                            packed = ?12, pinned = ?13, tags = ?15",
        )?;
        settle.execute(params![
            metadata.id.as_str(),
            dataset.folder().as_str(),
            metadata.timestamp.as_millisecond(),
            description.tool,
            description.server,
            metadata.content(),
            metadata.bytes().cast_signed(),
            dataset.stored_bytes().cast_signed(),
            description.record_count.map(u64::cast_signed),
            metadata.session().unwrap_or_default(),
            metadata.project().unwrap_or_default(),
            dataset.is_packed(),
            dataset.is_pinned(),
            metadata.principal().as_str(),
            written(&dataset.words()),
        ])?;
        Ok(())
    }

    pub(crate) fn forget(&self, id: &DatasetId) -> rusqlite::Result<()> {
        self.connection.execute("DELETE FROM datasets WHERE id = ?1", [id.as_str()]).map(drop)
    }

    pub(crate) fn set_pinned(&self, id: &DatasetId, is_pinned: bool) -> rusqlite::Result<()> {
        let change = "UPDATE datasets SET pinned = ?2 WHERE id = ?1";
        self.connection.execute(change, params![id.as_str(), is_pinned]).map(drop)
    }

    pub(crate) fn set_tags(&self, id: &DatasetId, tags: &[String]) -> rusqlite::Result<()> {
        let change = "UPDATE datasets SET tags = ?2 WHERE id = ?1";
        self.connection.execute(change, params![id.as_str(), written(tags)]).map(drop)
    }

    /// The tags of what `viewer` may see that are not servers or tools, each once.
    pub(crate) fn tags(&self, viewer: &Viewer) -> rusqlite::Result<BTreeSet<String>> {
        let (seen, values) = match viewer.scope {
            Scope::All => (EACH_TAGS.to_owned(), vec![viewer.own_name(), viewer.own_name()]),
            Scope::Project | Scope::Session => {
                Filter { viewer: viewer.clone(), ..Filter::default() }.all("tags")
            }
        };
        let mut query = self.connection.prepare_cached(&seen)?;
        let written = query.query_map(params_from_iter(values), |row| row.get::<_, String>(0))?;
        let mut tags = BTreeSet::new();
        for written in written {
            tags.extend(written?.split_whitespace().map(str::to_owned));
        }
        Ok(tags)
    }

    /// Notes how much of the disk a dataset takes by now, and whether there is nothing to compress.
    pub(crate) fn set_stored(&self, dataset: &Dataset, is_packed: bool) -> rusqlite::Result<()> {
        let change = "UPDATE datasets SET stored_bytes = ?2, packed = ?3 WHERE id = ?1";
        let stored_bytes = dataset.stored_bytes().cast_signed();
        let values = params![dataset.id().as_str(), stored_bytes, is_packed];
        self.connection.execute(change, values).map(drop)
    }

    /// The newest dataset with these payloads.
    pub(crate) fn find_content(&self, content: &str) -> rusqlite::Result<Option<DatasetId>> {
        let query = "SELECT id FROM datasets WHERE content = ?1 ORDER BY timestamp DESC LIMIT 1";
        let mut query = self.connection.prepare_cached(query)?;
        query.query_row([content], |row| name(row, 0)).optional()
    }

    /// All datasets with these payloads.
    pub(crate) fn twins(&self, content: &str) -> rusqlite::Result<Vec<DatasetId>> {
        let query = "SELECT id FROM datasets WHERE content = ?1";
        let mut query = self.connection.prepare_cached(query)?;
        query.query_map([content], |row| name(row, 0))?.collect()
    }

    /// Another dataset with the payloads of one, compressed.
    pub(crate) fn packed_twin(&self, entry: &Entry) -> rusqlite::Result<Option<DatasetId>> {
        let query = "SELECT id FROM datasets WHERE content = ?1 AND packed AND id <> ?2 LIMIT 1";
        let mut query = self.connection.prepare_cached(query)?;
        query.query_row([&entry.content, entry.id.as_str()], |row| name(row, 0)).optional()
    }

    /// How many datasets have the files of one, itself included; more than `most` are not counted.
    pub(crate) fn sharing(&self, entry: &Entry, most: u32) -> rusqlite::Result<u64> {
        let query = "SELECT count(*) FROM
                     (SELECT 1 FROM datasets WHERE content = ?1 AND stored_bytes = ?2 LIMIT ?3)";
        let mut query = self.connection.prepare_cached(query)?;
        let values = (&entry.content, entry.stored_bytes.cast_signed(), most);
        query.query_row(values, |row| row.get(0)).map(i64::cast_unsigned)
    }

    /// The folder of a dataset.
    pub(crate) fn folder(&self, id: &DatasetId) -> rusqlite::Result<Option<Folder>> {
        let query = "SELECT folder FROM datasets WHERE id = ?1";
        let mut query = self.connection.prepare_cached(query)?;
        query.query_row([id.as_str()], |row| folder(row, 0)).optional()
    }

    /// How many datasets `filter` lets through, without regard to its offset and limit.
    pub(crate) fn count(&self, filter: &Filter) -> rusqlite::Result<u64> {
        let is_of_origins = filter.from.is_none() && filter.until.is_none();
        if is_of_origins && filter.tags.is_empty() && filter.min_bytes.is_none() {
            return self.total(filter);
        }
        let (fitting, values) = filter.all("id");
        let sql = format!("SELECT count(*) FROM ({fitting})");
        let mut query = self.connection.prepare_cached(&sql)?;
        query.query_row(params_from_iter(values), |row| row.get(0)).map(i64::cast_unsigned)
    }

    /// The datasets that `filter` lets through, newest first.
    pub(crate) fn list(&self, filter: &Filter) -> rusqlite::Result<Vec<Entry>> {
        let (sql, values) = filter.listing();
        let mut query = self.connection.prepare_cached(&sql)?;
        query.query_map(params_from_iter(values), entry)?.collect()
    }

    /// The next datasets behind a place, the oldest first: those that are not compressed, or all.
    pub(crate) fn walk(
        &self,
        behind: Option<&Place>,
        only_unpacked: bool,
        count: u32,
    ) -> rusqlite::Result<Vec<Entry>> {
        let index = if only_unpacked { "unpacked" } else { "by_age" };
        let unpacked = if only_unpacked { "AND NOT packed" } else { "" };
        let sql = format!(
            "SELECT {ENTRY} FROM datasets INDEXED BY {index} WHERE timestamp >= ?1 {unpacked}
                 AND (timestamp > ?1 OR id > ?2) ORDER BY timestamp, id LIMIT ?3"
        );
        let (timestamp, id) = behind.map_or((i64::MIN, ""), |it| (it.timestamp, it.id.as_str()));
        let mut query = self.connection.prepare_cached(&sql)?;
        query.query_map(params![timestamp, id, count], entry)?.collect()
    }

    /// The line of a dataset.
    pub(crate) fn entry(&self, id: &DatasetId) -> rusqlite::Result<Option<Entry>> {
        let sql = format!("SELECT {ENTRY} FROM datasets WHERE id = ?1");
        self.connection.prepare_cached(&sql)?.query_row([id.as_str()], entry).optional()
    }

    /// When the newest dataset was kept, for whomever.
    pub(crate) fn newest(&self) -> rusqlite::Result<Option<Timestamp>> {
        let query =
            "SELECT timestamp FROM datasets INDEXED BY by_age ORDER BY timestamp DESC LIMIT 1";
        let time = |row: &Row<'_>| {
            let written: i64 = row.get(0)?;
            Timestamp::from_millisecond(written).map_err(|_| wrong(0, written.to_string()))
        };
        self.connection.query_row(query, [], time).optional()
    }

    /// How long all payloads are together, uncompressed.
    pub(crate) fn bytes(&self) -> rusqlite::Result<u64> {
        let query = "SELECT coalesce(sum(bytes), 0) FROM datasets";
        self.connection.query_row(query, [], |row| row.get(0)).map(i64::cast_unsigned)
    }

    /// How much all datasets take: equal payloads are one file, and counted once.
    pub(crate) fn stored_bytes_of_files(&self) -> rusqlite::Result<u64> {
        let query = "SELECT coalesce(sum(stored_bytes), 0)
                     FROM (SELECT DISTINCT content, stored_bytes FROM datasets)";
        self.connection.query_row(query, [], |row| row.get(0)).map(i64::cast_unsigned)
    }
}

/// Where in the order of time a walk has got to.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    timestamp: i64,
    id: String,
}

impl Place {
    pub(crate) fn of(entry: &Entry) -> Self {
        Self { timestamp: entry.timestamp.as_millisecond(), id: entry.id.to_string() }
    }
}

/// What [`entry`] reads.
const ENTRY: &str =
    "id, folder, timestamp, tool, server, content, bytes, stored_bytes, records, pinned, tags";

/// A value that cannot be right: whoever wrote it, it was not us.
fn wrong(column: usize, value: String) -> rusqlite::Error {
    rusqlite::Error::InvalidColumnType(column, value, Type::Text)
}

fn folder(row: &Row<'_>, column: usize) -> rusqlite::Result<Folder> {
    let text: String = row.get(column)?;
    Folder::parse(&text).ok_or_else(|| wrong(column, text))
}

fn name(row: &Row<'_>, column: usize) -> rusqlite::Result<DatasetId> {
    let text: String = row.get(column)?;
    DatasetId::parse(&text).ok_or_else(|| wrong(column, text))
}

/// Reads a line.
fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let timestamp: i64 = row.get(2)?;
    Ok(Entry {
        id: name(row, 0)?,
        folder: folder(row, 1)?,
        timestamp: Timestamp::from_millisecond(timestamp)
            .map_err(|_| wrong(2, timestamp.to_string()))?,
        tool: row.get(3)?,
        server: row.get(4)?,
        content: row.get(5)?,
        bytes: row.get::<_, i64>(6)?.cast_unsigned(),
        stored_bytes: row.get::<_, i64>(7)?.cast_unsigned(),
        records: row.get::<_, Option<i64>>(8)?.map(i64::cast_unsigned),
        is_pinned: row.get(9)?,
        tags: row.get::<_, String>(10)?.split_whitespace().map(str::to_owned).collect(),
    })
}

/// Tags as they stand in a line: a tag is found with the blanks around it.
fn written(tags: &[String]) -> String {
    if tags.is_empty() { String::new() } else { format!(" {} ", tags.join(" ")) }
}
