//! What a model has said of a dataset, in a file beside it.
//!
//! It may come long after the dataset, and is no part of it: without the file the dataset is as whole as
//! with it.

use std::{fs, io::Read as _, path::Path};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    Change, Dataset, DatasetId, Entry, Store, StoreError,
    error::Doing,
    layout::{self, Layout},
};

/// More than what a model says of a dataset ever has: what is longer is not read.
const MAX_BYTES: u64 = 1 << 20;

/// What stands over whatever a model has said.
pub const CAUTION: &str = "A model wrote this from a sample; it may be wrong.";

/// What a model has said of a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Insight {
    /// What is worth knowing.
    pub key_findings: Vec<String>,
    /// What could be done about it.
    #[serde(default)]
    pub actionable_insights: Vec<String>,
    /// What it is about.
    pub metadata: InsightMetadata,
    /// Who said so.
    pub model: String,
    /// Where it comes from, if it was said of another dataset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reused: Option<Reused>,
}

/// What an insight is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InsightMetadata {
    /// The tool that gave the dataset.
    pub tool_name: String,
    /// The upstream that the tool belongs to.
    pub server_id: String,
    /// When the dataset was kept.
    pub timestamp: Timestamp,
    /// The dataset.
    pub artifact_id: DatasetId,
}

/// Where an insight comes from that was said of another dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reused {
    /// The other dataset.
    pub from: DatasetId,
    /// How near the two are: the cosine of the angle between them.
    pub similarity: f32,
    /// How old it was by then.
    pub age_seconds: u64,
}

impl Insight {
    /// Who said it, and of what: `by gemini-2.5-flash`.
    pub fn by(&self) -> String {
        let model = &self.model;
        match &self.reused {
            None => format!("by {model}"),
            Some(Reused { from, similarity, age_seconds }) => {
                let age = match age_seconds {
                    0..60 => format!("{age_seconds} s"),
                    60..3_600 => format!("{} min", age_seconds / 60),
                    _ => format!("{} h {} min", age_seconds / 3_600, age_seconds / 60 % 60),
                };
                format!("by {model}, reused from {from}, similarity {similarity:.2}, {age} old")
            }
        }
    }

    /// All of it, a sentence after the other.
    pub fn text(&self) -> String {
        let all = self.key_findings.iter().chain(&self.actionable_insights);
        let sentences: Vec<&str> = all.map(|said| said.trim_end_matches(['.', ' '])).collect();
        if sentences.is_empty() { String::new() } else { format!("{}.", sentences.join(". ")) }
    }
}

impl InsightMetadata {
    /// What an insight about `dataset` says of it.
    pub fn of(dataset: &Dataset) -> Self {
        let metadata = dataset.metadata();
        Self {
            tool_name: metadata.description.tool.clone(),
            server_id: metadata.description.server.clone(),
            timestamp: metadata.timestamp,
            artifact_id: metadata.id.clone(),
        }
    }
}

impl Store {
    /// Keeps what a model has said of a dataset, in place of what one said before. `false` if the dataset
    /// has been removed meanwhile. Whoever hears of changes hears of this, too.
    pub fn put_findings(&self, dataset: &Dataset, insight: &Insight) -> Result<bool, StoreError> {
        let path = self.layout.findings(dataset.folder(), dataset.id());
        let metadata = self.layout.metadata(dataset.folder(), dataset.id());
        if !layout::is_there(&metadata) {
            return Ok(false);
        }
        let text = serde_json::to_vec(insight)
            .map_err(|source| StoreError::Metadata { path: path.clone(), source })?;
        layout::write_by_rename(&path, &text)?;
        // Who removes a dataset takes its metadata first, and then what lies beside.
        if !layout::is_there(&metadata) {
            layout::remove(&path)?;
            return Ok(false);
        }
        self.hearers.tell(Change::Read(dataset.id()));
        Ok(true)
    }
}

impl Store {
    /// What changes whenever a model has said something else of a dataset; empty if none has said anything.
    pub fn findings_state(&self, entry: &Entry) -> String {
        state(&self.layout.findings(&entry.folder, &entry.id))
    }
}

impl Dataset {
    /// The same as [`Store::findings_state`].
    pub fn findings_state(&self) -> String {
        state(&self.layout().findings(self.folder(), self.id()))
    }

    /// What a model has said of it, if any has. What cannot be read was not said.
    pub fn findings(&self) -> Option<Insight> {
        read(self.layout(), self)
    }
}

fn state(path: &Path) -> String {
    let Ok(found) = fs::symlink_metadata(path) else { return String::new() };
    let written = found.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    format!("{} {}", found.len(), written.unwrap_or_default())
}

fn read(layout: &Layout, dataset: &Dataset) -> Option<Insight> {
    let path = layout.findings(dataset.folder(), dataset.id());
    if !layout::is_there(&path) {
        return None;
    }
    let mut text = Vec::new();
    let read = layout::open(&path)
        .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut text))
        .doing("read", &path);
    read.ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write as _,
        os::unix::fs::PermissionsExt as _,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use super::*;
    use crate::{Description, Durability, Retention, Shelf, Verification};

    fn kept(store: &Store) -> Dataset {
        let mut capture = store.capture().unwrap();
        capture.start_part("txt").unwrap().write_all(b"something").unwrap();
        let description = Description { tool: "list".to_owned(), ..Description::default() };
        capture.commit(description).unwrap()
    }

    fn said_of(dataset: &Dataset) -> Insight {
        Insight {
            key_findings: vec!["Something is there.".to_owned()],
            actionable_insights: Vec::new(),
            metadata: InsightMetadata::of(dataset),
            model: "a-model".to_owned(),
            reused: None,
        }
    }

    #[test]
    fn what_was_said_is_told_and_heard_of_and_goes_with_the_dataset() {
        let home = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(home.path(), Durability::default(), Retention::default());
        let told = Arc::new(AtomicUsize::new(0));
        let hearer = told.clone();
        shelf.when_changed(move |change| {
            hearer.fetch_add(usize::from(matches!(change, Change::Read(_))), Ordering::Relaxed);
        });
        let store = shelf.store().unwrap();
        let dataset = kept(&store);
        assert_eq!(dataset.findings(), None);
        let insight = said_of(&dataset);
        assert!(store.put_findings(&dataset, &insight).unwrap());
        assert_eq!(told.load(Ordering::Relaxed), 1);
        assert_eq!(dataset.findings(), Some(insight.clone()));
        assert_eq!(dataset.findings().unwrap().metadata.tool_name, "list");

        let path = store.layout.findings(dataset.folder(), dataset.id());
        assert!(path.ends_with(format!("{}_findings.json", dataset.id())));
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let mut how = Verification { repairs: false, tell: &mut |_, _| true };
        assert!(store.verify(&mut how).unwrap().faults.is_empty());

        assert!(store.remove(dataset.id()).unwrap());
        assert!(!path.exists());
        assert!(!store.put_findings(&dataset, &insight).unwrap(), "there is no dataset any more");
        assert!(!path.exists());
    }

    #[test]
    fn what_cannot_be_read_was_not_said() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path(), Durability::default()).unwrap();
        let dataset = kept(&store);
        let path = store.layout.findings(dataset.folder(), dataset.id());
        for text in ["", "{", "{\"keyFindings\": 3}"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(dataset.findings(), None, "{text}");
        }
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
        assert_eq!(dataset.findings(), None, "a link is not followed");
    }
}
