//! For whom a client acts.

use std::sync::Arc;

/// The person, or other party, for whom a client acts. On one's own machine there is but one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    /// Whoever uses this machine.
    pub fn local() -> Self {
        Self("local".into())
    }

    /// Somebody else, for tests.
    #[cfg(test)]
    pub(crate) fn named(name: &str) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
