//! What is kept of a call's arguments: enough to tell results apart, and no secrets.
//!
//! Part of stage 2. A value under a name that looks like a secret's is masked, and so is what looks
//! like a secret wherever it stands ([`forebay_text::without_secrets`]).

use forebay_proxy::arguments::Arguments;
use forebay_store::facts::Hash;
use forebay_text::is_secret_name;
use forebay_wire::{
    scan, syntax,
    walk::{self, Type},
};
use serde_json::{Map, Value};

/// What stands in the place of a secret.
const MASK: &str = "***";
/// What lies deeper is not kept: a metadata file of any depth could not be read again.
const MAX_DEPTH: usize = 64;

/// Arguments as they are kept.
#[derive(Debug, PartialEq)]
pub(crate) struct Kept {
    pub(crate) value: Value,
    pub(crate) hash: Hash,
}

/// What is kept of a call's arguments, and the hash of all of them.
pub fn kept_arguments(arguments: &Arguments) -> (Value, Hash) {
    let Kept { value, hash } = kept(arguments);
    (value, hash)
}

/// The words of a command with what looks like a secret masked: also what follows a flag that names one, and what is in
/// JSON.
pub fn command_without_secrets(words: &[String]) -> Vec<String> {
    forebay_text::command_without_secrets(words, |word| {
        match (Reader { has_masked: false }).text(word, 0) {
            Value::String(text) => text,
            other => other.to_string(),
        }
    })
}

/// What is kept of these arguments.
pub(crate) fn kept(arguments: &Arguments) -> Kept {
    let mut reader = Reader { has_masked: false };
    let value = reader.value(arguments.json(), 0);
    let hash = if reader.has_masked { Hash::Withheld } else { Hash::Told(arguments.hash()) };
    Kept { value, hash }
}

/// Reads JSON, and masks on the way.
struct Reader {
    has_masked: bool,
}

impl Reader {
    fn value(&mut self, json: &[u8], depth: usize) -> Value {
        let json = json.trim_ascii();
        match walk::type_of(json) {
            Some(Type::Object | Type::Array) if depth >= MAX_DEPTH => {
                format!("… ({} bytes)", json.len()).into()
            }
            Some(Type::Object) => self.object(json, depth).into(),
            Some(Type::Array) => self.list(json, depth).into(),
            Some(Type::String) => match scan::string(json) {
                Some(text) => self.text(&text, depth),
                // Half of a character, which no text can hold.
                None => self.text(&as_written(json), depth),
            },
            Some(Type::Number) => number(json),
            Some(Type::Boolean) => (json == b"true").into(),
            Some(Type::Null) | None => Value::Null,
        }
    }

    fn object(&mut self, json: &[u8], depth: usize) -> Map<String, Value> {
        let members: Vec<(String, &[u8])> = walk::members(json)
            .into_iter()
            .flatten()
            .map(|(key, value)| (name(key), value))
            .collect();
        // `{"name": "Authorization", "value": …}`
        let is_named_secret = members.iter().any(|(key, value)| {
            matches!(key.to_ascii_lowercase().as_str(), "name" | "key" | "header")
                && scan::string(value).is_some_and(|name| is_secret_name(&name))
        });
        let is_secret = |name: &str| {
            is_secret_name(name) || (is_named_secret && name.eq_ignore_ascii_case("value"))
        };
        members
            .into_iter()
            .map(|(name, value)| {
                let kept = if is_secret(&name) {
                    self.masked(value)
                } else {
                    self.value(value, depth + 1)
                };
                (name, kept)
            })
            .collect()
    }

    fn list(&mut self, json: &[u8], depth: usize) -> Vec<Value> {
        // `["--password", …]`
        let mut is_secret = false;
        let mut values = Vec::new();
        for element in walk::elements(json).into_iter().flatten() {
            values.push(if is_secret {
                self.masked(element)
            } else {
                self.value(element, depth + 1)
            });
            is_secret = scan::string(element)
                .is_some_and(|text| text.starts_with('-') && is_secret_name(&text));
        }
        values
    }

    /// A secret. That there is none, or whether there is to be one, is no secret.
    fn masked(&mut self, json: &[u8]) -> Value {
        match walk::type_of(json) {
            Some(Type::Boolean | Type::Null) => self.value(json, 0),
            Some(Type::Object | Type::Array | Type::String | Type::Number) | None => {
                self.has_masked = true;
                MASK.into()
            }
        }
    }

    fn text(&mut self, text: &str, depth: usize) -> Value {
        let is_json = text.trim_ascii_start().starts_with(['{', '['])
            && syntax::check(text.as_bytes()).is_ok();
        if is_json {
            let mut reader = Reader { has_masked: false };
            let value = reader.value(text.as_bytes(), depth + 1);
            self.has_masked |= reader.has_masked;
            return if reader.has_masked { value.to_string() } else { text.to_owned() }.into();
        }
        let masked = forebay_text::without_secrets(text);
        self.has_masked |= masked != text;
        masked.into()
    }
}

fn as_written(json: &[u8]) -> String {
    String::from_utf8_lossy(json).into_owned()
}

fn name(key: &[u8]) -> String {
    let quoted = [b"\"", key, b"\""].concat();
    scan::string(&quoted).map_or_else(|| as_written(key), Into::into)
}

/// A number; one that would lose digits becomes a text.
fn number(json: &[u8]) -> Value {
    let text = as_written(json);
    let is_integer = !text.contains(['.', 'e', 'E']);
    let number = if is_integer {
        text.parse::<i64>()
            .ok()
            .map(Value::from)
            .or_else(|| text.parse::<u64>().ok().map(Value::from))
    } else {
        text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from)
    };
    number.unwrap_or_else(|| text.into())
}

#[cfg(test)]
mod tests;
