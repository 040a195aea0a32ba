//! How what was kept is linked to: by its address, which is read through MCP, or by a URL.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use forebay_store::{Address, Artifact, Dataset};
use serde_json::{Value, json};

use crate::policy::Clients;

/// Gives URLs under which what was kept can be fetched for a while.
pub trait Outputs: Send + Sync {
    /// The URL of a payload; `None` if it can be fetched by no one.
    fn url(&self, dataset: &Dataset, artifact: &Artifact) -> Option<String>;

    /// For how long a URL is good, at least.
    fn lifetime(&self) -> Duration;

    /// What a URL of ours leads to, or has led to; `None` if it is none.
    fn address(&self, url: &str) -> Option<Address>;

    /// True if a URL begins as ours do, whatever its key.
    fn is_own(&self, url: &str) -> bool;
}

/// Links to payloads: by URLs where there are [`Outputs`], else by addresses.
#[derive(Clone, Default)]
pub struct Links {
    outputs: Option<Arc<dyn Outputs>>,
    clients: Clients,
}

impl Links {
    /// Links for clients, by URLs if there are some.
    pub fn new(outputs: Option<Arc<dyn Outputs>>, clients: Clients) -> Self {
        Self { outputs, clients }
    }

    /// Where clients are.
    pub fn clients(&self) -> Clients {
        self.clients
    }

    /// Where the file of a payload lies, if clients can see that.
    pub fn path(&self, dataset: &Dataset, block: usize) -> Option<PathBuf> {
        match self.clients {
            Clients::Here => Some(dataset.path(block)),
            Clients::Elsewhere => None,
        }
    }

    /// Where a payload can be fetched.
    pub fn uri(&self, dataset: &Dataset, artifact: &Artifact) -> String {
        let url = self.outputs.as_ref().and_then(|outputs| outputs.url(dataset, artifact));
        url.unwrap_or_else(|| Address::of(dataset.id(), artifact.block).to_string())
    }

    /// For how long a link is good, at least; `None` is for as long as what it leads to is kept.
    pub fn lifetime(&self) -> Option<Duration> {
        self.outputs.as_ref().map(|outputs| outputs.lifetime())
    }

    /// The payload that a URL of ours leads to.
    pub fn address(&self, url: &str) -> Option<Address> {
        self.outputs.as_ref()?.address(url)
    }

    /// True if a URL begins as ours do, and so is nobody else's.
    pub fn is_own(&self, url: &str) -> bool {
        self.outputs.as_ref().is_some_and(|outputs| outputs.is_own(url))
    }

    /// A payload as a block of content.
    pub fn block(&self, dataset: &Dataset, artifact: &Artifact) -> Value {
        let mut link = json!({
            "type": "resource_link",
            "uri": self.uri(dataset, artifact),
            "name": artifact.name,
            "mimeType": artifact.media_type,
            "size": artifact.bytes,
        });
        if let Some(description) = &artifact.description {
            link["description"] = description.as_str().into();
        }
        link
    }
}

impl fmt::Debug for Links {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = if self.outputs.is_some() { "urls" } else { "addresses" };
        formatter.debug_struct("Links").field("by", &form).field("clients", &self.clients).finish()
    }
}
