//! Calls that interceptors look at before any upstream does, and nearly always answer.

use std::sync::Arc;

use bytes::Bytes;
use forebay_wire::sse::Fields;
use futures_util::stream;
use http::{HeaderMap, Response, StatusCode};
use tokio::{
    sync::mpsc,
    task::{self, JoinHandle},
};

use super::{
    house::{House, nobody},
    reply::{self, EventPieces},
};
use crate::{
    body::{Body, Message},
    chain::ToClient,
    relay::{Consultation, Outgoing, Relay},
    session::Call,
};

/// Lines of progress that may wait for the client to read them.
const MAX_WAITING: usize = 16;

/// What has become of a message with calls.
pub(super) enum Answered {
    /// All of them are answered.
    Here(Response<reply::Body>),
    /// This goes to the upstream; these are the answers to the rest.
    Upstream(Message, Vec<Message>),
}

/// Takes calls through the chain. If an interceptor tells of its progress, the response is a stream.
/// A client that disconnects has no way to get the answer, so the calls are given up.
pub(super) async fn consult(
    house: &Arc<House>,
    relay: &Arc<Relay>,
    consultation: Consultation,
    body: Arc<Body>,
) -> Answered {
    let guard = Leaving { relay: relay.clone(), calls: consultation.calls() };
    let (told, mut heard) = mpsc::channel(MAX_WAITING);
    // A part of a batch may have to go on, which a stream that has begun cannot wait for.
    let client: Arc<dyn ToClient> =
        if consultation.is_of_a_batch() { nobody() } else { Arc::new(Teller(told)) };
    let mut work = task::spawn({
        let (house, relay) = (house.clone(), relay.clone());
        async move { house.consult(&relay, consultation, body, client).await }
    });
    tokio::select! {
        biased;
        Some(line) = heard.recv() => {
            let told = Telling { first: Some(line), heard, work: Some(work), pieces: None };
            let frames = stream::unfold((told, guard), |(mut told, guard)| async move {
                Some((told.next().await?, (told, guard)))
            });
            Answered::Here(reply::events(HeaderMap::new(), frames))
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
                    let fields = Fields::default();
                    let frames = to_client.into_iter().flat_map(move |it| reply::event(&fields, it));
                    Answered::Here(reply::events(HeaderMap::new(), stream::iter(frames)))
                }
            }
        }
    }
}

/// Tells the client by way of its stream.
struct Teller(mpsc::Sender<Vec<u8>>);

impl ToClient for Teller {
    fn tell(&self, line: &[u8]) {
        // Hooks run on threads of their own, where waiting is allowed. A client that is gone is no
        // error.
        let _ = self.0.blocking_send(line.to_vec());
    }
}

/// When it is dropped nobody waits for the answers any more; if they have come, that means nothing.
struct Leaving {
    relay: Arc<Relay>,
    calls: Vec<Arc<Call>>,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.relay.give_up(&self.calls);
    }
}

/// A call that tells of its progress, and then its answer.
struct Telling {
    first: Option<Vec<u8>>,
    heard: mpsc::Receiver<Vec<u8>>,
    work: Option<JoinHandle<Outgoing>>,
    /// What is being said.
    pieces: Option<EventPieces>,
}

impl Telling {
    async fn next(&mut self) -> Option<std::io::Result<Bytes>> {
        loop {
            if let Some(piece) = self.pieces.as_mut().and_then(Iterator::next) {
                return Some(piece);
            }
            let message = match self.first.take() {
                Some(line) => Message::of(vec![line.into()]),
                None => match self.heard.recv().await {
                    Some(line) => Message::of(vec![line.into()]),
                    // A hook that tells of its progress answers its own call; nothing goes on.
                    None => self.work.take()?.await.ok()?.to_client.into_iter().next()?,
                },
            };
            self.pieces = Some(reply::event(&Fields::default(), message));
        }
    }
}
