//! What all fields share while records are read.

use forebay_wire::{syntax, walk};

use super::{Rules, distinct::Allowance};

/// Objects and lists that lie deeper are not looked into: they stay JSON.
const MAX_DEPTH: usize = 16;
/// As many members of objects in records have a place of their own; further ones are entries of maps.
const MAX_MEMBERS: usize = 2_000;

/// A reading of records, and what it has left to spend.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) rules: Rules,
    pub(super) allowance: Allowance,
    /// All that was read was JSON to the last byte.
    pub(super) is_valid: bool,
    /// How many values do not count, since their object has the name already.
    pub(super) repeated: u64,
    /// How deep in a record we are.
    depth: usize,
    /// How many members of objects in records have a place of their own.
    members: usize,
}

impl Reading {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            rules,
            allowance: Allowance::default(),
            is_valid: true,
            repeated: 0,
            depth: 0,
            members: 0,
        }
    }

    /// Splits the value at the front of `json` from what follows it, unread.
    pub(super) fn skip<'j>(&mut self, json: &'j [u8]) -> Option<(&'j [u8], &'j [u8])> {
        let (value, rest) = walk::value(json)?;
        self.check_unless(false, value);
        Some((value, rest))
    }

    /// Checks that `json` is one value, unless that is known.
    #[inline]
    pub(super) fn check_unless(&mut self, is_known: bool, json: &[u8]) {
        self.is_valid &= is_known || syntax::is_valid_telling(json, None);
    }

    /// Goes one level deeper; `false` if that is too deep.
    pub(super) fn enter(&mut self) -> bool {
        let may = self.depth < MAX_DEPTH;
        self.depth += usize::from(may);
        may
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Takes a place for a member of an object in a record; `false` if there is none left.
    pub(super) fn take_member(&mut self) -> bool {
        let may = self.members < MAX_MEMBERS;
        self.members += usize::from(may);
        may
    }
}
