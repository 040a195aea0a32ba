//! A signal to end, for tasks.

use tokio::sync::watch;

/// Is given once, and reaches everyone who waits for it, now or later.
#[derive(Debug)]
pub(super) struct Ending(watch::Sender<bool>);

impl Ending {
    pub(super) fn give(&self) {
        self.0.send_replace(true);
    }

    pub(super) fn is_given(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is given.
    pub(super) async fn given(&self) {
        // The sender is ours, so the channel is open as long as we are.
        let _ = self.0.subscribe().wait_for(|is_given| *is_given).await;
    }
}

impl Default for Ending {
    fn default() -> Self {
        Self(watch::channel(false).0)
    }
}
