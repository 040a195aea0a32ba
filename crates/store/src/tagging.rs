//! Tags: words by which datasets are found.
//!
//! Some follow from what a dataset is: its server, its tool, and the kinds of its payloads. Others are given
//! by people, and stand in a file beside it, a line each.

use std::{collections::BTreeSet, io::Read, path::Path};

use crate::{
    Dataset, DatasetId, Store, StoreError, Tag,
    error::Doing,
    layout,
    tag::{MAX_CHARS, SERVER, TOOL},
};

/// A dataset has no more tags of its own than this.
const MAX_TAGS: usize = 32;
/// More than any file of tags has.
const MAX_FILE_BYTES: u64 = (MAX_TAGS * (4 * MAX_CHARS + 1)) as u64;

impl Dataset {
    /// The tags that people have given it, in the order of the alphabet.
    pub fn own_tags(&self) -> BTreeSet<Tag> {
        let path = self.tags_path();
        // Most have none. What cannot be read is as good as none: it is not what was kept.
        if layout::is_there(&path) { read(&path).unwrap_or_default() } else { BTreeSet::new() }
    }

    /// All its tags: first those that say where it is from and what it is, then those that it was given.
    pub fn tags(&self) -> Vec<String> {
        let description = &self.metadata().description;
        let origin = [(SERVER, &description.server), (TOOL, &description.tool)];
        let origin = origin.map(|(before, name)| format!("{before}{name}"));
        origin.into_iter().chain(self.words()).collect()
    }

    /// Those of its tags that the catalog has no column of their own for.
    pub(crate) fn words(&self) -> Vec<String> {
        let kinds: BTreeSet<String> = self.artifacts().map(|it| it.kind_tag()).collect();
        let own = self.own_tags().into_iter().map(String::from);
        kinds.into_iter().chain(own).collect()
    }
}

impl Store {
    /// Gives tags to a dataset and takes others from it; returns those that it has then. What is both given
    /// and taken is taken.
    pub fn tag(
        &self,
        id: &DatasetId,
        given: &[Tag],
        taken: &[Tag],
    ) -> Result<BTreeSet<Tag>, StoreError> {
        let folder = self.dataset_folder(id)?;
        let lock_path = self.layout.tagging_lock();
        let lock = layout::lock_file(&lock_path).doing("open", &lock_path)?;
        // One at a time: each sees what the one before has written.
        lock.lock().doing("lock", &lock_path)?;
        let path = self.layout.tags(&folder, id);
        let mut tags = if layout::is_there(&path) { read(&path)? } else { BTreeSet::new() };
        tags.extend(given.iter().cloned());
        tags.retain(|tag| !taken.contains(tag));
        if tags.len() > MAX_TAGS {
            return Err(StoreError::TooManyTags { id: id.clone(), most: MAX_TAGS });
        }
        if tags.is_empty() {
            layout::remove(&path)?;
        } else {
            let lines: Vec<&str> = tags.iter().map(Tag::as_str).collect();
            layout::write_by_rename(&path, format!("{}\n", lines.join("\n")).as_bytes())?;
        }
        // It may have been removed meanwhile, and then it leaves nothing.
        if !layout::is_there(&self.layout.metadata(&folder, id)) {
            layout::remove(&path)?;
            return Err(StoreError::Unknown(id.clone()));
        }
        let words = Dataset::load(&self.layout, &folder, id)?.words();
        self.ask(|catalog| catalog.set_tags(id, &words))?;
        Ok(tags)
    }
}

fn read(path: &Path) -> Result<BTreeSet<Tag>, StoreError> {
    let mut text = Vec::new();
    layout::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES).read_to_end(&mut text))
        .doing("read", path)?;
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().filter_map(|line| Tag::parse(line).ok()).take(MAX_TAGS).collect())
}

#[cfg(test)]
mod tests;
