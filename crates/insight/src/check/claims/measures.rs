//! Numbers, days and values that say what stands in a field: its range, and what there is in it.

use super::{
    super::words::{Number, Word},
    clause::Clause,
    sense::{Sense, agrees},
    totals::RECORD_NOUNS,
};

const GREATEST: [&str; 8] =
    ["maximum", "max", "highest", "largest", "greatest", "peak", "peaks", "biggest"];
const LEAST: [&str; 6] = ["minimum", "min", "lowest", "smallest", "least", "cheapest"];
const MIDDLES: [&str; 5] = ["average", "avg", "mean", "median", "typical"];
/// Words that make of a range what most values lie in.
const MOSTLY: [&str; 8] =
    ["most", "mostly", "typically", "usually", "generally", "majority", "commonly", "often"];

impl Clause<'_> {
    pub(super) fn measures_falsely(&self) -> bool {
        let mut numbers = self.numbers();
        // `no` measures nothing, nor does the 20 of `the 20 orders with the highest price`.
        let counts = |at: usize| self.plain(at + 1).is_some_and(|it| self.is_record_noun(it));
        numbers.retain(|(at, number)| !number.is_absence && !counts(*at));
        self.is_false_measure(&numbers) || self.has_day_outside() || self.has_unknown_value()
    }

    /// Numbers that measure a field: its least and greatest value, and what lies between.
    fn is_false_measure(&self, numbers: &[(usize, Number)]) -> bool {
        let fields = self.fields.iter().filter_map(|(field, _)| field.range);
        let ranges: Vec<(f64, f64)> = fields.collect();
        let counts = self.has(&["distinct", "unique", "null", "nulls", "missing", "sum", "count"])
            || self.has(&RECORD_NOUNS);
        let ([(min, max)], false) = (ranges.as_slice(), counts) else { return false };
        let (min, max) = (*min, *max);
        let inside = |number: &Number| {
            let slack = number.slack.max(number.value.abs() * 1e-6);
            number.value + slack >= min && number.value - slack <= max
        };
        match numbers {
            [(from, low), (to, high)] if self.is_range(*from, *to) => {
                let sense = self.sense(*from);
                if self.has(&MOSTLY) || sense != Sense::Exactly {
                    return high.value + high.slack < min || low.value - low.slack > max;
                }
                !agrees(*low, min, sense) || !agrees(*high, max, sense)
            }
            [(at, number)] if !number.is_percent => {
                let sense = self.sense(*at);
                if self.has(&MIDDLES) {
                    return !inside(number);
                }
                match (self.has(&GREATEST), self.has(&LEAST)) {
                    (true, false) => !agrees(*number, max, sense),
                    (false, true) if !self.has(&["at"]) => !agrees(*number, min, sense),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// `from 1 to 9`, `between 1 and 9`, `1–9`.
    fn is_range(&self, from: usize, to: usize) -> bool {
        let joins = match self.words.get(from + 1..to) {
            Some([Word::Plain(word)]) => matches!(word.as_str(), "to" | "and" | "through"),
            Some([Word::Mark(mark)]) => matches!(mark, '–' | '-' | '…'),
            Some([Word::Mark('.'), Word::Mark('.')]) => true,
            _ => false,
        };
        joins
            && self.has(&[
                "range", "ranges", "ranging", "between", "from", "spans", "span", "spanning",
                "vary", "varies", "varying",
            ])
    }

    fn has_day_outside(&self) -> bool {
        let fields = self.fields.iter().filter_map(|(field, _)| field.days.as_ref());
        let ranges: Vec<&(String, String)> = fields.collect();
        if ranges.is_empty() {
            return false;
        }
        self.words.iter().any(|word| match word {
            Word::Day(day) => ranges.iter().all(|(first, last)| day < first || day > last),
            Word::Plain(_) | Word::Quoted(_) | Word::Number(_) | Word::Mark(_) => false,
        })
    }

    /// `status 'archived'` or `status = archived`, where all that there is, is known.
    fn has_unknown_value(&self) -> bool {
        self.fields.iter().filter(|(field, _)| field.are_all).any(|(field, at)| {
            let mut next = at + field.name.len();
            let mut is_equal = false;
            while let Some(word) = self.words.get(next) {
                match word {
                    Word::Mark('=') => is_equal = true,
                    Word::Mark(':' | '(') => {}
                    Word::Plain(word)
                        if matches!(word.as_str(), "is" | "of" | "as" | "equals" | "value") => {}
                    _ => break,
                }
                next += 1;
            }
            let is_unknown = |value: &String| !field.values.contains_key(value);
            match self.words.get(next) {
                Some(Word::Quoted(value)) => is_unknown(value),
                Some(Word::Plain(value)) if is_equal => {
                    is_unknown(value) && !self.values.iter().any(|mention| mention.at == next)
                }
                _ => false,
            }
        })
    }
}
