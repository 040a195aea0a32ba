//! What is said to a client, one thing after the other, as a stream of events.

use std::{io, time::Duration};

use bytes::Bytes;
use forebay_wire::sse::Fields;
use futures_util::{Stream, StreamExt, stream};
use tokio::time;

use super::reply::{self, EventPieces};
use crate::body::Message;

/// How often a stream says that it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Something that is said.
pub(super) enum Said {
    Message(Fields, Message),
    /// An event without data, which says where to come back to.
    Place(Fields),
}

impl From<Message> for Said {
    fn from(message: Message) -> Self {
        Self::Message(Fields::default(), message)
    }
}

/// The bytes of a stream in which all of `said` is said, each as soon as it comes.
pub(super) fn event_stream(
    said: impl Stream<Item = Said> + Send + 'static,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let telling = Telling { said: Box::pin(said), pieces: None };
    stream::unfold(telling, |mut telling| async move { Some((telling.next().await?, telling)) })
}

struct Telling<S> {
    said: std::pin::Pin<Box<S>>,
    /// What is being said.
    pieces: Option<EventPieces>,
}

impl<S: Stream<Item = Said>> Telling<S> {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            if let Some(piece) = self.pieces.as_mut().and_then(Iterator::next) {
                return Some(piece);
            }
            match time::timeout(KEEP_ALIVE, self.said.next()).await {
                Ok(Some(Said::Message(fields, message))) => {
                    self.pieces = Some(reply::event(&fields, message));
                }
                Ok(Some(Said::Place(fields))) => return Some(Ok(reply::bare_event(&fields))),
                Ok(None) => return None,
                Err(_) => return Some(Ok(Bytes::from_static(b":\n\n"))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_says_nothing_for_long_is_still_there() {
        let message = |text: &str| Message::of(vec![text.as_bytes().to_vec().into()]);
        let said = stream::unfold(0, move |number| async move {
            match number {
                0 => Some((Said::from(message("{}")), 1)),
                1 => {
                    time::sleep(2 * KEEP_ALIVE + KEEP_ALIVE / 2).await;
                    Some((
                        Said::Place(Fields {
                            id: Some("1-2".to_owned()),
                            has_data: true,
                            ..Fields::default()
                        }),
                        2,
                    ))
                }
                _ => None,
            }
        });
        let all: Vec<Bytes> = event_stream(said).map(Result::unwrap).collect().await;
        let all = String::from_utf8(all.concat()).unwrap();
        let places: Vec<_> =
            [": \n", ":\n\n", "{}", "1-2"].map(|part| all.matches(part).count()).into();
        assert_eq!(places[1..], [2, 1, 1], "{all}");
        assert!(all.find("{}") < all.find(":\n\n") && all.find(":\n\n") < all.find("1-2"), "{all}");
    }
}
