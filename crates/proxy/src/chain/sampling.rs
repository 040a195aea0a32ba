//! Questions that a hook puts to the client's own model: `sampling/createMessage`, as the legacy era has it.
//!
//! The client gets such a request under an id of ours, besides those of the upstream, and what it answers to
//! it goes to whoever asked and not to the upstream. Only a client that has a session, and has said in its
//! handshake that it offers sampling, is asked.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc,
    },
    time::Duration,
};

use forebay_wire::{Envelope, Id, Kind, reply};
use parking_lot::Mutex;
use serde_json::Value;
use thiserror::Error;

use super::to_client::ToClient;
use crate::{body::Source, protocol::methods};

/// A longer answer is none that a model has given.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// The way to the client's own model.
#[derive(Clone)]
pub struct Sampling {
    questions: Arc<Questions>,
    client: Arc<dyn ToClient>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SamplingFailure {
    /// None has come in time.
    #[error("the client did not answer in time")]
    Late,
    /// The client does not want to, or cannot.
    #[error("the client refused: {0}")]
    Refused(String),
    /// The client is gone.
    #[error("the client is gone")]
    Gone,
}

impl Sampling {
    pub(crate) fn new(questions: Arc<Questions>, client: Arc<dyn ToClient>) -> Self {
        Self { questions, client }
    }

    /// Asks with these `params`, as JSON on one line, and waits for the `result`. The question may outlive
    /// the hook; once nobody waits for it any more, the client is told so.
    pub fn ask(&self, params: &str, patience: Duration) -> Result<Vec<u8>, SamplingFailure> {
        let (id, answer) = self.questions.expect().ok_or(SamplingFailure::Gone)?;
        let request = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"sampling/createMessage\",\"params\":{params}}}\n",
            id.as_json()
        );
        self.client.tell(request.as_bytes());
        match answer.recv_timeout(patience) {
            Ok(answer) => answer,
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(SamplingFailure::Gone),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                self.questions.withdraw(&id);
                self.client.tell(&reply::cancelled(&id, "nobody waits for it"));
                Err(SamplingFailure::Late)
            }
        }
    }
}

impl fmt::Debug for Sampling {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Sampling").field(&self.questions).finish()
    }
}

type Answer = Result<Vec<u8>, SamplingFailure>;

/// The questions of ours that the client of a session has not answered.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    waiting: Mutex<HashMap<Id, mpsc::SyncSender<Answer>>>,
    /// Looked at for every message of the client's, and nearly always 0.
    count: AtomicUsize,
}

impl Questions {
    /// Expects the answer to a question, under a new id.
    fn expect(&self) -> Option<(Id, mpsc::Receiver<Answer>)> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let text = format!("forebay-question-{}-{number}", std::process::id());
        let id = Id::parse(Value::from(text).to_string().as_bytes())?;
        let (deliver, delivered) = mpsc::sync_channel(1);
        let mut waiting = self.waiting.lock();
        waiting.insert(id.clone(), deliver);
        self.count.store(waiting.len(), Ordering::Release);
        Some((id, delivered))
    }

    /// Takes a message of the client's if it answers a question; `false` if it is for the upstream.
    pub(crate) fn take(&self, envelope: &Envelope, source: Source<'_>) -> bool {
        if self.count.load(Ordering::Acquire) == 0 {
            return false;
        }
        let Kind::Response { id } = envelope.kind() else { return false };
        let Some(deliver) = self.withdraw(id) else { return false };
        // Whoever asked may have given up just now.
        let _ = deliver.try_send(answer(envelope, source));
        true
    }

    /// The client is gone, and answers none of them.
    pub(crate) fn abandon(&self) {
        self.waiting.lock().clear();
        self.count.store(0, Ordering::Release);
    }

    fn withdraw(&self, id: &Id) -> Option<mpsc::SyncSender<Answer>> {
        let mut waiting = self.waiting.lock();
        let deliver = waiting.remove(id);
        self.count.store(waiting.len(), Ordering::Release);
        deliver
    }
}

/// What the client says to a question.
fn answer(envelope: &Envelope, source: Source<'_>) -> Answer {
    let refused = |why: &str| Err(SamplingFailure::Refused(why.to_owned()));
    if let Some(error) = &envelope.error {
        let [message] = source.members(error, ["message"]);
        let message = message.and_then(|it| methods::text(it.scalar));
        return refused(message.as_deref().unwrap_or("an error without a message"));
    }
    match &envelope.result {
        Some(span) if span.end - span.start > MAX_ANSWER_BYTES => refused("its answer is too long"),
        Some(span) => match source.slice(span) {
            Some(result) => Ok(result.to_vec()),
            None => refused("its answer cannot be read"),
        },
        None => refused("its answer is empty"),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use forebay_wire::Line;

    use super::*;

    /// A client that answers each question with what `answer` makes of its id.
    fn client(
        questions: &Arc<Questions>,
        answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Sampling {
        let theirs = questions.clone();
        let tell = move |line: &[u8]| {
            let asked: Value = serde_json::from_slice(line).unwrap();
            if asked["method"] != "sampling/createMessage" {
                assert_eq!(asked["method"], "notifications/cancelled");
                return;
            }
            let Some(said) = answer(&asked["id"].to_string()) else { return };
            let theirs = theirs.clone();
            thread::spawn(move || {
                let source = Source::Line(said.as_bytes());
                let Line::Message(envelope) = source.line() else { panic!("one message") };
                assert!(theirs.take(&envelope, source));
                assert!(!theirs.take(&envelope, source), "it is answered once");
            });
        };
        Sampling::new(questions.clone(), Arc::new(tell))
    }

    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn what_the_client_answers_goes_to_whoever_asked() {
        let questions: Arc<Questions> = Arc::default();
        let answer =
            |id: &str| Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":1}}}}"#));
        let said = client(&questions, answer).ask("{}", PATIENCE).unwrap();
        assert_eq!(said, br#"{"a":1}"#);
        let refusal = |id: &str| {
            Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-1,"message":"no"}}}}"#))
        };
        let refused = client(&questions, refusal).ask("{}", PATIENCE).unwrap_err();
        assert_eq!(refused, SamplingFailure::Refused("no".to_owned()));
    }

    #[test]
    fn a_client_that_does_not_answer_is_late_and_one_that_leaves_is_gone() {
        let questions: Arc<Questions> = Arc::default();
        let silent = client(&questions, |_| None);
        assert_eq!(silent.ask("{}", Duration::ZERO), Err(SamplingFailure::Late));
        assert_eq!(questions.count.load(Ordering::Acquire), 0, "nobody waits for it any more");
        let asking = thread::spawn(move || silent.ask("{}", PATIENCE));
        while questions.count.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        questions.abandon();
        assert_eq!(asking.join().unwrap(), Err(SamplingFailure::Gone));
    }

    #[test]
    fn what_answers_no_question_of_ours_is_the_upstreams() {
        let questions = Questions::default();
        let _answer = questions.expect().unwrap();
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"forebay-question-1-0","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        ] {
            let source = Source::Line(line.as_bytes());
            let Line::Message(envelope) = source.line() else { panic!("one message") };
            assert!(!questions.take(&envelope, source), "{line}");
        }
    }
}
