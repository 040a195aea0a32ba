//! For whom something is done.

use serde::{Deserialize, Serialize};

/// Somebody for whom results are kept: nobody sees what was kept for another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Principal(String);

impl Principal {
    /// Whoever uses this machine.
    const LOCAL: &str = "local";

    /// The one of that name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True if it is whoever uses this machine.
    pub fn is_local(&self) -> bool {
        self.0 == Self::LOCAL
    }
}

impl Default for Principal {
    fn default() -> Self {
        Self::new(Self::LOCAL)
    }
}
