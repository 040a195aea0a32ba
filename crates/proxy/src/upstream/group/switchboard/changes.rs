//! What is offered, and who is told when it changes.

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use forebay_wire::{Envelope, Id};
use serde_json::{Value, json};

use super::{
    super::{
        asking::{Asking, Written},
        lists::{Kind, Merged},
        member::State,
        opening,
    },
    INVALID_PARAMS, Request, Switchboard,
};
use crate::{
    body::{Body, Source},
    protocol::{
        Era,
        methods::{self, SUBSCRIPTION_ID},
    },
};

/// Legacy: a client wants to hear of a resource, or not any more.
pub(super) const SUBSCRIBE: &str = "resources/subscribe";
pub(super) const UNSUBSCRIBE: &str = "resources/unsubscribe";

/// What a modern client wants to hear of.
#[derive(Debug)]
pub(super) struct Subscription {
    /// The client's request, by which it is known.
    id: Id,
    lists: Vec<&'static str>,
    /// Resources, as the client calls them.
    uris: BTreeSet<String>,
}

impl Switchboard {
    /// Makes one list of what all upstreams have; true if it is another than before.
    pub(super) fn merge(&mut self, kind: Kind) -> bool {
        let lists = self.order.iter().filter_map(|at| {
            let member = &self.members[*at];
            Some((*at, &member.settings.name, member.list(kind)?))
        });
        let lists: Vec<_> = lists.collect();
        let merged = Merged::of(kind, &lists, &self.names);
        let is_new = merged.json != self.merged[kind as usize].json;
        if kind == Kind::Tools {
            let names = merged.names.iter();
            let names =
                names.map(|(name, at, own)| (name.as_str(), &self.members[*at].settings.name, own));
            self.names.learn(names);
        }
        self.merged[kind as usize] = merged;
        is_new
    }

    /// A list is another than before: a client that has seen that one is told.
    pub(super) fn tell_of_change(&mut self, kind: Kind) {
        if !self.is_listed[kind as usize] {
            return;
        }
        let method = kind.changed();
        match self.client.era {
            Era::Modern => {
                let wanted = self.subscriptions.iter().filter(|it| it.lists.contains(&method));
                let lines: Vec<Vec<u8>> =
                    wanted.map(|it| opening::notification(method, &it.marked("{}"))).collect();
                for line in lines {
                    self.say(line);
                }
            }
            Era::Unknown | Era::Legacy => self.say(opening::notification(method, "")),
        }
    }

    /// Modern: the client wants to hear of changes from now on.
    pub(super) fn subscribe(&mut self, asking: &Asking, _now: Instant) {
        let params = asking.params();
        let filter = &params["notifications"];
        if !filter.is_object() {
            let why = "`params.notifications` must say what to tell of";
            return self.say(opening::error(&asking.id, INVALID_PARAMS, why));
        }
        let wants = |key: &str| filter[key] == json!(true);
        let lists = [
            ("toolsListChanged", Kind::Tools),
            ("promptsListChanged", Kind::Prompts),
            ("resourcesListChanged", Kind::Resources),
        ];
        let uris = filter["resourceSubscriptions"].as_array().into_iter().flatten();
        let subscription = Subscription {
            id: asking.id.clone(),
            lists: lists.iter().filter(|(key, _)| wants(key)).map(|(_, it)| it.changed()).collect(),
            uris: uris.filter_map(|uri| uri.as_str().map(str::to_owned)).collect(),
        };
        // What is asked for by a subscription is told from then on, whether or not it has been listed.
        for (_, kind) in lists.iter().filter(|(key, _)| wants(key)) {
            self.is_listed[*kind as usize] = true;
        }
        let acknowledged = subscription.marked(&json!({ "notifications": filter }).to_string());
        let method = "notifications/subscriptions/acknowledged";
        self.say(opening::notification(method, &acknowledged));
        for uri in &subscription.uris {
            if let Some((member, own)) = self.owner_of(uri) {
                self.watch(member, &own);
            }
        }
        self.subscriptions.push(subscription);
    }

    /// Ends a subscription of the client's; `false` if it has none by that id.
    pub(super) fn unsubscribe(&mut self, id: &Id) -> bool {
        let Some(at) = self.subscriptions.iter().position(|it| it.id == *id) else { return false };
        let ended = self.subscriptions.remove(at);
        for uri in ended.uris {
            if !self.subscriptions.iter().any(|it| it.uris.contains(&uri))
                && let Some((member, own)) = self.owner_of(&uri)
            {
                self.watch_no_more(member, &own);
            }
        }
        true
    }

    /// Legacy: the client wants to hear of a resource, or not any more.
    pub(super) fn watch_resource(&mut self, asking: Asking, now: Instant) {
        let uri = asking.subject.as_ref().and_then(Written::text).unwrap_or_default();
        let Some((member, own)) = self.owner_of(&uri) else {
            let why = format!("Resource not found: {uri}");
            return self.say(opening::error(&asking.id, INVALID_PARAMS, &why));
        };
        let it = &self.members[member];
        if it.state == State::Open && it.era == Era::Modern {
            if asking.method == SUBSCRIBE {
                self.watch(member, &own);
            } else {
                self.watch_no_more(member, &own);
            }
            return self.say(opening::answer(&asking.id, b"{}"));
        }
        if asking.method == SUBSCRIBE {
            self.members[member].watched.insert(own.clone());
        } else {
            self.members[member].watched.remove(&own);
        }
        self.ask(member, asking, Some(own), now);
    }

    fn watch(&mut self, member: usize, uri: &str) {
        if self.members[member].watched.insert(uri.to_owned()) {
            self.change_watch(member, SUBSCRIBE, uri);
        }
    }

    fn watch_no_more(&mut self, member: usize, uri: &str) {
        if self.members[member].watched.remove(uri) {
            self.change_watch(member, UNSUBSCRIBE, uri);
        }
    }

    fn change_watch(&mut self, member: usize, method: &str, uri: &str) {
        match (self.members[member].state, self.members[member].era) {
            (State::Open, Era::Modern) => self.listen(member),
            (State::Open, _) => {
                let alias = self.ask_ourselves(member, Request::Told);
                let params = json!({ "uri": uri }).to_string();
                self.tell(member, opening::request(alias, method, &params));
            }
            // It is told when it opens.
            _ => {}
        }
    }

    /// Tells a legacy upstream that has been started again what to watch.
    pub(super) fn watch_again(&mut self, member: usize) {
        if self.members[member].era != Era::Modern {
            for uri in self.members[member].watched.clone() {
                self.change_watch(member, SUBSCRIBE, &uri);
            }
        }
    }

    /// A resource is another than before.
    pub(super) fn resource_changed(
        &mut self,
        member: usize,
        envelope: &Envelope,
        body: &Arc<Body>,
    ) {
        let uri = envelope.params.as_ref().and_then(|params| {
            let [uri] = Source::Held(body).members(params, ["uri"]);
            methods::text(uri?.scalar)
        });
        let Some(own) = uri else { return };
        let merged = &self.merged[Kind::Resources as usize];
        let offered = merged.names.iter().find(|(_, at, it)| *at == member && **it == *own);
        let uri = offered.map_or(own, |(uri, ..)| uri.clone());
        let params = json!({ "uri": uri }).to_string();
        let method = "notifications/resources/updated";
        match self.client.era {
            Era::Modern => {
                // What lies below a resource counts as a part of it.
                let is_meant = |it: &&super::Subscription| {
                    it.uris.iter().any(|watched| uri.starts_with(watched.as_str()))
                };
                let lines: Vec<Vec<u8>> = self
                    .subscriptions
                    .iter()
                    .filter(is_meant)
                    .map(|it| opening::notification(method, &it.marked(&params)))
                    .collect();
                for line in lines {
                    self.say(line);
                }
            }
            Era::Unknown | Era::Legacy => self.say(opening::notification(method, &params)),
        }
    }
}

impl Subscription {
    /// Parameters that say to which subscription they belong.
    fn marked(&self, params: &str) -> String {
        let mut marked: Value = serde_json::from_str(params).unwrap_or_default();
        let id: Value = serde_json::from_str(self.id.as_json()).unwrap_or_default();
        marked["_meta"] = json!({ SUBSCRIPTION_ID: id });
        marked.to_string()
    }
}
