//! Google's models: `generateContent`, with a schema for the answer.

use forebay_services::Answer;
use serde_json::{Value, json};

use super::hosted::Wire;
use crate::{
    check,
    failure::Failure,
    input::Prompt,
    provider::{Key, MAX_ANSWER_TOKENS, Said, json_of, written_json},
};

pub(super) struct Gemini;

impl Wire for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn path(&self, model: &str) -> String {
        format!("/v1beta/models/{model}:generateContent")
    }

    fn key_header(&self, key: &Key) -> (&'static str, String) {
        ("x-goog-api-key", key.as_str().to_owned())
    }

    fn questions(&self, model: &str, prompt: &Prompt) -> Vec<Value> {
        vec![request(model, prompt)]
    }

    fn said(&self, answer: &Answer) -> Result<Said, Failure> {
        let answer = json_of(answer)?;
        let candidate = &answer["candidates"][0];
        if candidate.is_null() {
            let why = answer["promptFeedback"]["blockReason"].as_str();
            return Err(why.map_or(Failure::Empty, |why| Failure::Declined(why.to_owned())));
        }
        let parts = candidate["content"]["parts"].as_array().into_iter().flatten();
        // What it thought on the way is no answer.
        let parts = parts.filter(|part| part["thought"] != true);
        let text: String = parts.filter_map(|part| part["text"].as_str()).collect();
        let usage = &answer["usageMetadata"];
        let tokens = |name: &str| usage[name].as_u64().unwrap_or_default();
        Ok(Said {
            answer: written_json(&text)?,
            model: None,
            input_tokens: tokens("promptTokenCount"),
            output_tokens: tokens("candidatesTokenCount") + tokens("thoughtsTokenCount"),
        })
    }
}

fn request(model: &str, prompt: &Prompt) -> Value {
    let mut config = json!({
        "responseMimeType": "application/json",
        "responseSchema": schema(),
        "maxOutputTokens": MAX_ANSWER_TOKENS,
        "temperature": 0,
    });
    // It would think for longer than there is time.
    if model.starts_with("gemini-2.5-flash") {
        config["thinkingConfig"] = json!({"thinkingBudget": 0});
    }
    json!({
        "systemInstruction": {"parts": [{"text": prompt.instructions}]},
        "contents": [{"role": "user", "parts": [{"text": prompt.data}]}],
        "generationConfig": config,
    })
}

/// The form of the answer, as this API writes it.
fn schema() -> Value {
    let lines = |from: usize, to: usize| {
        // Numbers of 64 bits are texts here.
        json!({
            "type": "ARRAY",
            "items": {"type": "STRING"},
            "minItems": from.to_string(),
            "maxItems": to.to_string(),
        })
    };
    json!({
        "type": "OBJECT",
        "properties": {
            "keyFindings": lines(*check::FINDINGS.start(), *check::FINDINGS.end()),
            "actionableInsights": lines(0, check::MAX_INSIGHTS),
        },
        "required": ["keyFindings", "actionableInsights"],
    })
}
