//! One upstream for many groups: which of them is meant by what it says. Without I/O.
//!
//! Each group has a seat, and the number of its seat stands in the aliases of its requests: most of what an
//! upstream says tells by itself whom it is for. An upstream opens once; whoever comes later gets the answers
//! that it gave then.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use forebay_wire::{Envelope, Id, Kind, Line};

use super::opening;
use crate::{
    body::{Body, Source},
    protocol::methods::{self, CANCELLED, PROGRESS},
    session::cancelled_request,
};

/// The number of a group among those that share upstreams.
pub(super) type Seat = u64;

/// How many bits of an alias are the group's own. Both parts together are a number that JSON holds exactly.
const OWN_BITS: u32 = 32;
const SEAT_BITS: u32 = 20;

/// The alias before the first of a seat.
pub(super) fn before_first_alias(seat: Seat) -> u64 {
    (seat % (1 << SEAT_BITS)) << OWN_BITS
}

fn seat_of(alias: u64) -> Seat {
    alias >> OWN_BITS
}

#[derive(Default)]
pub(super) struct Fan {
    /// Who is there, and what each has asked that is not answered yet.
    seats: BTreeMap<Seat, HashSet<u64>>,
    /// What the upstream was asked when it was opened, by the method.
    openings: HashMap<String, Opening>,
    is_initialized: bool,
    is_modern: Option<bool>,
    /// Whom the upstream has asked something.
    questions: HashMap<Id, Seat>,
}

enum Opening {
    /// It was asked under this alias; these wait for the answer.
    Asked { under: u64, waiting: Vec<u64> },
    /// This is what it said.
    Answered(Arc<Body>),
}

/// What becomes of what somebody says to the upstream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It is sent.
    Send,
    /// It has been said already.
    Drop,
    /// It is answered so.
    Answer(Vec<u8>),
}

/// What becomes of what the upstream says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// It is for one.
    For(Seat),
    /// It is for all.
    ForAll,
    /// It is for nobody: whose it is cannot be told.
    ForNobody,
    /// It is for several, each in its own words.
    Openings(Vec<(Seat, Vec<u8>)>),
    /// It cannot be asked: this is the answer.
    Refuse(Vec<u8>),
}

impl Fan {
    pub(super) fn takes_seat(&mut self, seat: Seat) {
        self.seats.insert(seat, HashSet::new());
    }

    /// Somebody has left: the requests that are to be cancelled.
    pub(super) fn leaves(&mut self, seat: Seat) -> Vec<u64> {
        self.questions.retain(|_, asked| *asked != seat);
        for opening in self.openings.values_mut() {
            if let Opening::Asked { waiting, .. } = opening {
                waiting.retain(|alias| seat_of(*alias) != seat);
            }
        }
        self.seats.remove(&seat).into_iter().flatten().collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.seats.is_empty()
    }

    /// Whether the upstream has no sessions, once that is known.
    pub(super) fn is_modern(&self) -> Option<bool> {
        self.is_modern
    }

    /// Takes note of a line for the upstream.
    pub(super) fn says(&mut self, seat: Seat, body: &Body) -> Said {
        let Line::Message(envelope) = body.line() else { return Said::Send };
        match envelope.kind() {
            Kind::Request { id, method: method @ ("server/discover" | "initialize") } => {
                let Some(alias) = number(id) else { return Said::Send };
                match self.openings.get_mut(method) {
                    None => {
                        let opening = Opening::Asked { under: alias, waiting: vec![alias] };
                        self.openings.insert(method.to_owned(), opening);
                        Said::Send
                    }
                    Some(Opening::Asked { waiting, .. }) => {
                        waiting.push(alias);
                        Said::Drop
                    }
                    Some(Opening::Answered(body)) => {
                        answer_for(alias, body).map_or(Said::Drop, Said::Answer)
                    }
                }
            }
            Kind::Request { id, .. } => {
                if let Some((alias, asked)) = number(id).zip(self.seats.get_mut(&seat)) {
                    asked.insert(alias);
                }
                Said::Send
            }
            Kind::Notification { method: "notifications/initialized" } => {
                let was_initialized = std::mem::replace(&mut self.is_initialized, true);
                if was_initialized { Said::Drop } else { Said::Send }
            }
            Kind::Notification { method: CANCELLED } => {
                let cancelled = cancelled_request(&envelope, Source::Held(body));
                let alias = cancelled.as_ref().and_then(number);
                if let Some((alias, asked)) = alias.zip(self.seats.get_mut(&seat)) {
                    asked.remove(&alias);
                }
                Said::Send
            }
            Kind::Response { id } => match self.questions.remove(id) {
                Some(asked) if asked == seat => Said::Send,
                _ => Said::Drop,
            },
            Kind::Notification { .. } | Kind::Other => Said::Send,
        }
    }

    /// Says whom a line of the upstream's is for.
    pub(super) fn hears(&mut self, body: &Arc<Body>) -> Heard {
        match body.line() {
            Line::Message(envelope) => self.hears_message(&envelope, body),
            // Each takes out of several what is its own.
            Line::Batch(_) => Heard::ForAll,
            Line::Blank | Line::Other => Heard::ForNobody,
        }
    }

    fn hears_message(&mut self, envelope: &Envelope, body: &Arc<Body>) -> Heard {
        let source = Source::Held(body);
        match envelope.kind() {
            Kind::Response { id } => number(id).map_or(Heard::ForNobody, |alias| {
                self.opens(alias, envelope, body).unwrap_or_else(|| {
                    let seat = seat_of(alias);
                    if let Some(asked) = self.seats.get_mut(&seat) {
                        asked.remove(&alias);
                    }
                    Heard::For(seat)
                })
            }),
            Kind::Request { id, .. } => match self.asking_one() {
                Some(seat) => {
                    self.questions.insert(id.clone(), seat);
                    Heard::For(seat)
                }
                None => Heard::Refuse(opening::error(id, NOT_KNOWN, WHOM)),
            },
            Kind::Notification { method: CANCELLED } => {
                let question = cancelled_request(envelope, source);
                let asked = question.and_then(|id| self.questions.remove(&id));
                asked.map_or(Heard::ForNobody, Heard::For)
            }
            Kind::Notification { method: PROGRESS } => {
                let token = envelope.params.as_ref().and_then(|params| {
                    let [token] = source.members(params, ["progressToken"]);
                    str::from_utf8(&token?.scalar?).ok()?.parse().ok()
                });
                token.map_or(Heard::ForNobody, |alias| Heard::For(seat_of(alias)))
            }
            // What is logged may be of a call, and others than its caller must not know of it.
            Kind::Notification { method: "notifications/message" } => {
                self.asking_one().map_or(Heard::ForNobody, Heard::For)
            }
            Kind::Notification { .. } => {
                subscription(envelope, source).map_or(Heard::ForAll, |it| Heard::For(seat_of(it)))
            }
            Kind::Other => Heard::ForNobody,
        }
    }

    /// The answer to what the upstream was asked when it was opened, for all who wait for it.
    fn opens(&mut self, alias: u64, envelope: &Envelope, body: &Arc<Body>) -> Option<Heard> {
        let is_awaited = |opening: &Opening| match opening {
            Opening::Asked { under, .. } => *under == alias,
            Opening::Answered(_) => false,
        };
        let (method, opening) = self.openings.iter_mut().find(|(_, it)| is_awaited(it))?;
        if method == "server/discover" {
            let versions = envelope.result.as_ref().map(|result| {
                let [versions] = Source::Held(body).members(result, ["supportedVersions"]);
                versions.is_some()
            });
            self.is_modern = Some(versions.unwrap_or(false));
        } else if envelope.result.is_some() {
            // Old servers may pass over what came before; others speak as they were asked to last.
            self.is_modern = Some(false);
        }
        let before = std::mem::replace(opening, Opening::Answered(body.clone()));
        let Opening::Asked { waiting, .. } = before else { return None };
        let answers = waiting
            .into_iter()
            .filter_map(|alias| Some((seat_of(alias), answer_for(alias, body)?)));
        Some(Heard::Openings(answers.collect()))
    }

    /// The one who has asked something, if only one has; the one who is there, if nobody else is.
    fn asking_one(&self) -> Option<Seat> {
        let mut asking = self.seats.iter().filter(|(_, asked)| !asked.is_empty());
        match (asking.next(), asking.next(), self.seats.len()) {
            (Some((seat, _)), None, _) => Some(*seat),
            (None, _, 1) => self.seats.keys().next().copied(),
            _ => None,
        }
    }
}

const NOT_KNOWN: i32 = -32603;
const WHOM: &str = "several clients share this server, and it is not known which of them is asked; with \
                    `sharing = \"apart\"` each has its own";

/// An answer, for whoever has asked under this alias.
fn answer_for(alias: u64, body: &Arc<Body>) -> Option<Vec<u8>> {
    let Line::Message(envelope) = body.line() else { return None };
    let source = Source::Held(body);
    let [id] = source.members(&envelope.span, ["id"]);
    let (span, id) = (&envelope.span, id?.span);
    let before = source.in_memory(&(span.start..id.start))?;
    let after = source.in_memory(&(id.end..span.end))?;
    Some([before, alias.to_string().as_bytes(), after].concat())
}

/// The subscription that a notification belongs to, by the alias under which it was asked for.
fn subscription(envelope: &Envelope, source: Source<'_>) -> Option<u64> {
    let scalar = methods::subscription(source, envelope.params.as_ref())?.scalar?;
    str::from_utf8(&scalar).ok()?.trim_matches('"').parse().ok()
}

fn number(id: &Id) -> Option<u64> {
    id.as_json().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::methods::SUBSCRIPTION_ID;

    /// A fan with two seats, 1 and 2.
    fn fan() -> Fan {
        let mut fan = Fan::default();
        fan.takes_seat(1);
        fan.takes_seat(2);
        fan
    }

    fn alias(seat: Seat, own: u64) -> u64 {
        before_first_alias(seat) + own
    }

    fn says(fan: &mut Fan, seat: Seat, line: &str) -> Said {
        fan.says(seat, &Body::Memory(line.as_bytes().to_vec()))
    }

    fn hears(fan: &mut Fan, line: &str) -> Heard {
        fan.hears(&Arc::new(Body::Memory(line.as_bytes().to_vec())))
    }

    fn asks(fan: &mut Fan, seat: Seat, own: u64, method: &str) -> Said {
        says(fan, seat, &format!(r#"{{"id":{},"method":"{method}"}}"#, alias(seat, own)))
    }

    #[test]
    fn an_upstream_is_opened_once_and_all_get_its_answers() {
        let mut fan = fan();
        assert_eq!(asks(&mut fan, 1, 1, "initialize"), Said::Send);
        assert_eq!(asks(&mut fan, 2, 1, "initialize"), Said::Drop, "the answer is on its way");
        let answer = format!(r#"{{"id":{},"result":{{"x":1}}}}"#, alias(1, 1));
        let expected =
            |seat| format!(r#"{{"id":{},"result":{{"x":1}}}}"#, alias(seat, 1)).into_bytes();
        assert_eq!(
            hears(&mut fan, &answer),
            Heard::Openings(vec![(1, expected(1)), (2, expected(2))])
        );
        fan.takes_seat(3);
        assert_eq!(asks(&mut fan, 3, 1, "initialize"), Said::Answer(expected(3)));
        let initialized = r#"{"method":"notifications/initialized"}"#;
        assert_eq!(says(&mut fan, 1, initialized), Said::Send);
        assert_eq!(says(&mut fan, 2, initialized), Said::Drop);
    }

    #[test]
    fn whether_it_has_sessions_is_known_from_its_first_answer() {
        for (answer, is_modern) in [
            (r#""result":{"supportedVersions":["2026-07-28"]}"#, true),
            (r#""error":{"code":-32601,"message":"what?"}"#, false),
        ] {
            let mut fan = fan();
            asks(&mut fan, 1, 1, "server/discover");
            assert_eq!(fan.is_modern(), None);
            hears(&mut fan, &format!(r#"{{"id":{},{answer}}}"#, alias(1, 1)));
            assert_eq!(fan.is_modern(), Some(is_modern));
        }
        let mut mute = fan();
        asks(&mut mute, 1, 1, "server/discover");
        asks(&mut mute, 1, 2, "initialize");
        hears(&mut mute, &format!(r#"{{"id":{},"result":{{}}}}"#, alias(1, 2)));
        assert_eq!(mute.is_modern(), Some(false), "it passes over what it does not know");
    }

    #[test]
    fn answers_and_progress_are_for_whoever_has_asked() {
        let mut fan = fan();
        asks(&mut fan, 2, 7, "tools/call");
        let alias = alias(2, 7);
        let progress = format!(
            r#"{{"method":"notifications/progress","params":{{"progressToken":{alias},"progress":1}}}}"#
        );
        assert_eq!(hears(&mut fan, &progress), Heard::For(2));
        assert_eq!(hears(&mut fan, &format!(r#"{{"id":{alias},"result":{{}}}}"#)), Heard::For(2));
        assert_eq!(hears(&mut fan, r#"{"id":"x","result":{}}"#), Heard::ForNobody);
    }

    #[test]
    fn what_may_be_of_a_call_is_for_its_caller_alone() {
        let mut fan = fan();
        let log = r#"{"method":"notifications/message","params":{"data":"secret"}}"#;
        let question = r#"{"id":5,"method":"sampling/createMessage"}"#;
        assert_eq!(hears(&mut fan, log), Heard::ForNobody, "it may be of a call that is over");
        asks(&mut fan, 2, 1, "tools/call");
        assert_eq!(hears(&mut fan, log), Heard::For(2));
        assert_eq!(hears(&mut fan, question), Heard::For(2));
        assert_eq!(says(&mut fan, 1, r#"{"id":5,"result":{}}"#), Said::Drop, "it was not asked");
        assert_eq!(hears(&mut fan, question), Heard::For(2));
        assert_eq!(says(&mut fan, 2, r#"{"id":5,"result":{}}"#), Said::Send);
        asks(&mut fan, 1, 1, "tools/call");
        assert_eq!(hears(&mut fan, log), Heard::ForNobody);
        let Heard::Refuse(answer) = hears(&mut fan, question) else { panic!("two are calling") };
        assert!(String::from_utf8(answer).unwrap().contains("apart"));
    }

    #[test]
    fn what_changes_is_for_all_or_for_whoever_has_subscribed() {
        let mut fan = fan();
        let changed = r#"{"method":"notifications/tools/list_changed"}"#;
        assert_eq!(hears(&mut fan, changed), Heard::ForAll);
        let updated = format!(
            r#"{{"method":"notifications/resources/updated","params":{{"_meta":{{"{SUBSCRIPTION_ID}":"{}"}}}}}}"#,
            alias(1, 3)
        );
        assert_eq!(hears(&mut fan, &updated), Heard::For(1));
    }

    #[test]
    fn who_leaves_leaves_nothing_behind() {
        let mut fan = fan();
        asks(&mut fan, 1, 1, "initialize");
        asks(&mut fan, 2, 1, "initialize");
        asks(&mut fan, 1, 2, "tools/call");
        assert_eq!(fan.leaves(1), [alias(1, 2)]);
        let answer = format!(r#"{{"id":{},"result":{{}}}}"#, alias(1, 1));
        let Heard::Openings(answers) = hears(&mut fan, &answer) else { panic!("2 waits for it") };
        assert_eq!(answers.iter().map(|(seat, _)| *seat).collect::<Vec<_>>(), [2]);
        assert!(!fan.is_empty() && fan.leaves(2).is_empty() && fan.is_empty());
    }
}
