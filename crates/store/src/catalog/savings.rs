//! Net tokens kept out of models' contexts: what was kept, and what that cost.
//!
//! Whoever tells how much was saved tells it as [`Savings::net_tokens`] has it.

use std::collections::BTreeMap;

use jiff::civil::Date;

use super::Catalog;
use crate::Counts;

/// The tally of tokens that replies of injected tools have had, by tool.
pub const REPLY_TOKENS: &str = "reply tokens";
/// The tally of tokens that definitions of injected tools have had, each time that they were listed.
pub const DEFINITION_TOKENS: &str = "definition tokens";

/// What has passed, and what the injected tools have cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Savings {
    /// What has passed and was kept.
    pub counts: Counts,
    /// How many tokens the injected tools have replied.
    pub reply_tokens: u64,
    /// How many tokens the injected tools' definitions had, each time that they were listed.
    pub definition_tokens: u64,
}

impl Savings {
    /// How many tokens the injected tools have cost.
    pub fn cost_tokens(&self) -> u64 {
        self.reply_tokens.saturating_add(self.definition_tokens)
    }

    /// Net tokens kept out: those of the results that were kept, less those of the summaries in their place, less
    /// those that the injected tools have replied, less those of the injected tools' definitions.
    pub fn net_tokens(&self) -> i64 {
        self.counts.tokens_kept_out().saturating_sub(self.cost_tokens().cast_signed())
    }
}

impl std::ops::AddAssign for Savings {
    fn add_assign(&mut self, other: Self) {
        self.counts += other.counts;
        self.reply_tokens += other.reply_tokens;
        self.definition_tokens += other.definition_tokens;
    }
}

impl std::iter::Sum for Savings {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

impl Catalog {
    /// What was saved on each day since one, the latest first.
    pub(crate) fn savings_by_day(&self, from: Date) -> rusqlite::Result<Vec<(Date, Savings)>> {
        let mut days: BTreeMap<Date, Savings> = BTreeMap::new();
        for (day, counts) in self.usage_by_day(from)? {
            days.entry(day).or_default().counts += counts;
        }
        for (day, tokens) in self.tallies_of(REPLY_TOKENS, from)? {
            days.entry(day).or_default().reply_tokens += tokens;
        }
        for (day, tokens) in self.tallies_of(DEFINITION_TOKENS, from)? {
            days.entry(day).or_default().definition_tokens += tokens;
        }
        Ok(days.into_iter().rev().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Passed, SizeClass, Tally};

    #[test]
    fn a_day_is_net_of_summaries_replies_and_definitions_and_may_be_negative() {
        let catalog = Catalog::in_memory().unwrap();
        let day = |text: &str| text.parse::<Date>().unwrap();
        let (first, second) = (day("2026-11-17"), day("2026-11-18"));
        let counts = Counts { captured_tokens: 900, given_tokens: 100, ..Counts::default() };
        let passed = Passed { server: "shop", tool: "list", size: SizeClass::of(9), counts };
        catalog.add_usage(second, passed).unwrap();
        let tally = |subject: &str, what: &str, count| Tally {
            subject: subject.to_owned(),
            what: what.to_owned(),
            count,
        };
        let listed = tally("tools/list", DEFINITION_TOKENS, 30);
        catalog.add_tallies(first, std::slice::from_ref(&listed)).unwrap();
        let replied = [tally("read", REPLY_TOKENS, 50), tally("run_code", REPLY_TOKENS, 7)];
        catalog
            .add_tallies(second, &[&replied[..], &[listed, tally("m", "calls", 9)]].concat())
            .unwrap();
        let days = catalog.savings_by_day(Date::MIN).unwrap();
        let told: Vec<_> = days.iter().map(|(day, it)| (*day, it.net_tokens())).collect();
        assert_eq!(told, [(second, 713), (first, -30)]);
        assert_eq!(catalog.savings_by_day(second).unwrap(), days[..1]);
        let all: Savings = days.into_iter().map(|(_, of_day)| of_day).sum();
        assert_eq!((all.reply_tokens, all.definition_tokens, all.net_tokens()), (57, 60, 683));
    }

    #[test]
    fn summaries_that_are_longer_than_what_was_kept_are_taken_off() {
        let counts = Counts { captured_tokens: 100, given_tokens: 600, ..Counts::default() };
        let savings = Savings { counts, reply_tokens: 40, definition_tokens: 10 };
        assert_eq!((savings.cost_tokens(), savings.net_tokens()), (50, -550));
    }
}
