//! The client's own model, by way of `sampling/createMessage`.

use std::time::Instant;

use forebay_proxy::chain::Sampling;
use serde_json::{Value, json};

use crate::{
    failure::Failure,
    input::Prompt,
    provider::{MAX_ANSWER_TOKENS, Provider, Said, schema, written_json},
};

pub(super) struct Sampled;

impl Provider for Sampled {
    fn name(&self) -> &'static str {
        "sampling"
    }

    fn model(&self) -> Option<&str> {
        None
    }

    fn needs_client(&self) -> bool {
        true
    }

    fn ask(
        &self,
        prompt: &Prompt,
        client: Option<&Sampling>,
        deadline: Instant,
    ) -> Result<Said, Failure> {
        let client =
            client.ok_or_else(|| Failure::Declined("the client offers no sampling".to_owned()))?;
        let patience = deadline.saturating_duration_since(Instant::now());
        let answer = client.ask(&request(prompt).to_string(), patience)?;
        let answer: Value = serde_json::from_slice(&answer).map_err(|_| Failure::NotJson)?;
        let model = answer["model"].as_str().filter(|it| !it.is_empty()).map(str::to_owned);
        // What the client's model has read and written, nobody tells.
        Ok(Said { answer: written_json(&text_of(&answer["content"]))?, model, ..Said::default() })
    }
}

fn request(prompt: &Prompt) -> Value {
    // There is no place for a schema: it is said in words.
    let form = format!(
        "{} Answer with one JSON object that fits this JSON Schema, and nothing else: {}",
        prompt.instructions,
        schema()
    );
    json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": prompt.data}}],
        "systemPrompt": form,
        "includeContext": "none",
        "maxTokens": MAX_ANSWER_TOKENS,
        "modelPreferences": {
            "speedPriority": 0.9, "costPriority": 0.7, "intelligencePriority": 0.3,
        },
    })
}

/// The text of one block, or of several, as later revisions have them.
fn text_of(content: &Value) -> String {
    match content {
        Value::Array(blocks) => blocks.iter().map(text_of).collect(),
        block => block["text"].as_str().unwrap_or_default().to_owned(),
    }
}
