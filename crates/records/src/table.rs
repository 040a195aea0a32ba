//! The records of a table, seen one after the other, and the facts of their fields.
//!
//! Whoever knows the form of a text hands its records to a [`Builder`]. Each field's facts are exact
//! unless they say otherwise. What lies in records is described with them, and becomes a table of its
//! own where it is one ([`inner`]).

mod builder;
mod collector;
mod distinct;
mod field;
mod fields;
pub(crate) mod inner;
mod inside;
mod kind;
mod kinds;
mod lead;
mod long_text;
mod names;
mod narrow;
mod range;
mod reading;
mod records;
mod samples;
mod shorten;
mod spellings;
mod times;
mod within;

pub(crate) use self::{
    builder::Builder,
    field::{Raw, is_marker},
    kind::has_form,
    names::{FOREIGN, KEY},
    records::Records,
};
pub use self::{
    builder::Table,
    distinct::Count,
    field::{Entries, Field, Items, Nested},
    kind::Kind,
    shorten::to_fit as shorten_to_fit,
    within::{Carried, InnerForm, Within},
};

/// How values are looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// How many records the fields' facts are taken from; 0 for all.
    pub(crate) sample_size: u64,
    /// Texts are told apart by their form.
    pub(crate) detects_types: bool,
    /// Strings stand for whatever they look like.
    pub(crate) has_cells: bool,
}

impl Rules {
    /// How many records the fields' facts are taken from at most.
    fn observed_records(self) -> u64 {
        if self.sample_size == 0 { u64::MAX } else { self.sample_size }
    }
}
