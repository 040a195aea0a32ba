//! A payload as a file that can be fetched: what it is called, what it is, and its address.

use std::fmt;

use crate::{Dataset, DatasetId, Part, tag::KIND};

/// A payload, seen as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Which payload of the dataset, from 0.
    pub block: usize,
    /// A name for the file, which says what it is by how it ends.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// How long it is, uncompressed.
    pub bytes: u64,
    /// The BLAKE3 hash of its bytes, in hexadecimal.
    pub blake3: String,
    /// What else can be said of it in a few words.
    pub description: Option<String>,
}

/// The address of a dataset, or of one of its payloads: `forebay://dataset/dataset_k3v9x2ma?block=1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Which dataset.
    pub dataset: DatasetId,
    /// Which payload, from 0; `None` is the one that the dataset is about.
    pub block: Option<usize>,
}

/// How every address begins.
pub const ADDRESS: &str = "forebay://dataset/";

impl Address {
    /// The address of a payload.
    pub fn of(dataset: &DatasetId, block: usize) -> Self {
        Self { dataset: dataset.clone(), block: Some(block) }
    }

    /// Reads an address and what else stands behind its question mark, as it is written. `None` if it is
    /// no address, or of something in a dataset that is no payload.
    pub fn parse(text: &str) -> Option<(Self, Vec<(&str, &str)>)> {
        let rest = text.strip_prefix(ADDRESS)?;
        let (id, query) = rest.split_once('?').unwrap_or((rest, ""));
        let dataset = DatasetId::parse(id)?;
        let (blocks, others): (Vec<_>, Vec<_>) = pairs(query).partition(|(key, _)| *key == "block");
        let block = match blocks.as_slice() {
            [] => None,
            [(_, number)] => Some(number.parse().ok()?),
            _ => return None,
        };
        Some((Self { dataset, block }, others))
    }
}

/// What stands behind the question mark of an address, or of a URL.
pub fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{ADDRESS}{}", self.dataset)?;
        match self.block {
            Some(block) => write!(formatter, "?block={block}"),
            None => Ok(()),
        }
    }
}

impl Artifact {
    /// What kind of file it is, in a word: `json`, `csv`, `image` …
    pub fn kind(&self) -> &'static str {
        const KINDS: [(&str, &str); 16] = [
            ("application/json", "json"),
            ("application/x-ndjson", "ndjson"),
            ("text/csv", "csv"),
            ("text/tab-separated-values", "tsv"),
            ("text/markdown", "markdown"),
            ("text/html", "html"),
            ("application/xml", "xml"),
            ("text/xml", "xml"),
            ("application/yaml", "yaml"),
            ("application/vnd.apache.parquet", "parquet"),
            ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
            ("application/pdf", "pdf"),
            ("image/", "image"),
            ("audio/", "audio"),
            ("video/", "video"),
            ("text/", "text"),
        ];
        let known = KINDS.iter().find(|(media_type, _)| self.media_type.starts_with(media_type));
        known.map_or("binary", |(_, kind)| kind)
    }

    /// The tag that says what kind of file it is.
    pub fn kind_tag(&self) -> String {
        format!("{KIND}{}", self.kind())
    }

    /// True if it can be read as it stands.
    pub fn is_text(&self) -> bool {
        let plain = self.media_type.split(';').next().unwrap_or_default().trim();
        plain.starts_with("text/")
            || plain.ends_with("+json")
            || plain.ends_with("+xml")
            || ["application/json", "application/x-ndjson", "application/xml", "application/yaml"]
                .contains(&plain)
    }
}

impl Dataset {
    /// A payload as a file; `None` if there is no such payload.
    pub fn artifact(&self, block: usize) -> Option<Artifact> {
        let parts = &self.metadata().parts;
        let Part { file, bytes, blake3 } =
            parts.get(block).filter(|_| block < self.payload_count())?;
        let told = self.facts().files.iter().find(|told| told.block == block);
        Some(Artifact {
            block,
            name: told.map_or_else(|| file.clone(), |told| told.name.clone()),
            media_type: told
                .map_or_else(|| media_type(file).to_owned(), |told| told.media_type.clone()),
            bytes: *bytes,
            blake3: blake3.clone(),
            description: told.and_then(|told| told.description.clone()),
        })
    }

    /// True if the payload that its description is about is a file of a kind of its own, with no records
    /// or lines in it.
    pub fn is_of_files(&self) -> bool {
        self.facts().files.iter().any(|file| file.block == self.main_part())
    }

    /// All its payloads as files.
    pub fn artifacts(&self) -> impl Iterator<Item = Artifact> {
        (0..self.payload_count()).filter_map(|block| self.artifact(block))
    }
}

/// The media type of a file that we have named.
fn media_type(file: &str) -> &'static str {
    match file.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "json" => "application/json",
        "ndjson" => "application/x-ndjson",
        "csv" => "text/csv",
        "tsv" => "text/tab-separated-values",
        "md" => "text/markdown",
        "html" => "text/html",
        "xml" => "application/xml",
        "yaml" => "application/yaml",
        "parquet" => "application/vnd.apache.parquet",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "bin" => "application/octet-stream",
        _ => "text/plain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_written() {
        let id = DatasetId::parse("k3v9x2ma").unwrap();
        let of_block = Address::of(&id, 3);
        assert_eq!(of_block.to_string(), "forebay://dataset/dataset_k3v9x2ma?block=3");
        assert_eq!(Address::parse(&of_block.to_string()), Some((of_block.clone(), Vec::new())));
        let whole = Address { dataset: id, block: None };
        assert_eq!(Address::parse("forebay://dataset/k3v9x2ma"), Some((whole, Vec::new())));
        let ranged = "forebay://dataset/k3v9x2ma?bytes=0-9&block=3";
        assert_eq!(Address::parse(ranged), Some((of_block, vec![("bytes", "0-9")])));
        for other in [
            "forebay://dataset/k3v9x2ma/authors",
            "forebay://dataset/",
            "forebay://dataset/k3v9x2ma?block=x",
            "forebay://dataset/k3v9x2ma?block=1&block=2",
            "https://dataset/k3v9x2ma",
        ] {
            assert_eq!(Address::parse(other), None, "{other}");
        }
    }
}
