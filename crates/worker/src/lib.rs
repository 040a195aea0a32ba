//! Worker processes: what all that start them, and all that run in them, have in common.
//!
//! A worker is this program once more, at the other end of two pipes. It does what may go wrong, or what
//! others have written, and so it is told its limits, is ended when it does not heed them, and gives up
//! what it does not need. What is said over the pipes is for others.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub mod filter;
mod process;

pub use process::{Started, Stopped, start};
