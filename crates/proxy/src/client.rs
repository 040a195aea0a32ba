//! Clients: hops 1 and 6 on their side of the way, bytes to messages and messages to bytes.
//!
//! Each kind of client is a pair of threads or tasks that frame, ask [`crate::relay`] and send; none of
//! them knows what a session, a router or a chain does, nor of the other kind.

pub mod http;
pub mod stdio;
