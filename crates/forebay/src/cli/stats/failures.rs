//! How often what makes vectors has failed, and what keeps them.

use std::io::Write as _;

use anyhow::Result;
use forebay_search::{FAILURES, OF_CHROMA, OF_EMBEDDER};
use forebay_store::Tally;
use serde_json::{Value, json};

use crate::cli::{figures::counted, screen::Screen};

/// How often each has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failures {
    embedder: u64,
    chroma: u64,
}

impl Failures {
    /// Those among all that is counted.
    pub(super) fn of(tallies: &[Tally]) -> Self {
        let count = |of: &str| {
            let of_this = tallies.iter().filter(|it| it.subject == FAILURES && it.what == of);
            of_this.map(|it| it.count).sum()
        };
        Self { embedder: count(OF_EMBEDDER), chroma: count(OF_CHROMA) }
    }

    /// Prints a line, if there is something to tell.
    pub(super) fn print(self, screen: &mut Screen) -> Result<()> {
        if let Some(told) = self.told() {
            writeln!(screen, "\n{told}")?;
        }
        Ok(())
    }

    /// The same as JSON; `None` if there is nothing to tell.
    pub(super) fn json(self) -> Option<Value> {
        let Self { embedder, chroma } = self;
        (embedder + chroma > 0)
            .then(|| json!({"embedder_failures": embedder, "chroma_failures": chroma}))
    }

    fn told(self) -> Option<String> {
        let whose = [(self.embedder, "the embedder"), (self.chroma, "Chroma")];
        let told = whose.iter().filter(|(count, _)| *count > 0);
        let told: Vec<String> =
            told.map(|(count, who)| format!("{} of {who}", counted(*count, "failure"))).collect();
        (!told.is_empty()).then(|| format!("Search by meaning: {}.", told.join(" and ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_the_embedder_and_of_chroma_are_told_if_there_are_any() {
        let tally = |subject: &str, what: &str, count| Tally {
            subject: subject.to_owned(),
            what: what.to_owned(),
            count,
        };
        let none = Failures::of(&[tally("model:x", OF_EMBEDDER, 3)]);
        assert_eq!((none.told(), none.json()), (None, None));
        let one = Failures::of(&[tally(FAILURES, OF_CHROMA, 1)]);
        let told = "Search by meaning: 1 failure of Chroma.";
        assert_eq!(one.told().as_deref(), Some(told));
        let both =
            Failures::of(&[tally(FAILURES, OF_CHROMA, 1), tally(FAILURES, OF_EMBEDDER, 1_200)]);
        let told = "Search by meaning: 1,200 failures of the embedder and 1 failure of Chroma.";
        assert_eq!(both.told().as_deref(), Some(told));
        assert_eq!(both.json(), Some(json!({"embedder_failures": 1_200, "chroma_failures": 1})));
    }
}
