//! A stream of events on its way from a remote upstream to a client.
//!
//! Every event passes at once, also while a result that came before it is being captured; [`Resumption`]
//! says with which id, so that a client that comes back misses nothing.
//!
//! All of it runs in the task that writes to the client, but for the chain: an event wakes up nobody
//! else on its way.

use std::{io, sync::Arc, task::Poll};

use bytes::Bytes;
use forebay_wire::{
    Kind,
    reply::{self as wire_reply, CONNECTION_CLOSED},
    sse::{self, Events, Fields, Token},
};
use futures_util::{
    Stream, StreamExt,
    stream::{self, FuturesUnordered},
};
use tokio::{
    sync::{mpsc, mpsc::error::TryRecvError, watch},
    task::JoinHandle,
};

use super::{
    super::{context::nobody, reply},
    Conversation,
    resumption::Resumption,
};
use crate::{
    body::{Body, Hold, Message, Source},
    events, limits,
    relay::{Consultation, UpstreamOnward},
    streamable::look::look,
    upstream::remote::BrokenBody,
};

/// Passes events on.
pub(super) struct EventPump {
    conversation: Conversation,
    out: mpsc::Sender<io::Result<Bytes>>,
    /// Events of which the chain has something to decide.
    delayed: FuturesUnordered<JoinHandle<(Fields, Message)>>,
    resumption: Resumption,
    /// All is said; if it is dropped before, the client is gone.
    is_over: bool,
}

/// Nothing more is passed on.
struct Gone;

/// An event that is arriving.
enum Arriving<'a> {
    Held(Hold<'a>),
    /// It could not be held, and is passed on unread.
    Passed,
}

impl Arriving<'_> {
    fn is_held(&self) -> bool {
        matches!(self, Self::Held(_))
    }
}

impl EventPump {
    /// Starts to pass on what comes, after what we have answered ourselves.
    pub(super) fn start(
        conversation: Conversation,
        pieces: impl Stream<Item = Result<Bytes, BrokenBody>> + Send + Unpin + 'static,
        answered: Vec<Message>,
    ) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
        let (out, mut frames) = mpsc::channel(limits::PIECES_OF_EVENTS);
        let delayed = FuturesUnordered::new();
        let pump =
            Self { conversation, out, delayed, resumption: Resumption::default(), is_over: false };
        // When the client is gone, so is the connection to the upstream, which draws its own
        // conclusions from it.
        let mut run = Some(Box::pin(pump.run(pieces, answered)));
        stream::poll_fn(move |context| {
            if let Ok(frame) = frames.try_recv() {
                return Poll::Ready(Some(frame));
            }
            if let Some(running) = &mut run
                && running.as_mut().poll(context).is_ready()
            {
                run = None;
            }
            match frames.try_recv() {
                Ok(frame) => Poll::Ready(Some(frame)),
                Err(TryRecvError::Disconnected) => Poll::Ready(None),
                // Whatever it waits for wakes up this task.
                Err(TryRecvError::Empty) => Poll::Pending,
            }
        })
    }

    async fn run(
        mut self,
        mut pieces: impl Stream<Item = Result<Bytes, BrokenBody>> + Send + Unpin + 'static,
        answered: Vec<Message>,
    ) {
        let Ok(how) = self.pump(&mut pieces, answered).await else { return };
        // Nothing more comes; what was held up still goes out.
        while let Some(decided) = self.delayed.next().await {
            self.resumption.release();
            let Ok((fields, message)) = decided else { continue };
            if self.say(fields, message).await.is_err() {
                return;
            }
        }
        self.is_over = self.answer_the_rest(&how).await.is_ok();
    }

    /// Passes events on until the upstream ends the stream; returns how it did.
    async fn pump(
        &mut self,
        pieces: &mut (impl Stream<Item = Result<Bytes, BrokenBody>> + Send + Unpin),
        answered: Vec<Message>,
    ) -> Result<String, Gone> {
        for message in answered {
            self.say(Fields::default(), message).await?;
        }
        let context = self.conversation.context.clone();
        let mut events = Events::default();
        let mut arriving = Arriving::Held(Hold::new(&context.spool));
        loop {
            let piece = tokio::select! {
                piece = pieces.next() => piece,
                // Not in the middle of an event.
                Some(decided) = self.delayed.next(), if arriving.is_held() => {
                    self.resumption.release();
                    if let Ok((fields, message)) = decided {
                        self.say(fields, message).await?;
                    }
                    continue;
                }
                // A result that is being captured has come, and is still said.
                () = context.closing.cancelled(),
                    if self.delayed.is_empty() && !self.conversation.is_awaited() =>
                {
                    return Err(Gone);
                }
            };
            let piece = match piece {
                Some(Ok(piece)) => piece,
                Some(Err(error)) => return Ok(format!("broke off its stream: {error}")),
                None => return Ok("ended its stream without an answer".to_owned()),
            };
            let mut rest = &piece[..];
            while let Some(token) = events.next(&mut rest) {
                match token {
                    Token::Data(data) => self.take_data(&mut arriving, data).await?,
                    Token::Comment if arriving.is_held() => {
                        self.send(Bytes::from_static(b":\n\n")).await?;
                    }
                    Token::Comment => {}
                    Token::End(fields) => {
                        let next = Arriving::Held(Hold::new(&context.spool));
                        match std::mem::replace(&mut arriving, next) {
                            Arriving::Held(hold) => self.take_event(fields, hold.finish()).await?,
                            Arriving::Passed => {
                                let mut end = b"\n".to_vec();
                                sse::write_fields(&fields, &mut end);
                                end.push(b'\n');
                                self.send(Bytes::from(end)).await?;
                            }
                        }
                    }
                }
            }
        }
    }

    async fn take_data(&self, arriving: &mut Arriving<'_>, data: &[u8]) -> Result<(), Gone> {
        let Arriving::Held(hold) = arriving else {
            let mut part = Vec::with_capacity(data.len());
            sse::write_data(data, &mut part);
            return self.send(Bytes::from(part)).await;
        };
        let Err(error) = hold.push(data) else { return Ok(()) };
        events::line_cannot_be_held(&error);
        let Arriving::Held(hold) = std::mem::replace(arriving, Arriving::Passed) else {
            return Ok(());
        };
        self.send(Bytes::from_static(b"data: ")).await?;
        let beginning = Message::whole(Arc::new(hold.finish())).pieces();
        for piece in beginning.chain([Ok(data.to_vec())]) {
            let mut part = Vec::new();
            sse::write_data(&piece.map_err(|_| Gone)?, &mut part);
            self.send(Bytes::from(part)).await?;
        }
        Ok(())
    }

    /// Decides what becomes of an event.
    async fn take_event(&mut self, fields: Fields, body: Body) -> Result<(), Gone> {
        self.resumption.came(&fields);
        if body.bytes() == 0 {
            let fields = self.resumption.safe(fields);
            return self.send(reply::bare_event(&fields)).await;
        }
        let (said, body) = self.said_before(&fields, body).await;
        if let Some(said) = said {
            return self.say(fields, Message::of(vec![said.to_vec().into()])).await;
        }
        let relay = self.conversation.relay.clone();
        let (onward, body) = look(body, move |body| relay.upstream_line(Source::Held(body))).await;
        match onward {
            UpstreamOnward::Consult(consultation) => self.consult(fields, consultation, body).await,
            // Hooks have connections of their own.
            UpstreamOnward::Pass | UpstreamOnward::Inner(_) => {
                self.say(fields, Message::whole(Arc::new(body))).await
            }
        }
    }

    /// What has been said in place of this event, if it has come before: what it answers has then
    /// been answered, and nobody waits for it.
    async fn said_before(&self, fields: &Fields, body: Body) -> (Option<Bytes>, Body) {
        let session = self.conversation.session.as_ref();
        let replacement = session.zip(fields.id.as_ref()).and_then(|(it, id)| it.replacement(id));
        let Some(mut replacement) = replacement else { return (None, body) };
        let (line, body) = look(body, Body::line).await;
        let is_awaited = line.messages().iter().any(|envelope| match envelope.kind() {
            Kind::Response { id } => self.conversation.relay.session().pending().awaits(id),
            _ => false,
        });
        if is_awaited {
            // An upstream that numbers its streams alike.
            return (None, body);
        }
        let said = replacement.wait_for(Option::is_some).await;
        let said = said.ok().and_then(|said| said.clone());
        (said.filter(|said| !said.is_empty()), body)
    }

    async fn consult(
        &mut self,
        fields: Fields,
        consultation: Consultation,
        body: Body,
    ) -> Result<(), Gone> {
        let keeps_its_place = consultation.keeps_its_place();
        let session = self.conversation.session.as_ref();
        let remembered = session.zip(fields.id.clone()).map(|(session, id)| session.replaces(id));
        // Also if the client is gone meanwhile: it may come back for this very event.
        let work = tokio::spawn({
            let Conversation { context, relay, .. } = self.conversation.clone();
            let body = Arc::new(body);
            async move {
                let message = context.revise(&relay, consultation, body, nobody()).await;
                if let Some(remembered) = remembered {
                    remember(&remembered, &message);
                }
                (fields, message)
            }
        });
        if keeps_its_place {
            let (fields, message) = work.await.map_err(|_| Gone)?;
            return self.say(fields, message).await;
        }
        self.resumption.hold();
        self.delayed.push(work);
        Ok(())
    }

    async fn say(&self, fields: Fields, message: Message) -> Result<(), Gone> {
        let fields = self.resumption.safe(fields);
        for piece in reply::event(&fields, message) {
            self.out.send(piece).await.map_err(|_| Gone)?;
        }
        Ok(())
    }

    async fn send(&self, piece: Bytes) -> Result<(), Gone> {
        self.out.send(Ok(piece)).await.map_err(|_| Gone)
    }

    /// The stream is over. If it cannot be resumed, whoever still waits is told so.
    async fn answer_the_rest(&self, how: &str) -> Result<(), Gone> {
        let Conversation { context, relay, asked, .. } = &self.conversation;
        if self.resumption.is_possible() {
            return Ok(());
        }
        let why = format!("upstream `{}` {how}", context.upstream());
        for id in asked.iter() {
            let is_left = relay.session().pending_mut().forget(id);
            if is_left {
                let error = wire_reply::error(Some(id), CONNECTION_CLOSED, &why);
                self.say(Fields::default(), Message::of(vec![error.into()])).await?;
            }
        }
        Ok(())
    }
}

impl Drop for EventPump {
    fn drop(&mut self) {
        if !self.is_over && !self.resumption.is_possible() {
            // The client cannot come back for the rest.
            let Conversation { relay, asked, .. } = &self.conversation;
            relay.forget(asked);
        }
    }
}

/// Remembers what is said in place of an event; empty, if it is said as it came.
fn remember(remembered: &watch::Sender<Option<Bytes>>, message: &Message) {
    let is_short = message.bytes() <= limits::REPLACEMENT_BYTES;
    let said = is_short.then(|| message.clone().into_bytes().ok()).flatten();
    remembered.send_replace(Some(Bytes::from(said.unwrap_or_default())));
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, mpsc as std_mpsc};

    use forebay_wire::Id;
    use futures_util::FutureExt;

    use super::*;
    use crate::{
        body::Spool,
        chain::{Deadlines, Verdict},
        client::http::{context::EndpointContext, passing::sessions::Noted},
        relay::ClientOnward,
        testing::{self, Hooks},
    };

    /// A stream in which a result is captured when the sender says so.
    fn conversation() -> (Conversation, std_mpsc::Sender<()>) {
        let (release, released) = std_mpsc::channel();
        let released = Mutex::new(released);
        let hooks = Hooks {
            result: Some(Box::new(move |_, _| {
                released.lock().unwrap().recv()?;
                Ok(Verdict::Replace(br#""kept""#.to_vec()))
            })),
            ..Hooks::default()
        };
        let spool = Spool::of_memory(1 << 20);
        let relay = testing::relay(vec![Arc::new(hooks)], Deadlines::default());
        let context = Arc::new(EndpointContext::new(relay, spool));
        let relay = context.session();
        let call = br#"{"id":1,"method":"tools/call","params":{"name":"records"}}"#;
        assert!(matches!(relay.client_line(Source::Line(call)), ClientOnward::Pass));
        let session = Some(Noted::new("s", relay.clone()));
        let asked = Arc::from([Id::parse(b"1").unwrap()]);
        (Conversation { context, relay, session, asked }, release)
    }

    #[expect(clippy::unnecessary_wraps, reason = "it is what a response's body yields")]
    fn event(id: u32, data: &str) -> Result<Bytes, BrokenBody> {
        Ok(Bytes::from(format!("id: {id}\ndata: {data}\n\n")))
    }

    #[tokio::test]
    async fn events_pass_at_once_while_a_result_is_being_captured() {
        let (conversation, release) = conversation();
        let (feed, mut arriving) = mpsc::unbounded_channel();
        let pieces = stream::poll_fn(move |context| arriving.poll_recv(context));
        let mut frames = EventPump::start(conversation.clone(), pieces, Vec::new());
        let mut next = async || {
            let frame = frames.next().await.unwrap().unwrap();
            String::from_utf8(frame.to_vec()).unwrap()
        };
        feed.send(event(5, r#"{"method":"before"}"#)).unwrap();
        feed.send(event(6, r#"{"id":1,"result":{"large":1}}"#)).unwrap();
        feed.send(event(7, r#"{"method":"after"}"#)).unwrap();
        assert_eq!(next().await, "id: 5\ndata: {\"method\":\"before\"}\n\n");
        // A client that resumes after 5 still gets the result.
        assert_eq!(next().await, "data: {\"method\":\"after\"}\n\n");
        release.send(()).unwrap();
        let kept = "data: {\"id\":1,\"result\":\"kept\"}\n\n";
        assert_eq!(next().await, format!("id: 7\n{kept}"));

        feed.send(event(6, r#"{"id":1,"result":{"large":1}}"#)).unwrap();
        assert_eq!(next().await, format!("id: 6\n{kept}"), "replayed, it is told the same");
    }

    #[tokio::test]
    async fn a_result_that_is_being_captured_is_said_although_all_is_about_to_end() {
        let (conversation, release) = conversation();
        let (feed, mut arriving) = mpsc::unbounded_channel();
        let pieces = stream::poll_fn(move |context| arriving.poll_recv(context));
        let mut frames = EventPump::start(conversation.clone(), pieces, Vec::new());
        feed.send(event(6, r#"{"id":1,"result":{"large":1}}"#)).unwrap();
        feed.send(event(7, r#"{"method":"after"}"#)).unwrap();
        assert_eq!(frames.next().await.unwrap().unwrap(), "data: {\"method\":\"after\"}\n\n");
        conversation.context.closing.cancel();
        assert!(frames.next().now_or_never().is_none(), "it is waited for");
        release.send(()).unwrap();
        let told = frames.next().await.unwrap().unwrap();
        assert_eq!(told, "id: 7\ndata: {\"id\":1,\"result\":\"kept\"}\n\n");
        assert!(frames.next().await.is_none(), "then there is nothing to wait for");
    }

    #[tokio::test]
    async fn an_upstream_that_numbers_its_streams_alike_confuses_nobody() {
        let (conversation, release) = conversation();
        release.send(()).unwrap();
        let first = [event(1, r#"{"id":1,"result":{"large":1}}"#)];
        let frames = EventPump::start(conversation.clone(), stream::iter(first), Vec::new());
        assert_eq!(frames.count().await, 1);

        let call = br#"{"id":2,"method":"tools/call","params":{"name":"records"}}"#;
        assert!(matches!(conversation.relay.client_line(Source::Line(call)), ClientOnward::Pass));
        release.send(()).unwrap();
        let second = [event(1, r#"{"id":2,"result":{"large":2}}"#)];
        let mut frames = EventPump::start(conversation, stream::iter(second), Vec::new());
        let told = frames.next().await.unwrap().unwrap();
        assert_eq!(told, "id: 1\ndata: {\"id\":2,\"result\":\"kept\"}\n\n");
    }
}
