//! What everybody who finds or indexes works with.

use std::{
    sync::{Arc, Weak},
    thread,
};

use forebay_store::Shelf;

use crate::{
    Parts, SearchError, Settings, Vectors,
    asking::{Asked, Asking},
    database::Database,
    database::{Handle, ROWS_PER_DOCUMENT},
    events,
    failures::{self, Failures},
    nearest::Embedded,
    texts::Texts,
    vectors::HERE,
    waiting::Waiting,
};

/// Why there are no vectors if nothing makes them.
pub(crate) const NO_EMBEDDER: &str = "there is no embedder";
/// So many datasets are removed elsewhere at once.
const REMOVED_AT_ONCE: usize = 500;

/// Finds what was kept.
pub struct Search {
    /// For threads that end when nobody needs the search any more.
    pub(crate) this: Weak<Self>,
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) vectors: Arc<dyn Vectors>,
    /// For whoever asks.
    pub(crate) reader: Handle,
    /// For whoever indexes.
    pub(crate) writer: Handle,
    pub(crate) parts: Parts,
    pub(crate) settings: Settings,
    pub(crate) asking: Asking,
    pub(crate) texts: Texts,
    pub(crate) waiting: Arc<Waiting>,
    pub(crate) failures: Arc<Failures>,
}

impl Search {
    /// A search over what lies on this shelf. Nothing is opened yet.
    pub fn new(shelf: Arc<Shelf>, parts: Parts, settings: Settings) -> Arc<Self> {
        let home = shelf.home().to_owned();
        let embedded = || -> Arc<dyn Vectors> {
            Arc::new(Embedded::new(&home, model_of(&parts).to_owned(), settings.idle))
        };
        let vectors = parts.vectors.clone().unwrap_or_else(embedded);
        let reader = Handle::new(&home);
        let rows = usize::try_from(ROWS_PER_DOCUMENT).unwrap_or(usize::MAX);
        let settings = Settings { max_passages: settings.max_passages.clamp(1, rows), ..settings };
        Arc::new_cyclic(|this| Self {
            this: this.clone(),
            shelf,
            vectors,
            writer: reader.apart(),
            reader,
            parts,
            settings,
            asking: Asking::default(),
            texts: Texts::default(),
            waiting: Arc::default(),
            failures: Arc::default(),
        })
    }

    /// Whether something makes vectors.
    pub fn has_embedder(&self) -> bool {
        self.parts.embedders.is_some()
    }

    /// Has the vector of a question made while something else is done.
    pub(crate) fn ask_vector(&self, text: &str) -> Asked {
        match &self.parts.embedders {
            Some(embedders) => self.asking.begin(&embedders.queries, text, self.settings.deadline),
            None => Asked::Without(NO_EMBEDDER.to_owned()),
        }
    }

    /// What vectors of our embedder, where they are put, are called in the index.
    pub(crate) fn vectors_of(&self) -> String {
        format!("{} {}", model_of(&self.parts), self.vectors.place())
    }

    /// Where vectors are, if that is not the index itself.
    pub(crate) fn elsewhere(&self) -> Option<String> {
        Some(self.vectors.place()).filter(|place| place != HERE)
    }

    /// Removes from where vectors are what is to be removed there. What cannot be removed stays on the list.
    pub(crate) fn remove_elsewhere(&self) -> Result<(), SearchError> {
        let Some(place) = self.elsewhere() else { return Ok(()) };
        loop {
            let gone = self.writer.ask(|database| database.removals(&place, REMOVED_AT_ONCE))?;
            let Some(gone) = gone.filter(|gone| !gone.is_empty()) else { return Ok(()) };
            self.vectors.remove(&gone)?;
            self.writer.ask(|database| database.end_removals(&place, &gone))?;
        }
    }

    /// The same after Chroma has answered a question. Whoever indexes does it then, while nobody waits; where
    /// nobody indexes, it is done at once.
    pub(crate) fn remove_elsewhere_soon(&self) -> Result<(), SearchError> {
        let Some(place) = self.elsewhere() else { return Ok(()) };
        let gone = self.reader.ask(|database| database.removals(&place, 1))?;
        if gone.is_none_or(|gone| gone.is_empty()) {
            return Ok(());
        }
        if self.is_followed() {
            self.try_again_later();
        } else if let Err(error) = self.remove_elsewhere() {
            events::removal_failed(&error);
            self.count_failure(&error);
        }
        Ok(())
    }

    /// Counts that something could not be indexed, where that can be written.
    pub(crate) fn count_failure(&self, error: &SearchError) {
        let _ = self.writer.ask(Database::count_failure);
        self.tally(error);
    }

    /// Counts an error, if it is a failure of the one or the other. For whoever indexes: it is written at once.
    pub(crate) fn tally(&self, error: &SearchError) {
        if let Some(whose) = failures::whose(error) {
            self.failures.count(whose);
            self.failures.write_down(&self.shelf);
        }
    }

    /// The same within a question.
    pub(crate) fn tally_soon(&self, error: &SearchError) {
        if let Some(whose) = failures::whose(error) {
            self.tally_of(whose);
        }
    }

    /// Counts a failure within a question, which does not wait until it is written.
    pub(crate) fn tally_of(&self, whose: &'static str) {
        self.failures.count(whose);
        let (failures, kept_on) = (self.failures.clone(), self.shelf.clone());
        // Without a thread it is written with the next one, or at the end.
        let _ = thread::Builder::new()
            .name("count-failures".to_owned())
            .spawn(move || failures.write_down(&kept_on));
    }
}

impl Drop for Search {
    fn drop(&mut self) {
        self.failures.write_down(&self.shelf);
    }
}

/// Whose vectors are made, if any are.
fn model_of(parts: &Parts) -> &str {
    parts.embedders.as_ref().map_or("none", |embedders| embedders.indexing.model())
}
