//! Where to listen, as it is written on the command line.

use std::net::{SocketAddr, ToSocketAddrs};

/// Reads `ADDRESS:PORT`, or `:PORT` for this machine alone.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    let written = if text.starts_with(':') { format!("127.0.0.1{text}") } else { text.to_owned() };
    let found = written.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    found.ok_or_else(|| "write ADDRESS:PORT, for example 127.0.0.1:8484".to_owned())
}
