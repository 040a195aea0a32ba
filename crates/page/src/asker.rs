//! Whoever asks for a page, as a query sees them: it ends when they have left.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

use bytes::Bytes;
use forebay_proxy::client::http::Presence;
use forebay_query::Observer;
use http::Request;

/// Whoever has sent a request.
#[derive(Debug, Default)]
pub(crate) struct Asker {
    presence: Presence,
    /// When the first query began, after those of others.
    began: OnceLock<Instant>,
}

impl Asker {
    pub(crate) fn of(request: &Request<Bytes>) -> Self {
        let presence = request.extensions().get::<Presence>().cloned().unwrap_or_default();
        Self { presence, began: OnceLock::new() }
    }

    /// How long it took since the first query began.
    pub(crate) fn took(&self) -> Duration {
        self.began.get().map(Instant::elapsed).unwrap_or_default()
    }
}

impl Observer for Asker {
    fn begins(&self) {
        // What follows belongs to the first.
        let _ = self.began.set(Instant::now());
    }

    fn progress(&self, _done: f64, _message: &str) {}

    fn is_cancelled(&self) -> bool {
        self.presence.has_left()
    }
}
