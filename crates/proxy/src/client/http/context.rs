//! What all conversations of an endpoint share: the chain, where long messages are kept, and how many
//! may be taken through the chain at once.

mod turns;

use std::{io, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use tokio::{sync::oneshot, time};

use tokio_util::sync::CancellationToken;

use self::turns::Turns;
use crate::{
    body::{Body, Hold, Message, Spool},
    chain::{ToClient, Ways},
    relay::{Consultation, Outgoing, Relay},
};

/// What all conversations share.
pub(super) struct EndpointContext {
    /// The relay that all others are made beside.
    relay: Relay,
    pub(super) spool: Spool,
    calls: Arc<Turns>,
    answers: Arc<Turns>,
    /// We are about to end: streams that have no end of their own are to end now.
    pub(super) closing: CancellationToken,
}

/// What has become of a message that was to be taken in.
pub(super) enum Taken {
    /// It is whole.
    Whole(Body),
    /// There is no place to keep all of it: the beginning, and the piece after it.
    Partly(Body, Bytes, io::Error),
    /// It is longer than allowed.
    TooLong,
    /// Its sender has paused for too long.
    TooSlow,
    /// Its sender broke off.
    BrokenOff(String),
}

impl EndpointContext {
    pub(super) fn new(relay: Relay, spool: Spool) -> Self {
        let (calls, answers) = (Arc::default(), Arc::default());
        Self { relay, spool, calls, answers, closing: CancellationToken::new() }
    }

    /// The upstream's name, for errors.
    pub(super) fn upstream(&self) -> &str {
        self.relay.upstream().as_str()
    }

    /// A relay for a new session of the upstream's.
    pub(super) fn session(&self) -> Arc<Relay> {
        Arc::new(self.relay.for_session())
    }

    /// A relay for a new conversation.
    pub(super) fn conversation(&self) -> Arc<Relay> {
        Arc::new(self.relay.for_request())
    }

    /// Takes a message through the chain, when it is its turn.
    pub(super) async fn consult(
        &self,
        relay: &Arc<Relay>,
        consultation: Consultation,
        body: Arc<Body>,
        ways: Ways,
    ) -> Outgoing {
        let is_call = consultation.is_from_client();
        let turns = if is_call { &self.calls } else { &self.answers };
        let turn = turns.take(consultation.session()).await;
        let (deliver, delivered) = oneshot::channel();
        // Given back when the chain has decided, also if nobody waits for that any more.
        relay.consult(consultation, body, ways, move |outgoing| {
            drop(turn);
            drop(deliver.send(outgoing));
        });
        delivered.await.unwrap_or_default()
    }

    /// Takes an upstream's answer through the chain: what is to be said in its place, or it. The client is
    /// told of progress.
    pub(super) async fn revise(
        &self,
        relay: &Arc<Relay>,
        consultation: Consultation,
        body: Arc<Body>,
        client: Arc<dyn ToClient>,
    ) -> Message {
        let ways = Ways::back_to(client);
        let outgoing = self.consult(relay, consultation, body.clone(), ways).await;
        outgoing.to_client.into_iter().next().unwrap_or_else(|| Message::whole(body))
    }

    /// Takes in a message while it arrives, in memory and then on disk.
    pub(super) async fn take_in<E: std::fmt::Display>(
        &self,
        pieces: &mut (impl Stream<Item = Result<Bytes, E>> + Unpin),
        most: u64,
        patience: Option<Duration>,
    ) -> Taken {
        let mut hold = Hold::new(&self.spool);
        let mut taken = 0;
        loop {
            let next = match patience {
                Some(patience) => time::timeout(patience, pieces.next()).await,
                None => Ok(pieces.next().await),
            };
            let piece = match next {
                Ok(Some(Ok(piece))) => piece,
                Ok(Some(Err(error))) => return Taken::BrokenOff(error.to_string()),
                Ok(None) => return Taken::Whole(hold.finish()),
                Err(_) => return Taken::TooSlow,
            };
            taken += piece.len() as u64;
            if taken > most {
                return Taken::TooLong;
            }
            if let Err(error) = hold.push(&piece) {
                return Taken::Partly(hold.finish(), piece, error);
            }
        }
    }
}

/// For what is taken through the chain without a client that could be told of progress.
pub(super) fn nobody() -> Arc<dyn ToClient> {
    Arc::new(|_: &[u8]| {})
}

#[cfg(test)]
mod tests {
    use std::{iter, sync::mpsc};

    use futures_util::FutureExt;
    use parking_lot::Mutex;

    use super::*;
    use crate::{
        body::Source,
        chain::{Deadlines, Verdict},
        limits,
        relay::{ClientOnward, UpstreamOnward},
        testing::{self, Hooks},
    };

    #[tokio::test]
    async fn a_turn_is_given_back_when_the_chain_has_decided_and_not_when_the_client_leaves() {
        let (release, released) = mpsc::channel();
        let released = Mutex::new(released);
        let hooks = Hooks {
            result: Some(Box::new(move |_, _| {
                released.lock().recv()?;
                Ok(Verdict::Pass)
            })),
            ..Hooks::default()
        };
        let relay = testing::relay(vec![Arc::new(hooks)], Deadlines::default());
        let context = EndpointContext::new(relay, Spool::of_memory(1 << 20));
        let relay = context.conversation();
        let call = br#"{"id":1,"method":"tools/call","params":{"name":"records"}}"#;
        assert!(matches!(relay.client_line(Source::Line(call)), ClientOnward::Pass));
        let result = br#"{"id":1,"result":{}}"#;
        let UpstreamOnward::Consult(consultation) = relay.upstream_line(Source::Line(result))
        else {
            panic!("it is watched");
        };
        let session = consultation.session();
        let body = Arc::new(Body::Memory(result.to_vec()));
        assert!(context.revise(&relay, consultation, body, nobody()).now_or_never().is_none());
        let mut rest: Vec<_> = iter::from_fn(|| context.answers.try_take(&session)).collect();
        assert_eq!(rest.len(), limits::TURNS / 2 - 1, "one is still taken");
        release.send(()).unwrap();
        rest.push(context.answers.take(session).await);
    }
}
