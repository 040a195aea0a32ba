//! The files in which MCP clients keep their servers: which there are, what is in them, and how Forebay is put
//! in front of the servers and taken out again.
//!
//! A file is read for the places of things in it ([`document`]); an entry is looked at ([`entry`]) and planned
//! for ([`plan`]); the bytes of the entry are replaced and all others stay ([`install`]); what was there is
//! remembered ([`ledger`]) and comes back ([`undo`]). Knows no MCP and asks no network.

mod catalogue;
mod comments;
mod diff;
mod disk;
mod document;
mod entry;
mod environment;
mod error;
mod form;
mod install;
mod json;
mod ledger;
mod merge;
mod moving;
mod outcome;
mod own;
mod owners;
mod plan;
mod policy;
mod restoration;
mod survey;
mod switches;
mod tables;
mod taking_out;
#[cfg(test)]
mod tests;
mod toml;
mod undo;
mod url;
mod value;
mod work;
mod yaml;

pub use entry::Reason;
pub use environment::{Environment, System};
pub use error::ClientsError;
pub use install::{install, uninstall};
pub use json::notation;
pub use outcome::{LeftOver, Missing, Outcome, Remains, Restored, Run};
pub use plan::{Fate, FilePlan, Mode, Request, Scope, ServerPlan, names, plan};
pub use survey::{ClientState, Remnant, ServerState, Standing, ToolsLack, remnants, survey};
pub use url::shown as shown_url;
pub use yaml::json_of_yaml;
