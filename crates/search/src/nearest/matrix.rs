//! All vectors in memory, and whose they are.

use std::{
    cmp::Ordering,
    collections::{BinaryHeap, HashMap},
    num::NonZero,
    thread,
};

use forebay_store::{DatasetId, Principal};
use jiff::Timestamp;
use rusqlite::{Row, params};

use crate::{
    Among, Near, SearchError, columns,
    database::Database,
    quantised::{self, Quantised, dot},
};

/// Fewer vectors than this are not worth a second thread.
const WORTH_A_THREAD: usize = 40_000;

/// All vectors of a model, in the order in which they were read.
#[derive(Debug, Default)]
pub(super) struct Matrix {
    /// The file that it was read from.
    made: i64,
    /// That file's count of changes up to which it has been read.
    changes: i64,
    dimensions: usize,
    numbers: Vec<i8>,
    rows: Vec<Vector>,
    documents: Vec<Owner>,
    /// Where the document with a key is among them.
    places: HashMap<i64, u32>,
    /// How many vectors are of documents that are gone.
    dead: usize,
}

#[derive(Debug, Clone, Copy)]
struct Vector {
    owner: u32,
    passage: u16,
    scale: f32,
}

/// Whose vectors are there.
#[derive(Debug)]
struct Owner {
    dataset: DatasetId,
    principal: Principal,
    server: String,
    tool: String,
    kept: Timestamp,
    bytes: u64,
    is_gone: bool,
    vectors: usize,
}

impl Matrix {
    /// Brings what was read before of a model's vectors up to date, or reads all.
    pub(super) fn up_to_date(
        before: Option<Self>,
        database: &Database,
        model: &str,
    ) -> Result<Self, SearchError> {
        let (made, changes) = database.changes()?;
        let empty = Self { made, ..Self::default() };
        // Another file may have been put in the place of the one that was read.
        let mut matrix = before.filter(|matrix| matrix.made == made).unwrap_or(empty);
        if changes == matrix.changes {
            return Ok(matrix);
        }
        matrix.forget_gone(database)?;
        matrix.read_changed(database, model)?;
        if matrix.dead * 4 > matrix.rows.len() {
            matrix = Self { made, ..Self::default() };
            matrix.read_changed(database, model)?;
        }
        matrix.changes = changes;
        Ok(matrix)
    }

    fn forget_gone(&mut self, database: &Database) -> Result<(), SearchError> {
        let mut query =
            database.connection.prepare_cached("SELECT document FROM gone WHERE changed > ?1")?;
        let mut rows = query.query([self.changes])?;
        while let Some(row) = rows.next()? {
            self.forget(row.get(0)?);
        }
        Ok(())
    }

    fn forget(&mut self, key: i64) {
        let place = self.places.remove(&key);
        let owner = place.and_then(|place| self.documents.get_mut(place as usize));
        if let Some(owner) = owner {
            owner.is_gone = true;
            self.dead += owner.vectors;
        }
    }

    fn read_changed(&mut self, database: &Database, model: &str) -> Result<(), SearchError> {
        let mut query = database.connection.prepare_cached(
            "SELECT document, dimensions, data, dataset, principal, server, tool, kept, bytes, model = ?2
             FROM vectors JOIN documents ON key = document WHERE changed > ?1 ORDER BY document",
        )?;
        let mut rows = query.query(params![self.changes, model])?;
        while let Some(row) = rows.next()? {
            self.read(row)?;
        }
        Ok(())
    }

    fn read(&mut self, row: &Row<'_>) -> Result<(), SearchError> {
        let key: i64 = row.get(0)?;
        self.forget(key);
        let is_of_other_model = !row.get::<_, bool>(9)?;
        if is_of_other_model {
            return Ok(());
        }
        let dimensions = usize::try_from(row.get::<_, i64>(1)?).unwrap_or_default();
        if self.rows.is_empty() {
            self.dimensions = dimensions;
        }
        if dimensions == 0 || dimensions != self.dimensions {
            return Ok(());
        }
        let place = u32::try_from(self.documents.len()).unwrap_or(u32::MAX);
        let data = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        let before = self.rows.len();
        for vector in quantised::from_bytes(data, dimensions) {
            self.numbers.extend(vector.numbers.iter().map(|number| number.cast_signed()));
            self.rows.push(Vector { owner: place, passage: vector.passage, scale: vector.scale });
        }
        self.documents.push(Owner {
            dataset: columns::dataset(row, 3)?,
            principal: Principal::new(row.get::<_, String>(4)?),
            server: row.get(5)?,
            tool: row.get(6)?,
            kept: columns::time(row, 7)?,
            bytes: row.get::<_, i64>(8)?.cast_unsigned(),
            is_gone: false,
            vectors: self.rows.len() - before,
        });
        self.places.insert(key, place);
        Ok(())
    }

    /// The nearest vectors of documents that are looked at, the nearest first.
    pub(super) fn nearest(&self, vector: &[f32], among: &Among, limit: usize) -> Vec<Near> {
        if vector.len() != self.dimensions || limit == 0 || self.rows.is_empty() {
            return Vec::new();
        }
        let question = Quantised::of(vector);
        let is_meant: Vec<bool> =
            self.documents.iter().map(|owner| owner.is_among(among)).collect();
        let look = |from: usize, to: usize| self.best(&question, &is_meant, limit, from..to);
        let half = self.rows.len() / 2;
        let has_cores = thread::available_parallelism().map_or(1, NonZero::get) > 1;
        let mut best = if self.rows.len() >= WORTH_A_THREAD && has_cores {
            thread::scope(|scope| {
                let second = scope.spawn(|| look(half, self.rows.len()));
                let mut best = look(0, half);
                best.extend(second.join().unwrap_or_default());
                best
            })
        } else {
            look(0, self.rows.len())
        };
        best.sort();
        best.truncate(limit);
        best.into_iter().filter_map(|candidate| self.near(&candidate)).collect()
    }

    /// The best of a range of vectors, in no order.
    fn best(
        &self,
        question: &Quantised,
        is_meant: &[bool],
        limit: usize,
        range: std::ops::Range<usize>,
    ) -> Vec<Candidate> {
        let mut best: BinaryHeap<Candidate> = BinaryHeap::with_capacity(limit + 1);
        let mut least = f32::NEG_INFINITY;
        let numbers = &self.numbers[range.start * self.dimensions..range.end * self.dimensions];
        let vectors = self.rows[range.clone()].iter().zip(numbers.chunks_exact(self.dimensions));
        for (row, (vector, numbers)) in range.zip(vectors) {
            if !is_meant.get(vector.owner as usize).copied().unwrap_or_default() {
                continue;
            }
            #[expect(clippy::cast_precision_loss, reason = "a vector has length one")]
            let similarity =
                dot(&question.numbers, numbers) as f32 * (question.scale * vector.scale);
            if similarity <= least && best.len() >= limit {
                continue;
            }
            best.push(Candidate { similarity, row });
            if best.len() > limit {
                best.pop();
            }
            if best.len() == limit {
                least = best.peek().map_or(least, |worst| worst.similarity);
            }
        }
        best.into_vec()
    }

    fn near(&self, candidate: &Candidate) -> Option<Near> {
        let vector = self.rows.get(candidate.row)?;
        let owner = self.documents.get(vector.owner as usize)?;
        Some(Near {
            dataset: owner.dataset.clone(),
            passage: usize::from(vector.passage),
            similarity: candidate.similarity,
        })
    }
}

impl Owner {
    fn is_among(&self, among: &Among) -> bool {
        let fits =
            |wanted: &Option<String>, own: &str| wanted.as_deref().is_none_or(|it| it == own);
        !self.is_gone
            && self.principal == among.principal
            && fits(&among.server, &self.server)
            && fits(&among.tool, &self.tool)
            && among.since.is_none_or(|since| self.kept >= since)
            && among.until.is_none_or(|until| self.kept < until)
            && among.min_bytes.is_none_or(|least| self.bytes >= least)
            && among.within.as_ref().is_none_or(|these| these.contains(&self.dataset))
    }
}

/// A vector that may be among the nearest. The nearer comes first; of equally near ones the earlier.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    similarity: f32,
    row: usize,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        other.similarity.total_cmp(&self.similarity).then(self.row.cmp(&other.row))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}
