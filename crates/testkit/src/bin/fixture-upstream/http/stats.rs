//! What can be asked about the fixture itself.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use hyper::HeaderMap;
use serde_json::{Value, json};

#[derive(Default)]
pub(crate) struct Stats {
    pub(crate) connections: Gauge,
    pub(crate) streams: Gauge,
    pub(crate) deleted: Gauge,
    requests: Mutex<BTreeMap<String, u64>>,
    last_post: Mutex<HeaderMap>,
}

#[derive(Default)]
pub(crate) struct Gauge(AtomicU64);

impl Stats {
    /// Notes a message's method and the headers that came with it.
    pub(crate) fn note(&self, method: Option<&str>, headers: HeaderMap) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let method = method.unwrap_or("response");
        match requests.get_mut(method) {
            Some(count) => *count += 1,
            None => drop(requests.insert(method.to_owned(), 1)),
        }
        *self.last_post.lock().unwrap_or_else(PoisonError::into_inner) = headers;
    }

    pub(crate) fn as_json(&self) -> Value {
        let headers = self.last_post.lock().unwrap_or_else(PoisonError::into_inner);
        let headers = headers.iter().map(|(name, value)| {
            (name.to_string(), Value::from(String::from_utf8_lossy(value.as_bytes())))
        });
        json!({
            // But for the one that asks.
            "connections": self.connections.value() - 1,
            "streams": self.streams.value(),
            "deleted": self.deleted.value(),
            "requests": *self.requests.lock().unwrap_or_else(PoisonError::into_inner),
            "last_post": headers.collect::<serde_json::Map<_, _>>(),
        })
    }
}

impl Gauge {
    pub(crate) fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn down(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
