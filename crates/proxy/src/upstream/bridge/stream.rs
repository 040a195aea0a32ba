//! Streams of events: those that answer a request, resumed if they break off, and the one that a
//! legacy upstream speaks on by itself.

use std::time::Duration;

use forebay_wire::{
    Id,
    sse::{Events, Fields, Token},
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header::ACCEPT};
use tokio::time::{sleep, timeout};

use super::{Bridge, failure::Failure, posting::Posting};
use crate::{
    body::{Body, Hold},
    events,
    streamable::{
        headers::{LAST_EVENT_ID, has_type},
        look::look,
    },
    upstream::{RemoteError, remote::Response},
};

/// How long a stream whose request has been answered may take to end, after which its connection
/// is given up instead of being used again.
const AFTERWORD: Duration = Duration::from_secs(1);
/// When a stream that broke off is resumed, unless the upstream says otherwise.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How many times in a row a stream is resumed without anything coming of it.
const MAX_FAILURES: u32 = 5;

/// What is known of a stream while it is read, over all of its connections.
#[derive(Debug, Default)]
pub(super) struct Reception<'a> {
    /// What it answers; `None` if it is the upstream's own.
    pub(super) origin: Option<&'a Posting>,
    /// The requests that it has not answered yet.
    pub(super) left: Vec<Id>,
    last_event: Option<HeaderValue>,
    retry: Option<Duration>,
    /// Connections in a row on which nothing came.
    failures: u32,
}

impl<'a> Reception<'a> {
    pub(super) fn of(posting: &'a Posting) -> Self {
        Self { origin: Some(posting), left: posting.requests.clone(), ..Self::default() }
    }

    fn is_answered(&self) -> bool {
        self.origin.is_some() && self.left.is_empty()
    }

    /// True if there is a place to resume it from, and hope.
    fn can_be_resumed(&self) -> bool {
        self.last_event.is_some()
            && self.failures <= MAX_FAILURES
            && self.origin.is_some_and(|posting| !posting.is_modern)
    }

    fn note(&mut self, fields: &Fields) {
        if let Some(id) = &fields.id {
            // An empty one takes back what was said before.
            self.last_event =
                HeaderValue::from_bytes(id.as_bytes()).ok().filter(|id| !id.is_empty());
        }
        if let Some(milliseconds) = fields.retry {
            self.retry = Some(Duration::from_millis(milliseconds));
        }
    }

    /// How long to wait before connecting again: what the upstream says, and longer each time that
    /// nothing comes of it.
    fn pause(&self) -> Duration {
        let base = self.retry.unwrap_or(FIRST_PAUSE);
        let longer = base.saturating_mul(1 << self.failures.saturating_sub(1).min(10));
        longer.min(LONGEST_PAUSE.max(base)).max(SHORTEST_PAUSE)
    }
}

impl Bridge {
    /// Reads a stream that answers a request to its end, over as many connections as that takes.
    pub(super) async fn follow(
        &self,
        mut response: Response,
        reception: &mut Reception<'_>,
    ) -> Result<(), Failure> {
        loop {
            let mut why = match self.read(response, reception).await {
                Ok(()) => "the upstream closed it".to_owned(),
                Err(failure) => failure.to_string(),
            };
            response = loop {
                if !self.is_awaited(reception) {
                    return Ok(());
                }
                reception.failures += 1;
                if !reception.can_be_resumed() {
                    return Err(Failure::broken_off(&self.remote, why));
                }
                sleep(reception.pause()).await;
                match self.open(reception).await {
                    Ok(response) if is_event_stream(&response) => break response,
                    Ok(response) if is_passing(response.status()) => {
                        why = format!("resuming it was answered with {}", response.status());
                    }
                    Ok(response) => {
                        let status = response.status();
                        let why = format!("{why}, and resuming it was answered with {status}");
                        return Err(Failure::broken_off(&self.remote, why));
                    }
                    Err(error) => why = error.to_string(),
                }
            };
        }
    }

    /// Listens to what a legacy upstream says by itself, in each session that it opens.
    pub(super) async fn listen_apart(&self) {
        let mut readiness = self.legacy.readiness();
        while readiness.changed().await.is_ok() {
            while tokio::select! {
                () = self.listen_in_session() => false,
                // Another session has taken its place.
                is_next = readiness.changed() => is_next.is_ok(),
            } {}
        }
    }

    /// Returns when the upstream has nothing to say by itself.
    async fn listen_in_session(&self) {
        let mut reception = Reception::default();
        loop {
            let is_resumed = reception.last_event.is_some();
            reception.failures += 1;
            match self.open(&reception).await {
                Ok(response) if is_event_stream(&response) => {
                    let _ = self.read(response, &mut reception).await;
                }
                Ok(response) if is_passing(response.status()) => {}
                Ok(_) if is_resumed => {}
                Ok(_) => return,
                Err(error) => events::upstream_not_heard(self.remote.name(), &error.to_string()),
            }
            if is_resumed && reception.failures > 0 {
                // Nothing came of resuming it, so it is begun anew.
                reception.last_event = None;
            }
            sleep(reception.pause()).await;
        }
    }

    /// Opens a stream, or resumes one where it broke off.
    async fn open(&self, reception: &Reception<'_>) -> Result<Response, RemoteError> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        self.legacy.add_headers(&mut headers);
        if let Some(id) = &reception.last_event {
            headers.insert(LAST_EVENT_ID, id.clone());
        }
        self.remote.send(Method::GET, headers, None).await
    }

    /// Reads one connection's events to their end, and passes their messages on.
    async fn read(
        &self,
        mut response: Response,
        reception: &mut Reception<'_>,
    ) -> Result<(), Failure> {
        let mut stream = Events::default();
        let mut hold = Hold::new(&self.spool);
        loop {
            let chunk = if reception.is_answered() {
                match timeout(AFTERWORD, response.chunk()).await {
                    Ok(chunk) => chunk,
                    Err(_) => return Ok(()),
                }
            } else {
                response.chunk().await
            };
            let Some(chunk) = chunk.map_err(|error| self.remote.failure(error))? else {
                return Ok(());
            };
            let mut input = &chunk[..];
            while let Some(token) = stream.next(&mut input) {
                reception.failures = 0;
                match token {
                    Token::Data(part) => self.hold(&mut hold, part)?,
                    Token::Comment => {}
                    Token::End(fields) => {
                        let whole = std::mem::replace(&mut hold, Hold::new(&self.spool));
                        let is_message = fields
                            .event
                            .as_deref()
                            .is_none_or(|event| matches!(event, "" | "message"));
                        if is_message {
                            let (line, body) = look(whole.finish(), Body::line).await;
                            self.deliver(&line, body, reception).await;
                        }
                        reception.note(&fields);
                    }
                }
            }
        }
    }
}

pub(super) fn is_event_stream(response: &Response) -> bool {
    response.status().is_success() && has_type(response.headers(), "text/event-stream")
}

/// True if the same may succeed a little later.
fn is_passing(status: StatusCode) -> bool {
    status.is_server_error()
        || matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_follow_the_upstreams_wish_and_grow_while_nothing_comes() {
        let pause = |retry: Option<u64>, failures| {
            let retry = retry.map(Duration::from_millis);
            Reception { retry, failures, ..Reception::default() }.pause().as_millis()
        };
        assert_eq!([pause(None, 1), pause(None, 2), pause(None, 3)], [1_000, 2_000, 4_000]);
        assert_eq!([pause(None, 100), pause(Some(0), 1)], [30_000, 50]);
        assert_eq!([pause(Some(200), 1), pause(Some(90_000), 9)], [200, 90_000]);
    }
}
