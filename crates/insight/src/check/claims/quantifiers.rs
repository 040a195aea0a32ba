//! Words that say how many without a number: all, most, the most common.
//!
//! They are held against the counts if a clause says of all that there is that it has a value that is known:
//! `most orders are inactive`, but not `most orders of May are inactive` or `most inactive orders are old`.

use std::collections::BTreeMap;

use super::{
    super::{known::Field, words::Word},
    clause::{Clause, Mention},
    counts::CONNECTORS,
    scope::RESTRICTIONS,
};

const VERBS: [&str; 12] = [
    "is", "are", "was", "were", "have", "has", "had", "remain", "remains", "stay", "show", "carry",
];
/// Words that may stand between a verb and its value, beside those of counts.
const FILLERS: [&str; 9] =
    ["either", "currently", "still", "now", "also", "already", "all", "just", "set"];
/// Behind `most`, these make it the most of all, and not more than half.
const SUPERLATIVES: [&str; 7] =
    ["common", "frequent", "frequently", "often", "prevalent", "popular", "commonly"];

/// Which share of all a word says that there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    All,
    NearlyAll,
    MoreThanHalf,
}

impl<'c> Clause<'c> {
    /// True if what the clause says of all, or of most, is known to be otherwise. `behind` are the clauses that
    /// follow, in which a list of values may go on.
    pub(super) fn quantifies_falsely(&self, behind: &[Clause<'c>]) -> bool {
        self.is_false_superlative()
            || (0..self.words.len()).any(|at| {
                self.share_at(at).is_some_and(|share| self.is_false_share_of(at, share, behind))
            })
    }

    fn share_at(&self, at: usize) -> Option<Share> {
        let is_negated = matches!(self.before(at, 1), Some("not" | "the"))
            || matches!(self.plain(at + 1), Some("other" | "others" | "remaining" | "but"));
        match self.plain(at)? {
            _ if is_negated && self.plain(at) != Some("majority") => None,
            "all" if matches!(self.before(at, 1), Some("nearly" | "almost" | "virtually")) => {
                Some(Share::NearlyAll)
            }
            "all" | "every" | "each" | "everything" | "exclusively" | "entirely" | "always" => {
                Some(Share::All)
            }
            "most" if self.plain(at + 1).is_some_and(|it| SUPERLATIVES.contains(&it)) => None,
            "most" if self.before(at, 1) == Some("at") => None,
            "most" | "mostly" | "majority" | "predominantly" | "mainly" => {
                Some(Share::MoreThanHalf)
            }
            _ => None,
        }
    }

    /// Holds `all orders are active` and `orders are mostly active` against the counts.
    fn is_false_share_of(&self, at: usize, share: Share, behind: &[Clause<'c>]) -> bool {
        if share == Share::All && self.is_false_for_all(at) {
            return true;
        }
        let is_verb = |at: &usize| self.plain(*at).is_some_and(|it| VERBS.contains(&it));
        let (subject, verb) = match (at + 1..self.words.len()).find(is_verb) {
            Some(verb) => (at + 1..verb, verb),
            None => match (0..at).rev().find(is_verb) {
                Some(verb) => (0..verb, at),
                None => return false,
            },
        };
        // `most of the orders`, but not `most orders of May`
        let of = usize::from(self.plain(subject.start) == Some("of"));
        if !subject.skip(of).all(|at| self.is_unrestricted(at)) {
            return false;
        }
        let predicate = verb + 1..self.words.len();
        if predicate.clone().any(|at| matches!(self.plain(at), Some("not" | "never" | "no"))) {
            return false;
        }
        if self.has_value_that_is_not_there(verb) {
            return true;
        }
        let own: Vec<&Mention<'c>> = self.values.iter().filter(|it| it.at > verb).collect();
        let Some(first) = own.first() else { return false };
        let is_direct = (verb + 1..first.at).all(|at| self.is_passed_over(at));
        if !is_direct || self.is_restricted_besides_value(verb) {
            return false;
        }
        // `are active, inactive or in progress`
        let goes_on = behind.iter().take_while(|clause| clause.is_list_of_values());
        let others = goes_on.flat_map(|clause| &clause.values);
        let counts = own.into_iter().chain(others).flat_map(|mention| &mention.counts);
        let mut sums: BTreeMap<&[String], (&Field, u64)> = BTreeMap::new();
        for (field, count) in counts.filter(|(field, _)| self.may_mean(field)) {
            sums.entry(&field.name).or_insert((*field, 0)).1 += count;
        }
        !sums.is_empty() && sums.into_values().all(|(field, sum)| !share.is_of(field, sum))
    }

    /// `status is active for all records`, where it is not.
    fn is_false_for_all(&self, at: usize) -> bool {
        let is_of_all = matches!(self.before(at, 1), Some("for" | "in" | "across"))
            && self.plain(at + 1).is_some_and(|it| self.is_record_noun(it))
            && at + 2 == self.words.len();
        let ([(field, 0)], [mention]) = (self.fields.as_slice(), self.values.as_slice()) else {
            return false;
        };
        let verb = field.name.len();
        let is_said = matches!(self.plain(verb), Some("is" | "was")) && mention.at == verb + 1;
        let count = mention.counts.iter().find(|(of, _)| of.name == field.name);
        is_of_all
            && is_said
            && mention.at + mention.length + 1 == at
            && count.is_some_and(|(field, count)| !Share::All.is_of(field, *count))
    }

    /// `the most common status is inactive`, where another one is.
    fn is_false_superlative(&self) -> bool {
        let is_most = (0..self.words.len()).any(|at| {
            self.plain(at) == Some("most")
                && self.plain(at + 1).is_some_and(|it| SUPERLATIVES.contains(&it))
        });
        let is_of_others = self.has(&["second", "third", "next", "after", "among", "one", "not"]);
        let [mention] = self.values.as_slice() else { return false };
        if !is_most || is_of_others || self.is_restricted_besides_value(mention.at) {
            return false;
        }
        let mut meant = mention.counts.iter().filter(|(field, _)| self.may_mean(field)).peekable();
        meant.peek().is_some()
            && meant.all(|(field, count)| field.values.values().any(|other| other > count))
    }

    /// True if the clause names this field, or none.
    fn may_mean(&self, field: &Field) -> bool {
        let mut named = self.fields.iter().map(|(field, _)| &field.name).peekable();
        named.peek().is_none() || named.any(|name| *name == field.name)
    }

    /// `have status cancelled`, where all values are known and that is none of them.
    fn has_value_that_is_not_there(&self, verb: usize) -> bool {
        let named = self.fields.iter().find(|(field, at)| {
            let is_direct = (verb + 1..*at).all(|at| self.is_passed_over(at));
            *at > verb && field.are_all && is_direct
        });
        let Some((field, at)) = named else { return false };
        let last = at + field.name.len();
        let is_last = last + 1 == self.words.len();
        // `for all verified orders`
        let is_value = |word: &str| !self.is_record_noun(word);
        let value = self.plain(last).filter(|word| is_value(word));
        is_last && value.is_some_and(|value| !field.values.contains_key(value))
    }

    /// True if the word at a place does not say which are meant.
    fn is_unrestricted(&self, at: usize) -> bool {
        let is_of_value = self.values.iter().any(|it| (it.at..it.at + it.length).contains(&at));
        !is_of_value
            && match &self.words[at] {
                Word::Plain(word) => !RESTRICTIONS.contains(&word.as_str()),
                Word::Number(_) => true,
                Word::Quoted(_) | Word::Day(_) | Word::Mark(_) => false,
            }
    }

    fn is_passed_over(&self, at: usize) -> bool {
        match &self.words[at] {
            Word::Plain(word) => {
                let word = word.as_str();
                CONNECTORS.contains(&word) || FILLERS.contains(&word) || self.is_of_field(at)
            }
            Word::Mark(mark) => matches!(mark, '(' | ':' | '='),
            Word::Quoted(_) | Word::Number(_) | Word::Day(_) => false,
        }
    }

    /// Values and what joins them, and nothing else.
    pub(super) fn is_list_of_values(&self) -> bool {
        !self.values.is_empty()
            && (0..self.words.len()).all(|at| {
                let is_of_value =
                    self.values.iter().any(|it| (it.at..it.at + it.length).contains(&at));
                is_of_value || self.plain(at) == Some("or")
            })
    }

    /// A value at the end of a clause that says no number of it.
    pub(super) fn is_value_without_number(&self) -> bool {
        let is_last = self.values.iter().any(|it| it.at + it.length == self.words.len());
        is_last && self.numbers().is_empty()
    }
}

impl Share {
    /// True if `count` records are that share of those that have a value.
    fn is_of(self, field: &Field, count: u64) -> bool {
        let whole = field.records.saturating_sub(field.nulls);
        match self {
            Self::All => count >= whole,
            Self::NearlyAll => count.saturating_mul(5) >= whole.saturating_mul(4),
            Self::MoreThanHalf => count.saturating_mul(2) > whole,
        }
    }
}
