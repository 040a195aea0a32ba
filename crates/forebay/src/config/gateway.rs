//! How several servers are offered as one.

use forebay_proxy::router::Prefix;
use forebay_tools::Exposure;

/// What the tools of many servers are called, and which of them are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gateway {
    /// What stands between the name of a server and that of its tool.
    pub(crate) separator: String,
    pub(crate) prefix: Prefix,
    pub(crate) expose: Expose,
    /// Where lists of more tokens are too long, if that decides.
    pub(crate) expose_tokens: u64,
}

/// Which tools are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Expose {
    #[default]
    All,
    Search,
    Auto,
}

impl Default for Gateway {
    fn default() -> Self {
        Self {
            separator: "__".to_owned(),
            prefix: Prefix::default(),
            expose: Expose::default(),
            expose_tokens: 20_000,
        }
    }
}

impl Gateway {
    pub(crate) fn exposure(&self) -> Exposure {
        match self.expose {
            Expose::All => Exposure::All,
            Expose::Search => Exposure::Search,
            Expose::Auto => Exposure::Past(self.expose_tokens),
        }
    }
}
