//! A file that a result holds: what it is, what it is called, and what can be said of it.

mod details;
mod media;
mod name;
mod preview;

use std::collections::{HashMap, HashSet};

use forebay_store::facts;

use self::name::Name;
pub(crate) use self::{
    media::{Media, is_recognised},
    preview::{Preview, preview},
};

/// Says what the files of a result are, one after the other: no two are called the same.
#[derive(Debug, Default)]
pub(crate) struct Namer {
    taken: HashSet<String>,
    /// How many files have each name, up to their numbers.
    counts: HashMap<Name, usize>,
}

/// A file that is about to be written.
#[derive(Debug)]
pub(crate) struct Told {
    media: Media,
    name: String,
}

impl Namer {
    /// Names a file by what it is, and as it is called, if anything says so.
    pub(crate) fn name(&mut self, media: &Media, called: Option<&str>) -> Told {
        let name = Name::of(called, media);
        let count = self.counts.entry(name.clone()).or_default();
        let name = loop {
            *count += 1;
            let numbered = name.numbered(*count);
            if self.taken.insert(numbered.clone()) {
                break numbered;
            }
        };
        Told { media: media.clone(), name }
    }
}

impl Told {
    /// What its file ends with.
    pub(crate) fn extension(&self) -> &str {
        name::extension(&self.name).unwrap_or(self.media.extension)
    }

    /// What is known of it, now that all of it is there.
    pub(crate) fn facts(self, block: usize, bytes: &[u8]) -> facts::File {
        let details = details::of(&self.media.full, bytes);
        let declared = self.media.declared.map(|other| format!("declared as {other}"));
        let said: Vec<String> = details.into_iter().chain(declared).collect();
        let description = (!said.is_empty()).then(|| said.join("; "));
        facts::File { block, description, media_type: self.media.full, name: self.name }
    }
}
