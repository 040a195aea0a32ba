//! What Forebay's tests share. Nothing here is part of the program.

#![expect(clippy::missing_panics_doc, reason = "a test that cannot go on panics")]
#![expect(clippy::expect_used, clippy::unwrap_used, reason = "likewise")]

pub mod chroma;
pub mod corpus;
pub mod http;
pub mod peer;
pub mod playbook;
pub mod programs;
pub mod real;
pub mod trickle;
