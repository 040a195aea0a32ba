//! What a hook knows of the client while it works on its call: whether it still waits, and the way
//! to tell it how far the work is.

use std::sync::{Arc, OnceLock, Weak, mpsc};

use parking_lot::Mutex;

use forebay_wire::{Id, reply};

use super::{
    inner::{Behalf, CallFailure, OfClient, OnProgress, Origin, Request, UnderWay},
    sampling::Sampling,
    to_client::ToClient,
};
use crate::{
    body::Payload,
    protocol::{Call, Cancellation},
    threads,
};

/// The client that waits for a hook. Clones are the same caller, for the hook's own threads.
///
/// The default one has no client behind it: it never cancels by itself, and hears of no progress.
#[derive(Clone, Default)]
pub struct Caller(Arc<Inner>);

#[derive(Default)]
struct Inner {
    cancellation: Cancellation,
    progress: Option<Progress>,
    /// Where its own calls set out from.
    origin: Option<Arc<Origin>>,
    /// The client's own model, if it can be asked.
    sampling: Option<Sampling>,
    under_way: Arc<UnderWay>,
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
    /// The caller of a call, for one hook.
    pub(super) fn of(origin: Origin) -> Self {
        let progress = origin.call.progress_token.clone().map(|token| {
            let way = Way { client: origin.ways.client.clone(), done: f64::NEG_INFINITY };
            Progress { token, way: Mutex::new(Some(way)) }
        });
        let under_way: Arc<UnderWay> = Arc::default();
        let caller = Self(Arc::new(Inner {
            cancellation: Cancellation::default(),
            progress,
            sampling: origin.ways.sampling.clone(),
            origin: Some(Arc::new(origin)),
            under_way: under_way.clone(),
        }));
        caller.on_cancel(move || under_way.cancel());
        caller
    }

    /// Whoever waits for an answer that a hook looks at. It is told of progress after what the upstream has
    /// told, and makes no calls.
    pub(super) fn of_answer(
        call: &Call,
        client: Arc<dyn ToClient>,
        sampling: Option<Sampling>,
    ) -> Self {
        let way = Way { client, done: call.progress.get() };
        let progress = call.progress_token.clone();
        let progress = progress.map(|token| Progress { token, way: Mutex::new(Some(way)) });
        Self(Arc::new(Inner { progress, sampling, ..Inner::default() }))
    }

    /// How far the work is, as the client last heard; `None` if it does not want to know. What is told next
    /// must be more.
    pub fn told(&self) -> Option<f64> {
        let progress = self.0.progress.as_ref()?;
        progress.way.lock().as_ref().map(|way| way.done.max(0.0))
    }

    /// Calls a tool of an upstream's for the client, by the name that the client would use, with arguments
    /// as JSON. It goes through the interceptors behind this hook. `then` gets the whole result, on whichever
    /// thread has it, and at the latest when the hook's time is over; it must be quick.
    pub fn call_tool(
        &self,
        called: &str,
        arguments: &[u8],
        on_progress: impl Fn(f64, Option<f64>, &str) + Send + Sync + 'static,
        then: impl FnOnce(Result<Payload, CallFailure>) + Send + 'static,
    ) {
        let request = Request::ToolCall { called, arguments };
        self.ask(self.0.origin.as_ref(), &request, Box::new(on_progress), then);
    }

    /// The same; waits for the result.
    pub fn call_tool_and_wait(
        &self,
        called: &str,
        arguments: &[u8],
    ) -> Result<Payload, CallFailure> {
        self.ask_and_wait(&Request::ToolCall { called, arguments })
    }

    /// Calls a tool as the client itself would, who hears of it by what this hook answers. The interceptors
    /// behind see call and result as the client's own. Unlike other calls of a hook, it goes on when the
    /// hook's time is over, until it is answered or cancelled. `then` gets what becomes of it, with the call
    /// and what was noted about it, on a thread that may block. `on_progress` must be quick.
    pub fn call_for_client(
        &self,
        called: &str,
        arguments: &[u8],
        on_progress: impl Fn(f64, Option<f64>, &str) + Send + Sync + 'static,
        then: impl FnOnce(&Arc<Call>, Result<Payload, CallFailure>) + Send + 'static,
    ) -> OfClient {
        let of_client = OfClient::default();
        // Without a client behind it there is nobody to call for, and nothing to tell.
        if let Some(origin) = &self.0.origin {
            let request = Request::ToolCall { called, arguments };
            let then = Box::new(|call: &Arc<Call>, outcome| {
                let call = call.clone();
                threads::run(move || then(&call, outcome));
            });
            let (on_progress, under_way) = (Box::new(on_progress), of_client.under_way());
            origin.ask(&request, Behalf::Client, under_way, on_progress, then);
        }
        of_client
    }

    /// A page of the upstream's own list of tools, which no interceptor has seen.
    pub fn list_tools_and_wait(&self, cursor: Option<&str>) -> Result<Payload, CallFailure> {
        self.ask_and_wait(&Request::ToolList { cursor })
    }

    /// What the upstream itself answers to the client's request, if it has these `params`.
    pub fn ask_upstream_and_wait(&self, params: &Payload) -> Result<Payload, CallFailure> {
        let origin = self.0.origin.as_ref().map(|origin| {
            let Origin { chain, place, call, ways, router, .. } = &**origin;
            let (chain, call, ways) = (chain.clone(), call.clone(), ways.clone());
            let (router, meta, params) = (router.clone(), OnceLock::new(), params.clone());
            Arc::new(Origin { chain, place: *place, call, params, ways, router, meta })
        });
        self.ask_from_and_wait(origin.as_ref(), &Request::Same)
    }

    fn ask_and_wait(&self, request: &Request<'_>) -> Result<Payload, CallFailure> {
        self.ask_from_and_wait(self.0.origin.as_ref(), request)
    }

    fn ask_from_and_wait(
        &self,
        origin: Option<&Arc<Origin>>,
        request: &Request<'_>,
    ) -> Result<Payload, CallFailure> {
        let (deliver, delivered) = mpsc::sync_channel(1);
        let then = move |outcome| drop(deliver.send(outcome));
        self.ask(origin, request, Box::new(|_, _, _| {}), then);
        delivered.recv().unwrap_or(Err(CallFailure::Cancelled))
    }

    fn ask(
        &self,
        origin: Option<&Arc<Origin>>,
        request: &Request<'_>,
        on_progress: Box<OnProgress>,
        then: impl FnOnce(Result<Payload, CallFailure>) + Send + 'static,
    ) {
        match origin.filter(|_| !self.is_cancelled()) {
            Some(origin) => {
                let then = Box::new(|_: &Arc<Call>, outcome| then(outcome));
                origin.ask(request, Behalf::Hook, &self.0.under_way, on_progress, then);
            }
            None => then(Err(CallFailure::Cancelled)),
        }
    }

    /// A way to the client's session that outlives the call, if the client has a session.
    pub fn session(&self) -> Option<Weak<dyn ToClient>> {
        self.0.origin.as_ref()?.ways.session.clone()
    }

    /// The client's own model, where the client has said that it offers it.
    pub fn sampling(&self) -> Option<&Sampling> {
        self.0.sampling.as_ref()
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
        self.0.under_way.cancel();
        if let Some(progress) = &self.0.progress {
            progress.way.lock().take();
        }
    }
}
