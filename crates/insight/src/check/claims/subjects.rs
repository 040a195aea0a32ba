//! Numbers behind what they count: `Records: 5,000`, `the number of active orders is 3,200`.
//!
//! What stands in front of such a number must be understood word by word, and nothing may follow that says which
//! are meant: where a word is left over, something else may be counted.

use std::ops::Range;

use super::{
    super::{
        known::{Field, as_float},
        words::{Number, Word},
    },
    clause::Clause,
    sense::SENSES,
};

/// Words that join what is counted to its number, beside `:` and `=`.
const LINKS: [&str; 7] = ["is", "are", "was", "were", "equals", "count", "counts"];
/// Words in front of a number that say that it is one of a part: `missing in 40 records`.
const OF_PARTS: [&str; 6] = ["in", "for", "affects", "affect", "affecting", "on"];
/// Words that may stand beside what is counted.
const BESIDE: [&str; 14] = [
    "the", "a", "an", "of", "overall", "all", "in", "is", "are", "that", "dataset", "result",
    "response", "data",
];
/// More of them, which say that not all records are meant.
const BESIDE_PARTS: [&str; 7] = ["with", "for", "value", "values", "has", "have", "occur"];

/// What is counted in front of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nulls,
    Distinct,
    /// Records, or those that have a value.
    Records,
}

impl Clause<'_> {
    /// What the number at a place must be, if what it counts stands in front of it: one of these.
    pub(super) fn truth_of_subject(&self, at: usize, number: Number) -> Option<Vec<f64>> {
        let begin = self.begin_of_number(at);
        let link = begin.checked_sub(1)?;
        let is_of_part = matches!(self.plain(link), Some("in" | "for" | "affects"));
        let is_link = match &self.words[link] {
            Word::Mark(mark) => matches!(mark, ':' | '='),
            Word::Plain(word) => LINKS.contains(&word.as_str()),
            Word::Quoted(_) | Word::Number(_) | Word::Day(_) => false,
        };
        let words = 0..if is_of_part { link } else { begin };
        if !words.clone().all(|at| self.is_of_subject(at)) {
            return None;
        }
        let kind = self.kind_of(words.clone())?;
        // `country is missing in 40 records`
        let is_part_of_nulls = is_of_part && kind == Kind::Nulls && self.is_end_of_records(at + 1);
        let is_claim =
            is_part_of_nulls || (is_link && self.is_end(at + 1) && !self.leads_to_number);
        if !is_claim {
            return None;
        }
        let truth = match kind {
            Kind::Nulls => self.nulls_of_subject(words, number, is_of_part)?,
            Kind::Distinct => self.distinct_of_subject()?,
            Kind::Records => self.count_of_subject(words)?,
        };
        (!truth.is_empty()).then_some(truth)
    }

    /// True if the number at a place is said to be of a part: behind `in`, `for`, `with`. What the whole comes
    /// with is all that there is.
    pub(super) fn is_of_part(&self, at: usize) -> bool {
        let number = self.begin_of_number(at);
        match self.before(number, 1) {
            Some("with") => !self.names_whole_before(number),
            Some(word) => OF_PARTS.contains(&word),
            None => false,
        }
    }

    /// Where what belongs to the number at a place begins: `about | 40`.
    fn begin_of_number(&self, at: usize) -> usize {
        let mut begin = at;
        while self.before(begin, 1).is_some_and(|it| SENSES.contains(&it)) {
            begin -= 1;
        }
        begin
    }

    /// True if the word at a place is understood in front of a number.
    fn is_of_subject(&self, at: usize) -> bool {
        let is_of_value = self.values.iter().any(|it| (it.at..it.at + it.length).contains(&at));
        match &self.words[at] {
            _ if is_of_value || self.is_of_field(at) => true,
            Word::Plain(word) => match word.as_str() {
                // `record number: 17`, and `orders total: 99.50`, count nothing.
                "number" => self.plain(at + 1) == Some("of"),
                "total" => self.is_total_of_records(at),
                word => {
                    is_null(word)
                        || is_distinct(word)
                        || [&LINKS[..], &BESIDE, &BESIDE_PARTS].iter().any(|it| it.contains(&word))
                        || self.is_record_noun(word)
                }
            },
            Word::Mark(mark) => matches!(mark, ':' | '='),
            Word::Quoted(_) | Word::Number(_) | Word::Day(_) => false,
        }
    }

    /// `total | records`, `total | number of`
    fn is_total_of_records(&self, at: usize) -> bool {
        let next = self.plain(at + 1);
        let is_value = self.values.iter().any(|it| it.at == at + 1);
        self.plain(at) == Some("total")
            && (is_value
                || next
                    .is_some_and(|it| matches!(it, "number" | "count") || self.is_record_noun(it)))
    }

    fn kind_of(&self, words: Range<usize>) -> Option<Kind> {
        let has = |is: fn(&str) -> bool| words.clone().any(|at| self.plain(at).is_some_and(is));
        match (has(is_null), has(is_distinct)) {
            (true, true) => None,
            (true, false) => Some(Kind::Nulls),
            (false, true) => Some(Kind::Distinct),
            (false, false) => Some(Kind::Records),
        }
    }

    fn nulls_of_subject(
        &self,
        mut words: Range<usize>,
        number: Number,
        is_of_part: bool,
    ) -> Option<Vec<f64>> {
        let nulls: Vec<f64> = self.fields.iter().map(|(field, _)| as_float(field.nulls)).collect();
        if !nulls.is_empty() {
            return self.values.is_empty().then_some(nulls);
        }
        // In how many records anything is missing, the facts do not say.
        let is_of_records = is_of_part || words.any(|at| self.is_noun(at));
        (!is_of_records && self.values.is_empty()).then(|| self.nulls_of_any(number))
    }

    fn distinct_of_subject(&self) -> Option<Vec<f64>> {
        let ([(field, _)], []) = (self.fields.as_slice(), self.values.as_slice()) else {
            return None;
        };
        Some(vec![as_float(field.distinct?)])
    }

    /// How many records there are, or have the value that is named.
    fn count_of_subject(&self, mut words: Range<usize>) -> Option<Vec<f64>> {
        let is = |word: &'static str| move |at: usize| self.plain(at) == Some(word);
        let is_counted = words.clone().any(is("number")) || words.clone().any(is("count"));
        // `Record: 17` is a name.
        let is_of_many = |at: usize| self.plain(at).is_some_and(|it| it.ends_with('s'));
        let noun = words.clone().find(|at| self.is_noun(*at) && (is_counted || is_of_many(*at)))?;
        if let [mention] = self.values.as_slice() {
            let is_meant = |field: &&Field| {
                self.fields.is_empty() || self.fields.iter().any(|(it, _)| it.name == field.name)
            };
            let counts = mention.counts.iter().filter(|(field, _)| is_meant(field));
            return (!self.follows_value)
                .then(|| counts.map(|(_, count)| as_float(*count)).collect());
        }
        let is_of_part =
            words.any(|at| self.plain(at).is_some_and(|it| BESIDE_PARTS.contains(&it)));
        let is_of_field = self.fields.iter().any(|(_, at)| !self.is_total_of_records(*at));
        if is_of_part || is_of_field || !self.values.is_empty() {
            return None;
        }
        let is_of_lines = self.plain(noun).is_some_and(|it| it.starts_with("line"));
        let told = if is_of_lines { self.known.lines } else { self.known.records };
        Some([as_float(told?)].into_iter().chain(self.known.totals.iter().copied()).collect())
    }

    fn is_noun(&self, at: usize) -> bool {
        self.plain(at).is_some_and(|it| self.is_record_noun(it))
    }

    /// True if nothing follows that says which are meant.
    fn is_end(&self, at: usize) -> bool {
        matches!(self.words.get(at), None | Some(Word::Mark('(')))
            || (self.plain(at) == Some("in")
                && matches!(self.plain(at + 1), Some("total" | "all"))
                && self.is_end(at + 2))
    }

    fn is_end_of_records(&self, at: usize) -> bool {
        self.is_end(at + usize::from(self.is_noun(at)))
    }
}

fn is_null(word: &str) -> bool {
    matches!(word, "null" | "nulls" | "missing" | "empty" | "blank")
}

fn is_distinct(word: &str) -> bool {
    matches!(word, "distinct" | "unique" | "different")
}
