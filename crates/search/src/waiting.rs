//! What there is to index, as far as this process knows.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use forebay_store::DatasetId;
use parking_lot::{Condvar, Mutex};

/// What there is to do, and whether somebody is at it.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) state: Mutex<State>,
    /// Whether something has come since whoever waits last looked.
    has_news: Mutex<bool>,
    news: Condvar,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) is_followed: bool,
    pub(crate) is_running: bool,
    /// Whether all that is kept has been compared with the index.
    pub(crate) has_walked: bool,
    /// When something was kept last.
    pub(crate) kept: Option<Instant>,
    pub(crate) changed: Changed,
    /// When what was held up is tried again.
    pub(crate) retry: Option<Instant>,
    /// How often it has been held up since it last was not.
    pub(crate) held_up: u32,
    /// Texts that vectors are wanted of.
    pub(crate) texts: Vec<String>,
}

/// What is known to have changed.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    /// Datasets that are new, or are to be indexed again.
    pub(crate) datasets: HashSet<DatasetId>,
    /// Datasets that are no more.
    pub(crate) removed: HashSet<DatasetId>,
}

#[cfg(test)]
impl Waiting {
    pub(crate) fn is_running(&self) -> bool {
        self.state.lock().is_running
    }
}

impl Waiting {
    /// Takes what is known to have changed.
    pub(crate) fn take_changes(&self) -> Changed {
        std::mem::take(&mut self.state.lock().changed)
    }

    /// Has whoever waits look again what there is to do.
    pub(crate) fn tell(&self) {
        *self.has_news.lock() = true;
        self.news.notify_all();
    }

    /// Waits for so long, or until there is something else to do.
    pub(crate) fn wait(&self, time: Duration) {
        let mut has_news = self.has_news.lock();
        let until = Instant::now() + time;
        while !*has_news && !self.news.wait_until(&mut has_news, until).timed_out() {}
        *has_news = false;
    }
}
