//! What can go wrong with a session as a whole. Each error names its side.

use std::net::SocketAddr;

use crate::router::UpstreamName;

/// An error that ends a session, or keeps it from starting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// The upstream's command could not be started.
    #[error("cannot start upstream `{name}`: {hint}")]
    UpstreamStart {
        /// The upstream.
        name: UpstreamName,
        /// What to check.
        hint: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {hint}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said, and what to do.
        hint: String,
    },
    /// Whoever can reach the address could use the upstream.
    #[error(
        "{0} can be reached from other machines; listen on 127.0.0.1, or say with --token-file what \
         clients must show"
    )]
    OpenToAll(SocketAddr),
    /// Whoever can reach the address could see what was kept, and nothing else listens there.
    #[error(
        "{0} can be reached from other machines; listen on an address of this machine alone, such as \
         127.0.0.1"
    )]
    NotThisMachine(SocketAddr),
    /// What should lead to an upstream is no such URL. It is not repeated: it may hold a secret.
    #[error("this is no URL of an upstream: {hint}")]
    UpstreamUrl {
        /// What to write.
        hint: String,
    },
    /// Connections cannot be made at all.
    #[error("cannot set up connections to remote upstreams")]
    HttpClient(#[source] rustls::Error),
    /// Our own handles or threads could not be set up.
    #[error("cannot set up the proxy's own input and output")]
    Setup(#[source] std::io::Error),
}
