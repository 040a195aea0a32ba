//! The vector of a question, which is waited for no longer than it is worth.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use forebay_embed::{EmbedError, Embedder};

/// No more questions than this wait for an embedder that does not answer.
const MAX_WAITING: usize = 8;

/// Asks for the vectors of questions.
#[derive(Default)]
pub(crate) struct Asking {
    waiting: Arc<AtomicUsize>,
}

/// A vector that is being made, or why there will be none.
pub(crate) enum Asked {
    Waiting { answer: Receiver<Result<Vec<Vec<f32>>, EmbedError>>, until: Instant },
    Without(String),
}

impl Asking {
    /// Has the vector of a question made while something else is done.
    pub(crate) fn begin(
        &self,
        embedder: &Arc<dyn Embedder>,
        text: &str,
        deadline: Duration,
    ) -> Asked {
        if self.waiting.fetch_add(1, Ordering::SeqCst) >= MAX_WAITING {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            return Asked::Without("the embedder is busy".to_owned());
        }
        let (send, answer) = sync_channel(1);
        let (embedder, text, waiting) = (embedder.clone(), text.to_owned(), self.waiting.clone());
        let made = thread::Builder::new().name("question".to_owned()).spawn(move || {
            let vector = embedder.embed(&[&text]);
            waiting.fetch_sub(1, Ordering::SeqCst);
            // Nobody may be waiting any more.
            let _ = send.send(vector);
        });
        match made {
            Ok(_) => Asked::Waiting { answer, until: Instant::now() + deadline },
            Err(error) => {
                self.waiting.fetch_sub(1, Ordering::SeqCst);
                Asked::Without(format!("there is no thread for the embedder: {error}"))
            }
        }
    }
}

impl Asked {
    /// The vector, or why there is none.
    pub(crate) fn wait(self) -> Result<Vec<f32>, String> {
        let (answer, until) = match self {
            Self::Without(why) => return Err(why),
            Self::Waiting { answer, until } => (answer, until),
        };
        match answer.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Ok(vectors)) => {
                vectors.into_iter().next().ok_or_else(|| "the embedder gave no vector".to_owned())
            }
            Ok(Err(error)) => Err(error.to_string()),
            Err(RecvTimeoutError::Timeout) => Err("the embedder did not answer in time".to_owned()),
            Err(RecvTimeoutError::Disconnected) => Err("the embedder has failed".to_owned()),
        }
    }
}
