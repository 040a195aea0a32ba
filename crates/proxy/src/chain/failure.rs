//! How a hook fails, in words: for events, and for the model whose call nobody else can answer.

use std::{fmt, time::Duration};

use serde_json::json;

/// Why a hook gave no verdict.
#[derive(Debug)]
pub(super) enum Failure {
    /// It said so, or what it gave is of no use.
    Erred(String),
    Panicked,
    Late(Duration),
    /// It was not run: too much is being worked on.
    Busy,
}

impl Failure {
    /// The result of a call of `tool` that failed in this way.
    pub(super) fn result(&self, tool: &str) -> Vec<u8> {
        let text = match self {
            Self::Erred(why) => format!("`{tool}` failed: {why}. Try again, or ask for less."),
            Self::Panicked => {
                format!("`{tool}` failed: it broke off unexpectedly. Try again, or ask for less.")
            }
            Self::Late(deadline) => format!(
                "`{tool}` was stopped: it was not done after {deadline:?}. Ask for less at once, \
                 for instance with a smaller query."
            ),
            Self::Busy => format!(
                "`{tool}` was not started: too many calls are being worked on. Try again when \
                 some of them have been answered."
            ),
        };
        let content = json!([{ "type": "text", "text": text }]);
        json!({ "content": content, "isError": true }).to_string().into_bytes()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Erred(why) => formatter.write_str(why),
            Self::Panicked => formatter.write_str("panicked"),
            Self::Late(deadline) => write!(formatter, "not done after {deadline:?}"),
            Self::Busy => formatter.write_str("not asked, too much is being worked on"),
        }
    }
}
