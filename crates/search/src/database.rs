//! The file of the index: opened, followed when another takes its place, and made anew.
//!
//! It holds nothing that the datasets do not hold, but for a list of what is still to be removed elsewhere, which
//! goes from one index into the next. Whoever indexes may make it anew; whoever only looks
//! finds nothing in one that is missing, damaged or of another version.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use forebay_store::database::{files, is_damage, make_private};
use forebay_system::{identity::FileId, private};
use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::{SearchError, events};

/// Counts up whenever the tables change, or what is written in them; an index of another version is made
/// anew.
const VERSION: i32 = 4;
/// How long another process is waited for that writes.
const PATIENCE: Duration = Duration::from_secs(5);

const TABLES: &str = "
    -- Which file this is, how often vectors have changed, and how often something could not be indexed.
    CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO state VALUES ('made', random()), ('changes', 0), ('failures', 0);
    CREATE TABLE documents (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        dataset TEXT NOT NULL UNIQUE,
        -- What it was made of.
        content TEXT NOT NULL,
        principal TEXT NOT NULL,
        session TEXT NOT NULL,
        project TEXT NOT NULL,
        server TEXT NOT NULL,
        tool TEXT NOT NULL,
        kept INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        title TEXT NOT NULL,
        passages INTEGER NOT NULL,
        left_out INTEGER NOT NULL,
        vectors INTEGER NOT NULL DEFAULT 0,
        -- The model that its vectors are of, and where they are; nothing if there are none.
        vectors_of TEXT NOT NULL DEFAULT '',
        -- How often no vectors could be made of its texts.
        refused INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX by_principal ON documents (principal, server, tool, kept, bytes);
    CREATE INDEX by_vectors ON documents (vectors_of, kept);
    -- A passage is in the row `key * 4096 + number`.
    CREATE VIRTUAL TABLE words USING fts5(
        title, text, lines UNINDEXED, block UNINDEXED, tokenize = 'porter unicode61 remove_diacritics 2');
    -- What is removed leaves no words behind.
    INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
    CREATE TABLE vectors (
        document INTEGER PRIMARY KEY,
        changed INTEGER NOT NULL,
        model TEXT NOT NULL,
        dimensions INTEGER NOT NULL,
        data BLOB NOT NULL
    );
    CREATE INDEX vectors_by_change ON vectors (changed);
    CREATE TABLE gone (document INTEGER PRIMARY KEY, changed INTEGER NOT NULL);
    CREATE INDEX gone_by_change ON gone (changed);
    -- Datasets that are no more, and have yet to be removed from where their vectors are.
    CREATE TABLE removals (
        place TEXT NOT NULL,
        dataset TEXT NOT NULL,
        PRIMARY KEY (place, dataset)
    ) WITHOUT ROWID;
    -- Texts that are compared with questions and belong to no dataset, such as what tools are for.
    CREATE TABLE texts (
        model TEXT NOT NULL,
        text TEXT NOT NULL,
        vector BLOB NOT NULL,
        PRIMARY KEY (model, text)
    ) WITHOUT ROWID;";

/// How many rows are set aside for the passages of a document.
pub(crate) const ROWS_PER_DOCUMENT: i64 = 4_096;

/// An index that is open.
pub(crate) struct Database {
    pub(crate) connection: Connection,
    /// The file that is open.
    file: Option<FileId>,
}

/// The index at its place, opened when it is first needed. Clones share it.
#[derive(Clone)]
pub(crate) struct Handle {
    path: Arc<PathBuf>,
    open: Arc<Mutex<Option<Database>>>,
    /// Somebody has come upon damage, which whoever indexes has to mend.
    is_damaged: Arc<AtomicBool>,
}

impl Handle {
    /// The index of the store in `home`; nothing is opened yet.
    pub(crate) fn new(home: &Path) -> Self {
        let path = Arc::new(home.join("search.db"));
        Self { path, open: Arc::default(), is_damaged: Arc::default() }
    }

    /// Another handle to the same index, with a connection of its own.
    pub(crate) fn apart(&self) -> Self {
        Self { open: Arc::default(), ..self.clone() }
    }

    /// Asks the index that is in place. `None` if there is none that can be read.
    pub(crate) fn ask<T>(
        &self,
        question: impl FnOnce(&Database) -> Result<T, SearchError>,
    ) -> Result<Option<T>, SearchError> {
        let mut open = self.open.lock();
        if open.as_ref().is_none_or(|database| !database.is_at(&self.path)) {
            *open = Database::open(&self.path)?;
        }
        let Some(database) = open.as_ref() else { return Ok(None) };
        match question(database) {
            Err(SearchError::Index(error)) if is_damage(&error) => {
                events::damaged(&self.path, &error);
                self.is_damaged.store(true, Ordering::Relaxed);
                *open = None;
                Ok(None)
            }
            other => other.map(Some),
        }
    }

    /// Asks the index in place, which is made anew if it cannot be read. Only for whoever holds the lock.
    pub(crate) fn write<T>(
        &self,
        mut work: impl FnMut(&Database) -> Result<T, SearchError>,
    ) -> Result<T, SearchError> {
        if let Some(done) = self.ask(&mut work)? {
            return Ok(done);
        }
        self.make_anew()?;
        self.take_damage();
        let done = self.ask(&mut work)?;
        done.ok_or_else(|| {
            let source = io::Error::other("it is damaged as soon as it is made");
            SearchError::File { doing: "use", path: self.path.to_path_buf(), source }
        })
    }

    /// Puts an empty index in the place of whatever is there. Only for whoever holds the lock.
    pub(crate) fn make_anew(&self) -> Result<(), SearchError> {
        let mut open = self.open.lock();
        *open = None;
        Database::make(&self.path)?;
        *open = Database::open(&self.path)?;
        Ok(())
    }

    /// True if somebody has come upon damage.
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    /// The same, for whoever mends it.
    pub(crate) fn take_damage(&self) -> bool {
        self.is_damaged.swap(false, Ordering::Relaxed)
    }

    /// Closes it, until it is needed again.
    pub(crate) fn close(&self) {
        *self.open.lock() = None;
    }

    /// How much of the disk it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let lengths =
            files(&self.path).map(|file| fs::symlink_metadata(file).map_or(0, |it| it.len()));
        lengths.iter().sum()
    }
}

impl Database {
    /// Opens the index at `path`; `None` if there is none, or it is damaged or of another version.
    fn open(path: &Path) -> Result<Option<Self>, SearchError> {
        if !can_be_opened(path) {
            return Ok(None);
        }
        for file in files(path) {
            let _ = make_private(&file);
        }
        match Self::connect(path).and_then(Self::if_sound) {
            Err(error) if is_damage(&error) || !path.exists() => {
                events::damaged(path, &error);
                Ok(None)
            }
            other => Ok(other?),
        }
    }

    /// Makes an empty index at `path`, in the place of whatever is there.
    fn make(path: &Path) -> Result<(), SearchError> {
        // Under another name until it is whole: nobody else finds it half made.
        let new = path.with_file_name(".search.db");
        remove(&new)?;
        let made = Self::make_beside(&new, path);
        if made.is_err() {
            // What cannot be removed, either, is removed by the next one.
            let _ = remove(&new);
        }
        made
    }

    /// Makes an empty index at `new`, and puts it at `path` once it is whole.
    fn make_beside(new: &Path, path: &Path) -> Result<(), SearchError> {
        let failed =
            |doing| move |source| SearchError::File { doing, path: new.to_owned(), source };
        let mut options = fs::OpenOptions::new();
        // SQLite gives the files beside it the same permissions.
        let made = private::file(options.read(true).write(true).create_new(true)).open(new);
        made.map_err(failed("create"))?;
        let removals = if can_be_opened(path) {
            // What is damaged tells no more.
            Self::connect(path).map_err(SearchError::from).and_then(|it| it.all_removals())
        } else {
            Ok(Vec::new())
        };
        let database = Self::connect(new)?;
        database.connection.pragma_update(None, "journal_mode", "WAL")?;
        database.connection.execute_batch(&format!(
            "BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;"
        ))?;
        database.add_removals(&removals.unwrap_or_default())?;
        drop(database);
        // What was there can be made again, and may hold what has been removed since.
        remove(path)?;
        fs::rename(new, path).map_err(failed("rename"))
    }

    fn connect(path: &Path) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // Before it is opened: one that is put in its place meanwhile is seen to be another.
        let file = FileId::at(path);
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.set_prepared_statement_cache_capacity(64);
        // What a power loss takes from it can be made again.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // What is removed is gone from the file, too.
        connection.pragma_update(None, "secure_delete", true)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.pragma_update(None, "cache_size", -8_192)?;
        Ok(Self { connection, file })
    }

    fn if_sound(self) -> rusqlite::Result<Option<Self>> {
        let version: i32 =
            self.connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        Ok((version == VERSION).then_some(self))
    }

    fn is_at(&self, path: &Path) -> bool {
        self.file.is_some() && self.file == FileId::at(path)
    }

    /// Does all of `work` or nothing of it.
    pub(crate) fn at_once<T>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, SearchError>,
    ) -> Result<T, SearchError> {
        let transaction =
            Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let outcome = work(self)?;
        transaction.commit()?;
        Ok(outcome)
    }

    /// Has what was written moved into the file itself, so that nothing of it is left beside.
    pub(crate) fn settle(&self) -> Result<(), SearchError> {
        let settled = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        Ok(settled?)
    }
}

/// True if there is a file, and nothing that could lead to any other database.
fn can_be_opened(path: &Path) -> bool {
    let is_else = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|it| !it.is_file());
    path.exists() && !files(path).iter().any(is_else)
}

/// Removes an index and what SQLite keeps beside it. A folder that has its name is moved out of the way.
fn remove(path: &Path) -> Result<(), SearchError> {
    for file in files(path) {
        let failed = |source| SearchError::File { doing: "remove", path: file.clone(), source };
        match fs::symlink_metadata(&file) {
            Ok(found) if found.is_dir() => {
                fs::rename(&file, aside(&file)).map_err(failed)?;
            }
            Ok(_) => fs::remove_file(&file).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(())
}

/// A name that is free.
fn aside(path: &Path) -> PathBuf {
    let name = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".aside-{number}"));
        PathBuf::from(name)
    };
    (1..u32::MAX)
        .map(name)
        .find(|path| fs::symlink_metadata(path).is_err())
        .unwrap_or_else(|| name(0))
}
