//! Names of datasets and jobs: short, and hard to misread or mistype.

use std::{
    collections::hash_map::RandomState,
    fmt,
    hash::{BuildHasher, Hasher},
};

use serde::{Deserialize, Serialize};

/// Digits and letters without those that look alike (0 and o, 1 and l and i; u and v).
const ALPHABET: &[u8; 30] = b"23456789abcdefghjkmnpqrstvwxyz";
const RANDOM_LENGTH: usize = 8;
const PREFIX: &str = "dataset_";

/// A dataset's name, such as `dataset_k3v9x2ma`. It is a valid SQL identifier as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DatasetId(String);

impl DatasetId {
    /// How long every name is.
    pub const LENGTH: usize = PREFIX.len() + RANDOM_LENGTH;

    /// Makes a new one at random; whether it is taken is for the store to check.
    pub(crate) fn random() -> Self {
        Self(random(PREFIX))
    }

    /// Reads a name, with or without its prefix; `None` if no dataset can be called so.
    pub fn parse(text: &str) -> Option<Self> {
        parsed(text, PREFIX).map(Self)
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DatasetId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<DatasetId> for String {
    fn from(id: DatasetId) -> Self {
        id.0
    }
}

impl TryFrom<String> for DatasetId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is not the name of a dataset"))
    }
}

/// A name at random behind a prefix.
pub(crate) fn random(prefix: &str) -> String {
    // The standard library's hash keys are the system's randomness without a dependency.
    let mut bits = RandomState::new().build_hasher().finish();
    let mut name = prefix.to_owned();
    for _ in 0..RANDOM_LENGTH {
        let digit = usize::try_from(bits % ALPHABET.len() as u64).unwrap_or(0);
        name.push(char::from(ALPHABET[digit]));
        bits /= ALPHABET.len() as u64;
    }
    name
}

/// A name, which may be given without its prefix, with it; `None` if nothing can be called so.
pub(crate) fn parsed(text: &str, prefix: &str) -> Option<String> {
    let digits = text.strip_prefix(prefix).unwrap_or(text);
    let is_plausible =
        digits.len() == RANDOM_LENGTH && digits.bytes().all(|byte| ALPHABET.contains(&byte));
    is_plausible.then(|| format!("{prefix}{digits}"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_short_distinct_and_read_back() {
        let ids: HashSet<DatasetId> = (0..10_000).map(|_| DatasetId::random()).collect();
        assert!(ids.len() >= 9_999, "thirty to the eighth are enough");
        for id in &ids {
            assert_eq!(DatasetId::parse(id.as_str()).as_ref(), Some(id));
            assert_eq!(DatasetId::parse(&id.as_str()[PREFIX.len()..]).as_ref(), Some(id));
        }
    }

    #[test]
    fn what_could_leave_the_store_is_no_name() {
        let bad =
            ["", "dataset_", "dataset_../../x", "dataset_ABCDEFGH", "dataset_k3v9x2m", "k3v9x2ma/"];
        for text in bad {
            assert_eq!(DatasetId::parse(text), None, "{text}");
        }
    }
}
