//! What is exported or drawn: all of a dataset, or what a query gives.

use anyhow::Result;
use clap::Args;
use forebay_tools::{Desk, Subject, ToolError};

use crate::cli::ask::sql;

#[derive(Debug, Args)]
pub(crate) struct SubjectArguments {
    /// The dataset, with or without `dataset_`, or the tool whose latest result it is; with
    /// `--query`, what `dataset` stands for in it
    #[arg(required_unless_present = "query")]
    id: Option<String>,
    /// What this query gives; `-` reads it from standard input
    #[arg(long, value_name = "SQL")]
    query: Option<String>,
}

/// A subject as it was given.
pub(crate) struct Given {
    id: Option<String>,
    sql: Option<String>,
}

impl SubjectArguments {
    /// The query is there, wherever it comes from.
    pub(crate) fn given(self) -> Result<Given> {
        Ok(Given { id: self.id, sql: self.query.map(sql).transpose()? })
    }
}

impl Given {
    pub(crate) fn subject(self, desk: &Desk) -> Result<Subject, ToolError> {
        let dataset = self.id.map(|name| desk.named(&name)).transpose()?;
        Subject::new(desk, self.sql, dataset)
    }
}
