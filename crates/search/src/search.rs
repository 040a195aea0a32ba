//! What is asked of the index by those who look for something, or look after it.

use std::time::{Duration, Instant};

use forebay_store::{DatasetId, Filter, HowFar, Store, Viewer};

use crate::{
    Counts, Found, Indexed, Question, Search, SearchError, Way,
    asking::Asked,
    database::Database,
    events,
    failures::OF_EMBEDDER,
    finding::{Finding, LOOKED_AT},
    index::{Lacking, Meant},
    indexing::{Pass, Reach},
};

/// So long another process that indexes is waited for by whoever asks for it.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is told of an index that cannot be read as a whole.
const DAMAGED: &str = "the index is damaged and is made anew, which `forebay index rebuild` does at once; not \
                       all that was kept was looked at";

impl Search {
    /// What fits a question, of what a viewer may see.
    pub fn find(&self, question: &Question, viewer: &Viewer) -> Result<Found, SearchError> {
        self.find_by(Way::Both, question, viewer)
    }

    /// [`Self::find`] by one of the ways alone, to compare them.
    pub fn find_by(
        &self,
        way: Way,
        question: &Question,
        viewer: &Viewer,
    ) -> Result<Found, SearchError> {
        // The vector is made while words are looked for.
        let asked = match way {
            Way::Meaning | Way::Both => Some(self.ask_vector(&question.text)),
            Way::Words => None,
        };
        let store = self.shelf.store()?;
        let meant = Meant::by(question, viewer);
        let waiting = self.waiting(&store, question, viewer, &meant)?;
        let mut finding = Finding::new(self, way, question, viewer, &meant);
        let words = finding.words(LOOKED_AT)?;
        let (vector, by_words_alone) = match asked.map(Asked::wait) {
            Some(Ok(vector)) => (Some(vector), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        if by_words_alone.is_some() && self.has_embedder() {
            self.tally_of(OF_EMBEDDER);
        }
        let mut found = Found { waiting, by_words_alone, ..Found::default() };
        if vector.is_some() {
            let vectors_of = self.vectors_of();
            let lacking = self.reader.ask(|it| it.count_lacking(&meant, &vectors_of))?;
            let Lacking { yet, refused } = lacking.unwrap_or_default();
            (found.without_vectors, found.refused) = (yet, refused);
        }
        finding.hits(&store, words, vector.as_deref(), &mut found)?;
        if vector.is_some() && found.by_words_alone.is_none() {
            self.remove_elsewhere_soon()?;
        }
        if self.reader.is_damaged() {
            found.by_words_alone = Some(DAMAGED.to_owned());
        }
        if let Some(why) = &found.by_words_alone {
            events::question_by_words(why);
        }
        if waiting > 0 || finding.has_met_gone || self.reader.is_damaged() {
            self.walk_again();
            self.wake();
        } else if found.without_vectors > 0 && found.by_words_alone.is_none() {
            // Another process may have left it to whoever finds that vectors can be made.
            self.try_again_later();
        }
        Ok(found)
    }

    /// How many datasets that may be seen are not in the index.
    fn waiting(
        &self,
        store: &Store,
        question: &Question,
        viewer: &Viewer,
        meant: &Meant,
    ) -> Result<u64, SearchError> {
        let filter = Filter {
            viewer: viewer.clone(),
            server: question.server.clone(),
            tool: question.tool.clone(),
            from: question.since,
            until: question.until,
            min_bytes: question.min_bytes,
            ..Filter::default()
        };
        let indexed = self.reader.ask(|database| database.count(meant))?.unwrap_or_default();
        Ok(store.count(&filter)?.saturating_sub(indexed))
    }

    /// How near the meaning of each text is to that of the query, from 0 to 1. `None` until there are
    /// vectors of all of them, which are made in the background: nobody waits for them.
    pub fn rank(&self, query: &str, texts: &[&str]) -> Option<Vec<f32>> {
        let embedders = self.parts.embedders.as_ref()?;
        let model = embedders.indexing.model();
        let mut vectors = self.texts.of(texts);
        let mut unknown = Vec::new();
        for (text, vector) in texts.iter().zip(&mut vectors) {
            if vector.is_none() {
                let kept = self.reader.ask(|database| database.text_vector(model, text));
                *vector = kept.ok().flatten().flatten();
                match vector {
                    Some(vector) => self.texts.add((*text).to_owned(), vector.clone()),
                    None => unknown.push((*text).to_owned()),
                }
            }
        }
        if !unknown.is_empty() {
            self.want_texts(unknown);
            return None;
        }
        let question = self.ask_vector(query).wait().ok()?;
        let near = |vector: Vec<f32>| {
            let cosine: f32 = vector.iter().zip(&question).map(|(one, other)| one * other).sum();
            cosine.clamp(0.0, 1.0)
        };
        Some(vectors.into_iter().flatten().map(near).collect())
    }

    /// Indexes all that is not in the index; `how_far` hears how many datasets are done, of how many.
    pub fn catch_up(&self, how_far: &mut HowFar<'_>) -> Result<Indexed, SearchError> {
        self.index_all(false, how_far)
    }

    /// Makes the index anew. One that was broken off, or killed, goes on where it was.
    pub fn rebuild(&self, how_far: &mut HowFar<'_>) -> Result<Indexed, SearchError> {
        self.index_all(true, how_far)
    }

    /// Indexes all, and begins again where another process has taken its turn in between: what is done is done. It
    /// is given up when nobody has got any further for as long as one waits for the other.
    fn index_all(
        &self,
        mut is_anew: bool,
        how_far: &mut HowFar<'_>,
    ) -> Result<Indexed, SearchError> {
        let store = self.shelf.store()?;
        let mut reached = 0;
        let mut until = Instant::now() + PATIENCE;
        loop {
            let patience = until.saturating_duration_since(Instant::now());
            let mut pass = Pass::begin(self, &store, patience, how_far)?;
            // Once: what has been indexed since, here or by another process, is new.
            if std::mem::take(&mut is_anew) {
                pass.begin_anew()?;
            }
            match pass.run(Reach::All) {
                Err(SearchError::BeingIndexed) => {}
                outcome => return outcome,
            }
            let counts = self.counts()?;
            if counts.documents + counts.vectors > reached {
                reached = counts.documents + counts.vectors;
                until = Instant::now() + PATIENCE;
            }
        }
    }

    /// Forgets datasets that are no more, at once. Returns how many there were.
    pub fn forget_gone(&self) -> Result<u64, SearchError> {
        let Some(mut known) = self.writer.ask(Database::contents)? else {
            return Ok(0);
        };
        self.shelf.store()?.each(|entry| {
            known.remove(&entry.id);
            Ok(true)
        })?;
        let gone: Vec<DatasetId> = known.into_keys().collect();
        if gone.is_empty() {
            return Ok(0);
        }
        let elsewhere = self.elsewhere();
        let removed = self.writer.ask(|database| {
            let removed = database.remove(&gone, elsewhere.as_deref())?;
            database.settle()?;
            Ok(removed)
        })?;
        self.remove_elsewhere()?;
        Ok(removed.unwrap_or_default())
    }

    /// How much is in the index.
    pub fn counts(&self) -> Result<Counts, SearchError> {
        let vectors_of = self.vectors_of();
        let counts = self.reader.ask(|database| database.counts(&vectors_of))?.unwrap_or_default();
        let waiting = self.shelf.store()?.total()?.saturating_sub(counts.documents);
        Ok(Counts { waiting, bytes: self.reader.bytes(), ..counts })
    }
}

#[cfg(test)]
mod tests;
