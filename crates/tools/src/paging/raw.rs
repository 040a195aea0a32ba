//! The arguments of a call, each as it is written: what an upstream gets is what the client wrote.

use forebay_wire::walk;
use serde_json::Value;

use crate::{canonical, json};

/// Names, and the JSON of each value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RawArguments(Vec<(String, Vec<u8>)>);

impl RawArguments {
    /// Reads an object; anything else has no members.
    pub(crate) fn read(json: &[u8]) -> Self {
        let members = walk::members(json).into_iter().flatten();
        Self(members.map(|(key, value)| (json::name(key), value.to_vec())).collect())
    }

    /// The value with this name, as it is written.
    pub(crate) fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_slice())
    }

    /// Sets a value, in the place of one that has the name.
    pub(crate) fn set(&mut self, name: &str, value: &Value) {
        let json = value.to_string().into_bytes();
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = json,
            None => self.0.push((name.to_owned(), json)),
        }
    }

    /// Takes out what has one of these names, read.
    pub(crate) fn take(&mut self, names: &[&str]) -> serde_json::Map<String, Value> {
        let is_meant = |name: &str| names.contains(&name);
        let taken = self.0.iter().filter(|(name, _)| is_meant(name));
        let taken = taken
            .map(|(name, json)| (name.clone(), serde_json::from_slice(json).unwrap_or_default()))
            .collect();
        self.0.retain(|(name, _)| !is_meant(name));
        taken
    }

    /// All of it as an object, in the order of the client.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        object(self.0.iter())
    }

    /// The same for all that mean the same.
    pub(crate) fn canonical(&self) -> Vec<u8> {
        canonical::of(&self.to_json())
    }
}

fn object<'m>(members: impl Iterator<Item = &'m (String, Vec<u8>)>) -> Vec<u8> {
    let members: Vec<Vec<u8>> = members
        .map(|(name, json)| {
            [Value::from(name.as_str()).to_string().as_bytes(), b":", json].concat()
        })
        .collect();
    [b"{".as_slice(), &members.join(&b","[..]), b"}"].concat()
}

/// A name without what is a matter of taste: `per_page`, `perPage` and `$perPage` are the same.
pub(crate) fn normal(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_for_us_stays_as_it_is_written() {
        let json = br#"{"id": 123456789012345678901234567890, "page": 2, "q": 1.0}"#;
        let mut arguments = RawArguments::read(json);
        assert_eq!(
            arguments.take(&["page", "limit"]),
            *serde_json::json!({"page": 2}).as_object().unwrap()
        );
        assert_eq!(arguments.to_json(), br#"{"id":123456789012345678901234567890,"q":1.0}"#);
        let same = RawArguments::read(br#"{ "q":1.0 , "id":123456789012345678901234567890 }"#);
        assert_eq!(arguments.canonical(), same.canonical());
        arguments.set("q", &"x".into());
        assert_eq!(arguments.get("q"), Some(&br#""x""#[..]));
    }
}
