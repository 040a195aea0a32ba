//! What models say of large results.

use std::time::Duration;

use forebay_insight::{Choice, Rules, Settings};

/// Whether a model is asked about large results, which one, and what holds for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Summaries {
    /// Who is asked, if anyone is.
    pub(crate) provider: Option<Choice>,
    /// The usual one of that provider, if none is named.
    pub(crate) model: Option<String>,
    /// Where the provider is, if not where it usually is.
    pub(crate) url: Option<String>,
    /// The variable that holds the key for it, if one is named.
    pub(crate) key_variable: Option<String>,
    pub(crate) threshold_bytes: u64,
    pub(crate) deadline: Duration,
    pub(crate) input_tokens: u64,
    pub(crate) max_running: usize,
    /// In hundredths.
    pub(crate) cache_similarity: u8,
    pub(crate) cache_hours: u64,
}

impl Default for Summaries {
    fn default() -> Self {
        let Settings { threshold_bytes, deadline, input_tokens, max_running, .. } =
            Settings::default();
        Self {
            provider: None,
            model: None,
            url: None,
            key_variable: None,
            threshold_bytes,
            deadline,
            input_tokens,
            max_running,
            cache_similarity: 90,
            cache_hours: 3,
        }
    }
}

impl Summaries {
    /// The variable whose key is sent with each question. Without that key nothing is asked.
    pub(crate) fn key_variable(&self) -> Option<&str> {
        let base = self.url.as_deref().and_then(|url| url.parse().ok());
        self.provider?.key_variable(base.as_ref(), self.key_variable.as_deref())
    }

    /// What holds for reading results.
    pub(crate) fn settings(&self) -> Settings {
        let age = Duration::from_secs(self.cache_hours.saturating_mul(60 * 60));
        Settings {
            threshold_bytes: self.threshold_bytes,
            deadline: self.deadline,
            input_tokens: self.input_tokens,
            max_running: self.max_running,
            reuse: Rules { similarity: f32::from(self.cache_similarity) / 100.0, age },
            ..Settings::default()
        }
    }
}
