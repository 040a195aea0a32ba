//! The client that waits for an answer, as whoever answers sees it.

use std::time::Duration;

use forebay_proxy::chain::Caller;
use forebay_query::Observer;

/// The client that waits for an answer.
pub(crate) struct Waiting<'a>(pub(crate) &'a Caller);

impl Observer for Waiting<'_> {
    fn progress(&self, done: f64, message: &str) {
        const WHOLE: f64 = 100.0;
        self.0.progress((done * WHOLE).round(), Some(WHOLE), message);
    }

    fn runs(&self, time: Duration) {
        // How far it is, nobody knows; each time is more than the last.
        let Some(told) = self.0.told() else { return };
        self.0.progress(told + 1.0, None, &format!("The query has run for {} s", time.as_secs()));
    }

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}
