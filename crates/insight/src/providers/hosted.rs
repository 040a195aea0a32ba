//! A provider that is asked over HTTP: what all of them have in common.
//!
//! Where it is, which model is asked and what lets us in are the same for each; how a question and an
//! answer are written is a [`Wire`]'s to say.

use std::time::Instant;

use forebay_proxy::chain::Sampling;
use forebay_services::Answer;
use serde_json::Value;

use crate::{
    failure::Failure,
    input::Prompt,
    provider::{Endpoint, Key, Provider, Said},
};

/// How a provider writes questions and answers.
pub(super) trait Wire: Send + Sync {
    /// What it is called in counts.
    fn name(&self) -> &'static str;

    /// Where questions to a model go.
    fn path(&self, model: &str) -> String;

    /// What lets us in.
    fn key_header(&self, key: &Key) -> (&'static str, String);

    /// What else is said in headers.
    fn other_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// A question. Each further one is for servers that do not accept the one before.
    fn questions(&self, model: &str, prompt: &Prompt) -> Vec<Value>;

    /// What an answer says.
    fn said(&self, answer: &Answer) -> Result<Said, Failure>;
}

/// A provider that is asked over HTTP.
pub(super) struct Hosted {
    pub(super) endpoint: Endpoint,
    /// Servers of one's own mostly want none, and are sent none that was not meant for them.
    pub(super) key: Option<Key>,
    pub(super) wire: &'static dyn Wire,
}

impl Provider for Hosted {
    fn name(&self) -> &'static str {
        self.wire.name()
    }

    fn model(&self) -> Option<&str> {
        Some(&self.endpoint.model)
    }

    fn ask(
        &self,
        prompt: &Prompt,
        _: Option<&Sampling>,
        deadline: Instant,
    ) -> Result<Said, Failure> {
        let Self { endpoint, key, wire } = self;
        let url = endpoint.at(&wire.path(&endpoint.model));
        let key = key.as_ref().map(|key| wire.key_header(key));
        let own = key.iter().map(|(name, value)| (*name, value.as_str()));
        let headers: Vec<(&str, &str)> = own.chain(wire.other_headers().iter().copied()).collect();
        let mut answer = Err(Failure::Empty);
        for body in wire.questions(&endpoint.model, prompt) {
            answer = endpoint.post(&url, &headers, &body, deadline);
            let is_not_understood =
                matches!(answer, Err(Failure::NotAccepted { status: 400 | 422, .. }));
            if !is_not_understood {
                break;
            }
        }
        wire.said(&answer?)
    }
}
