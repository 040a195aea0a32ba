//! Asks whoever sits at the terminal before something is changed that is theirs.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};

use crate::cli::exit::Exit;

/// True if whoever sits at the terminal agrees. Without one, nobody can: `what` then says what would be done.
pub(crate) fn is_confirmed(question: &str, what: &str) -> Result<bool> {
    if !io::stdin().is_terminal() {
        let said = format!("{what}; say `--yes` to do so without being asked");
        return Err(Exit::Refused.told(said));
    }
    let mut stderr = io::stderr();
    write!(stderr, "{question} [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).context("cannot read the answer")?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
