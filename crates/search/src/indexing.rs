//! Brings the index in line with what is kept.
//!
//! Words first, which is quick, then vectors, a document at a time: whatever happens, what is done is done.
//! One process at a time does it. What another has kept, and died before it was indexed, is found by a walk
//! through the catalog.

use std::{collections::HashSet, time::Duration};

use forebay_embed::EmbedError;
use forebay_store::{DatasetId, HowFar, Store, StoreError};

use crate::{
    Document, Embedders, Indexed, PassageVector, Search, SearchError,
    compose::{self, chosen},
    database::Database,
    engine::NO_EMBEDDER,
    events,
    lock::Lock,
    waiting::Changed,
};

/// So many texts are given to an embedder at once.
const BATCH: usize = 8;
/// A text like any other.
const SAMPLE: &str = "how long the vectors are";
/// So many documents without vectors are looked up at once.
const LOOKED_UP: usize = 200;

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// What is known to have changed; everything if the numbers say that there is more.
    Changes,
    /// Everything.
    All,
}

/// One time of indexing, by whoever holds the lock.
pub(crate) struct Pass<'a, 'b> {
    search: &'a Search,
    store: &'a Store,
    lock: Lock,
    how_far: &'a mut HowFar<'b>,
    /// What has been done of what there is to do.
    done: u64,
    total: u64,
    indexed: Indexed,
}

impl<'a, 'b> Pass<'a, 'b> {
    /// Begins one, as soon as no other process is at it, or after `patience` not at all.
    pub(crate) fn begin(
        search: &'a Search,
        store: &'a Store,
        patience: Duration,
        how_far: &'a mut HowFar<'b>,
    ) -> Result<Self, SearchError> {
        let lock = Lock::take(search.shelf.home(), patience)?;
        let indexed = Indexed::default();
        Ok(Self { search, store, lock, how_far, done: 0, total: 0, indexed })
    }

    /// Empties the index, unless it has been emptied and not filled again since: what was done then is done. What
    /// is there stays until vectors can be made in its place, and there is room for them.
    pub(crate) fn begin_anew(&mut self) -> Result<(), SearchError> {
        let sample = self.search.parts.embedders.as_ref().map(sample).transpose();
        let sample = sample.map_err(|error| {
            self.search.tally(&error);
            SearchError::EmbedderFails(Box::new(error))
        })?;
        if self.search.writer.write(Database::is_rebuild_open)? {
            return Ok(());
        }
        self.search.vectors.make_room(&|| sample.clone())?;
        self.search.writer.make_anew()?;
        self.search.writer.write(Database::begin_rebuild)
    }

    /// Indexes all that there is to index.
    pub(crate) fn run(mut self, reach: Reach) -> Result<Indexed, SearchError> {
        if self.search.writer.take_damage() {
            self.search.writer.make_anew()?;
        }
        self.take_changes()?;
        self.remove_elsewhere();
        let is_behind = || -> Result<bool, SearchError> {
            let documents = self.search.writer.write(Database::total)?;
            Ok(documents != self.store.total()?)
        };
        if reach == Reach::All || is_behind()? {
            self.walk()?;
        }
        self.make_vectors()?;
        self.search.writer.write(Database::end_rebuild)?;
        self.search.writer.write(Database::settle)?;
        let Indexed { documents, with_vectors, removed, .. } = self.indexed;
        events::indexed(documents, with_vectors, removed);
        Ok(self.indexed)
    }

    /// Indexes what has been told to have changed.
    fn take_changes(&mut self) -> Result<(), SearchError> {
        let Changed { datasets, removed } = self.search.waiting.take_changes();
        self.remove(&removed.into_iter().collect::<Vec<_>>())?;
        for dataset in datasets {
            self.index(&dataset)?;
        }
        Ok(())
    }

    /// Goes through all that is kept, and through all that is in the index.
    fn walk(&mut self) -> Result<(), SearchError> {
        let mut known = self.search.writer.write(Database::contents)?;
        let mut missing = Vec::new();
        self.store.each(|entry| {
            let content = compose::content(entry.content(), &self.store.findings_state(entry));
            let is_known = known.remove(&entry.id).is_some_and(|known| known == content);
            if !is_known {
                missing.push(entry.id.clone());
            }
            Ok(true)
        })?;
        let gone: Vec<DatasetId> = known.into_keys().collect();
        // One may have been kept, and indexed, since.
        let is_gone =
            |id: &&DatasetId| matches!(self.store.dataset(id), Err(StoreError::Unknown(_)));
        let gone: Vec<DatasetId> = gone.iter().filter(is_gone).cloned().collect();
        self.remove(&gone)?;
        self.total += missing.len() as u64;
        // The newest are asked for first.
        for dataset in missing.iter().rev() {
            self.index(dataset)?;
            self.step()?;
        }
        Ok(())
    }

    fn remove(&mut self, datasets: &[DatasetId]) -> Result<(), SearchError> {
        if datasets.is_empty() {
            return Ok(());
        }
        let elsewhere = self.search.elsewhere();
        self.indexed.removed += self.search.writer.write(|database| {
            let removed = database.remove(datasets, elsewhere.as_deref())?;
            database.settle()?;
            Ok(removed)
        })?;
        self.remove_elsewhere();
        Ok(())
    }

    /// Removes elsewhere what is no more. What is there is found by nobody without what is here: where that
    /// fails, it is left to a later time, and not tried again at this one.
    fn remove_elsewhere(&mut self) {
        if self.indexed.is_held_up {
            return;
        }
        if let Err(error) = self.search.remove_elsewhere() {
            events::removal_failed(&error);
            self.search.count_failure(&error);
            self.indexed.is_held_up = true;
        }
    }

    /// Puts a dataset in the index, to be found by its words.
    fn index(&mut self, id: &DatasetId) -> Result<(), SearchError> {
        let dataset = match self.store.dataset(id) {
            Ok(dataset) => dataset,
            // It has been removed since.
            Err(StoreError::Unknown(_)) => return self.remove(std::slice::from_ref(id)),
            Err(error) => {
                self.fail(id, &error.into());
                return Ok(());
            }
        };
        let composed = compose::document(self.store, &dataset, &self.search.settings);
        match composed {
            Ok(composed) => {
                self.search.writer.write(|database| database.put(&composed))?;
                self.indexed.documents += 1;
            }
            Err(error) => self.fail(id, &error),
        }
        Ok(())
    }

    fn fail(&mut self, dataset: &DatasetId, error: &SearchError) {
        events::dataset_failed(dataset, error);
        self.search.count_failure(error);
        self.indexed.failed += 1;
    }

    /// Makes vectors of all documents that have none. An embedder that fails leaves them to be found by
    /// their words; one that refuses the texts of one document does not keep the others from having vectors.
    fn make_vectors(&mut self) -> Result<(), SearchError> {
        let Some(embedders) = self.search.parts.embedders.clone() else {
            self.indexed.without_vectors = Some(NO_EMBEDDER.to_owned());
            return Ok(());
        };
        let vectors_of = self.search.vectors_of();
        self.total +=
            self.search.writer.write(|database| database.counts(&vectors_of))?.without_vectors;
        let mut refused = HashSet::new();
        loop {
            let limit = LOOKED_UP + refused.len();
            let mut keys =
                self.search.writer.write(|database| database.lacking(&vectors_of, limit))?;
            keys.retain(|key| !refused.contains(key));
            if keys.is_empty() {
                return Ok(());
            }
            for key in keys {
                // What has just been kept is found by its words before anything else is found by its meaning.
                self.take_changes()?;
                let document = self.search.writer.write(|database| database.document(key))?;
                let Some(document) = document else { continue };
                let mut made = self.vectors_of_document(&embedders, &document);
                let mut is_refused = false;
                if let Err(error) = &made
                    && is_of_text(error)
                    && sample(&embedders).is_ok()
                {
                    // It may have come back in between: only texts that fail beside others that do not are refused.
                    self.search.count_failure(error);
                    made = self.vectors_of_document(&embedders, &document);
                    is_refused = made.as_ref().is_err_and(is_of_text);
                }
                match made {
                    Ok(count) => self.set_vectors(key, &document.dataset, &vectors_of, count)?,
                    Err(error @ (SearchError::Interrupted | SearchError::BeingIndexed)) => {
                        return Err(error);
                    }
                    Err(error) => {
                        self.search.count_failure(&error);
                        self.indexed.without_vectors = Some(events::told(&error));
                        if !is_refused {
                            events::vectors_failed(&document.dataset, &error);
                            self.indexed.is_held_up = true;
                            return Ok(());
                        }
                        events::texts_refused(&document.dataset, &error);
                        self.search.writer.write(|database| database.set_refused(key))?;
                        refused.insert(key);
                        self.step()?;
                        continue;
                    }
                }
                self.indexed.with_vectors += 1;
                self.step()?;
            }
        }
    }

    /// Notes that a document has vectors. If it was taken out while they were made, they are, too.
    fn set_vectors(
        &mut self,
        key: i64,
        dataset: &DatasetId,
        vectors_of: &str,
        count: usize,
    ) -> Result<(), SearchError> {
        let set = |database: &Database| database.set_vectors(key, vectors_of, count);
        let is_there = self.search.writer.write(set)?;
        if !is_there && matches!(self.store.dataset(dataset), Err(StoreError::Unknown(_))) {
            self.remove(std::slice::from_ref(dataset))?;
        }
        Ok(())
    }

    /// Makes the vectors of a document; returns how many.
    fn vectors_of_document(
        &mut self,
        embedders: &Embedders,
        document: &Document,
    ) -> Result<usize, SearchError> {
        let chosen = chosen(&document.passages, self.search.settings.max_vectors);
        let mut vectors = Vec::new();
        for batch in chosen.chunks(BATCH) {
            let texts: Vec<String> = batch
                .iter()
                .filter_map(|place| document.passages.get(*place))
                .map(|passage| format!("{}. {}", document.title, passage.text))
                .collect();
            let made = embed(embedders, &texts)?;
            let placed = batch.iter().zip(made);
            vectors.extend(
                placed.map(|(passage, vector)| PassageVector { passage: *passage, vector }),
            );
            self.go_on()?;
        }
        self.search.vectors.put(document, &vectors)?;
        Ok(vectors.len())
    }

    /// Notes that something is done.
    fn step(&mut self) -> Result<(), SearchError> {
        self.done += 1;
        self.go_on()
    }

    /// Tells how far it is, and lets others have a turn.
    fn go_on(&mut self) -> Result<(), SearchError> {
        if !(self.how_far)(self.done, self.total.max(self.done)) {
            return Err(SearchError::Interrupted);
        }
        self.lock.share()
    }
}

/// True if an embedder may have failed because of the texts that it was given.
fn is_of_text(error: &SearchError) -> bool {
    match error {
        SearchError::Embed(EmbedError::Service(_) | EmbedError::Late(_)) => false,
        SearchError::Embed(_) | SearchError::WrongVectors { .. } => true,
        SearchError::Store(_)
        | SearchError::Index(_)
        | SearchError::File { .. }
        | SearchError::BeingIndexed
        | SearchError::Interrupted
        | SearchError::EmbedderFails(_)
        | SearchError::Service(_)
        | SearchError::Chroma(_) => false,
    }
}

/// The vector of a text like any other.
fn sample(embedders: &Embedders) -> Result<Vec<f32>, SearchError> {
    let mut vectors = embed(embedders, &[SAMPLE.to_owned()])?;
    vectors.pop().ok_or(SearchError::WrongVectors { expected: 1, given: 0 })
}

/// The vectors of texts.
pub(crate) fn embed(embedders: &Embedders, texts: &[String]) -> Result<Vec<Vec<f32>>, SearchError> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embedders.indexing.embed(&texts)?;
    if vectors.len() != texts.len() {
        return Err(SearchError::WrongVectors { expected: texts.len(), given: vectors.len() });
    }
    Ok(vectors)
}
