//! Makes rows of records soon after they were kept, so that the first query need not wait.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use forebay_query::{Observer, Service};
use forebay_store::DatasetId;

use crate::events;

/// Replies go out first: nothing is prepared while results come one after the other.
const QUIET: Duration = Duration::from_millis(500);

/// Prepares datasets in the background, one after the other, as long as it lives.
pub struct Preparation {
    service: Arc<Service>,
    /// There is a thread only once there is something to prepare.
    queue: OnceLock<mpsc::Sender<DatasetId>>,
    is_over: Arc<AtomicBool>,
}

impl Preparation {
    /// Prepares with a service of its own, whose workers give way to everything else.
    pub fn with(service: Service) -> Self {
        Self { service: Arc::new(service), queue: OnceLock::new(), is_over: Arc::default() }
    }

    /// Prepares a dataset once no other has come for a moment.
    pub(crate) fn soon(&self, dataset: DatasetId) {
        let _ = self.queue.get_or_init(|| self.start()).send(dataset);
    }

    fn start(&self) -> mpsc::Sender<DatasetId> {
        let (queue, datasets) = mpsc::channel();
        let (service, is_over) = (self.service.clone(), self.is_over.clone());
        // Without a thread, the first query does it.
        let _ = thread::Builder::new().name("prepare".to_owned()).spawn(move || {
            while let Ok(first) = datasets.recv() {
                let mut waiting = vec![first];
                while let Ok(next) = datasets.recv_timeout(QUIET) {
                    waiting.push(next);
                }
                for dataset in waiting {
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    match service.prepare(&dataset, &Until(&is_over)) {
                        Ok(()) => events::prepared(&dataset),
                        Err(error) => events::not_prepared(&dataset, &error),
                    }
                }
            }
        });
        queue
    }
}

impl Drop for Preparation {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

struct Until<'a>(&'a AtomicBool);

impl Observer for Until<'_> {
    fn progress(&self, _done: f64, _message: &str) {}

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
