//! How several servers are offered as one.

/// What the tools of many servers are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gateway {
    /// What stands between the name of a server and that of its tool.
    pub(crate) separator: String,
    pub(crate) prefix: Prefix,
}

/// Which tools have the name of their server before their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Prefix {
    #[default]
    Always,
    /// Those of which two servers have one of the same name.
    WhereNeeded,
}

impl Default for Gateway {
    fn default() -> Self {
        Self { separator: "__".to_owned(), prefix: Prefix::default() }
    }
}
