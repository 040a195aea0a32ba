//! Numbers that count: how often a value stands there, how many are missing or different.

use super::{
    super::{
        known::as_float,
        words::{Number, Word},
    },
    clause::{Clause, Mention},
    sense::{Sense, agrees},
};

/// A number behind one of these counts nothing that is known.
const OTHER_MEASURES: [&str; 31] = [
    "top",
    "first",
    "last",
    "next",
    "every",
    "each",
    "per",
    "page",
    "id",
    "ids",
    "rank",
    "version",
    "port",
    "year",
    "line",
    "row",
    "record",
    "limit",
    "sample",
    "average",
    "avg",
    "mean",
    "median",
    "sum",
    "percentile",
    "p95",
    "p99",
    "another",
    "code",
    "number",
    "other",
];
/// Words behind which stands what is not counted.
const EXCEPTIONS: [&str; 5] = ["apart", "aside", "besides", "except", "excluding"];
/// A value behind one of these is not counted, but the others are.
const NEGATIONS: [&str; 6] = ["not", "never", "non", "without", "except", "excluding"];
/// Words that may stand between a count and the value that it counts.
pub(super) const CONNECTORS: [&str; 47] = [
    "are",
    "is",
    "were",
    "was",
    "have",
    "has",
    "had",
    "with",
    "of",
    "them",
    "marked",
    "as",
    "in",
    "the",
    "a",
    "an",
    "being",
    "for",
    "value",
    "values",
    "state",
    "that",
    "records",
    "record",
    "rows",
    "row",
    "entries",
    "items",
    "results",
    "objects",
    "appears",
    "appear",
    "occurs",
    "occur",
    "accounts",
    "account",
    "count",
    "counts",
    "totals",
    "dominates",
    "leads",
    "most",
    "common",
    "at",
    "frequent",
    "by",
    "which",
];

impl Clause<'_> {
    /// True if a number in the clause is known to count something else than it says.
    pub(super) fn counts_falsely(&self) -> bool {
        self.numbers().iter().any(|(at, number)| self.is_false_count(*at, *number))
    }

    fn is_false_count(&self, at: usize, number: Number) -> bool {
        let is_other = self.before(at, 1).is_some_and(|it| OTHER_MEASURES.contains(&it));
        // `order 4711`
        let is_name = self.before(at, 1).is_some_and(|it| self.is_record_noun(&format!("{it}s")));
        let is_place = is_other
            || is_name
            || self.is_of_span(at)
            || self.is_bound_of_field(at)
            || self.is_of_portions(at)
            || self.is_whole_of_part_in(at);
        // `no missing values apart from 40 countries`
        if number.has_unit || is_place || self.has(&EXCEPTIONS) {
            return false;
        }
        let sense = self.sense(at);
        if let Some(whole) = self.part_in(at) {
            let value = 100.0 * number.value / whole.value.max(1.0);
            let share = Number { value, slack: 3.0, is_percent: true, ..number };
            return self.is_false_share(at + 2, share, sense);
        }
        if let Some(truth) = self.truth_of_subject(at, number).filter(|_| !number.is_percent) {
            return !truth.iter().any(|truth| agrees(number, *truth, sense));
        }
        if number.is_percent {
            return self.is_false_share(at, number, sense);
        }
        if self.is_whole_of_part(at) {
            return self.is_no_whole(number, sense);
        }
        if let Some(truth) = self.distinct_or_nulls(at, number) {
            let is_subset = self.is_restricted_besides_value(at);
            let is_right =
                |truth: f64| agrees(number, truth, sense) || (is_subset && number.value <= truth);
            return !truth.iter().any(|truth| is_right(*truth));
        }
        if let Some(counts) = self.counted_value(at) {
            // More than one restriction leaves fewer, and `active or inactive` are all of both.
            let is_subset = self.values.len() > 1 || self.is_restricted_besides_value(at);
            let others = if self.values.len() > 1 { self.sum_of_values() } else { 0 };
            let is_right = |count: u64| {
                let agrees = agrees(number, as_float(count), sense);
                agrees || (is_subset && number.value <= as_float(count.max(others)))
            };
            return !counts.iter().any(|count| is_right(*count));
        }
        self.is_false_total(at, number, sense)
    }

    fn is_absence(&self, at: usize) -> bool {
        match self.words.get(at) {
            Some(Word::Number(number)) => number.is_absence,
            Some(Word::Plain(_) | Word::Quoted(_) | Word::Day(_) | Word::Mark(_)) | None => false,
        }
    }

    /// `60% are active`, held against the counts.
    fn is_false_share(&self, at: usize, number: Number, sense: Sense) -> bool {
        let is_counted =
            self.counted_value(at).is_some() || self.truth_of_subject(at, number).is_some();
        if !is_counted || self.values.len() != 1 || self.is_restricted_besides_value(at) {
            return false;
        }
        let shares =
            self.values.iter().flat_map(|mention| &mention.counts).flat_map(|(field, count)| {
                // Of all, or of those that have a value.
                [field.records, field.records.saturating_sub(field.nulls)]
                    .map(|whole| 100.0 * as_float(*count) / as_float(whole.max(1)))
            });
        let about = Number { slack: number.slack.max(1.0), ..number };
        let mut shares = shares;
        !shares.any(|share| match sense {
            Sense::About => (share - number.value).abs() <= (2.0 * number.slack).max(6.0),
            Sense::Exactly | Sense::MoreThan | Sense::LessThan => agrees(about, share, sense),
        })
    }

    /// What is known of the different values, or the nulls, that the number at a place is said to count.
    fn distinct_or_nulls(&self, at: usize, number: Number) -> Option<Vec<f64>> {
        let fields = self.fields.iter().map(|(field, _)| *field);
        let is_distinct = |word: &str| matches!(word, "distinct" | "unique" | "different");
        let truth: Vec<f64> = if self.plain(at + 1).is_some_and(is_distinct) {
            let counted = fields.map(|field| field.distinct);
            // An estimate contradicts nothing.
            counted.collect::<Option<Vec<u64>>>()?.into_iter().map(as_float).collect()
        } else if self.counts_nulls(at) {
            let named: Vec<f64> = fields.map(|field| as_float(field.nulls)).collect();
            if named.is_empty() { self.nulls_of_any(number) } else { named }
        } else {
            return None;
        };
        (!truth.is_empty()).then_some(truth)
    }

    /// `12 missing …`, `12 records have a missing …`, `12 records lack a …`
    fn counts_nulls(&self, at: usize) -> bool {
        let is_null = |word: &str| {
            matches!(word, "null" | "nulls" | "missing" | "empty" | "blank" | "lack" | "lacks")
        };
        let behind = (at + 1..self.words.len()).map_while(|at| Some((at, self.plain(at)?)));
        for (place, word) in behind {
            if is_null(word) {
                return true;
            }
            let is_passed =
                CONNECTORS.contains(&word) || self.is_record_noun(word) || self.is_of_field(place);
            if !is_passed {
                return false;
            }
        }
        false
    }

    /// How many nulls may be meant where no field is named.
    pub(super) fn nulls_of_any(&self, number: Number) -> Vec<f64> {
        let nulls: Vec<f64> = self.known.fields.iter().map(|it| as_float(it.nulls)).collect();
        if nulls.is_empty() {
            return nulls;
        }
        let all = nulls.iter().sum();
        // Some field without any is no reason to say that there are none.
        let each = nulls.into_iter().filter(|_| number.value > 0.0);
        each.chain([all]).collect()
    }

    /// How often any of the values stands there that are joined by `or`; 0 if they are not.
    fn sum_of_values(&self) -> u64 {
        let is_joined = |(one, other): (&Mention<'_>, &Mention<'_>)| {
            one.at + one.length + 1 == other.at && self.plain(one.at + one.length) == Some("or")
        };
        let counts = self.values.iter().filter_map(|it| it.counts.iter().map(|(_, it)| *it).max());
        let mut pairs = self.values.iter().zip(self.values.iter().skip(1));
        if pairs.all(is_joined) { counts.sum() } else { 0 }
    }

    /// How often the value is known to stand there that the number at a place counts.
    fn counted_value(&self, at: usize) -> Option<Vec<u64>> {
        let mention = self.values.iter().find(|mention| {
            // `active and inactive: 4,500`, `three statuses: active, inactive and in progress`
            let is_of_list =
                if mention.at > at { self.leads_to_values } else { self.follows_value };
            if is_of_list {
                return false;
            }
            let (from, to) = if mention.at > at {
                (at + 1, mention.at)
            } else {
                (mention.at + mention.length, at)
            };
            let is_before = mention.at > at;
            // `Germany has no duplicates` says nothing of how often it stands there.
            let is_of_records = || self.plain(at + 1).is_some_and(|it| self.is_record_noun(it));
            if !is_before && self.is_absence(at) && !is_of_records() {
                return false;
            }
            let between = self.words.get(from..to).unwrap_or_default();
            // `3,000 orders are active`: what is counted may have a name of its own.
            let mut names = usize::from(is_before);
            between.iter().enumerate().all(|(index, word)| match word {
                Word::Plain(word) => {
                    let is_connector =
                        CONNECTORS.contains(&word.as_str()) || self.is_of_field(from + index);
                    let is_negation = NEGATIONS.contains(&word.as_str());
                    let is_name =
                        !OTHER_MEASURES.contains(&word.as_str()) && !is_negation && names > 0;
                    if !is_connector {
                        names = names.saturating_sub(1);
                    }
                    is_connector || is_name
                }
                Word::Mark(mark) => matches!(mark, '(' | ':' | '=' | '–'),
                // `3,000 of 5,000 orders are active`
                Word::Number(_) => self.is_whole_of_part(from + index),
                Word::Quoted(_) | Word::Day(_) => false,
            })
        })?;
        let named: Vec<u64> = mention
            .counts
            .iter()
            .filter(|(field, _)| self.fields.iter().any(|(named, _)| named.name == field.name))
            .map(|(_, count)| *count)
            .collect();
        let all = || mention.counts.iter().map(|(_, count)| *count).collect();
        Some(if named.is_empty() { all() } else { named })
    }
}
