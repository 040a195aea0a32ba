//! Numbers as people read them.

pub(crate) use forebay_text::{counted, grouped, short, signed, size};
