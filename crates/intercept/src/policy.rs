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
    /// How fields are described.
    pub schema_inference: SchemaInference,
}

/// How fields are described.
#[derive(Debug, Clone)]
pub struct SchemaInference {
    /// How many records their facts are taken from; 0 for all.
    pub sample_size: u64,
    /// Times, dates, UUIDs and URLs are told from other texts, and numbers in cells.
    pub type_detection: bool,
}

impl Default for SchemaInference {
    fn default() -> Self {
        Self { sample_size: 0, type_detection: true }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            threshold_tokens: 8_192,
            summary_tokens: 600,
            excluded_tools: Vec::new(),
            schema_inference: SchemaInference::default(),
        }
    }
}

impl Policy {
    /// True if results of `tool` always pass.
    pub(crate) fn excludes(&self, tool: &str) -> bool {
        self.excluded_tools.iter().any(|excluded| excluded == tool)
    }
}
