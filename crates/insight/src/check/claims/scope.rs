//! Whether a count is of all there is, or of a part that the clause restricts it to.

use super::{
    super::words::{Number, Word},
    clause::Clause,
};

/// Words that say that not all are meant.
pub(super) const RESTRICTIONS: [&str; 46] = [
    "with",
    "where",
    "whose",
    "that",
    "which",
    "who",
    "have",
    "has",
    "having",
    "had",
    "are",
    "is",
    "were",
    "was",
    "in",
    "from",
    "for",
    "of",
    "by",
    "on",
    "at",
    "above",
    "below",
    "over",
    "under",
    "after",
    "before",
    "since",
    "until",
    "within",
    "without",
    "between",
    "lack",
    "lacks",
    "lacking",
    "contain",
    "containing",
    "need",
    "needs",
    "show",
    "match",
    "per",
    "belong",
    "each",
    "share",
    "sharing",
];
/// Verbs and phrases behind a count that mean all of them, all the same.
pub(super) const NO_RESTRICTIONS: [&str; 15] = [
    "total",
    "overall",
    "returned",
    "found",
    "present",
    "altogether",
    "available",
    "retrieved",
    "fetched",
    "listed",
    "included",
    "dataset",
    "result",
    "response",
    "data",
];

impl Clause<'_> {
    /// True if what follows says that not all are meant.
    pub(super) fn is_restricted(&self, from: usize) -> bool {
        let rest = self.words.get(from..).unwrap_or_default();
        let words = rest.iter().filter_map(|word| match word {
            Word::Plain(word) => Some(word.as_str()),
            Word::Quoted(_) | Word::Number(_) | Word::Day(_) | Word::Mark(_) => None,
        });
        let Some(first) = words.clone().find(|word| RESTRICTIONS.contains(word)) else {
            return false;
        };
        // `were returned`, `in total`, `in the dataset`.
        let behind = words.skip_while(|word| *word != first).skip(1);
        !leads_to_all(behind)
    }

    /// `40 of the 5,000 records`: a part is named as well.
    pub(super) fn is_part_of_whole(&self, at: usize) -> bool {
        self.plain(at + 1) == Some("of") || self.plain(at + 2) == Some("of")
    }

    /// The 5,000 of `40 of 5,000`, `40 out of the 5,000` or `40 of all 5,000`.
    pub(super) fn is_whole_of_part(&self, at: usize) -> bool {
        let article = usize::from(matches!(self.before(at, 1), Some("the" | "all")));
        let is_of = self.before(at, 1 + article) == Some("of");
        let out = usize::from(self.before(at, 2 + article) == Some("out"));
        let part = at.checked_sub(2 + article + out).and_then(|part| self.words.get(part));
        is_of && matches!(part, Some(Word::Number(_)))
    }

    /// The 1 of `1 in 10`, with what it is a part of.
    pub(super) fn part_in(&self, at: usize) -> Option<Number> {
        match (self.plain(at + 1), self.words.get(at + 2)) {
            (Some("in"), Some(Word::Number(whole))) => Some(*whole),
            _ => None,
        }
    }

    /// The 10 of `1 in 10`.
    pub(super) fn is_whole_of_part_in(&self, at: usize) -> bool {
        at.checked_sub(2).is_some_and(|part| {
            self.part_in(part).is_some() && matches!(self.words[part], Word::Number(_))
        })
    }

    /// True if the number at a place is an end of a span: `records 3,901 to 4,000`, `60–70`.
    pub(super) fn is_of_span(&self, at: usize) -> bool {
        let joins = |at: usize| match self.words.get(at) {
            Some(Word::Plain(word)) => matches!(word.as_str(), "to" | "through"),
            Some(Word::Mark(mark)) => matches!(mark, '–' | '-'),
            Some(Word::Quoted(_) | Word::Number(_) | Word::Day(_)) | None => false,
        };
        let is_number = |at: Option<usize>| {
            matches!(at.and_then(|at| self.words.get(at)), Some(Word::Number(_)))
        };
        (joins(at + 1) && is_number(Some(at + 2)))
            || (at > 0 && joins(at - 1) && is_number(at.checked_sub(2)))
    }

    /// The 3,900 of `ids above 3,900`.
    pub(super) fn is_bound_of_field(&self, at: usize) -> bool {
        let is_bound = |it| matches!(it, "above" | "below" | "over" | "under" | "beyond");
        self.before(at, 1).is_some_and(is_bound) && at > 1 && self.is_of_field(at - 2)
    }

    /// The 100 of `pages of 100 records`.
    pub(super) fn is_of_portions(&self, at: usize) -> bool {
        let is_portion = |it| matches!(it, "pages" | "batches" | "chunks" | "groups" | "blocks");
        self.before(at, 1) == Some("of") && self.before(at, 2).is_some_and(is_portion)
    }

    /// True if more than the value that the number at a place counts says which are meant.
    pub(super) fn is_restricted_besides_value(&self, at: usize) -> bool {
        const MORE: [&str; 16] = [
            "where", "whose", "above", "below", "over", "under", "after", "before", "since",
            "until", "without", "between", "who", "with", "from", "in",
        ];
        let last = self.values.iter().map(|it| it.at + it.length).max().unwrap_or(at).max(at + 1);
        // `1,200 active orders lack a country`
        let is_attribute = self.values.iter().any(|it| {
            let between = self.words.get(at + 1..it.at).unwrap_or_default();
            it.at > at && between.iter().all(is_article)
        });
        if is_attribute && self.is_restricted(last) {
            return true;
        }
        (last..self.words.len()).any(|place| {
            let behind = (place + 1..self.words.len()).map_while(|at| self.plain(at));
            self.plain(place).is_some_and(|word| MORE.contains(&word)) && !leads_to_all(behind)
        })
    }
}

/// True if words behind a restriction say that all are meant, all the same: `in | the dataset`.
fn leads_to_all<'w>(behind: impl Iterator<Item = &'w str>) -> bool {
    let mut words = behind.skip_while(|it| matches!(*it, "the" | "this" | "in"));
    words.next().is_some_and(|word| NO_RESTRICTIONS.contains(&word))
}

fn is_article(word: &Word) -> bool {
    match word {
        Word::Plain(word) => matches!(word.as_str(), "of" | "the" | "all" | "these" | "those"),
        // `40 of the 3,000 active orders`
        Word::Number(_) => true,
        Word::Quoted(_) | Word::Day(_) | Word::Mark(_) => false,
    }
}
