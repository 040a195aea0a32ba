//! Anthropic's models: `messages`, with a tool that the model has to use, whose input is the answer.

use forebay_services::Answer;
use serde_json::{Value, json};

use super::hosted::Wire;
use crate::{
    failure::Failure,
    input::Prompt,
    provider::{Key, MAX_ANSWER_TOKENS, Said, json_of, schema},
};

const VERSION: &str = "2023-06-01";
const TOOL: &str = "report_findings";

pub(super) struct Anthropic;

impl Wire for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn path(&self, _: &str) -> String {
        "/v1/messages".to_owned()
    }

    fn key_header(&self, key: &Key) -> (&'static str, String) {
        ("x-api-key", key.as_str().to_owned())
    }

    fn other_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", VERSION)]
    }

    fn questions(&self, model: &str, prompt: &Prompt) -> Vec<Value> {
        vec![request(model, prompt)]
    }

    fn said(&self, answer: &Answer) -> Result<Said, Failure> {
        let answer = json_of(answer)?;
        let blocks = answer["content"].as_array().into_iter().flatten();
        let mut used = blocks.filter(|block| block["type"] == "tool_use" && block["name"] == TOOL);
        let Some(used) = used.next() else {
            let is_declined = answer["stop_reason"] == "refusal";
            let why = || Failure::Declined("it refuses to answer".to_owned());
            return Err(if is_declined { why() } else { Failure::Empty });
        };
        let tokens = |name: &str| answer["usage"][name].as_u64().unwrap_or_default();
        Ok(Said {
            answer: used["input"].clone(),
            model: None,
            input_tokens: tokens("input_tokens"),
            output_tokens: tokens("output_tokens"),
        })
    }
}

fn request(model: &str, prompt: &Prompt) -> Value {
    json!({
        "model": model,
        "max_tokens": MAX_ANSWER_TOKENS,
        "system": prompt.instructions,
        "messages": [{"role": "user", "content": prompt.data}],
        "tools": [{
            "name": TOOL,
            "description": "Reports what was found in the data.",
            "input_schema": schema(),
        }],
        "tool_choice": {"type": "tool", "name": TOOL},
    })
}
