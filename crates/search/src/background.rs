//! The thread that indexes after replies have gone out. It is there while there is something to do.

use std::{
    sync::{Arc, Weak},
    thread,
    time::{Duration, Instant},
};

use forebay_store::Change;
use forebay_system::priority;

use crate::{
    Indexed, Search, SearchError, events,
    failures::has_store,
    indexing::{self, Pass, Reach},
};

/// So many texts are given to an embedder at once.
const BATCH: usize = 8;

/// So often the time doubles after which it is tried again.
const MAX_DOUBLED: u32 = 4;

/// How the thread goes on.
enum Next {
    Wait(Duration),
    Texts(Vec<String>),
    Index(Reach),
    End,
}

impl Search {
    /// Has everything indexed from now on that is kept by way of the shelf, and what was before.
    pub fn follow(self: &Arc<Self>) {
        self.waiting.state.lock().is_followed = true;
        let follower = Arc::downgrade(self);
        self.shelf.when_changed(move |change| {
            if let Some(search) = follower.upgrade() {
                search.note(change);
            }
        });
        if self.has_store() {
            self.wake();
        }
    }

    fn has_store(&self) -> bool {
        has_store(&self.shelf)
    }

    /// Whether everything that is kept is indexed in the background.
    pub(crate) fn is_followed(&self) -> bool {
        self.waiting.state.lock().is_followed
    }

    fn note(&self, change: Change<'_>) {
        let mut state = self.waiting.state.lock();
        match change {
            Change::Kept(dataset) | Change::Grown(dataset) | Change::Read(dataset) => {
                state.kept = Some(Instant::now());
                state.changed.datasets.insert(dataset.clone());
            }
            Change::Removed(dataset) => {
                state.changed.datasets.remove(dataset);
                state.changed.removed.insert(dataset.clone());
            }
        }
        drop(state);
        self.waiting.tell();
        self.wake();
    }

    /// Has vectors of texts made in the background.
    pub(crate) fn want_texts(&self, texts: Vec<String>) {
        self.waiting.state.lock().texts.extend(texts);
        self.waiting.tell();
        self.wake();
    }

    /// Has what was held up tried again after some time, if that is not to be done anyway.
    pub(crate) fn try_again_later(&self) {
        let at = Instant::now() + self.settings.retry;
        self.waiting.state.lock().retry.get_or_insert(at);
        self.wake();
    }

    /// Starts the thread, if it is not there.
    pub(crate) fn wake(&self) {
        let mut state = self.waiting.state.lock();
        let has_work = state.is_followed || !state.texts.is_empty();
        if state.is_running || !has_work {
            return;
        }
        let search = self.this.clone();
        let thread = thread::Builder::new().name("index".to_owned());
        // Without a thread it is left to the next time.
        state.is_running = thread.spawn(move || run(&search)).is_ok();
    }

    fn next(&self, is_retry: bool) -> Next {
        let mut state = self.waiting.state.lock();
        if !state.texts.is_empty() {
            return Next::Texts(std::mem::take(&mut state.texts));
        }
        let has_changed = !state.changed.datasets.is_empty() || !state.changed.removed.is_empty();
        let left = |at: Instant| at.saturating_duration_since(Instant::now());
        let until_retry = state.retry.filter(|_| state.is_followed).map(left);
        let is_due = until_retry.is_some_and(|left| left.is_zero());
        let has_work =
            state.is_followed && (has_changed || is_due || !state.has_walked && self.has_store());
        if !has_work {
            state.is_running = until_retry.is_some();
            return until_retry.map_or(Next::End, Next::Wait);
        }
        let quiet = self.settings.quiet;
        let since = state.kept.map_or(quiet, |kept| kept.elapsed());
        // What is removed is not to wait.
        if is_retry || since < quiet && state.changed.removed.is_empty() {
            return Next::Wait(if is_retry { quiet } else { quiet.saturating_sub(since) });
        }
        let reach = if state.has_walked { Reach::Changes } else { Reach::All };
        state.has_walked = true;
        state.retry = None;
        Next::Index(reach)
    }

    /// Plans to try again what was held up, the later the oftener it was.
    fn plan(&self, is_held_up: bool) {
        let mut state = self.waiting.state.lock();
        if is_held_up {
            let time = self.settings.retry * (1 << state.held_up.min(MAX_DOUBLED));
            state.retry = Some(Instant::now() + time);
            state.held_up += 1;
        } else {
            state.held_up = 0;
        }
    }

    /// Leaves what could not be done to the next time.
    fn stop(&self, has_walked: bool) {
        let mut state = self.waiting.state.lock();
        state.has_walked = has_walked;
        state.is_running = false;
    }

    /// Has the next time go through all that is kept.
    pub(crate) fn walk_again(&self) {
        self.waiting.state.lock().has_walked = false;
    }
}

fn run(search: &Weak<Search>) {
    priority::thread_gives_way();
    let mut is_retry = false;
    loop {
        // While nobody else needs the search, nothing has to be indexed by this process.
        let Some(search) = search.upgrade() else { return };
        match search.next(is_retry) {
            Next::End => return,
            Next::Wait(time) => {
                let waiting = search.waiting.clone();
                drop(search);
                waiting.wait(time);
                is_retry = false;
            }
            Next::Texts(texts) => {
                search.make_texts(&texts);
                search.writer.close();
            }
            Next::Index(reach) => {
                let outcome = search.index_now(reach);
                match outcome {
                    Ok(indexed) => search.plan(indexed.is_held_up),
                    // It does not know what is kept here meanwhile.
                    Err(SearchError::BeingIndexed) => {
                        search.walk_again();
                        is_retry = true;
                    }
                    Err(error) => {
                        events::indexing_failed(&error);
                        search.count_failure(&error);
                        search.writer.close();
                        search.stop(false);
                        return;
                    }
                }
            }
        }
    }
}

impl Search {
    fn index_now(&self, reach: Reach) -> Result<Indexed, SearchError> {
        let store = self.shelf.store()?;
        let how_far = &mut |_, _| true;
        let pass = Pass::begin(self, &store, Duration::ZERO, how_far);
        let outcome = pass.and_then(|pass| pass.run(reach));
        self.writer.close();
        outcome
    }

    /// Makes vectors of texts, as far as the embedder does.
    fn make_texts(&self, texts: &[String]) {
        let Some(embedders) = &self.parts.embedders else { return };
        let model = embedders.indexing.model().to_owned();
        for batch in self.texts.unknown(texts).chunks(BATCH) {
            let vectors = match indexing::embed(embedders, batch) {
                Ok(vectors) => vectors,
                Err(error) => {
                    events::texts_failed(&error);
                    return self.count_failure(&error);
                }
            };
            for (text, vector) in batch.iter().zip(vectors) {
                // Where there is no index they are made again by the next process.
                let _ = self.writer.ask(|database| database.put_text_vector(&model, text, &vector));
                self.texts.add(text.clone(), vector);
            }
        }
    }
}
