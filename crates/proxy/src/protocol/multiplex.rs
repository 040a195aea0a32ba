//! Requests of many clients on one connection: who is meant by what is said there. Without I/O.
//!
//! Every request stands for itself, as in the modern era. On the connection each has an id of our own,
//! which is its progress token, too; what comes back is told apart by it, and gets the client's again.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use forebay_wire::{Envelope, Id, Kind, scan};

use super::methods::{LISTEN, PROGRESS, subscription};
use crate::{body::Source, limits};

const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The requests that are under way on a connection. `W` is whoever waits for one.
#[derive(Debug)]
pub(crate) struct Multiplex<W> {
    /// By the ids that are known there.
    requests: HashMap<Id, Asked<W>>,
    last: u64,
    /// The latest of those that have been answered.
    answered: u64,
    /// The first that could be asked after something was cancelled. Messages are read in order: once it or
    /// a later one is answered, the other end has read of all cancellations.
    first_after_cancel: u64,
    /// Those that asked for log lines, were cancelled, and have not been answered.
    cancelled: HashSet<Id>,
}

/// A request under way.
#[derive(Debug)]
pub(crate) struct Asked<W> {
    /// Which of all requests it is.
    number: u64,
    /// What its client calls it, and its progress.
    id: Id,
    token: Option<Id>,
    wants_log: bool,
    /// It only listens, and asked for no log lines: they are not about it, however long it is open.
    is_silent: bool,
    pub(crate) waiter: W,
}

/// What stands in the place of what, for the other side to understand it.
pub(crate) type Edits = Vec<(Range<u64>, String)>;

/// Whom something concerns that was said on the connection.
#[derive(Debug)]
pub(crate) enum Concerns<'m, W> {
    /// It answers this request, which is over.
    Answer(Asked<W>, Edits),
    /// It is said to whoever waits for this request.
    Remark(&'m Asked<W>, Edits),
    /// It asks something, which nobody may in this era: the refusal.
    Question { id: Id, method: String },
    /// Nobody, or nobody knows whom.
    Nobody,
}

impl<W> Multiplex<W> {
    /// Takes note of a request. Returns its id on the connection, and what is to be changed in it;
    /// `None` if it is none.
    pub(crate) fn ask(
        &mut self,
        envelope: &Envelope,
        source: Source<'_>,
        waiter: W,
    ) -> Option<(Id, Edits)> {
        let id = envelope.request()?;
        let listens = matches!(envelope.kind(), Kind::Request { method: LISTEN, .. });
        let [written] = source.members(&(0..source.bytes()), ["id"]);
        self.last += 1;
        let alias = Id::parse(self.last.to_string().as_bytes())?;
        let mut edits = vec![(written?.span, alias.as_json().to_owned())];
        let [token, log_level] = envelope
            .params
            .as_ref()
            .and_then(|params| {
                let [meta] = source.members(params, ["_meta"]);
                Some(source.members(&meta?.span, ["progressToken", LOG_LEVEL]))
            })
            .unwrap_or_default();
        edits.extend(token.iter().map(|it| (it.span.clone(), alias.as_json().to_owned())));
        let asked = Asked {
            number: self.last,
            id: id.clone(),
            token: token.and_then(|token| Id::parse(&token.scalar?)),
            wants_log: log_level.is_some(),
            is_silent: listens && log_level.is_none(),
            waiter,
        };
        self.requests.insert(alias.clone(), asked);
        Some((alias, edits))
    }

    /// Says whom a message from the other end concerns.
    pub(crate) fn concerns(&mut self, envelope: &Envelope, source: Source<'_>) -> Concerns<'_, W> {
        match envelope.kind() {
            Kind::Response { id } => {
                let Some(asked) = self.requests.remove(id) else {
                    self.answered_late(id);
                    return Concerns::Nobody;
                };
                self.answered = self.answered.max(asked.number);
                let [written] = source.members(&(0..source.bytes()), ["id"]);
                let subscription = subscription(source, envelope.result.as_ref());
                let places = written.into_iter().chain(subscription).map(|it| it.span);
                let edits = places.map(|span| (span, asked.id.as_json().to_owned())).collect();
                Concerns::Answer(asked, edits)
            }
            Kind::Notification { method: PROGRESS } => {
                let token = envelope.params.as_ref().and_then(|params| {
                    let [token] = source.members(params, ["progressToken"]);
                    token
                });
                self.remark(token, |asked| asked.token.as_ref())
            }
            Kind::Notification { method } => {
                let written = subscription(source, envelope.params.as_ref());
                if written.is_some() {
                    return self.remark(written, |asked| Some(&asked.id));
                }
                // It does not say whose it is. With one request under way that can be meant there is
                // no doubt, if none that was cancelled can be; else it could tell one client of another's.
                let is_in_doubt = self.may_speak_of_cancelled();
                let mut open = self.requests.values().filter(|it| !it.is_silent);
                match (open.next(), open.next()) {
                    (Some(sole), None) if sole.wants_log && !is_in_doubt => {
                        Concerns::Remark(sole, Vec::new())
                    }
                    _ => {
                        tracing::debug!(method, "upstream said what concerns no request; dropped");
                        Concerns::Nobody
                    }
                }
            }
            Kind::Request { id, method } => {
                Concerns::Question { id: id.clone(), method: method.to_owned() }
            }
            Kind::Other => Concerns::Nobody,
        }
    }

    /// What is said of the request whose id stands there, which is to be what the client calls `it`.
    fn remark(
        &self,
        written: Option<scan::Value>,
        it: impl Fn(&Asked<W>) -> Option<&Id>,
    ) -> Concerns<'_, W> {
        let found = written.and_then(|written| {
            let asked = self.requests.get(&Id::parse(written.scalar.as_deref()?)?)?;
            let edits = vec![(written.span, it(asked)?.as_json().to_owned())];
            Some(Concerns::Remark(asked, edits))
        });
        found.unwrap_or(Concerns::Nobody)
    }

    /// Nobody waits any more for this request; `false` if it has been answered.
    pub(crate) fn cancel(&mut self, alias: &Id) -> bool {
        let Some(asked) = self.requests.remove(alias) else { return false };
        if asked.is_silent {
            return true;
        }
        self.first_after_cancel = self.last + 1;
        if asked.wants_log && self.cancelled.len() < limits::CANCELLED_REQUESTS {
            self.cancelled.insert(alias.clone());
        }
        true
    }

    /// True if what names no request may have been said of one that was cancelled.
    ///
    /// Log lines carry no request id. The other end has to have read of the cancellation, and that is not
    /// enough if the request asked for log lines: many servers go on with their work all the same, log, and
    /// say nothing when it ends. So nobody is told of such lines until the request is answered after all,
    /// which may be never.
    fn may_speak_of_cancelled(&self) -> bool {
        self.answered < self.first_after_cancel || !self.cancelled.is_empty()
    }

    /// A request has been answered that nobody waits for.
    fn answered_late(&mut self, alias: &Id) {
        // With as many as are remembered, there may be others.
        if self.cancelled.len() < limits::CANCELLED_REQUESTS {
            self.cancelled.remove(alias);
        }
    }

    /// True if this request is under way.
    pub(crate) fn has(&self, alias: &Id) -> bool {
        self.requests.contains_key(alias)
    }

    /// True if no request is under way.
    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// All requests under way, by their ids on the connection.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Id, &W)> {
        self.requests.iter().map(|(alias, asked)| (alias, &asked.waiter))
    }

    /// The connection has ended: all that it left unanswered.
    pub(crate) fn abandon(&mut self) -> Vec<W> {
        self.requests.drain().map(|(_, asked)| asked.waiter).collect()
    }
}

impl<W> Default for Multiplex<W> {
    fn default() -> Self {
        Self {
            requests: HashMap::new(),
            last: 0,
            answered: 0,
            first_after_cancel: 0,
            cancelled: HashSet::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use forebay_wire::Line;

    use super::{super::methods::SUBSCRIPTION_ID, *};

    /// A connection in a script: what clients ask, by their names, and who hears what.
    #[derive(Default)]
    struct Script(Multiplex<&'static str>);

    fn envelope(json: &str) -> Envelope {
        let Line::Message(envelope) = Line::of(json.as_bytes()) else { panic!("{json}") };
        envelope
    }

    /// A message with its edits made, from the end.
    fn edited(json: &str, mut edits: Edits) -> String {
        edits.sort_by_key(|(span, _)| span.start);
        let mut text = json.to_owned();
        for (Range { start, end }, with) in edits.into_iter().rev() {
            let place = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
            text.replace_range(place, &with);
        }
        text
    }

    impl Script {
        /// What the other end gets.
        fn ask(&mut self, client: &'static str, json: &str) -> String {
            let source = Source::Line(json.as_bytes());
            let (_, edits) = self.0.ask(&envelope(json), source, client).unwrap();
            edited(json, edits)
        }

        /// Who hears it, and how it reads to them.
        fn say(&mut self, json: &str) -> Option<(&'static str, String)> {
            match self.0.concerns(&envelope(json), Source::Line(json.as_bytes())) {
                Concerns::Answer(asked, edits) => Some((asked.waiter, edited(json, edits))),
                Concerns::Remark(asked, edits) => Some((asked.waiter, edited(json, edits))),
                Concerns::Question { method, .. } => Some(("nobody", method)),
                Concerns::Nobody => None,
            }
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "it is compared with what may be nothing")]
    fn heard(client: &'static str, json: &str) -> Option<(&'static str, String)> {
        Some((client, json.to_owned()))
    }

    #[test]
    fn two_clients_with_the_same_ids_get_their_own_answers_in_any_order() {
        let mut script = Script::default();
        assert_eq!(script.ask("a", r#"{"id":7,"method":"x"}"#), r#"{"id":1,"method":"x"}"#);
        assert_eq!(script.ask("b", r#"{"id":7,"method":"y"}"#), r#"{"id":2,"method":"y"}"#);
        assert_eq!(script.ask("a", r#"{"method":"z","id":"7"}"#), r#"{"method":"z","id":3}"#);
        let told = r#"{"id":7,"result":{}}"#;
        assert_eq!(script.say(r#"{"id":2,"result":{}}"#), heard("b", told), "overtaken");
        assert_eq!(script.say(r#"{"result":{},"id":3}"#), heard("a", r#"{"result":{},"id":"7"}"#));
        let error = r#"{"id":1,"error":{"code":1,"message":"no"}}"#;
        assert_eq!(script.say(error), heard("a", &error.replace(":1,\"e", ":7,\"e")));
        assert_eq!(script.say(r#"{"id":1,"result":{}}"#), None, "an answer comes once");
        assert!(script.0.is_empty());
    }

    #[test]
    fn progress_goes_to_whoever_waits_for_it_under_the_token_that_it_gave() {
        let mut script = Script::default();
        let call = r#"{"id":1,"method":"tools/call","params":{"_meta":{"progressToken":"t"}}}"#;
        let sent = call.replace("\"t\"", "1");
        assert_eq!(script.ask("a", call), sent);
        assert_eq!(script.ask("b", call), sent.replace('1', "2"));
        let said = |token: &str| {
            format!(
                r#"{{"method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
            )
        };
        assert_eq!(script.say(&said("2")), heard("b", &said("\"t\"")));
        assert_eq!(script.say(&said("1")), heard("a", &said("\"t\"")));
        assert_eq!(script.say(&said("\"t\"")), None, "a client's own token means nothing there");
        script.say(r#"{"id":2,"result":{}}"#);
        assert_eq!(script.say(&said("2")), None, "nor does one whose request is over");
        script.ask("c", r#"{"id":1,"method":"x"}"#);
        assert_eq!(script.say(&said("3")), None, "who gave none hears nothing");
    }

    #[test]
    fn a_subscription_is_known_by_the_clients_id_until_it_ends() {
        let mut script = Script::default();
        script.ask("a", r#"{"id":"s","method":"subscriptions/listen"}"#);
        script.ask("b", r#"{"id":"s","method":"subscriptions/listen"}"#);
        let changed = |id: &str| {
            format!(
                r#"{{"method":"notifications/tools/list_changed","params":{{"_meta":{{"{SUBSCRIPTION_ID}":{id}}}}}}}"#
            )
        };
        assert_eq!(script.say(&changed("2")), heard("b", &changed("\"s\"")));
        let end = |outer: &str, inner: &str| {
            format!(r#"{{"id":{outer},"result":{{"_meta":{{"{SUBSCRIPTION_ID}":{inner}}}}}}}"#)
        };
        assert_eq!(script.say(&end("2", "2")), heard("b", &end("\"s\"", "\"s\"")));
        assert_eq!(script.say(&changed("2")), None);
        assert_eq!(script.say(&changed("1")), heard("a", &changed("\"s\"")));
    }

    #[test]
    fn a_log_is_told_only_where_there_is_no_doubt_whose_it_is() {
        let mut script = Script::default();
        let call = format!(
            r#"{{"id":1,"method":"tools/call","params":{{"_meta":{{"{LOG_LEVEL}":"info"}}}}}}"#
        );
        let log = r#"{"method":"notifications/message","params":{"data":"secret of a"}}"#;
        assert_eq!(script.say(log), None);
        script.ask("a", &call);
        assert_eq!(script.say(log), heard("a", log));
        script.ask("b", &call);
        assert_eq!(script.say(log), None, "of two it may be either's");
        script.say(r#"{"id":1,"result":{}}"#);
        assert_eq!(script.say(log), heard("b", log));
        script.say(r#"{"id":2,"result":{}}"#);
        script.ask("c", r#"{"id":1,"method":"tools/call"}"#);
        assert_eq!(script.say(log), None, "who has not asked for it is not told");
    }

    #[test]
    fn who_only_listens_keeps_no_log_from_others() {
        let mut script = Script::default();
        let loud = |method: &str| {
            format!(
                r#"{{"id":1,"method":"{method}","params":{{"_meta":{{"{LOG_LEVEL}":"info"}}}}}}"#
            )
        };
        let log = r#"{"method":"notifications/message","params":{"data":"secret of a"}}"#;
        script.ask("l", r#"{"id":"s","method":"subscriptions/listen"}"#);
        assert_eq!(script.say(log), None, "who listens is not told either");
        script.ask("a", &loud("tools/call"));
        assert_eq!(script.say(log), heard("a", log));
        assert!(script.0.cancel(&Id::parse(b"1").unwrap()));
        assert_eq!(script.say(log), heard("a", log), "nor does one that has ended");
        script.ask("m", &loud("subscriptions/listen"));
        assert_eq!(script.say(log), None, "unless it asked for them");
    }

    #[test]
    fn nobody_is_told_a_log_that_may_be_of_a_cancelled_request() {
        let mut script = Script::default();
        let quiet = r#"{"id":1,"method":"tools/call"}"#;
        let loud = format!(
            r#"{{"id":1,"method":"tools/call","params":{{"_meta":{{"{LOG_LEVEL}":"info"}}}}}}"#
        );
        let log = r#"{"method":"notifications/message","params":{"data":"secret of a"}}"#;
        let [one, four] = [&b"1"[..], b"4"].map(|json| Id::parse(json).unwrap());
        script.ask("a", quiet);
        script.ask("b", &loud);
        assert!(script.0.cancel(&one) && !script.0.cancel(&one));
        assert_eq!(script.say(log), None, "who waited beside it");
        script.say(r#"{"id":2,"result":{}}"#);
        script.ask("c", &loud);
        assert_eq!(script.say(log), None, "the cancellation may not have been read");
        script.say(r#"{"id":3,"result":{}}"#);
        script.ask("d", &loud);
        assert_eq!(script.say(log), heard("d", log), "it has, and nothing was to be logged");

        assert!(script.0.cancel(&four));
        for (client, answer) in [("e", r#"{"id":5,"result":{}}"#), ("f", r#"{"id":6,"result":{}}"#)]
        {
            script.ask(client, &loud);
            assert_eq!(script.say(log), None, "it may be logged for as long as it is not answered");
            script.say(answer);
        }
        assert_eq!(script.say(r#"{"id":4,"error":{}}"#), None);
        script.ask("g", &loud);
        assert_eq!(script.say(log), heard("g", log));
    }

    #[test]
    fn more_cancelled_requests_than_are_remembered_are_not_taken_for_answered() {
        let mut script = Script::default();
        let loud = format!(
            r#"{{"id":1,"method":"tools/call","params":{{"_meta":{{"{LOG_LEVEL}":"info"}}}}}}"#
        );
        let aliases: Vec<String> =
            (1..=limits::CANCELLED_REQUESTS + 1).map(|it| it.to_string()).collect();
        for alias in &aliases {
            script.ask("a", &loud);
            assert!(script.0.cancel(&Id::parse(alias.as_bytes()).unwrap()));
        }
        for alias in &aliases[..limits::CANCELLED_REQUESTS] {
            assert_eq!(script.say(&format!(r#"{{"id":{alias},"result":{{}}}}"#)), None);
        }
        script.ask("b", r#"{"id":1,"method":"x"}"#);
        let next = limits::CANCELLED_REQUESTS + 2;
        assert!(script.say(&format!(r#"{{"id":{next},"result":{{}}}}"#)).is_some());
        script.ask("c", &loud);
        assert_eq!(script.say(r#"{"method":"notifications/message","params":{}}"#), None);
    }

    #[test]
    fn nobody_is_asked_anything_and_what_is_left_is_told() {
        let mut script = Script::default();
        assert!(script.0.ask(&envelope(r#"{"method":"x"}"#), Source::Line(b"{}"), "a").is_none());
        script.ask("a", r#"{"id":1,"method":"x"}"#);
        script.ask("b", r#"{"id":1,"method":"x"}"#);
        let question = r#"{"id":9,"method":"sampling/createMessage"}"#;
        assert_eq!(script.say(question), heard("nobody", "sampling/createMessage"));
        let mut left = script.0.abandon();
        left.sort_unstable();
        assert_eq!(left, ["a", "b"]);
        assert!(script.0.is_empty());
    }
}
