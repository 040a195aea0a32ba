//! Where the files of a result stand, and what each is called there.
//!
//! Equal files are kept once. Each block of content that is one of them is a place of its own, with its own
//! name; what JSON repeats has its address there, and no place besides.

use std::{collections::HashSet, ops::RangeInclusive};

use forebay_store::{Artifact, Dataset, facts};

use crate::{
    binary::Binary,
    file::{Media, Namer},
    result::{Block, Fate, ToolResult},
};

/// A place of a file.
#[derive(Debug)]
pub(crate) struct Place {
    /// Which of the result's binary strings stands there.
    pub(crate) binary: usize,
    /// Which of its files that is.
    pub(crate) file: usize,
    /// Which block of content it stands in, from 0; `None` is structured content.
    pub(crate) position: Option<usize>,
    pub(crate) name: String,
    /// The address that the file had there, if it had one.
    pub(crate) called: Option<String>,
    pub(crate) media: Media,
    /// What can be said of it, once it has been written.
    pub(crate) description: Option<String>,
}

/// The places of the files of `result`, as they follow each other.
pub(crate) fn of(result: &ToolResult) -> Vec<Place> {
    let all = &result.binaries.all;
    let mut found: Vec<(usize, Option<usize>)> = Vec::new();
    let mut has_place = HashSet::new();
    for (position, block) in result.blocks.iter().enumerate() {
        if let Fate::Linked { binary } = block.fate {
            found.push((binary, Some(position)));
            has_place.insert(all[binary].file);
        }
    }
    for (index, binary) in all.iter().enumerate() {
        if has_place.insert(binary.file) {
            found.push((index, position(result, binary)));
        }
    }
    found.sort_by_key(|(binary, _)| all[*binary].inside.start);
    let mut namer = Namer::default();
    let place = |(binary, position)| {
        let Binary { file, media, called, .. } = &all[binary];
        let name = namer.name(media, called.as_deref());
        let (file, called, media) = (*file, called.clone(), media.clone());
        Place { binary, file, position, name, called, media, description: None }
    };
    found.into_iter().map(place).collect()
}

fn position(result: &ToolResult, Binary { inside, .. }: &Binary) -> Option<usize> {
    let holds = |block: &Block| block.span.start <= inside.start && inside.end <= block.span.end;
    result.blocks.iter().position(holds)
}

/// True if an address is short, and says nothing that should not be read: a password, or a key.
pub(crate) fn is_tellable(address: &str) -> bool {
    const BYTES: RangeInclusive<usize> = 1..=80;
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"@?#\"<>`\\".contains(&byte);
    BYTES.contains(&address.len()) && address.bytes().all(is_plain)
}

impl Place {
    /// Says of it what is known of the file, and what was said of it here that is not so.
    pub(crate) fn describe(&mut self, details: Option<&str>) {
        let declared = self.media.declared.as_ref().map(|other| format!("declared as {other}"));
        let said: Vec<String> = details.map(str::to_owned).into_iter().chain(declared).collect();
        self.description = (!said.is_empty()).then(|| said.join("; "));
    }

    /// What is known of the file that stands there, which is this payload.
    pub(crate) fn facts(&self, block: usize) -> facts::File {
        let Self { name, description, media, .. } = self;
        let (description, media_type) = (description.clone(), media.full.clone());
        facts::File { block, description, media_type, name: name.clone() }
    }

    /// The address that the file had, if that can be told.
    pub(crate) fn tellable_address(&self) -> Option<&str> {
        self.called.as_deref().filter(|address| is_tellable(address))
    }

    /// The file in `dataset`, as it is called here.
    pub(crate) fn artifact(&self, dataset: &Dataset) -> Option<Artifact> {
        let told = dataset.facts().files.get(self.file)?;
        let artifact = dataset.artifact(told.block)?;
        let facts::File { name, media_type, description, .. } = self.facts(told.block);
        Some(Artifact { name, media_type, description, ..artifact })
    }
}
