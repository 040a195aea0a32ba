//! An index over the datasets, in SQLite, shared by every process on the machine.
//!
//! But for [`usage`] it holds nothing that the files do not hold: it can be lost, and is made anew.

pub(crate) mod usage;

use std::{fs, os::unix::fs::MetadataExt, path::Path, time::Duration};

use jiff::Timestamp;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Row, params, params_from_iter,
    types::Value,
};

use crate::{DatasetId, Metadata, StoreError, Viewer, layout::Folder};

/// Counts up whenever the tables change; a catalog of another version is made anew.
const VERSION: i32 = 5;

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
        session TEXT NOT NULL DEFAULT '',
        project TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID;
    CREATE INDEX by_content ON datasets (content);
    -- What a filter lets through stands in one of these, in the order in which it is listed.
    CREATE INDEX by_time ON datasets (timestamp DESC, id, session, project);
    CREATE INDEX by_tool ON datasets (tool, timestamp DESC, id, server, session, project);
    CREATE INDEX by_server ON datasets (server, timestamp DESC, id, tool, session, project);";

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
    pub(crate) folder: Folder,
    pub(crate) content: String,
}

/// Which datasets to list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only those of this tool.
    pub tool: Option<String>,
    /// Only those of this upstream.
    pub server: Option<String>,
    /// Only those that it may see.
    pub viewer: Viewer,
    /// Only those captured at this time or later.
    pub from: Option<Timestamp>,
    /// Only those captured before this time.
    pub until: Option<Timestamp>,
    /// How many to pass over.
    pub offset: u64,
    /// How many at most; all if not given.
    pub limit: Option<u64>,
}

/// The index itself.
#[derive(Debug)]
pub(crate) struct Catalog {
    connection: Connection,
    /// The device and number of its file.
    file: Option<(u64, u64)>,
}

impl Catalog {
    /// Opens the catalog at `path`. `None` if there is none, or it is damaged or of another version:
    /// only then may it be made anew. One that is locked or cannot be read is an error.
    pub(crate) fn open(path: &Path, patience: Duration) -> rusqlite::Result<Option<Self>> {
        match Self::connect(path, OpenFlags::empty(), patience).and_then(Self::if_sound) {
            Err(error) if is_damage(&error) || !path.exists() => Ok(None),
            other => other,
        }
    }

    /// Waits from now on no longer than this for another process.
    pub(crate) fn set_patience(&self, patience: Duration) -> rusqlite::Result<()> {
        self.connection.busy_timeout(patience)
    }

    /// Makes an empty catalog at `path`, where there must be none.
    pub(crate) fn create(path: &Path) -> rusqlite::Result<Self> {
        let catalog = Self::connect(path, OpenFlags::SQLITE_OPEN_CREATE, Duration::ZERO)?;
        catalog.connection.pragma_update(None, "journal_mode", "WAL")?;
        catalog.connection.execute_batch(&format!(
            "BEGIN IMMEDIATE; {TABLES} {} PRAGMA user_version = {VERSION}; COMMIT;",
            usage::TABLE
        ))?;
        Ok(catalog)
    }

    fn connect(path: &Path, flags: OpenFlags, patience: Duration) -> rusqlite::Result<Self> {
        let flags = flags | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // Before it is opened: one that is put in its place meanwhile is seen to be another.
        let file = file_at(path);
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(patience)?;
        // The files are the truth: what a power loss takes from the catalog can be made anew.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        Ok(Self { connection, file })
    }

    /// True if the file that is open is the one at `path`.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        self.file.is_some() && self.file == file_at(path)
    }

    fn if_sound(self) -> rusqlite::Result<Option<Self>> {
        let version: i32 =
            self.connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let verdict: String =
            self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        Ok((version == VERSION && verdict == "ok").then_some(self))
    }

    /// Notes that a dataset exists.
    pub(crate) fn settle(
        &self,
        metadata: &Metadata,
        folder: &Folder,
        stored_bytes: u64,
    ) -> rusqlite::Result<()> {
        let description = &metadata.description;
        self.connection.execute(
            "INSERT INTO datasets (id, folder, timestamp, tool, server, content, bytes,
                                   stored_bytes, records, session, project)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (id) DO UPDATE SET stored_bytes = ?8",
            params![
                metadata.id.as_str(),
                folder.0,
                metadata.timestamp.as_millisecond(),
                description.tool,
                description.server,
                metadata.content(),
                metadata.bytes().cast_signed(),
                stored_bytes.cast_signed(),
                description.record_count.map(u64::cast_signed),
                metadata.session().unwrap_or_default(),
                metadata.project().unwrap_or_default(),
            ],
        )?;
        Ok(())
    }

    pub(crate) fn forget(&self, id: &DatasetId) -> rusqlite::Result<()> {
        self.connection.execute("DELETE FROM datasets WHERE id = ?1", [id.as_str()]).map(drop)
    }

    pub(crate) fn set_pinned(&self, id: &DatasetId, is_pinned: bool) -> rusqlite::Result<()> {
        let change = "UPDATE datasets SET pinned = ?2 WHERE id = ?1";
        self.connection.execute(change, params![id.as_str(), is_pinned]).map(drop)
    }

    pub(crate) fn set_stored_bytes(&self, id: &DatasetId, bytes: u64) -> rusqlite::Result<()> {
        let change = "UPDATE datasets SET stored_bytes = ?2 WHERE id = ?1";
        self.connection.execute(change, params![id.as_str(), bytes.cast_signed()]).map(drop)
    }

    /// The newest dataset with these payloads.
    pub(crate) fn find_content(&self, content: &str) -> rusqlite::Result<Option<DatasetId>> {
        self.connection
            .query_row(
                "SELECT id FROM datasets WHERE content = ?1 ORDER BY timestamp DESC LIMIT 1",
                [content],
                |row| row.get::<_, String>(0),
            )
            .optional()
            .map(|id| id.and_then(|id| DatasetId::parse(&id)))
    }

    /// The folder of a dataset.
    pub(crate) fn folder(&self, id: &DatasetId) -> rusqlite::Result<Option<Folder>> {
        let query = "SELECT folder FROM datasets WHERE id = ?1";
        let mut query = self.connection.prepare_cached(query)?;
        query.query_row([id.as_str()], |row| row.get(0).map(Folder)).optional()
    }

    /// The servers and tools that the datasets are of that `viewer` may see, each once.
    pub(crate) fn origins(&self, viewer: &Viewer) -> rusqlite::Result<Vec<(String, String)>> {
        let (fits, values) = Filter { viewer: viewer.clone(), ..Filter::default() }.conditions();
        let query = format!("SELECT DISTINCT server, tool FROM datasets {fits}");
        let mut query = self.connection.prepare_cached(&query)?;
        let origin = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        query.query_map(params_from_iter(values), origin)?.collect()
    }

    /// How many datasets `filter` lets through, without regard to its offset and limit.
    pub(crate) fn count(&self, filter: &Filter) -> rusqlite::Result<u64> {
        let (fits, values) = filter.conditions();
        let mut query =
            self.connection.prepare_cached(&format!("SELECT count(*) FROM datasets {fits}"))?;
        query.query_row(params_from_iter(values), |row| row.get(0)).map(i64::cast_unsigned)
    }

    /// The datasets that `filter` lets through, newest first.
    pub(crate) fn list(&self, filter: &Filter) -> Result<Vec<Entry>, StoreError> {
        let (fits, mut values) = filter.conditions();
        let mut query = self.connection.prepare_cached(&listing(&fits))?;
        values.push(Value::Integer(filter.limit.map_or(-1, u64::cast_signed)));
        values.push(Value::Integer(filter.offset.cast_signed()));
        let rows = query.query_map(params_from_iter(values), entry)?;
        let entries: Result<Vec<Option<Entry>>, _> = rows.collect();
        Ok(entries?.into_iter().flatten().collect())
    }
}

impl Filter {
    /// Its conditions as SQL, and the values in them. There are only those that it has: with others
    /// no index could be used.
    fn conditions(&self) -> (String, Vec<Value>) {
        let text = |text: &Option<String>| text.clone().map(Value::Text);
        let time = |time: Option<Timestamp>| time.map(|it| Value::Integer(it.as_millisecond()));
        let all = [
            ("tool = ?", text(&self.tool)),
            ("server = ?", text(&self.server)),
            ("timestamp >= ?", time(self.from)),
            ("timestamp < ?", time(self.until)),
        ];
        let single =
            all.into_iter().filter_map(|(condition, value)| Some((condition, vec![value?])));
        let (mut sql, mut values) = (String::new(), Vec::new());
        for (condition, of_condition) in single.chain(self.viewer.condition()) {
            sql.push_str(if values.is_empty() { "WHERE " } else { " AND " });
            sql.push_str(condition);
            values.extend(of_condition);
        }
        (sql, values)
    }
}

/// Lists what fits. What comes before a page is passed over in an index alone.
fn listing(fits: &str) -> String {
    format!(
        "SELECT id, folder, timestamp, tool, server, content, bytes, stored_bytes, records, pinned
         FROM datasets WHERE id IN
             (SELECT id FROM datasets {fits} ORDER BY timestamp DESC, id LIMIT ? OFFSET ?)
         ORDER BY timestamp DESC, id"
    )
}

fn file_at(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// True if what was opened is no catalog any more; false if it merely cannot be used right now.
fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Reads a line; `None` if its name or time cannot be right.
fn entry(row: &Row<'_>) -> rusqlite::Result<Option<Entry>> {
    let id: String = row.get(0)?;
    let timestamp: i64 = row.get(2)?;
    let (Some(id), Ok(timestamp)) = (DatasetId::parse(&id), Timestamp::from_millisecond(timestamp))
    else {
        return Ok(None);
    };
    Ok(Some(Entry {
        id,
        folder: Folder(row.get(1)?),
        timestamp,
        tool: row.get(3)?,
        server: row.get(4)?,
        content: row.get(5)?,
        bytes: row.get::<_, i64>(6)?.cast_unsigned(),
        stored_bytes: row.get::<_, i64>(7)?.cast_unsigned(),
        records: row.get::<_, Option<i64>>(8)?.map(i64::cast_unsigned),
        is_pinned: row.get(9)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scope;

    #[test]
    fn what_comes_before_a_page_is_passed_over_in_an_index() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::create(&folder.path().join("catalog.db")).unwrap();
        let (tool, server) = (Some("list".to_owned()), Some("notes".to_owned()));
        let (from, until) = (Some(Timestamp::UNIX_EPOCH), Some(Timestamp::MAX));
        let (session, project) = (Some("1".to_owned()), Some("/work".to_owned()));
        let viewer = Viewer { session, project, scope: Scope::Project };
        let filters = [
            (Filter::default(), "by_time"),
            (Filter { from, until, ..Filter::default() }, "by_time"),
            (Filter { tool: tool.clone(), ..Filter::default() }, "by_tool"),
            (Filter { server: server.clone(), from, ..Filter::default() }, "by_server"),
            (Filter { viewer: viewer.clone(), ..Filter::default() }, "by_time"),
            (Filter { viewer, tool: tool.clone(), ..Filter::default() }, "by_tool"),
            (Filter { tool, server, ..Filter::default() }, "by_"),
        ];
        for (filter, index) in filters {
            let (fits, values) = filter.conditions();
            let explain = format!("EXPLAIN QUERY PLAN {}", listing(&fits));
            let mut query = catalog.connection.prepare(&explain).unwrap();
            let values = values.into_iter().chain([Value::Integer(20), Value::Integer(9_980)]);
            let rows = query.query_map(params_from_iter(values), |row| row.get(3)).unwrap();
            let plan: Vec<String> = rows.map(Result::unwrap).collect();
            let sorts = plan.iter().filter(|step| step.contains("ORDER BY")).count();
            // The page itself is sorted.
            assert!(plan.join("\n").contains(&format!("COVERING INDEX {index}")), "{plan:?}");
            assert_eq!(sorts, 1, "{plan:?}");
        }
    }
}
