//! A service that makes vectors, asked as `OpenAI`'s is: `POST …/v1/embeddings`.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

use forebay_services::{Client, Method, Request};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{EmbedError, Embedder, model::normalized};

/// How many texts are sent at once.
const BATCH: usize = 64;

/// A text is not shortened to less than this: it is not its length that a service refuses it for.
const LEAST_BYTES: usize = 256;

/// How much of what a service says about a failure is told.
const MAX_SAID_CHARS: usize = 200;

/// How a service is asked.
#[derive(Clone)]
pub struct RemoteSettings {
    /// Where it is, with or without `/v1` at the end.
    pub url: Url,
    /// What the service calls the model.
    pub model: String,
    /// The key, if it wants one.
    pub key: Option<String>,
    /// How long an answer may take.
    pub timeout: Duration,
}

/// A service that makes vectors.
pub struct Remote {
    client: Client,
    address: Url,
    model: String,
    /// What is sent as `Authorization`.
    authorization: Option<String>,
    timeout: Duration,
    /// How many numbers its first vector had.
    dimensions: OnceLock<usize>,
}

impl Remote {
    /// A service. It is not asked yet.
    pub fn new(client: Client, settings: RemoteSettings) -> Self {
        let RemoteSettings { url, model, key, timeout } = settings;
        let authorization = key.map(|key| format!("Bearer {key}"));
        let address = embeddings(url);
        Self { client, address, model, authorization, timeout, dimensions: OnceLock::new() }
    }

    fn host(&self) -> String {
        self.address.host_str().unwrap_or_default().to_owned()
    }

    /// The vectors of texts, which are shortened if the service says that it cannot take them: most models read
    /// the beginning of a long text, but some services refuse it.
    fn embed_fitting(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let refusal = match self.embed_at_once(texts) {
            Err(refusal @ EmbedError::Refused { status: 400 | 413 | 422, .. }) => refusal,
            other => return other,
        };
        match texts {
            [text] if text.len() >= 2 * LEAST_BYTES => {
                let mut half = text.len() / 2;
                while !text.is_char_boundary(half) {
                    half -= 1;
                }
                self.embed_fitting(&[&text[..half]])
            }
            [_] | [] => Err(refusal),
            _ => {
                let mut vectors = Vec::with_capacity(texts.len());
                for text in texts {
                    vectors.extend(self.embed_fitting(&[text])?);
                }
                Ok(vectors)
            }
        }
    }

    fn embed_at_once(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let asked = Asked { model: &self.model, input: texts, encoding_format: "float" };
        let body = serde_json::to_vec(&asked).map_err(|error| self.malformed(&error))?;
        let authorization = self.authorization.as_deref().map(|value| ("authorization", value));
        let headers: Vec<(&str, &str)> = authorization.into_iter().collect();
        let request = Request {
            method: Method::Post,
            url: &self.address,
            headers: &headers,
            body: Some(body),
        };
        let answer = self.client.ask(request, Instant::now() + self.timeout)?;
        if !answer.status.is_success() {
            let (host, status) = (self.host(), answer.status.as_u16());
            return Err(EmbedError::Refused { host, status, said: said(&answer.body) });
        }
        let told: Told =
            serde_json::from_slice(&answer.body).map_err(|error| self.malformed(&error))?;
        self.vectors(told, texts.len())
    }

    /// The vectors of an answer, in the order of the texts.
    fn vectors(&self, told: Told, asked: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut embeddings = told.data;
        let given = embeddings.len();
        if given != asked {
            return Err(EmbedError::WrongCount { host: self.host(), asked, given });
        }
        // Some services leave the places out, and keep to the order.
        embeddings.sort_by_key(|embedding| embedding.index);
        let has_places = embeddings.iter().any(|embedding| embedding.index.is_some());
        if has_places
            && !embeddings.iter().map(|embedding| embedding.index).eq((0..asked).map(Some))
        {
            return Err(self.malformed(&"it does not say which embedding is of which text"));
        }
        embeddings.into_iter().map(|embedding| self.vector(embedding.embedding)).collect()
    }

    fn vector(&self, numbers: Vec<f32>) -> Result<Vec<f32>, EmbedError> {
        let given = numbers.len();
        let vector =
            normalized(numbers).ok_or_else(|| self.malformed(&"an embedding has no length"))?;
        let expected = *self.dimensions.get_or_init(|| given);
        if given != expected {
            return Err(EmbedError::WrongDimensions { host: self.host(), expected, given });
        }
        Ok(vector)
    }

    fn malformed(&self, why: &dyn ToString) -> EmbedError {
        EmbedError::Malformed { host: self.host(), why: why.to_string() }
    }
}

impl Embedder for Remote {
    fn model(&self) -> &str {
        &self.model
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            vectors.extend(self.embed_fitting(batch)?);
        }
        Ok(vectors)
    }
}

/// What is sent.
#[derive(Serialize)]
struct Asked<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'a str,
}

/// What comes back.
#[derive(Deserialize)]
struct Told {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Where embeddings are made.
fn embeddings(mut url: Url) -> Url {
    let path = url.path().trim_end_matches('/');
    let path = match path.strip_suffix("/embeddings") {
        Some(_) => path.to_owned(),
        None if path.ends_with("/v1") => format!("{path}/embeddings"),
        None => format!("{path}/v1/embeddings"),
    };
    url.set_path(&path);
    url
}

/// What a service says about a failure, as it is shown: one line that is not too long.
fn said(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Failure {
        error: Error,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Error {
        Object { message: String },
        Text(String),
    }
    let said = match serde_json::from_slice(body) {
        Ok(Failure { error: Error::Object { message } | Error::Text(message) }) => message,
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    };
    let words: Vec<&str> = said
        .split(|it: char| it.is_whitespace() || it.is_control())
        .filter(|it| !it.is_empty())
        .collect();
    words.join(" ").chars().take(MAX_SAID_CHARS).collect()
}

#[cfg(test)]
mod tests;
