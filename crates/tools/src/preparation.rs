//! Makes rows of records soon after they were kept, so that the first query need not wait.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use forebay_query::{Conduct, Service};
use forebay_store::DatasetId;

use crate::events;

/// The reply goes out first.
const DELAY: Duration = Duration::from_millis(300);

/// Prepares datasets in the background, one after the other, as long as it lives.
pub struct Preparation {
    queue: mpsc::Sender<DatasetId>,
    is_over: Arc<AtomicBool>,
}

impl Preparation {
    /// Prepares with a service of its own, whose workers give way to everything else.
    pub fn with(service: Service) -> Self {
        let (queue, datasets) = mpsc::channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let watched = is_over.clone();
        // Without a thread, the first query does it.
        let _ = thread::Builder::new().name("prepare".to_owned()).spawn(move || {
            while let Ok(dataset) = datasets.recv() {
                thread::sleep(DELAY);
                if watched.load(Ordering::Relaxed) {
                    return;
                }
                match service.prepare(&dataset, &Until(&watched)) {
                    Ok(()) => events::prepared(&dataset),
                    Err(error) => events::not_prepared(&dataset, &error),
                }
            }
        });
        Self { queue, is_over }
    }

    /// Prepares a dataset in a moment.
    pub(crate) fn soon(&self, dataset: DatasetId) {
        let _ = self.queue.send(dataset);
    }
}

impl Drop for Preparation {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

struct Until<'a>(&'a AtomicBool);

impl Conduct for Until<'_> {
    fn progress(&self, _done: f64, _message: &str) {}

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
