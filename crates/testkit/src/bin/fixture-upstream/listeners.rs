//! Who wants to be told of changes: `subscriptions/listen`, GET streams, a legacy client on stdio.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use forebay_wire::Id;
use serde_json::Value;

use crate::{
    call::Outlet,
    json::{self, Json},
};

#[derive(Default)]
pub(crate) struct Listeners(Mutex<HashMap<u64, Listener>>);

pub(crate) struct Listener {
    pub(crate) wish: Wish,
    pub(crate) outlet: Outlet,
}

pub(crate) enum Wish {
    /// A legacy client is told of everything.
    Everything,
    /// What a request has asked for.
    Subscription { id: Id, filter: Value },
}

impl Listeners {
    /// Takes a listener, who is told so if it has subscribed; returns what to remove it by.
    pub(crate) fn add(&self, listener: Listener) -> u64 {
        static LISTENERS: AtomicU64 = AtomicU64::new(1);
        let key = LISTENERS.fetch_add(1, Ordering::Relaxed);
        if let Wish::Subscription { filter, .. } = &listener.wish {
            let accepted = Json::whole(format!(r#"{{"notifications":{filter}}}"#));
            listener.tell("notifications/subscriptions/acknowledged", accepted);
        }
        self.lock().insert(key, listener);
        key
    }

    pub(crate) fn remove(&self, key: u64) {
        self.lock().remove(&key);
    }

    /// Removes what the request `id` has subscribed to; false if there is nothing.
    pub(crate) fn unsubscribe(&self, id: &Id) -> bool {
        let mut listeners = self.lock();
        let count = listeners.len();
        listeners.retain(|_, listener| listener.subscription() != Some(id));
        listeners.len() < count
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Says that `what` has changed to those who want to know.
    pub(crate) fn announce(&self, what: &str) {
        let uri = || Json::whole(format!(r#"{{"uri":{}}}"#, Value::from(what)));
        let (method, key, params) = match what {
            "tools" => ("notifications/tools/list_changed", "toolsListChanged", None),
            "prompts" => ("notifications/prompts/list_changed", "promptsListChanged", None),
            "resources" => ("notifications/resources/list_changed", "resourcesListChanged", None),
            _ => ("notifications/resources/updated", "resourceSubscriptions", Some(uri())),
        };
        for listener in self.lock().values().filter(|listener| listener.wants(key, what)) {
            listener.tell(method, params.clone().unwrap_or_else(|| Json::whole(&b"{}"[..])));
        }
    }

    /// Tells those who want to know the state of a task.
    pub(crate) fn task_changed(&self, id: &str, state: &Json) {
        for listener in self.lock().values().filter(|listener| listener.wants("taskIds", id)) {
            if listener.subscription().is_some() {
                listener.tell("notifications/tasks", state.clone());
            }
        }
    }

    /// Ends all that listens.
    pub(crate) fn hang_up(&self) {
        for (_, listener) in self.lock().drain() {
            match listener.subscription() {
                Some(id) => {
                    let meta = listener.meta();
                    let result = Json::whole(format!(r#"{{"resultType":"complete",{meta}}}"#));
                    let _ = listener.outlet.finish(&json::response(id, result), None);
                }
                None => listener.outlet.end(),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Listener>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    fn wants(&self, key: &str, what: &str) -> bool {
        match &self.wish {
            Wish::Everything => true,
            Wish::Subscription { filter, .. } => match &filter[key] {
                Value::Array(names) => names.iter().any(|name| name == what),
                wish => *wish == true,
            },
        }
    }

    fn subscription(&self) -> Option<&Id> {
        match &self.wish {
            Wish::Everything => None,
            Wish::Subscription { id, .. } => Some(id),
        }
    }

    fn meta(&self) -> String {
        let id = self.subscription().map_or("null", Id::as_json);
        format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#)
    }

    fn tell(&self, method: &str, params: Json) {
        let params = match &self.wish {
            Wish::Everything => params,
            Wish::Subscription { .. } => params.with_member(&self.meta()),
        };
        // Who does not read any more is removed by whoever notices.
        let _ = self.outlet.send(&json::notification(method, params));
    }
}
