//! What the model was trained to do with characters.
//!
//! The sets are those of its own tokenizer, which knows an older Unicode than the standard library does.

use std::{ops::RangeInclusive, sync::LazyLock};

static TEXT: &str = include_str!("../../characters.txt");

/// Sets of characters, each in order.
#[derive(Default)]
pub(super) struct Characters {
    removed: Vec<RangeInclusive<u32>>,
    marks: Vec<RangeInclusive<u32>>,
    punctuation: Vec<RangeInclusive<u32>>,
    ideographs: Vec<RangeInclusive<u32>>,
}

impl Characters {
    pub(super) fn get() -> &'static Self {
        static CHARACTERS: LazyLock<Characters> = LazyLock::new(Characters::read);
        &CHARACTERS
    }

    /// They are as if they were not there.
    pub(super) fn are_removed(&self, character: char) -> bool {
        has(&self.removed, character)
    }

    /// They stand over, under or in another one.
    pub(super) fn are_marks(&self, character: char) -> bool {
        has(&self.marks, character)
    }

    /// They are words by themselves.
    pub(super) fn are_punctuation(&self, character: char) -> bool {
        has(&self.punctuation, character)
    }

    /// They are words by themselves.
    pub(super) fn are_ideographs(&self, character: char) -> bool {
        has(&self.ideographs, character)
    }

    fn read() -> Self {
        let mut characters = Self::default();
        let mut passed_over = Vec::new();
        let mut set = &mut passed_over;
        for line in TEXT.lines().filter(|line| !line.starts_with('#')) {
            match line {
                "[removed]" => set = &mut characters.removed,
                "[marks]" => set = &mut characters.marks,
                "[punctuation]" => set = &mut characters.punctuation,
                "[ideographs]" => set = &mut characters.ideographs,
                ranges => set.extend(ranges.split(' ').filter_map(range)),
            }
        }
        characters
    }
}

fn range(text: &str) -> Option<RangeInclusive<u32>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some(u32::from_str_radix(first, 16).ok()?..=u32::from_str_radix(last, 16).ok()?)
}

fn has(set: &[RangeInclusive<u32>], character: char) -> bool {
    let character = u32::from(character);
    let place = set.partition_point(|range| *range.end() < character);
    set.get(place).is_some_and(|range| range.contains(&character))
}
