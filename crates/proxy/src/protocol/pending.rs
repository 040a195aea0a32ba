//! What is pending between a client and its upstream: one table, without I/O.
//!
//! A call is *asked* by the client, perhaps *held* by the interceptors before the upstream sees it, and then
//! *released* to the upstream or *settled* by an answer of our own. It ends *answered*, *cancelled* by the
//! client, *forgotten* because nobody can answer it any more, or *abandoned* with its upstream. An upstream's
//! *question* ends *replied* by the client, or *withdrawn*.

use std::{
    collections::{HashMap, HashSet},
    mem,
    sync::Arc,
};

use forebay_wire::Id;

use super::call::Call;

/// The requests of either side that await an answer.
#[derive(Debug, Default)]
pub struct Pending {
    /// The client's, by the id under which the upstream knows them.
    calls: HashMap<Id, Arc<Call>>,
    /// Those that the interceptors have and the upstream has not seen, by number.
    held: HashSet<u64>,
    /// The upstream's (sampling, elicitation, roots …) that the client has not answered.
    questions: HashSet<Id>,
    /// Nobody reads answers any more.
    is_client_gone: bool,
}

impl Pending {
    /// How many of the client's calls await an answer.
    pub fn count(&self) -> usize {
        self.calls.len()
    }

    /// True if the client awaits an answer; a subscription, which stays open, is none.
    pub fn is_awaited(&self) -> bool {
        self.calls.values().any(|call| !call.is_subscription())
    }

    /// True if the client waits for the answer to this call, which is not one that stays open.
    pub fn awaits(&self, id: &Id) -> bool {
        self.calls.get(id).is_some_and(|call| !call.is_subscription())
    }

    /// A call that awaits an answer.
    #[cfg(test)]
    pub(crate) fn call(&self, id: &Id) -> Option<&Arc<Call>> {
        self.calls.get(id)
    }

    /// How many of the upstream's questions await an answer.
    #[cfg(test)]
    pub(crate) fn questions(&self) -> usize {
        self.questions.len()
    }

    /// The upstream has told how far the call with this token is.
    pub(crate) fn progressed(&self, token: &Id, done: f64) {
        let call = self.calls.values().find(|call| call.progress_token.as_ref() == Some(token));
        if let Some(call) = call {
            call.progress.set(done);
        }
    }

    /// The client has asked.
    pub fn asked(&mut self, id: Id, call: Arc<Call>) {
        self.calls.insert(id, call);
    }

    /// The interceptors have a call before the upstream.
    pub fn hold(&mut self, call: &Call) {
        if self.is_client_gone {
            call.cancel();
        } else {
            self.held.insert(call.number);
        }
    }

    /// A held call goes to the upstream; `false` if nobody waits for it any more.
    pub fn release(&mut self, call: &Call) -> bool {
        self.held.remove(&call.number)
    }

    /// A held call is answered by us; `false` if nobody waits for it any more.
    pub fn settle(&mut self, call: &Call) -> bool {
        self.held.remove(&call.number) && self.calls.remove(&call.id).is_some()
    }

    /// From now on the upstream knows this call as `alias`; to the client it keeps its id.
    pub fn rename(&mut self, id: &Id, alias: Id) {
        if let Some(call) = self.calls.remove(id) {
            self.calls.insert(alias, call);
        }
    }

    /// The upstream has answered: the call, if it was awaited.
    pub fn answered(&mut self, id: &Id) -> Option<Arc<Call>> {
        self.calls.remove(id)
    }

    /// The client has cancelled: the call, and whether the upstream has never seen it.
    pub fn cancel(&mut self, id: &Id) -> Option<(Arc<Call>, bool)> {
        let call = self.calls.remove(id)?;
        let is_held = self.held.remove(&call.number);
        Some((call, is_held))
    }

    /// Nobody will answer this call any more; `false` if nobody waits for it.
    pub fn forget(&mut self, id: &Id) -> bool {
        self.cancel(id).is_some()
    }

    /// The upstream has asked the client something.
    pub fn questioned(&mut self, id: Id) {
        self.questions.insert(id);
    }

    /// The client has answered the upstream's question.
    pub fn replied(&mut self, id: &Id) {
        self.questions.remove(id);
    }

    /// The upstream takes back a question; or, in the modern era, it ends a subscription, which gets no
    /// other answer.
    pub fn withdrawn(&mut self, id: &Id) {
        let is_subscription = |call: &Arc<Call>| call.is_subscription();
        if !self.questions.remove(id) && self.calls.get(id).is_some_and(is_subscription) {
            self.calls.remove(id);
        }
    }

    /// The client is gone: returns the held calls, for which nobody waits any more.
    pub fn client_is_gone(&mut self) -> Vec<Arc<Call>> {
        self.is_client_gone = true;
        let held = mem::take(&mut self.held);
        self.calls.extract_if(|_, call| held.contains(&call.number)).map(|(_, call)| call).collect()
    }

    /// The upstream is gone: returns the calls that it left unanswered, in the order in which they were made.
    pub fn abandon(&mut self) -> Vec<Arc<Call>> {
        self.questions.clear();
        self.held.clear();
        let mut calls: Vec<Arc<Call>> = self.calls.drain().map(|(_, call)| call).collect();
        calls.sort_by_key(|call| call.number);
        calls
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::{
        super::{Cancellation, Era, LastProgress, Notes, Principal, Purpose},
        *,
    };
    use crate::router::UpstreamName;

    fn id(number: u64) -> Id {
        Id::parse(number.to_string().as_bytes()).unwrap()
    }

    /// A table with calls, in the order of their numbers; those of an even one are subscriptions.
    fn asked(numbers: &[u64]) -> (Pending, Vec<Arc<Call>>) {
        let mut pending = Pending::default();
        let calls: Vec<Arc<Call>> = numbers
            .iter()
            .map(|number| {
                let is_subscription = number.is_multiple_of(2);
                Arc::new(Call {
                    id: id(*number),
                    method: "x".to_owned(),
                    purpose: if is_subscription { Purpose::Subscription } else { Purpose::Other },
                    principal: Principal::local(),
                    upstream: UpstreamName::new("orders"),
                    era: Era::Unknown,
                    revision: None,
                    client: None,
                    session: "s".into(),
                    root: None,
                    progress_token: None,
                    arguments: OnceLock::new(),
                    notes: Notes::default(),
                    number: *number,
                    is_inner: false,
                    progress: LastProgress::default(),
                    asked_at: std::time::Instant::now(),
                    trace_parent: None,
                    cancellation: Cancellation::default(),
                })
            })
            .collect();
        for call in &calls {
            pending.asked(call.id.clone(), call.clone());
        }
        (pending, calls)
    }

    #[test]
    fn an_answer_is_for_whoever_asked_and_once() {
        let (mut pending, _) = asked(&[1, 3]);
        assert_eq!(pending.answered(&id(1)).unwrap().number, 1);
        assert!(pending.answered(&id(1)).is_none() && pending.answered(&id(9)).is_none());
        assert!(pending.awaits(&id(3)) && !pending.awaits(&id(1)));
        assert_eq!(pending.count(), 1);
    }

    #[test]
    fn a_subscription_is_open_and_not_awaited() {
        let (mut pending, _) = asked(&[2]);
        assert!(!pending.is_awaited() && !pending.awaits(&id(2)));
        pending.withdrawn(&id(2));
        assert_eq!(pending.count(), 0);
    }

    #[test]
    fn an_upstream_withdraws_its_own_question_before_anything_of_the_clients() {
        let (mut pending, _) = asked(&[1, 2]);
        pending.questioned(id(2));
        pending.withdrawn(&id(2));
        assert_eq!((pending.count(), pending.questions()), (2, 0));
        pending.withdrawn(&id(1));
        assert_eq!(pending.count(), 2, "a call is not the upstream's to cancel");
    }

    #[test]
    fn a_held_call_goes_on_or_is_settled_once() {
        let (mut pending, calls) = asked(&[1, 3]);
        pending.hold(&calls[0]);
        pending.hold(&calls[1]);
        assert!(pending.release(&calls[0]) && !pending.release(&calls[0]));
        assert!(pending.settle(&calls[1]) && !pending.settle(&calls[1]));
        assert!(pending.awaits(&id(1)) && !pending.awaits(&id(3)));
    }

    #[test]
    fn a_cancelled_call_is_neither_released_nor_settled() {
        let (mut pending, calls) = asked(&[1, 3]);
        pending.hold(&calls[0]);
        let is_held = |cancelled: Option<(Arc<Call>, bool)>| cancelled.map(|(_, is_held)| is_held);
        assert_eq!(is_held(pending.cancel(&id(1))), Some(true));
        assert_eq!(is_held(pending.cancel(&id(3))), Some(false), "the upstream has seen it");
        assert_eq!(is_held(pending.cancel(&id(3))), None);
        assert!(!pending.release(&calls[0]) && !pending.settle(&calls[0]));
    }

    #[test]
    fn a_call_with_an_alias_is_answered_under_it() {
        let (mut pending, _) = asked(&[1]);
        pending.rename(&id(1), id(100));
        assert!(pending.answered(&id(1)).is_none());
        assert_eq!(pending.answered(&id(100)).unwrap().id, id(1), "the client's own id");
        pending.rename(&id(7), id(8));
        assert_eq!(pending.count(), 0);
    }

    #[test]
    fn without_a_client_held_calls_are_over_and_others_go_on() {
        let (mut pending, calls) = asked(&[1, 3, 5]);
        pending.hold(&calls[0]);
        let over = pending.client_is_gone();
        assert_eq!(over.iter().map(|call| call.number).collect::<Vec<_>>(), [1]);
        assert!(!pending.release(&calls[0]) && pending.awaits(&id(3)));
        pending.hold(&calls[2]);
        assert!(!pending.release(&calls[2]), "what comes too late is not held");
    }

    #[test]
    fn an_upstream_that_is_gone_leaves_its_calls_in_their_order() {
        let (mut pending, calls) = asked(&[5, 1, 3]);
        pending.hold(&calls[0]);
        pending.questioned(id(1));
        let left = pending.abandon();
        assert_eq!(left.iter().map(|call| call.number).collect::<Vec<_>>(), [1, 3, 5]);
        assert_eq!((pending.count(), pending.questions()), (0, 0));
        assert!(!pending.release(&calls[0]));
    }
}
