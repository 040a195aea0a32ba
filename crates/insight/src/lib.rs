//! What a model says of a large result, beside the summary: checked, in time, or not at all.
//!
//! Nothing of this is used unless somebody has chosen a provider. Whatever goes wrong, the summary goes out
//! alone, and the client sees no error.
//!
//! ```text
//! result ─▶ input ─▶ provider ─▶ check ─▶ beside the summary, or beside the dataset if it comes late
//!             └─▶ cache ────────────┘     what was said of a result that is nearly the same
//! ```

mod breaker;
mod cache;
mod check;
mod events;
mod failure;
mod input;
mod insights;
mod provider;
mod providers;
mod tallies;

pub use cache::Rules;
pub use insights::{Insights, Settings, Setup};
pub use provider::Key;
pub use providers::Choice;
pub use tallies::SUBJECT;
