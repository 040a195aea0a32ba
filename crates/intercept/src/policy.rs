//! What is kept, and how much is said about it.

/// The settings of the five stages.
#[derive(Debug, Clone)]
pub struct Policy {
    /// A result of more tokens than this is kept.
    pub threshold_tokens: u64,
    /// How many tokens a summary may have.
    pub summary_tokens: usize,
    /// Tools whose results always pass.
    pub excluded_tools: Vec<String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self { threshold_tokens: 8_192, summary_tokens: 600, excluded_tools: Vec::new() }
    }
}

impl Policy {
    /// True if results of `tool` always pass.
    pub(crate) fn excludes(&self, tool: &str) -> bool {
        self.excluded_tools.iter().any(|excluded| excluded == tool)
    }
}
