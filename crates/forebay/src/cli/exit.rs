//! What the program ends with, by what went wrong. `forebay help` and the reference tell the same.

use forebay_query::QueryError;
use forebay_store::StoreError;
use forebay_tools::ToolError;

use crate::config::Problems;

/// What went wrong, as far as programs want to tell it apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It was tried, and did not work.
    Failed = 1,
    /// The command line or the settings cannot be understood.
    Usage = 2,
    /// What was named is not there.
    NotFound = 3,
    /// What was asked for cannot be, or may not.
    Refused = 4,
}

/// An error that has been put into words.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
struct Told {
    text: String,
    exit: Exit,
}

impl Exit {
    /// What is to be ended with after `error`.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        if let Some(told) = error.downcast_ref::<Told>() {
            return told.exit;
        }
        let is_unknown = |cause: &(dyn std::error::Error + 'static)| {
            matches!(cause.downcast_ref(), Some(StoreError::Unknown(_)))
        };
        match error {
            error if error.is::<Problems>() => Self::Usage,
            error if error.chain().any(is_unknown) => Self::NotFound,
            _ => Self::Failed,
        }
    }

    /// What an error at the desk comes to.
    pub(crate) fn of_tool(error: &ToolError) -> Self {
        match error {
            ToolError::NotFound(_)
            | ToolError::Store(StoreError::Unknown(_))
            | ToolError::Query(QueryError::Store(StoreError::Unknown(_))) => Self::NotFound,
            ToolError::Refused(_)
            | ToolError::Chart(_)
            | ToolError::Query(QueryError::Refused(_) | QueryError::NotKept) => Self::Refused,
            _ => Self::Failed,
        }
    }

    /// An error that ends the program so.
    pub(crate) fn told(self, text: impl Into<String>) -> anyhow::Error {
        Told { text: text.into(), exit: self }.into()
    }
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, anyhow};
    use forebay_store::DatasetId;

    use super::*;

    #[test]
    fn what_went_wrong_is_told_by_the_code() {
        let id = DatasetId::parse("dataset_k3v9x2ma").unwrap();
        let unknown = anyhow::Error::from(StoreError::Unknown(id));
        assert_eq!(Exit::of(&unknown.context("cannot show it")), Exit::NotFound);
        let refused: anyhow::Result<()> = Err(Exit::Refused.told("no")).context("cannot");
        assert_eq!(Exit::of(&refused.unwrap_err()), Exit::Refused);
        assert_eq!(Exit::of(&anyhow!("disk full")), Exit::Failed);
        assert_eq!(Exit::of_tool(&ToolError::NotFound(String::new())), Exit::NotFound);
        assert_eq!(Exit::of_tool(&ToolError::Refused(String::new())), Exit::Refused);
    }
}
