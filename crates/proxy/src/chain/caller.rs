//! What a hook knows of the client while it works on its call: whether it still waits, and the way
//! to tell it how far the work is.

use std::sync::Arc;

use parking_lot::Mutex;

use forebay_wire::{Id, reply};

use crate::protocol::{Call, Cancellation};

/// A way to the client besides the answer: the pipe of a session, or the stream of a request.
pub trait ToClient: Send + Sync {
    /// Sends a line, whole and at once. A client that is gone is no error.
    fn tell(&self, line: &[u8]);
}

impl<F: Fn(&[u8]) + Send + Sync> ToClient for F {
    fn tell(&self, line: &[u8]) {
        self(line);
    }
}

/// The client that waits for a hook. Clones are the same caller, for the hook's own threads.
///
/// The default one has no client behind it: it never cancels by itself, and hears of no progress.
#[derive(Clone, Default)]
pub struct Caller(Arc<Inner>);

#[derive(Default)]
struct Inner {
    cancellation: Cancellation,
    progress: Option<Progress>,
}

struct Progress {
    token: Id,
    /// `None` once the hook's time is over.
    way: Mutex<Option<Way>>,
}

struct Way {
    client: Arc<dyn ToClient>,
    /// How far the work was when the client last heard of it.
    done: f64,
}

impl Caller {
    /// The caller of `call`, for one hook.
    pub fn of(call: &Call, client: &Arc<dyn ToClient>) -> Self {
        let progress = call.progress_token.clone().map(|token| {
            let way = Way { client: client.clone(), done: f64::NEG_INFINITY };
            Progress { token, way: Mutex::new(Some(way)) }
        });
        Self(Arc::new(Inner { cancellation: Cancellation::default(), progress }))
    }

    /// True once nobody waits for the answer any more: the client has cancelled the call or is
    /// gone, or the hook's deadline has passed. The verdict will be dropped.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancellation.is_given()
    }

    /// Runs `hearer` when the call is cancelled, at once if it is already, and never after the
    /// hook has returned. It must be quick, and must not wait for the hook: it runs on the thread
    /// that reads what the client sends.
    pub fn on_cancel(&self, hearer: impl FnOnce() + Send + 'static) {
        self.0.cancellation.on_given(hearer);
    }

    /// Cancels the call for its hook.
    pub fn cancel(&self) {
        self.0.cancellation.give();
    }

    /// Tells the client at once that `done` of `total` is done, if it wants to know. May block
    /// while the client does not read. What the protocol does not allow is left out: a `done` that
    /// is not more than the last one, and anything after the answer.
    pub fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        let Some(progress) = &self.0.progress else { return };
        // Kept while the line is written: lines stay in order, and none follows the answer.
        let mut way = progress.way.lock();
        let Some(way) = way.as_mut() else { return };
        if done.is_finite() && done > way.done && !self.is_cancelled() {
            way.done = done;
            way.client.tell(&reply::progress(&progress.token, done, total, message));
        }
    }

    /// The hook's time is over: from now on the client hears nothing of it, nor it of the client.
    pub(super) fn dismiss(&self) {
        self.0.cancellation.forget_hearers();
        if let Some(progress) = &self.0.progress {
            progress.way.lock().take();
        }
    }
}
