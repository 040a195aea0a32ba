//! The injected tools, one file each, and the same for the command line.
//!
//! A [`Toolbox`] stands in the chain: it adds the tools to the list that an upstream gives, and
//! answers their calls. What they do is done at a [`Desk`], which anyone can sit at. Every reply fits
//! its [`Budget`]; what does not fit is behind a page or becomes a dataset of its own.

mod analyze;
mod arguments;
mod brief;
mod budget;
mod definitions;
mod desk;
mod error;
mod events;
mod export;
mod json;
mod list;
mod on_demand;
mod pages;
mod preparation;
mod read;
mod render;
mod reply;
mod servers;
mod toolbox;
mod visualize;

pub use brief::brief;
pub use budget::Budget;
pub use definitions::Tool;
pub use desk::{Desk, Formulas, meant};
pub use error::ToolError;
pub use export::{ExportForm, Exported, Subject, export, export_nameless, rows};
pub use forebay_chart::ChartKind;
pub use on_demand::Exposure;
pub use pages::{DEFAULT_LIMIT, MAX_LIMIT, Part};
pub use preparation::Preparation;
pub use read::{Condition, Order, Page, Range, Reading, Request, What, read};
pub use render::Format;
pub use servers::Servers;
pub use toolbox::{Behind, Offer, Toolbox, placed};
pub use visualize::{Plot, Plotted, plot};
