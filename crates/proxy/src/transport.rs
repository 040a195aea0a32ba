//! Hops 1 and 6: bytes to messages, and messages to bytes.
//!
//! Each transport is a pair of threads or tasks that frame, ask [`crate::relay`] and send; none of
//! them knows what a session, a router or a chain does.

mod descriptors;
pub mod http;
pub mod stdio;
