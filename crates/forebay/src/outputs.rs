//! Outputs over HTTP: what was kept, fetched by URLs that are good for a while.
//!
//! A URL is all that it takes: [`key`] makes one that nobody can guess and knows it again, [`answer`] says
//! what is sent for it, [`rate`] how often a client may ask. `serve` offers this beside its endpoint, `wrap`
//! and `gateway` on a listener of their own.

mod answer;
mod disposition;
mod key;
mod range;
mod rate;

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::{Arc, OnceLock, Weak},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use forebay_intercept::{Clients, Outputs as Urls};
use forebay_proxy::client::http::Site;
use forebay_store::{Address, Artifact, Dataset, Mapped, Shelf, Store, StoreError};
use http::{HeaderMap, Method, Request, Response};
use parking_lot::Mutex;

use crate::config::Config;

use self::{
    answer::Found,
    key::{Link, Secret},
    rate::Rate,
};

/// How the path of every output begins.
const PATH: &str = "/outputs/";

/// What was kept, as it is offered over HTTP.
pub(crate) struct Outputs {
    home: PathBuf,
    shelf: Arc<Shelf>,
    /// What keys are made with. It is made when the first is.
    secret: OnceLock<Secret>,
    link_seconds: u64,
    max_bytes: u64,
    rate: Rate,
    clients: Clients,
    /// What URLs begin with, once that is known. Without it there are none.
    base: OnceLock<String>,
    /// What is being sent, by its hash: it is in memory once, however many fetch it.
    sent: Mutex<HashMap<String, Weak<Mapped>>>,
}

impl Outputs {
    /// The outputs of a shelf.
    pub(crate) fn new(config: &Config, shelf: Arc<Shelf>) -> Self {
        let settings = &config.outputs;
        Self {
            home: config.persist_location.clone(),
            shelf,
            secret: OnceLock::new(),
            link_seconds: settings.link_seconds,
            max_bytes: settings.max_bytes,
            rate: Rate::new(settings.requests_per_minute),
            clients: config.policy.clients,
            base: OnceLock::new(),
            sent: Mutex::default(),
        }
    }

    /// What is kept.
    pub(crate) fn shelf(&self) -> &Arc<Shelf> {
        &self.shelf
    }

    /// Has URLs begin with the address that is listened on, unless they begin with something else. False if
    /// there are none: the address stands for all of this machine's, and which of them leads here from where
    /// a client is is not known.
    pub(crate) fn listen_on(&self, address: SocketAddr) -> bool {
        if !address.ip().is_unspecified() {
            self.base.get_or_init(|| format!("http://{address}"));
        }
        self.base.get().is_some()
    }

    /// Has URLs begin with this one, under which something else passes requests on to us.
    pub(crate) fn answer_to(&self, url: &str) {
        // It is said once, before anybody asks for a URL.
        let _ = self.base.set(url.trim_end_matches('/').to_owned());
    }

    /// The URL of a payload, as it is from `now` on.
    fn url_at(&self, dataset: &Dataset, artifact: &Artifact, now: u64) -> Option<String> {
        let base = self.base.get().filter(|_| artifact.bytes <= self.max_bytes)?;
        let until = key::until(now, self.link_seconds);
        let link = Link { dataset: dataset.id().clone(), block: artifact.block, until };
        let path = self.secret_to_sign()?.path(&link);
        Some(format!("{base}{PATH}{path}"))
    }

    /// What stands behind that with which our URLs begin.
    fn key<'u>(&self, url: &'u str) -> Option<&'u str> {
        url.strip_prefix(self.base.get()?)?.strip_prefix(PATH)
    }

    fn secret_to_sign(&self) -> Option<&Secret> {
        if let Some(secret) = self.secret.get() {
            return Some(secret);
        }
        let made = if Store::can_write(&self.home) {
            Secret::read_or_make(&self.home)
        } else {
            // Where nothing can be written, it is good for as long as we run.
            Secret::read(&self.home).or_else(|_| Secret::random())
        };
        match made {
            Ok(secret) => Some(self.secret.get_or_init(|| secret)),
            Err(error) => {
                tracing::warn!(%error, "there are no links to outputs: their secret cannot be had");
                None
            }
        }
    }

    /// The secret of links that somebody may have been given.
    fn secret_to_check(&self) -> Option<&Secret> {
        self.secret.get().or_else(|| {
            let secret = Secret::read(&self.home).ok()?;
            Some(self.secret.get_or_init(|| secret))
        })
    }

    fn answer_at<B>(
        &self,
        request: &Request<B>,
        client: IpAddr,
        now: u64,
        instant: Instant,
    ) -> Response<Bytes> {
        if let Err(wait) = self.rate.take(client, instant) {
            return answer::too_many(wait);
        }
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            return answer::not_allowed();
        }
        let key = request.uri().path().strip_prefix(PATH);
        let link = key.and_then(|key| self.secret_to_check()?.link(key));
        let Some(link) = link else { return answer::nothing() };
        if link.until <= now {
            return answer::expired(&link);
        }
        match self.find(&link) {
            Ok(Some(found)) if found.artifact.bytes > self.max_bytes => {
                let path = self.tells_path_to(client, request.headers()).then(|| found.path());
                answer::too_large(&link, found.artifact.bytes, self.max_bytes, path)
            }
            Ok(Some(found)) => match self.bytes(&found) {
                Ok(bytes) => answer::with(request, &found.artifact, &bytes),
                Err(error) => failed(&link, &error),
            },
            Ok(None) => answer::nothing(),
            Err(error) => failed(&link, &error),
        }
    }

    fn find(&self, link: &Link) -> Result<Option<Found>, StoreError> {
        let store = self.shelf.store()?;
        let dataset = match store.dataset(&link.dataset) {
            Err(StoreError::Unknown(_)) => return Ok(None),
            other => other?,
        };
        let artifact = dataset.artifact(link.block);
        Ok(artifact.map(|artifact| Found { store, dataset, artifact }))
    }

    /// What a payload holds, which is what was kept.
    fn bytes(&self, found: &Found) -> Result<Bytes, StoreError> {
        let hash = &found.artifact.blake3;
        if let Some(mapped) = self.sent.lock().get(hash).and_then(Weak::upgrade) {
            return Ok(answer::shared(mapped));
        }
        let mapped = Arc::new(found.store.map(&found.dataset, found.artifact.block)?);
        let mut sent = self.sent.lock();
        sent.retain(|_, mapped| mapped.strong_count() > 0);
        sent.insert(hash.clone(), Arc::downgrade(&mapped));
        Ok(answer::shared(mapped))
    }

    /// True if a client can do something with a path on this machine: it is here, as far as can be seen.
    fn tells_path_to(&self, client: IpAddr, headers: &HeaderMap) -> bool {
        const PASSED_ON: [&str; 4] = ["forwarded", "via", "x-forwarded-for", "x-real-ip"];
        let is_passed_on = PASSED_ON.iter().any(|name| headers.contains_key(*name));
        match self.clients {
            Clients::Here => client.is_loopback() && !is_passed_on,
            Clients::Elsewhere => false,
        }
    }
}

impl Urls for Outputs {
    fn url(&self, dataset: &Dataset, artifact: &Artifact) -> Option<String> {
        self.url_at(dataset, artifact, whole_seconds(since_1970()))
    }

    fn lifetime(&self) -> Duration {
        Duration::from_secs(self.link_seconds)
    }

    fn address(&self, url: &str) -> Option<Address> {
        let link = self.secret_to_check()?.link(self.key(url)?)?;
        Some(Address::of(&link.dataset, link.block))
    }

    fn is_own(&self, url: &str) -> bool {
        self.key(url).is_some()
    }
}

impl Site for Outputs {
    fn owns(&self, path: &str) -> bool {
        path.starts_with(PATH) || path == PATH.trim_end_matches('/')
    }

    fn answer(&self, request: &Request<Bytes>, client: SocketAddr) -> Response<Bytes> {
        self.answer_at(request, client.ip().to_canonical(), now(), Instant::now())
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    since_1970().as_secs()
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// So many seconds or more: a link that is given in the middle of one is good for all of its time.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

fn failed(link: &Link, error: &StoreError) -> Response<Bytes> {
    match error {
        // It has been removed meanwhile.
        StoreError::Unknown(_) | StoreError::Missing(_) => answer::nothing(),
        _ => {
            tracing::error!(dataset = %link.dataset, %error, "an output cannot be read");
            answer::unreadable()
        }
    }
}

#[cfg(test)]
mod tests;
