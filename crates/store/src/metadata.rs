//! The metadata file: what a dataset is, in fields whose names are a contract.
//!
//! It ends with a checksum of all that stands before. What is read is not believed: it must be of the
//! dataset that was asked for, and name no files but that dataset's own.

use jiff::Timestamp;
use serde::{Deserialize, Serialize, de::Error as _};

use crate::{
    DatasetId, Facts, Principal,
    facts::{Schema, Summary},
};

/// What the store is told about a dataset.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Description {
    /// The tool that gave the result.
    pub tool: String,
    /// The upstream it belongs to.
    pub server: String,
    /// How long the result was, in bytes.
    pub original_size: u64,
    /// How many records it holds; `None` if it is no table.
    pub record_count: Option<u64>,
    /// The fields of the records.
    pub schema: Option<Schema>,
    /// The facts that the summary is made of.
    pub summary: Option<Summary>,
    /// Whatever else is known.
    #[serde(flatten)]
    pub facts: Facts,
}

/// The content of a metadata file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The dataset's name.
    pub id: DatasetId,
    /// When it was captured.
    pub timestamp: Timestamp,
    /// Its payloads, in their order.
    pub parts: Vec<Part>,
    /// What it is.
    #[serde(flatten)]
    pub description: Description,
}

/// A payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Its file's name, without what compression adds.
    pub file: String,
    /// How long it is, uncompressed.
    pub bytes: u64,
    /// The BLAKE3 hash of its bytes, uncompressed, in hexadecimal.
    pub blake3: String,
}

/// How the checksum stands at the end of a file.
const CHECKSUM: (&[u8], &[u8]) = (b",\n  \"checksum\": \"", b"\"\n}");
const END: &[u8] = b"\n}";

impl Metadata {
    /// The content of the file.
    pub(crate) fn to_text(&self) -> serde_json::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)?;
        let checksum = blake3::hash(&text).to_hex();
        text.truncate(text.len() - END.len());
        text.extend([CHECKSUM.0, checksum.as_bytes(), CHECKSUM.1].concat());
        Ok(text)
    }

    /// Reads the content of the file that is said to be that of `id`.
    pub(crate) fn read(text: &[u8], id: &DatasetId) -> serde_json::Result<Self> {
        let text = without_checksum(text)?;
        let metadata: Self = serde_json::from_slice(&text)?;
        if metadata.id != *id {
            let said = format!("it is of `{}`, not of `{id}`", metadata.id);
            return Err(serde_json::Error::custom(said));
        }
        match metadata.parts.iter().find(|part| !part.is_of(id)) {
            Some(part) => {
                let said = format!("`{}` is no name for a payload of `{id}`", part.file);
                Err(serde_json::Error::custom(said))
            }
            None => Ok(metadata),
        }
    }

    /// The session in which it was kept.
    pub fn session(&self) -> Option<&str> {
        self.description.facts.session.as_deref()
    }

    /// For whom it was kept.
    pub fn principal(&self) -> &Principal {
        &self.description.facts.principal
    }

    /// The project for which it was kept.
    pub fn project(&self) -> Option<&str> {
        self.description.facts.project.as_deref()
    }

    /// The hash that two datasets share if their payloads are equal.
    pub fn content(&self) -> String {
        let hashes: Vec<&str> = self.parts.iter().map(|part| part.blake3.as_str()).collect();
        hashes.join("+")
    }

    /// How long all payloads are together, uncompressed.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }
}

impl Part {
    /// True if its file can be one of the dataset's: a bare name that begins with its own.
    fn is_of(&self, id: &DatasetId) -> bool {
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        let rest = self.file.strip_prefix(id.as_str()).and_then(|rest| rest.strip_prefix("_data"));
        rest.is_some_and(|rest| rest.bytes().all(is_plain))
    }
}

/// The text that the checksum at its end is of. One from before there were any has none.
fn without_checksum(text: &[u8]) -> serde_json::Result<std::borrow::Cow<'_, [u8]>> {
    const HASH: usize = 2 * blake3::OUT_LEN;
    let before = text
        .strip_suffix(CHECKSUM.1)
        .and_then(|text| text.split_at_checked(text.len().checked_sub(HASH)?));
    let Some((before, checksum)) = before else { return Ok(text.into()) };
    let Some(before) = before.strip_suffix(CHECKSUM.0) else { return Ok(text.into()) };
    let whole = [before, END].concat();
    if blake3::hash(&whole).to_hex().as_bytes() != checksum {
        return Err(serde_json::Error::custom("it is not what its checksum is of"));
    }
    Ok(whole.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(id: &str, file: &str) -> Metadata {
        let part = Part { file: file.to_owned(), bytes: 1, blake3: String::new() };
        let (id, timestamp) = (DatasetId::parse(id).unwrap(), Timestamp::UNIX_EPOCH);
        Metadata { id, timestamp, parts: vec![part], description: Description::default() }
    }

    #[test]
    fn a_file_reads_back_and_any_change_to_it_is_noticed() {
        let metadata = metadata("k3v9x2ma", "dataset_k3v9x2ma_data.json");
        let text = metadata.to_text().unwrap();
        assert_eq!(Metadata::read(&text, &metadata.id).unwrap(), metadata);
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(value["checksum"].as_str().unwrap().len(), 64);
        for at in 0..text.len() {
            let mut changed = text.clone();
            changed[at] ^= 1;
            assert_ne!(
                Metadata::read(&changed, &metadata.id).ok().as_ref(),
                Some(&metadata),
                "{at}"
            );
        }
        let before = serde_json::to_vec_pretty(&metadata).unwrap();
        assert_eq!(Metadata::read(&before, &metadata.id).unwrap(), metadata, "without a checksum");
    }

    #[test]
    fn no_file_of_another_is_named() {
        let id = DatasetId::parse("k3v9x2ma").unwrap();
        let reads = |metadata: Metadata| Metadata::read(&metadata.to_text().unwrap(), &id).is_ok();
        for name in ["_data.json", "_data_2.txt", "_data.x-y"] {
            assert!(reads(metadata("k3v9x2ma", &format!("{id}{name}"))), "{name}");
        }
        let bad = [
            "/etc/passwd",
            "../dataset_k3v9x2ma_data.json",
            "dataset_k3v9x2ma_data/../../x",
            "dataset_22222222_data.json",
            "dataset_k3v9x2ma_metadata.json",
            "dataset_k3v9x2ma_data.json\0",
            "",
        ];
        for name in bad {
            assert!(!reads(metadata("k3v9x2ma", name)), "{name}");
        }
        assert!(!reads(metadata("22222222", "dataset_22222222_data.json")), "another dataset's");
    }
}
