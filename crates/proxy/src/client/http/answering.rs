//! Calls that interceptors look at before any upstream does, and nearly always answer.

use std::{future, sync::Arc};

use futures_util::{Stream, StreamExt, stream};
use http::{HeaderMap, Response, StatusCode};
use tokio::{
    sync::mpsc,
    task::{self, JoinHandle},
};

use super::{
    cancel_on_drop::CancelOnDrop,
    context::{EndpointContext, nobody},
    event_stream::{Said, event_stream},
    reply,
};
use crate::{
    body::{Body, Message},
    chain::{ToClient, ToUpstream, Ways},
    limits,
    relay::{Consultation, Outgoing, Relay},
};

/// What has become of a message with calls.
pub(super) enum Answered {
    /// All of them are answered.
    Here(Response<reply::Body>),
    /// This goes to the upstream; these are the answers to the rest.
    Upstream(Message, Vec<Message>),
}

/// Takes calls through the chain. If an interceptor tells of its progress, the response is a stream.
/// A client that disconnects has no way to get the answer, so the calls are given up. Hooks make calls of their
/// own by way of `upstream`, which may have something for the client, too.
pub(super) async fn consult(
    context: &Arc<EndpointContext>,
    relay: &Arc<Relay>,
    consultation: Consultation,
    body: Arc<Body>,
    upstream: impl FnOnce(&Arc<dyn ToClient>) -> Arc<dyn ToUpstream>,
) -> Answered {
    let guard = CancelOnDrop::new({
        let (relay, calls) = (relay.clone(), consultation.calls());
        // If they have been answered, that means nothing.
        move || relay.give_up(&calls)
    });
    let (told, mut heard) = mpsc::channel(limits::LINES_OF_PROGRESS);
    // A part of a batch may have to go on, which a stream that has begun cannot wait for.
    let client: Arc<dyn ToClient> =
        if consultation.is_of_a_batch() { nobody() } else { progress_sink(told) };
    let ways = Ways { upstream: upstream(&client), client, session: None, sampling: None };
    let mut work = task::spawn({
        let (context, relay) = (context.clone(), relay.clone());
        async move { context.consult(&relay, consultation, body, ways).await }
    });
    tokio::select! {
        biased;
        Some(line) = heard.recv() => {
            let said = progress_then_answer(line, heard, work, guard);
            Answered::Here(reply::events(HeaderMap::new(), event_stream(said)))
        }
        done = &mut work => {
            let Outgoing { to_upstream, mut to_client } = done.unwrap_or_default();
            match to_upstream {
                Some(message) => Answered::Upstream(message, to_client),
                None if to_client.len() == 1 => {
                    let message = to_client.remove(0);
                    Answered::Here(reply::json(StatusCode::OK, HeaderMap::new(), &message))
                }
                // Cancelled, and nobody waits.
                None if to_client.is_empty() => Answered::Here(reply::empty(StatusCode::ACCEPTED)),
                None => {
                    let said = stream::iter(to_client.into_iter().map(Said::from));
                    Answered::Here(reply::events(HeaderMap::new(), event_stream(said)))
                }
            }
        }
    }
}

/// Tells the client by way of its stream.
fn progress_sink(told: mpsc::Sender<Vec<u8>>) -> Arc<dyn ToClient> {
    // Hooks run on threads of their own, where waiting is allowed. A client that is gone is no error.
    Arc::new(move |line: &[u8]| drop(told.blocking_send(line.to_vec())))
}

/// A call that tells of its progress, and then its answer.
fn progress_then_answer(
    first: Vec<u8>,
    heard: mpsc::Receiver<Vec<u8>>,
    work: JoinHandle<Outgoing>,
    guard: CancelOnDrop<impl FnOnce() + Send + 'static>,
) -> impl Stream<Item = Said> + Send + 'static {
    let line = |line: Vec<u8>| Said::from(Message::of(vec![line.into()]));
    // The way to the client may be held by what outlives the hook, so it is the answer that ends it.
    let rest = stream::unfold(Some((heard, work, guard)), move |telling| async move {
        let (mut heard, mut work, guard) = telling?;
        tokio::select! {
            biased;
            Some(told) = heard.recv() => Some((vec![line(told)], Some((heard, work, guard)))),
            done = &mut work => {
                // What was told before the answer comes before it. A hook that tells of its progress answers
                // its own call; nothing goes on.
                let before = std::iter::from_fn(|| heard.try_recv().ok()).map(line);
                let answer = done.ok().and_then(|outgoing| outgoing.to_client.into_iter().next());
                drop(guard);
                Some((before.chain(answer.map(Said::from)).collect(), None))
            }
        }
    });
    stream::once(future::ready(line(first))).chain(rest.flat_map(stream::iter))
}
