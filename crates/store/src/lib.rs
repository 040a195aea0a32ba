//! Datasets on disk. Has never heard of MCP.
//!
//! A dataset is its files: payloads, written as they came, and a metadata file that is written last
//! and makes the dataset exist. The [`catalog`] is an index over them that every Forebay process on
//! the machine shares, and that can be made anew from the files; it also counts what has passed.
//!
//! ```text
//! ~/.forebay/
//! ├── catalog.db
//! ├── search.db                            an index over what follows, by words and meaning; not ours
//! ├── capturing/                           what is being captured, or not in the catalog yet
//! ├── jobs/                                calls that go on without whoever made them, one file each
//! ├── united/                              made for queries, from many results of a tool
//! │   ├── KEY.segments                     says which results are in which segment
//! │   └── KEY_HASH.parquet                 a segment: the rows of up to some hundred results
//! └── datasets/2026/11/14/
//!     ├── dataset_k3v9x2ma_data.json       a payload, .zst once it is old
//!     ├── dataset_k3v9x2ma_metadata.json   written last
//!     ├── dataset_k3v9x2ma_rows.parquet    made for queries; its hash lies beside it
//!     ├── dataset_22222222_data_3.json     the third edition of one that grows, and what is made of it:
//!     ├── dataset_22222222_rows_edition_3.parquet
//!     ├── dataset_k3v9x2ma_tags            the tags that people have given it
//!     ├── dataset_k3v9x2ma_findings.json   what a model has said of it
//!     └── dataset_k3v9x2ma_pinned          if it is to be kept for good
//! ```

mod artifact;
mod capture;
mod catalog;
mod claim;
mod compression;
pub mod database;
mod dataset;
mod entering;
mod error;
mod events;
pub mod facts;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod glimpse;
mod growth;
mod hearers;
mod id;
mod insight;
mod integrity;
mod jobs;
mod layout;
mod mapped;
mod metadata;
mod principal;
mod reconcile;
mod retention;
mod shelf;
mod store;
mod tag;
mod tagging;
mod united;
mod verify;
mod viewer;

pub use artifact::{ADDRESS, Address, Artifact, pairs};
pub use capture::{Capture, Finished, PartWriter};
pub use catalog::{
    Entry, Filter, Sorting, VERSION as CATALOG_VERSION,
    activity::{Event, Noted, Outcome, Question},
    facets::Facet,
    outlines::Outline,
    savings::{DEFINITION_TOKENS, REPLY_TOKENS, Savings},
    size_class::SizeClass,
    tallies::Tally,
    totals::Total,
    usage::{Counts, Passed, Usage},
};
pub use dataset::Dataset;
pub use error::StoreError;
pub use facts::Facts;
pub use glimpse::Glimpse;
pub use growth::Growth;
pub use hearers::Change;
pub use id::DatasetId;
pub use insight::{CAUTION, Insight, InsightMetadata, Reused};
pub use jobs::{HeldJob, Job, JobEnd, JobFolder, JobId, JobOutcome, JobProgress, JobState};
pub use layout::{lock_file, scratch};
pub use mapped::Mapped;
pub use metadata::{Description, Metadata, Part};
pub use principal::Principal;
pub use retention::{Collected, HowFar, Retention};
pub use shelf::Shelf;
pub use store::{Durability, Store};
pub use tag::Tag;
pub use united::{Origin, Segment, United};
pub use verify::{Fault, Findings, Verification};
pub use viewer::{Scope, Viewer};
