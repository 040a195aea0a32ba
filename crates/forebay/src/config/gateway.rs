//! How several servers are offered as one.

use forebay_proxy::router::Prefix;

/// What the tools of many servers are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gateway {
    /// What stands between the name of a server and that of its tool.
    pub(crate) separator: String,
    pub(crate) prefix: Prefix,
}

impl Default for Gateway {
    fn default() -> Self {
        Self { separator: "__".to_owned(), prefix: Prefix::default() }
    }
}
