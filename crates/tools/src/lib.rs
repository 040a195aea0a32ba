//! The injected tools, one file each, and the same for the command line.
//!
//! A [`Toolbox`] stands in the chain: it adds the tools to the list that an upstream gives, and
//! answers their calls. What they do is done at a [`Desk`], which anyone can sit at. Every reply fits
//! its [`Budget`]; what does not fit is behind a page or becomes a dataset of its own.

mod age;
mod analyze;
mod arguments;
mod artifact_context;
mod asked;
mod brief;
mod budget;
mod cache;
mod canonical;
mod catalogue;
mod definitions;
mod desk;
mod error;
mod events;
mod excerpt;
mod export;
mod finder;
mod jobs;
mod json;
mod known_tools;
mod list;
mod on_demand;
mod pages;
mod paging;
mod parameters;
mod preparation;
mod read;
mod references;
mod render;
mod reply;
mod resources;
mod run_code;
mod semantic_search;
mod servers;
#[cfg(test)]
mod testing;
mod toolbox;
mod visualize;
mod waiting;
mod workspace;

pub use age::since;
pub use brief::brief;
pub use budget::Budget;
pub use cache::Cache;
pub use definitions::Tool;
pub use desk::{Desk, Formulas, meant};
pub use error::ToolError;
pub use export::{ExportForm, Exported, Subject, export, export_nameless, rows};
pub use finder::Finder;
pub use forebay_chart::ChartKind;
pub use jobs::{Board, JobSettings, Jobs};
pub use known_tools::KnownTools;
pub use on_demand::Exposure;
pub use pages::{DEFAULT_LIMIT, MAX_LIMIT, Part};
pub use paging::{Pager, Paging, PagingRule, PagingSettings, PagingStyle, SO_FAR};
pub use preparation::Preparation;
pub use read::{
    Condition, Extent, Facet, Order, Page, Range, Reading, Request, Sheet, What, facets, read,
    sheet,
};
pub use references::References;
pub use render::Format;
pub use resources::{Listing, Resources};
pub use run_code::{Destructive, Programs};
pub use semantic_search::{
    MAX_FOUND, Match, Matched, NO_VECTORS, Sought, VECTORS_TO_COME, semantic_search,
};
pub use servers::Servers;
pub use toolbox::{Behind, Offer, Toolbox, placed};
pub use visualize::{Plot, Plotted, drawn, plot};
