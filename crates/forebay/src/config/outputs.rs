//! What was kept, fetched over HTTP.

/// Whether there are URLs of what was kept, and what holds for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outputs {
    pub(crate) is_enabled: bool,
    /// What URLs begin with, where that is not the address that is listened on.
    pub(crate) base_url: Option<String>,
    /// How long a URL is good for, at least.
    pub(crate) link_seconds: u64,
    /// How long a file may be.
    pub(crate) max_bytes: u64,
    /// How often a client may ask; 0 sets no limit.
    pub(crate) requests_per_minute: u32,
}

impl Default for Outputs {
    fn default() -> Self {
        Self {
            is_enabled: true,
            base_url: None,
            link_seconds: 3_600,
            max_bytes: 10_000_000,
            requests_per_minute: 600,
        }
    }
}
