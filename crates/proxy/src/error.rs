//! What can go wrong with a session as a whole. Each error names its side.

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
    /// Our own handles or threads could not be set up.
    #[error("cannot set up the proxy's own input and output")]
    Setup(#[source] std::io::Error),
}
