//! `OpenAI`'s models, and all servers that speak as it does: `chat/completions`, with a schema for the
//! answer. A server that knows no schemas is asked once more for any JSON.

use forebay_services::Answer;
use serde_json::{Value, json};

use super::hosted::Wire;
use crate::{
    failure::Failure,
    input::Prompt,
    provider::{Key, MAX_ANSWER_TOKENS, Said, json_of, schema, written_json},
};

pub(super) struct OpenAi;

impl Wire for OpenAi {
    fn name(&self) -> &'static str {
        "openai"
    }

    fn path(&self, _: &str) -> String {
        "/v1/chat/completions".to_owned()
    }

    fn key_header(&self, key: &Key) -> (&'static str, String) {
        ("authorization", format!("Bearer {}", key.as_str()))
    }

    fn questions(&self, model: &str, prompt: &Prompt) -> Vec<Value> {
        let formats = [with_schema(), json!({"type": "json_object"})];
        formats.map(|format| request(model, prompt, &format)).into()
    }

    fn said(&self, answer: &Answer) -> Result<Said, Failure> {
        let (text, usage) = match streamed(&answer.body) {
            Some(streamed) => streamed,
            None => whole(&json_of(answer)?)?,
        };
        let tokens = |name: &str| usage[name].as_u64().unwrap_or_default();
        Ok(Said {
            answer: written_json(&text)?,
            model: None,
            input_tokens: tokens("prompt_tokens"),
            output_tokens: tokens("completion_tokens"),
        })
    }
}

fn request(model: &str, prompt: &Prompt, format: &Value) -> Value {
    json!({
        "model": model,
        "messages": [
            {"role": "system", "content": prompt.instructions},
            {"role": "user", "content": prompt.data},
        ],
        "response_format": format,
        "max_completion_tokens": MAX_ANSWER_TOKENS,
        "stream": false,
    })
}

fn with_schema() -> Value {
    let schema = json!({"name": "findings", "strict": true, "schema": schema()});
    json!({"type": "json_schema", "json_schema": schema})
}

/// The text of an answer, and what it has cost.
fn whole(answer: &Value) -> Result<(String, Value), Failure> {
    let message = &answer["choices"][0]["message"];
    if let Some(refusal) = message["refusal"].as_str().filter(|it| !it.is_empty()) {
        return Err(Failure::Declined(refusal.chars().take(200).collect()));
    }
    let text = message["content"].as_str().unwrap_or_default().to_owned();
    Ok((text, answer["usage"].clone()))
}

/// The same of a server that streams although it was not asked to; `None` if the answer is no stream.
fn streamed(body: &[u8]) -> Option<(String, Value)> {
    let body = std::str::from_utf8(body).ok()?.trim_start();
    let is_stream = ["data:", "event:", ":"].iter().any(|start| body.starts_with(start));
    if !is_stream {
        return None;
    }
    let (mut text, mut usage) = (String::new(), Value::Null);
    for line in body.lines() {
        let Some(data) = line.strip_prefix("data:") else { continue };
        // The last one is `[DONE]`.
        let Ok(piece) = serde_json::from_str::<Value>(data.trim()) else { continue };
        text += piece["choices"][0]["delta"]["content"].as_str().unwrap_or_default();
        if piece["usage"].is_object() {
            usage = piece["usage"].clone();
        }
    }
    Some((text, usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_put_together() {
        let body = ": ping\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"{\\\"a\\\"\"}}]}\r\n\r\n\
            data: {\"choices\":[{\"delta\":{\"content\":\":1}\"}}]}\n\n\
            data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7}}\n\ndata: [DONE]\n\n";
        let (text, usage) = streamed(body.as_bytes()).unwrap();
        assert_eq!((text.as_str(), &usage["prompt_tokens"]), ("{\"a\":1}", &json!(7)));
        assert_eq!(streamed(b"{\"choices\":[]}"), None);
    }

    #[test]
    fn a_refusal_is_told() {
        let refused = whole(&json!({"choices": [{"message": {"refusal": "no"}}]})).unwrap_err();
        assert!(matches!(refused, Failure::Declined(_)), "{refused}");
    }
}
