//! A file that a result holds: what it is, what it is called, and what can be said of it.

mod details;
mod media;
mod name;
mod preview;

use std::collections::{HashMap, HashSet};

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

impl Namer {
    /// Names a file by what it is, and as it is called, if anything says so.
    pub(crate) fn name(&mut self, media: &Media, called: Option<&str>) -> String {
        let name = Name::of(called, media);
        let count = self.counts.entry(name.clone()).or_default();
        loop {
            *count += 1;
            let numbered = name.numbered(*count);
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// What a file ends with that is called so and is such.
pub(crate) fn extension<'n>(name: &'n str, media: &Media) -> &'n str {
    name::extension(name).unwrap_or(media.extension)
}

/// What can be said of a file, now that all of it is there.
pub(crate) fn details(media: &Media, bytes: &[u8]) -> Option<String> {
    details::of(&media.full, bytes)
}
