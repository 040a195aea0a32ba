//! Whoever has a model that can be asked.

use std::{fmt, time::Instant};

use forebay_proxy::chain::Sampling;
use forebay_services::{Answer, Client, Method, Request, Url};
use serde_json::{Value, json};

use crate::{check, failure::Failure, input::Prompt};

/// No answer that is asked for is longer, in tokens.
pub(crate) const MAX_ANSWER_TOKENS: u64 = 1_024;

/// Has a model that can be asked.
pub(crate) trait Provider: Send + Sync {
    /// What it is called in counts.
    fn name(&self) -> &'static str;

    /// The model that is asked; `None` if only the answer tells.
    fn model(&self) -> Option<&str>;

    /// True if it asks by way of the client, and so only where that can be asked.
    fn needs_client(&self) -> bool {
        false
    }

    /// Asks, and waits until `deadline` at the latest.
    fn ask(
        &self,
        prompt: &Prompt,
        client: Option<&Sampling>,
        deadline: Instant,
    ) -> Result<Said, Failure>;
}

/// What a model has answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Said {
    /// The answer, which is to have the form of [`schema`].
    pub(crate) answer: Value,
    /// The model that answered, if the answer tells.
    pub(crate) model: Option<String>,
    /// How many tokens the provider says that it has read.
    pub(crate) input_tokens: u64,
    /// How many it says that it has written.
    pub(crate) output_tokens: u64,
}

/// A secret that lets us in. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key, unless it is empty or holds what no header can.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_key = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_key.then(|| Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key")
    }
}

/// Where a provider is, and what lets us in there.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) client: Client,
    pub(crate) base: Url,
    pub(crate) model: String,
}

impl Endpoint {
    /// The address of `path` there.
    pub(crate) fn at(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        let base = url.path().trim_end_matches('/');
        // Some write the version into the base, others do not.
        let base = base.strip_suffix("/v1").unwrap_or(base).to_owned();
        url.set_path(&format!("{base}{path}"));
        url
    }

    /// Sends a question; gives the answer, if it is one.
    pub(crate) fn post(
        &self,
        url: &Url,
        headers: &[(&str, &str)],
        body: &Value,
        deadline: Instant,
    ) -> Result<Answer, Failure> {
        let body = Some(body.to_string().into_bytes());
        let request = Request { method: Method::Post, url, headers, body };
        let answer = self.client.ask(request, deadline)?;
        match answer.status.as_u16() {
            200..=299 => Ok(answer),
            429 => Err(Failure::TooOften),
            status @ 500..=599 => Err(Failure::Server(status)),
            status => {
                // Some repeat the key that they do not accept.
                let secrets = headers.iter().map(|(_, value)| value.trim_start_matches("Bearer "));
                let why = secrets.fold(said_why(&answer.body), |why, it| why.replace(it, "…"));
                Err(Failure::NotAccepted { status, why })
            }
        }
    }
}

/// What an answer says that is not the one that was hoped for, in short.
fn said_why(body: &[u8]) -> String {
    const MAX_CHARS: usize = 200;
    let json: Option<Value> = serde_json::from_slice(body).ok();
    let message = json.as_ref().and_then(|it| {
        [&it["error"]["message"], &it["error"], &it["message"]].into_iter().find_map(Value::as_str)
    });
    let plain = message.unwrap_or("it does not say why").chars();
    plain.filter(|it| !it.is_control()).take(MAX_CHARS).collect()
}

/// Reads an answer of JSON.
pub(crate) fn json_of(answer: &Answer) -> Result<Value, Failure> {
    if answer.body.trim_ascii().is_empty() {
        return Err(Failure::Empty);
    }
    serde_json::from_slice(&answer.body).map_err(|_| Failure::NotJson)
}

/// Reads what a model has written, which is to be JSON; some put a fence around it, or words.
pub(crate) fn written_json(text: &str) -> Result<Value, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::Empty);
    }
    let inside = text.find('{').zip(text.rfind('}')).filter(|(open, close)| open < close);
    let (open, close) = inside.ok_or(Failure::NotJson)?;
    serde_json::from_str(&text[open..=close]).map_err(|_| Failure::NotJson)
}

/// The form of an answer, as JSON Schema.
pub(crate) fn schema() -> Value {
    let lines = |from: usize, to: usize, what: &str| {
        json!({
            "type": "array",
            "description": what,
            "items": {"type": "string"},
            "minItems": from,
            "maxItems": to,
        })
    };
    json!({
        "type": "object",
        "properties": {
            "keyFindings": lines(
                *check::FINDINGS.start(),
                *check::FINDINGS.end(),
                "What is worth knowing of the data, each in one sentence."
            ),
            "actionableInsights": lines(
                0,
                check::MAX_INSIGHTS,
                "What could be done about it, each in one sentence."
            ),
        },
        "required": ["keyFindings", "actionableInsights"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown_and_is_one() {
        let key = Key::new(" secret-1\n").unwrap();
        assert_eq!(key.as_str(), "secret-1");
        assert_eq!(format!("{key:?}"), "Key");
        for none in ["", "  ", "a b", "a\nb", "schlüssel"] {
            assert_eq!(Key::new(none), None, "{none:?}");
        }
    }

    #[test]
    fn json_is_found_in_what_a_model_writes_around_it() {
        let written = ["{\"a\":1}", "```json\n{\"a\":1}\n```", "Here it is:\n{\"a\":1}\nDone."];
        for text in written {
            assert_eq!(written_json(text).unwrap(), json!({"a": 1}), "{text}");
        }
        assert!(matches!(written_json(" \n"), Err(Failure::Empty)));
        for text in ["no", "{", "}{", "{a}"] {
            assert!(matches!(written_json(text), Err(Failure::NotJson)), "{text}");
        }
    }

    #[test]
    fn a_base_may_have_the_version_in_it() {
        let client = Client::new(&[] as &[Vec<u8>]).unwrap();
        for base in ["http://localhost:1/", "http://localhost:1/v1", "http://localhost:1/v1/"] {
            let base = base.parse().unwrap();
            let endpoint = Endpoint { client: client.clone(), base, model: String::new() };
            let url = endpoint.at("/v1/chat/completions");
            assert_eq!(url.as_str(), "http://localhost:1/v1/chat/completions");
        }
    }

    #[test]
    fn why_a_question_is_not_accepted_is_told_in_short() {
        assert_eq!(said_why(br#"{"error":{"message":"no\u0007 such model"}}"#), "no such model");
        assert_eq!(said_why(br#"{"error":"bad key"}"#), "bad key");
        assert_eq!(said_why(b"<html>"), "it does not say why");
    }
}
