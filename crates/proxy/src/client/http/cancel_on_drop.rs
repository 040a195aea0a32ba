//! What happens when a client leaves before its answer has come: the future that serves it is dropped.

/// Does something when it is dropped, unless it has been disarmed.
pub(super) struct CancelOnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> CancelOnDrop<F> {
    pub(super) fn new(cancel: F) -> Self {
        Self(Some(cancel))
    }

    /// There is nothing to cancel any more.
    pub(super) fn disarm(mut self) {
        self.0 = None;
    }
}

impl<F: FnOnce()> Drop for CancelOnDrop<F> {
    fn drop(&mut self) {
        if let Some(cancel) = self.0.take() {
            cancel();
        }
    }
}
