//! The model that is part of this program, in processes of its own.
//!
//! There are two lanes, each with a process that is started when it is first needed and ends when it has been
//! idle for a while: whoever looks for something does not wait behind what is being indexed.

mod process;

use std::{
    ffi::OsString,
    io,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use self::process::{Slot, Worker};
use crate::{
    EmbedError, Embedder, MODEL,
    frame::{Priority, Setup},
    model,
};

/// How many texts go to the process at once. Between two such batches others have their turn.
const BATCH: usize = 8;

/// How long a batch may take with the turn before it, the start of the process and the loading of the model:
/// some hundred times what it does.
const PATIENCE: Duration = Duration::from_secs(60);

/// The same in the background, where the lowest priority may mean hardly any time at all on a busy machine.
const PATIENCE_IN_BACKGROUND: Duration = Duration::from_secs(300);

/// How many threads work for somebody who waits.
const QUERY_THREADS: usize = 2;

/// The model that is part of this program.
pub struct Local {
    queries: Arc<Lane>,
    indexing: Arc<Lane>,
}

impl Local {
    /// The model, run by processes that are started as `program arguments…`, which must call [`crate::serve`].
    /// They end when they have had nothing to do for as long as `idle`.
    pub fn new(program: PathBuf, arguments: Vec<OsString>, idle: Duration) -> Self {
        let queries = Setup { threads: QUERY_THREADS, priority: Priority::Normal, idle };
        let indexing = Setup { threads: 1, priority: Priority::Low, idle };
        Self {
            queries: Lane::new(program.clone(), arguments.clone(), queries),
            indexing: Lane::new(program, arguments, indexing),
        }
    }

    /// True if the model is part of this program: it was there when the program was built.
    pub fn is_inside() -> bool {
        model::is_inside()
    }

    /// For whoever waits for the answer.
    pub fn for_queries(&self) -> Arc<dyn Embedder> {
        self.queries.clone()
    }

    /// For what is done in the background, on one thread and at the lowest priority.
    pub fn for_indexing(&self) -> Arc<dyn Embedder> {
        self.indexing.clone()
    }
}

/// A process of the model's, if it runs, and who waits for it.
struct Lane {
    program: PathBuf,
    arguments: Vec<OsString>,
    setup: Setup,
    patience: Duration,
    slot: Arc<Slot>,
}

impl Embedder for Lane {
    fn model(&self) -> &str {
        MODEL
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if !Local::is_inside() {
            return Err(EmbedError::NotInside);
        }
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            vectors.extend(self.embed_at_once(batch)?);
        }
        Ok(vectors)
    }
}

impl Lane {
    fn new(program: PathBuf, arguments: Vec<OsString>, setup: Setup) -> Arc<Self> {
        let patience = match setup.priority {
            Priority::Normal => PATIENCE,
            Priority::Low => PATIENCE_IN_BACKGROUND,
        };
        Arc::new(Self { program, arguments, setup, patience, slot: Arc::default() })
    }

    fn embed_at_once(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let deadline = Instant::now() + self.patience;
        let late = || EmbedError::Late(self.patience);
        let mut slot = self.slot.try_lock_until(deadline).ok_or_else(late)?;
        // One that was idle may have ended just now, and one may be killed for its memory. What ends a second
        // one is the texts, or the machine.
        for _ in 0..2 {
            let mut worker = match slot.take() {
                Some(worker) => worker,
                None => self.start().map_err(EmbedError::NotStarted)?,
            };
            match worker.ask(texts, deadline) {
                Err(EmbedError::Ended) => {}
                Err(EmbedError::Late(_)) => return Err(late()),
                outcome => {
                    if worker.is_of_use() {
                        *slot = Some(worker);
                    }
                    return outcome;
                }
            }
        }
        Err(EmbedError::Ended)
    }

    fn start(&self) -> io::Result<Worker> {
        Worker::start(&self.program, &self.arguments, &self.setup, Arc::downgrade(&self.slot))
    }
}

#[cfg(test)]
mod tests;
