//! A directory with what a query may read, and with what it must not.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use duckdb::Connection;
use tempfile::TempDir;

use super::cases::RECORDS;
use crate::{
    Limits,
    columns::literal,
    engine::{Engine, View},
    guard::Approved,
    library,
};

/// What the files say that must not be read.
pub(super) const CANARY: &str = "tweet-tweet-7f3a";

pub(super) struct Place {
    folder: TempDir,
    files: BTreeSet<PathBuf>,
    pub(super) parser: Connection,
    engine: Engine,
}

impl Place {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        library::load(path).unwrap();
        let spill = path.join("spill");
        fs::create_dir(&spill).unwrap();
        let limits = Limits {
            memory_bytes: 256_000_000,
            spill_bytes: 64_000_000,
            threads: 2,
            ..Limits::default()
        };
        let trusted = Engine::trusted(&limits, &spill, BTreeSet::new()).unwrap();
        let rows = write_files(&trusted.connection, path);
        let engine = Engine::guarded(&limits, &spill, BTreeSet::from([rows.clone()])).unwrap();
        let file = literal(&rows.to_string_lossy());
        let select = format!("SELECT * EXCLUDE (__at) FROM read_parquet({file})");
        let name = "dataset".to_owned();
        engine.define(&[View { schema: None, name, select }]).unwrap();
        let files = listed(path);
        Self { folder, files, parser: trusted.connection, engine }
    }

    pub(super) fn folder(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    /// The first rows of a query, or its error.
    pub(super) fn run(&self, approved: &Approved, limit: Duration) -> Result<Vec<String>, String> {
        let outcome =
            self.within(limit, || self.engine.select(approved.form, &approved.sql, 10, u64::MAX));
        outcome.map(|found| found.rows).map_err(|error| error.to_string())
    }

    /// What comes of statements that nobody has looked at.
    pub(super) fn run_unchecked(&self, sql: &str, limit: Duration) -> String {
        match self.within(limit, || self.engine.connection.execute_batch(sql)) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    fn within<T>(&self, limit: Duration, work: impl FnOnce() -> T) -> T {
        let interrupt = self.engine.connection.interrupt_handle();
        let (done, is_done) = channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut patience = limit;
                // An interrupt that comes while a statement is being set up is forgotten.
                while is_done.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                    interrupt.interrupt();
                    patience = Duration::from_millis(50);
                }
            });
            let outcome = work();
            drop(done);
            outcome
        })
    }

    /// Panics if there is a file that was not there, or one is missing.
    pub(super) fn assert_untouched(&self) {
        let is_spilled = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("duckdb_temp")
        };
        let files = listed(self.folder.path()).into_iter().filter(|path| !is_spilled(path));
        assert_eq!(files.collect::<BTreeSet<_>>(), self.files);
    }
}

/// Writes the rows of the dataset, and what must not be read.
fn write_files(connection: &Connection, folder: &Path) -> PathBuf {
    let file = |name: &str| folder.join(name);
    fs::write(file("canary.csv"), format!("a,b\n{CANARY},1\n")).unwrap();
    fs::write(file("canary.json"), format!("[{{\"content\": \"{CANARY}\"}}]")).unwrap();
    fs::write(file("canary.txt"), CANARY).unwrap();
    fs::write(file("spill/canary.txt"), CANARY).unwrap();
    fs::write(file("records.json"), RECORDS).unwrap();
    let path = |name: &str| literal(&file(name).to_string_lossy());
    let columns = "{id: 'BIGINT', name: 'VARCHAR', status: 'VARCHAR', created_at: 'TIMESTAMP', \
         update_count: 'BIGINT', amount: 'DOUBLE', \"drop\": 'BOOLEAN', \"copy\": 'VARCHAR', \
         load: 'BIGINT', tags: 'VARCHAR[]', owner: 'STRUCT(login VARCHAR, admin BOOLEAN)', \
         meta: 'JSON'}";
    let batch = format!(
        "COPY (SELECT {} AS content) TO {};
         COPY (SELECT row_number() OVER () AS __at, * FROM read_json({}, columns = {columns})) TO {}",
        literal(CANARY),
        path("canary.parquet"),
        path("records.json"),
        path("rows.parquet"),
    );
    connection.execute_batch(&batch).unwrap();
    file("rows.parquet")
}

fn listed(folder: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(listed(&path));
        }
        files.insert(path);
    }
    files
}
