//! What is written to the log file.

/// The least grave that is written there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum FileLevel {
    /// Nothing is.
    Off,
    Error,
    #[default]
    Warn,
    Info,
    Debug,
}
