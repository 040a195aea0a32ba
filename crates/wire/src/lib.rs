//! Messages and framing: where one message ends, and the few facts of it that a proxy needs.
//!
//! The first thing that happens to bytes that arrive and the last before they leave. Nothing here
//! does I/O, and nothing here rewrites a message: a scan yields facts and the places where values
//! stand, so that bytes nobody needs to read leave as they came. Whether a message is *valid* JSON
//! is [`syntax`]'s question alone; scanning only follows the structure.

pub mod envelope;
pub mod escapes;
pub mod framing;
pub mod reply;
pub mod scan;
mod skip;
pub mod sse;
pub mod syntax;
mod valid;
pub mod walk;

pub use envelope::{Envelope, Id, Kind, Line};
