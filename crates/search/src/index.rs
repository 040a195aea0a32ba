//! What is in the index: documents and their passages.
//!
//! A passage has the number `key * 4096 + its place`, so that whoever finds one knows whose it is.

use std::collections::{HashMap, HashSet};

use forebay_store::{DatasetId, Principal, Scope, Viewer};
use rusqlite::{OptionalExtension, Row, ToSql, params, params_from_iter, types::Value};

use crate::{
    Counts, Document, Passage, Question, SearchError,
    columns::{count, dataset, time},
    compose::Composed,
    database::{Database, ROWS_PER_DOCUMENT},
    removals::Removal,
    vectors::HERE,
};

/// After so many refusals no more vectors of a document are tried for, until it is indexed again.
const MAX_REFUSED: i64 = 3;

/// A document as the index knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) key: i64,
    pub(crate) dataset: DatasetId,
    pub(crate) title: String,
    pub(crate) left_out: u64,
}

/// How many documents have no vectors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lacking {
    /// They are still to be made.
    pub(crate) yet: u64,
    /// Their texts have been refused so often that no more are tried for.
    pub(crate) refused: u64,
}

/// Which documents are meant, as SQL with its values.
pub(crate) struct Meant {
    pub(crate) sql: String,
    pub(crate) values: Vec<Value>,
}

impl Meant {
    /// Those that fit a question and may be seen.
    pub(crate) fn by(question: &Question, viewer: &Viewer) -> Self {
        let text = |text: &str| Value::Text(text.to_owned());
        let mut sql = "principal = ?".to_owned();
        let mut values = vec![text(viewer.principal.as_str())];
        // What an older version has kept has neither, and must not be found by an empty name.
        let own = |name: &Option<String>| {
            name.as_deref().filter(|name| !name.is_empty()).map_or(Value::Null, text)
        };
        match viewer.scope {
            Scope::All => {}
            Scope::Project => {
                sql.push_str(" AND (session = ? OR project = ?)");
                values.extend([own(&viewer.session), own(&viewer.project)]);
            }
            Scope::Session => {
                sql.push_str(" AND session = ?");
                values.push(own(&viewer.session));
            }
        }
        if let Some(server) = &question.server {
            sql.push_str(" AND server = ?");
            values.push(text(server));
        }
        if let Some(tool) = &question.tool {
            sql.push_str(" AND tool = ?");
            values.push(text(tool));
        }
        if let Some(since) = question.since {
            sql.push_str(" AND kept >= ?");
            values.push(Value::Integer(since.as_millisecond()));
        }
        if let Some(until) = question.until {
            sql.push_str(" AND kept < ?");
            values.push(Value::Integer(until.as_millisecond()));
        }
        if let Some(min_bytes) = question.min_bytes {
            sql.push_str(" AND bytes >= ?");
            values.push(Value::Integer(i64::try_from(min_bytes).unwrap_or(i64::MAX)));
        }
        Self { sql, values }
    }

    /// Those with these keys.
    pub(crate) fn named(keys: &[i64]) -> Self {
        let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
        let list = format!("[{}]", keys.join(","));
        let sql = "key IN (SELECT value FROM json_each(?))".to_owned();
        Self { sql, values: vec![Value::Text(list)] }
    }
}

impl Database {
    /// Puts a document in the place of what is there of the same dataset.
    pub(crate) fn put(&self, composed: &Composed) -> Result<(), SearchError> {
        self.at_once(|database| {
            let document = &composed.document;
            database.take_out(&document.dataset)?;
            // It is there again.
            database.keep_elsewhere(&document.dataset)?;
            let mut insert = database.connection.prepare_cached(
                "INSERT INTO documents (dataset, content, principal, session, project, server, tool,
                                        kept, bytes, title, passages, left_out)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?;
            let key = insert.insert(params![
                document.dataset.as_str(),
                composed.content,
                document.principal.as_str(),
                composed.session,
                composed.project,
                document.server,
                document.tool,
                document.kept.as_millisecond(),
                document.bytes.cast_signed(),
                document.title,
                count(document.passages.len()),
                composed.left_out.cast_signed(),
            ])?;
            let mut insert = database.connection.prepare_cached(
                "INSERT INTO words (rowid, title, text, lines, block) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            for (number, passage) in document.passages.iter().enumerate() {
                let lines = passage.lines.map(|(first, last)| format!("{first}-{last}"));
                let row = key * ROWS_PER_DOCUMENT + count(number);
                let block = passage.block.map(count);
                insert.execute(params![row, document.title, passage.text, lines, block])?;
            }
            Ok(())
        })
    }

    /// Takes documents out whose datasets are no more, and notes that they are to be removed `elsewhere`, where
    /// vectors are put, and where theirs were put before. Returns how many there were.
    pub(crate) fn remove(
        &self,
        datasets: &[DatasetId],
        elsewhere: Option<&str>,
    ) -> Result<u64, SearchError> {
        self.at_once(|database| {
            let mut removed = 0;
            for dataset in datasets {
                let vectors_of = database.take_out(dataset)?;
                removed += u64::from(vectors_of.is_some());
                let before = vectors_of.as_deref().and_then(place_of);
                let removals: Vec<Removal> = before
                    .into_iter()
                    .chain(elsewhere)
                    .map(|place| Removal {
                        place: place.to_owned(),
                        dataset: dataset.as_str().to_owned(),
                    })
                    .collect();
                database.add_removals(&removals)?;
            }
            Ok(removed)
        })
    }

    /// Takes a document out, if it is there; returns what its vectors are of.
    fn take_out(&self, dataset: &DatasetId) -> Result<Option<String>, SearchError> {
        let query = "SELECT key, passages, vectors_of FROM documents WHERE dataset = ?1";
        let mut query = self.connection.prepare_cached(query)?;
        let row = |row: &Row<'_>| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?))
        };
        let found = query.query_row([dataset.as_str()], row).optional()?;
        let Some((key, passages, vectors_of)) = found else { return Ok(None) };
        let mut delete = self.connection.prepare_cached("DELETE FROM words WHERE rowid = ?1")?;
        for number in 0..passages {
            delete.execute([key * ROWS_PER_DOCUMENT + number])?;
        }
        self.connection.prepare_cached("DELETE FROM documents WHERE key = ?1")?.execute([key])?;
        let gone = self
            .connection
            .prepare_cached("DELETE FROM vectors WHERE document = ?1")?
            .execute([key])?;
        if gone > 0 {
            let change = self.next_change()?;
            let mut note = self.connection.prepare_cached("INSERT INTO gone VALUES (?1, ?2)")?;
            note.execute([key, change])?;
        }
        Ok(Some(vectors_of))
    }

    /// Counts a change of the vectors.
    pub(crate) fn next_change(&self) -> Result<i64, SearchError> {
        let query = "UPDATE state SET value = value + 1 WHERE name = 'changes' RETURNING value";
        Ok(self.connection.prepare_cached(query)?.query_row([], |row| row.get(0))?)
    }

    /// Which file this is, and how often its vectors have changed.
    pub(crate) fn changes(&self) -> Result<(i64, i64), SearchError> {
        let query = "SELECT made.value, changes.value FROM state AS made, state AS changes
                     WHERE made.name = 'made' AND changes.name = 'changes'";
        let mut query = self.connection.prepare_cached(query)?;
        Ok(query.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// Counts a failure.
    pub(crate) fn count_failure(&self) -> Result<(), SearchError> {
        let change = "UPDATE state SET value = value + 1 WHERE name = 'failures'";
        self.connection.execute(change, [])?;
        Ok(())
    }

    /// The datasets of all documents, and the payloads that they were made of.
    pub(crate) fn contents(&self) -> Result<HashMap<DatasetId, String>, SearchError> {
        let mut query = self.connection.prepare_cached("SELECT dataset, content FROM documents")?;
        let rows = query.query_map([], |row| Ok((dataset(row, 0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// How many documents are meant.
    pub(crate) fn count(&self, meant: &Meant) -> Result<u64, SearchError> {
        let sql = format!("SELECT count(*) FROM documents WHERE {}", meant.sql);
        let mut query = self.connection.prepare_cached(&sql)?;
        let count: i64 = query.query_row(params_from_iter(&meant.values), |row| row.get(0))?;
        Ok(count.cast_unsigned())
    }

    /// How many of the documents that are meant have no vectors of this model at this place yet, and how many have
    /// none because they are refused.
    pub(crate) fn count_lacking(
        &self,
        meant: &Meant,
        vectors_of: &str,
    ) -> Result<Lacking, SearchError> {
        let sql = format!(
            "SELECT count(*), coalesce(sum(refused >= {MAX_REFUSED}), 0) FROM documents
             WHERE vectors_of <> ? AND ({})",
            meant.sql
        );
        let mut query = self.connection.prepare_cached(&sql)?;
        let own = Value::from(vectors_of.to_owned());
        let values = std::iter::once(&own).chain(&meant.values);
        let (all, refused): (i64, i64) =
            query.query_row(params_from_iter(values), |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (all, refused) = (all.cast_unsigned(), refused.cast_unsigned());
        Ok(Lacking { yet: all - refused, refused })
    }

    /// How many documents there are.
    pub(crate) fn total(&self) -> Result<u64, SearchError> {
        let count: i64 =
            self.connection.query_row("SELECT count(*) FROM documents", [], |row| row.get(0))?;
        Ok(count.cast_unsigned())
    }

    /// The documents with these keys, of those that are meant.
    pub(crate) fn known(
        &self,
        keys: &[i64],
        meant: &Meant,
    ) -> Result<HashMap<i64, Known>, SearchError> {
        let sql = format!(
            "SELECT key, dataset, title, left_out FROM documents WHERE key = ? AND {}",
            meant.sql
        );
        self.each_known(&sql, keys, meant)
    }

    /// The documents of these datasets, of those that are meant.
    pub(crate) fn known_of(
        &self,
        datasets: &[DatasetId],
        meant: &Meant,
    ) -> Result<HashMap<i64, Known>, SearchError> {
        let sql = format!(
            "SELECT key, dataset, title, left_out FROM documents WHERE dataset = ? AND {}",
            meant.sql
        );
        let datasets: Vec<&str> = datasets.iter().map(DatasetId::as_str).collect();
        self.each_known(&sql, &datasets, meant)
    }

    /// The keys of these datasets' documents, of those that are meant.
    pub(crate) fn keys_of(
        &self,
        datasets: &HashSet<DatasetId>,
        meant: &Meant,
    ) -> Result<Vec<i64>, SearchError> {
        let sql = format!(
            "SELECT documents.key FROM json_each(?) AS named
                 CROSS JOIN documents ON dataset = named.value WHERE {}",
            meant.sql
        );
        // Each is looked up, however many others there are: SQLite does not choose the order of a cross join. Their
        // names have nothing that JSON would write in another way.
        let names: Vec<String> = datasets.iter().map(|it| format!("\"{it}\"")).collect();
        let list = Value::Text(format!("[{}]", names.join(",")));
        let mut query = self.connection.prepare_cached(&sql)?;
        let values = std::iter::once(&list).chain(&meant.values);
        let keys = query.query_map(params_from_iter(values), |row| row.get(0))?;
        Ok(keys.collect::<rusqlite::Result<_>>()?)
    }

    fn each_known<K: ToSql>(
        &self,
        sql: &str,
        names: &[K],
        meant: &Meant,
    ) -> Result<HashMap<i64, Known>, SearchError> {
        let mut query = self.connection.prepare_cached(sql)?;
        let known = |row: &Row<'_>| {
            Ok(Known {
                key: row.get(0)?,
                dataset: dataset(row, 1)?,
                title: row.get(2)?,
                left_out: row.get::<_, i64>(3)?.cast_unsigned(),
            })
        };
        let mut found = HashMap::new();
        for name in names {
            let values = [name as &dyn ToSql].into_iter();
            let values = values.chain(meant.values.iter().map(|value| value as &dyn ToSql));
            let row = query.query_row(params_from_iter(values), known).optional()?;
            found.extend(row.map(|known| (known.key, known)));
        }
        Ok(found)
    }

    /// The datasets of the documents that are meant; `None` if they are more than `most`.
    pub(crate) fn datasets(
        &self,
        meant: &Meant,
        most: usize,
    ) -> Result<Option<HashSet<DatasetId>>, SearchError> {
        let sql = format!("SELECT dataset FROM documents WHERE {} LIMIT ?", meant.sql);
        let mut query = self.connection.prepare_cached(&sql)?;
        let limit = Value::Integer(count(most + 1));
        let values = meant.values.iter().chain([&limit]);
        let datasets = query.query_map(params_from_iter(values), |row| dataset(row, 0))?;
        let datasets: HashSet<DatasetId> = datasets.collect::<rusqlite::Result<_>>()?;
        Ok((datasets.len() <= most).then_some(datasets))
    }

    /// A passage of a document.
    pub(crate) fn passage(&self, key: i64, number: usize) -> Result<Option<Passage>, SearchError> {
        let query = "SELECT text, lines, block FROM words WHERE rowid = ?1";
        let mut query = self.connection.prepare_cached(query)?;
        let row = key * ROWS_PER_DOCUMENT + count(number);
        Ok(query.query_row([row], passage).optional()?)
    }

    /// The documents that have no vectors of this model at this place, the newest first. Those whose texts have
    /// been refused come last, and after some times not at all.
    pub(crate) fn lacking(&self, vectors_of: &str, limit: usize) -> Result<Vec<i64>, SearchError> {
        let mut query = self.connection.prepare_cached(
            "SELECT key FROM documents WHERE vectors_of <> ?1 AND refused < ?3
             ORDER BY refused, kept DESC LIMIT ?2",
        )?;
        let values = params![vectors_of, count(limit), MAX_REFUSED];
        let keys = query.query_map(values, |row| row.get(0))?;
        Ok(keys.collect::<rusqlite::Result<_>>()?)
    }

    /// A document with all its passages.
    pub(crate) fn document(&self, key: i64) -> Result<Option<Document>, SearchError> {
        let mut query = self.connection.prepare_cached(
            "SELECT dataset, principal, server, tool, kept, bytes, title, passages FROM documents
             WHERE key = ?1",
        )?;
        let document = |row: &Row<'_>| {
            let document = Document {
                dataset: dataset(row, 0)?,
                principal: Principal::new(row.get::<_, String>(1)?),
                server: row.get(2)?,
                tool: row.get(3)?,
                kept: time(row, 4)?,
                bytes: row.get::<_, i64>(5)?.cast_unsigned(),
                title: row.get(6)?,
                passages: Vec::new(),
            };
            Ok((document, row.get::<_, i64>(7)?))
        };
        let found = query.query_row([key], document).optional()?;
        let Some((mut document, passages)) = found else { return Ok(None) };
        for number in 0..usize::try_from(passages).unwrap_or_default() {
            document.passages.extend(self.passage(key, number)?);
        }
        Ok(Some(document))
    }

    /// Notes that a document has vectors. `false` if it has been taken out meanwhile.
    pub(crate) fn set_vectors(
        &self,
        key: i64,
        vectors_of: &str,
        vectors: usize,
    ) -> Result<bool, SearchError> {
        let change =
            "UPDATE documents SET vectors_of = ?2, vectors = ?3, refused = 0 WHERE key = ?1";
        let values = params![key, vectors_of, count(vectors)];
        Ok(self.connection.prepare_cached(change)?.execute(values)? > 0)
    }

    /// Notes that no vectors could be made of the texts of a document.
    pub(crate) fn set_refused(&self, key: i64) -> Result<(), SearchError> {
        let change = "UPDATE documents SET refused = refused + 1 WHERE key = ?1";
        self.connection.prepare_cached(change)?.execute([key])?;
        Ok(())
    }

    /// Notes that the index is being made anew, so that whoever breaks off can go on.
    pub(crate) fn begin_rebuild(&self) -> Result<(), SearchError> {
        let note = "INSERT OR REPLACE INTO state VALUES ('rebuild', 1)";
        self.connection.execute(note, [])?;
        Ok(())
    }

    /// Notes that it is done.
    pub(crate) fn end_rebuild(&self) -> Result<(), SearchError> {
        self.connection.execute("DELETE FROM state WHERE name = 'rebuild'", [])?;
        Ok(())
    }

    /// True if somebody has begun to make the index anew, and has not come to the end.
    pub(crate) fn is_rebuild_open(&self) -> Result<bool, SearchError> {
        let query = "SELECT count(*) FROM state WHERE name = 'rebuild'";
        Ok(self.connection.query_row(query, [], |row| row.get::<_, i64>(0))? > 0)
    }

    /// How much there is; what is waiting and the bytes are not known here.
    pub(crate) fn counts(&self, vectors_of: &str) -> Result<Counts, SearchError> {
        let query = "SELECT count(*), coalesce(sum(passages), 0), coalesce(sum(left_out), 0),
                            coalesce(sum(CASE WHEN vectors_of = ?1 THEN vectors ELSE 0 END), 0),
                            coalesce(sum(vectors_of <> ?1 AND refused < ?2), 0),
                            coalesce(sum(vectors_of <> ?1 AND refused >= ?2), 0),
                            (SELECT value FROM state WHERE name = 'failures')
                     FROM documents";
        let number = |row: &Row<'_>, at: usize| row.get::<_, i64>(at).map(i64::cast_unsigned);
        Ok(self.connection.query_row(query, params![vectors_of, MAX_REFUSED], |row| {
            Ok(Counts {
                documents: number(row, 0)?,
                passages: number(row, 1)?,
                left_out: number(row, 2)?,
                vectors: number(row, 3)?,
                without_vectors: number(row, 4)?,
                refused: number(row, 5)?,
                failures: number(row, 6)?,
                ..Counts::default()
            })
        })?)
    }
}

/// Where vectors are, by what [`crate::Search::vectors_of`] calls them; `None` if they are in the index.
fn place_of(vectors_of: &str) -> Option<&str> {
    let (_, place) = vectors_of.rsplit_once(' ')?;
    (place != HERE).then_some(place)
}

fn passage(row: &Row<'_>) -> rusqlite::Result<Passage> {
    let lines: Option<String> = row.get(1)?;
    let lines = lines.and_then(|lines| {
        let (first, last) = lines.split_once('-')?;
        Some((first.parse().ok()?, last.parse().ok()?))
    });
    let block = row.get::<_, Option<i64>>(2)?.and_then(|block| usize::try_from(block).ok());
    Ok(Passage { text: row.get(0)?, lines, block })
}
