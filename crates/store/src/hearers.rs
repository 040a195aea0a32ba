//! Whoever wants to hear that something was kept, has grown, or is gone.

use std::{fmt, sync::Arc};

use parking_lot::Mutex;

use crate::DatasetId;

/// What has become of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'a> {
    /// It exists from now on.
    Kept(&'a DatasetId),
    /// There is another edition of it.
    Grown(&'a DatasetId),
    /// A model has said something of it.
    Read(&'a DatasetId),
    /// It exists no more.
    Removed(&'a DatasetId),
}

type Hearer = dyn Fn(Change<'_>) + Send + Sync;

/// All of them; clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Hearers(Arc<Mutex<Vec<Arc<Hearer>>>>);

impl Hearers {
    pub(crate) fn add(&self, hearer: impl Fn(Change<'_>) + Send + Sync + 'static) {
        self.0.lock().push(Arc::new(hearer));
    }

    /// Tells them what has become of a dataset.
    pub(crate) fn tell(&self, change: Change<'_>) {
        // Not in the `for`, which would keep them locked.
        let all = self.0.lock().clone();
        for hearer in all {
            hearer(change);
        }
    }
}

impl fmt::Debug for Hearers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Hearers").field(&self.0.lock().len()).finish()
    }
}
