//! Streamable HTTP: upstreams that are reached by URL, and clients that reach us by one.

mod credentials;

pub use self::credentials::{Credentials, CredentialsError, Pending};
