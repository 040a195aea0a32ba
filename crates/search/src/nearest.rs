//! Vectors in the index itself: all of them in memory while somebody searches, and compared one by one.
//!
//! A hundred thousand vectors of 384 numbers are 38 MB. They are read
//! when the first question comes, kept up with what changes in the file, and given back when nobody has
//! asked for a while.

mod matrix;

use std::{
    path::Path,
    sync::{Arc, Weak},
    thread,
    time::{Duration, Instant},
};

use forebay_store::DatasetId;
use parking_lot::Mutex;
use rusqlite::{OptionalExtension, params};

use self::matrix::Matrix;
use crate::{
    Among, Document, Near, PassageVector, SearchError, Vectors, columns,
    database::{Database, Handle},
    quantised,
    vectors::HERE,
};

/// Vectors in the index itself.
pub(crate) struct Embedded {
    /// For whoever asks.
    reader: Handle,
    /// For whoever indexes; open no longer than something is written.
    writer: Handle,
    /// The model that they are of. Those of another are not looked at.
    model: String,
    idle: Duration,
    held: Arc<Mutex<Held>>,
}

/// What is in memory.
#[derive(Default)]
struct Held {
    matrix: Option<Matrix>,
    asked: Option<Instant>,
}

impl Embedded {
    /// Those of a model in the index of the store in `home`, given back when nobody has asked for `idle`.
    pub(crate) fn new(home: &Path, model: String, idle: Duration) -> Self {
        let reader = Handle::new(home);
        Self { writer: reader.apart(), reader, model, idle, held: Arc::default() }
    }

    /// Changes the vectors, all at once. There are none to change where there is no index.
    fn write(
        &self,
        work: impl FnOnce(&Database) -> Result<(), SearchError>,
    ) -> Result<(), SearchError> {
        let written = self.writer.ask(|database| database.at_once(work));
        self.writer.close();
        written.map(drop)
    }

    /// Has the memory given back some time after the last question.
    fn give_back_later(&self) {
        let (held, reader, idle) = (Arc::downgrade(&self.held), self.reader.clone(), self.idle);
        // Without a thread it stays.
        let _ = thread::Builder::new()
            .name("search idle".to_owned())
            .spawn(move || wait(&held, &reader, idle));
    }
}

fn wait(held: &Weak<Mutex<Held>>, reader: &Handle, idle: Duration) {
    let mut left = idle;
    loop {
        thread::sleep(left);
        let Some(held) = held.upgrade() else { return };
        let mut held = held.lock();
        let since = held.asked.map_or(idle, |asked| asked.elapsed());
        if since >= idle {
            held.matrix = None;
            reader.close();
            return;
        }
        left = idle.saturating_sub(since);
    }
}

impl Vectors for Embedded {
    fn place(&self) -> String {
        HERE.to_owned()
    }

    fn put(&self, document: &Document, vectors: &[PassageVector]) -> Result<(), SearchError> {
        self.write(|database| database.put_vectors(&document.dataset, &self.model, vectors))
    }

    fn remove(&self, datasets: &[DatasetId]) -> Result<(), SearchError> {
        self.write(|database| {
            for dataset in datasets {
                database.put_vectors(dataset, &self.model, &[])?;
            }
            Ok(())
        })
    }

    fn make_room(&self, _sample: &dyn Fn() -> Option<Vec<f32>>) -> Result<(), SearchError> {
        // They are in the index, which is new.
        Ok(())
    }

    fn nearest(
        &self,
        vector: &[f32],
        among: &Among,
        limit: usize,
    ) -> Result<Vec<Near>, SearchError> {
        let mut held = self.held.lock();
        let is_new = held.matrix.is_none();
        held.asked = Some(Instant::now());
        let matrix = held.matrix.take();
        // One that is not brought up to date is read again by the next.
        let matrix =
            self.reader.ask(|database| Matrix::up_to_date(matrix, database, &self.model))?;
        let Some(matrix) = matrix else { return Ok(Vec::new()) };
        let near = matrix.nearest(vector, among, limit);
        held.matrix = Some(matrix);
        drop(held);
        if is_new {
            self.give_back_later();
        }
        Ok(near)
    }

    fn of(&self, dataset: &DatasetId, passage: usize) -> Result<Option<Vec<f32>>, SearchError> {
        let vector =
            self.reader.ask(|database| database.vector_of(dataset, &self.model, passage))?;
        Ok(vector.flatten())
    }
}

impl Database {
    fn vector_of(
        &self,
        dataset: &DatasetId,
        model: &str,
        passage: usize,
    ) -> Result<Option<Vec<f32>>, SearchError> {
        let mut query = self.connection.prepare_cached(
            "SELECT dimensions, data FROM vectors JOIN documents ON key = document
             WHERE dataset = ?1 AND model = ?2",
        )?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
        let Some((dimensions, data)) =
            query.query_row([dataset.as_str(), model], row).optional()?
        else {
            return Ok(None);
        };
        let dimensions = usize::try_from(dimensions).unwrap_or_default();
        let mut vectors = quantised::from_bytes(&data, dimensions);
        let found = vectors.find(|written| usize::from(written.passage) == passage);
        Ok(found.map(|written| written.vector()))
    }

    /// Puts vectors in the place of those that a document has.
    fn put_vectors(
        &self,
        dataset: &DatasetId,
        model: &str,
        vectors: &[PassageVector],
    ) -> Result<(), SearchError> {
        let mut key =
            self.connection.prepare_cached("SELECT key FROM documents WHERE dataset = ?1")?;
        let key: Option<i64> = key.query_row([dataset.as_str()], |row| row.get(0)).optional()?;
        let Some(key) = key else { return Ok(()) };
        let change = self.next_change()?;
        let connection = &self.connection;
        if vectors.is_empty() {
            let removed = connection.execute("DELETE FROM vectors WHERE document = ?1", [key])?;
            if removed > 0 {
                connection.execute("INSERT OR REPLACE INTO gone VALUES (?1, ?2)", [key, change])?;
            }
            return Ok(());
        }
        let dimensions = columns::count(vectors[0].vector.len());
        let mut put = connection
            .prepare_cached("INSERT OR REPLACE INTO vectors VALUES (?1, ?2, ?3, ?4, ?5)")?;
        put.execute(params![key, change, model, dimensions, quantised::to_bytes(vectors)])?;
        connection.execute("DELETE FROM gone WHERE document = ?1", [key])?;
        Ok(())
    }
}
