//! What `forebay demo` is made of: a small shop's MCP server with its data, and a client.

pub(crate) mod client;
mod data;
pub(crate) mod server;
