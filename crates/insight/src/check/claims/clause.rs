//! A clause with the fields and values that it names, and where.

use super::super::{
    known::{Field, Known},
    words::{Number, Word, of_name},
};

pub(super) struct Clause<'c> {
    pub(super) words: &'c [Word],
    pub(super) known: &'c Known,
    /// The fields that it names, and where.
    pub(super) fields: Vec<(&'c Field, usize)>,
    /// The values that it names: where, over how many words, and how often each stands there.
    pub(super) values: Vec<Mention<'c>>,
    /// The clause before is the beginning of a list of values: `active | and inactive orders`.
    pub(super) follows_value: bool,
    /// The next clause goes on with a list of values: `are active | and inactive`.
    pub(super) leads_to_values: bool,
    /// The next clause begins with a number: `records: 17 | and 40 are late`.
    pub(super) leads_to_number: bool,
}

/// A value that a clause names.
pub(super) struct Mention<'c> {
    pub(super) at: usize,
    pub(super) length: usize,
    /// The fields that have it, with how often.
    pub(super) counts: Vec<(&'c Field, u64)>,
}

impl<'c> Clause<'c> {
    pub(super) fn of(words: &'c [Word], known: &'c Known) -> Self {
        let mut clause = Self {
            words,
            known,
            fields: Vec::new(),
            values: Vec::new(),
            follows_value: false,
            leads_to_values: false,
            leads_to_number: false,
        };
        clause.find_fields();
        clause.find_values();
        clause
    }

    pub(super) fn numbers(&self) -> Vec<(usize, Number)> {
        let numbers = self.words.iter().enumerate().filter_map(|(at, word)| match word {
            Word::Number(number) => Some((at, *number)),
            Word::Plain(_) | Word::Quoted(_) | Word::Day(_) | Word::Mark(_) => None,
        });
        numbers.collect()
    }

    /// The word that stands `steps` in front of a place.
    pub(super) fn before(&self, at: usize, steps: usize) -> Option<&str> {
        self.plain(at.checked_sub(steps)?)
    }

    pub(super) fn plain(&self, at: usize) -> Option<&str> {
        match self.words.get(at)? {
            Word::Plain(word) => Some(word),
            Word::Quoted(_) | Word::Number(_) | Word::Day(_) | Word::Mark(_) => None,
        }
    }

    pub(super) fn has(&self, words: &[&str]) -> bool {
        (0..self.words.len()).any(|at| self.plain(at).is_some_and(|it| words.contains(&it)))
    }

    /// True if the word at a place belongs to the name of a field.
    pub(super) fn is_of_field(&self, at: usize) -> bool {
        self.fields.iter().any(|(field, from)| (*from..from + field.name.len()).contains(&at))
    }

    /// Finds the names of fields; of two at one place the longer one.
    fn find_fields(&mut self) {
        for at in 0..self.words.len() {
            let here = self.known.fields.iter().filter(|field| self.names(field, at));
            let here: Vec<&Field> = here.collect();
            let longest = here.iter().map(|field| field.name.len()).max().unwrap_or_default();
            let is_inside = self.is_of_field(at);
            for field in here.into_iter().filter(|field| field.name.len() == longest && !is_inside)
            {
                self.fields.push((field, at));
            }
        }
    }

    /// True if the name of a field stands at a place: as it is written, in words, or as many of it.
    fn names(&self, field: &Field, at: usize) -> bool {
        let is_word = |word: &str, name: &str, is_last: bool| {
            word == name
                || (is_last
                    && (word.strip_suffix('s') == Some(name)
                        || word.strip_suffix("es") == Some(name)
                        || (word.strip_suffix("ies").zip(name.strip_suffix('y')))
                            .is_some_and(|(one, other)| one == other)))
        };
        let whole = field.name.join("_");
        match self.words.get(at) {
            Some(Word::Plain(word) | Word::Quoted(word))
                if field.name.len() > 1 && of_name(word) == field.name =>
            {
                return true;
            }
            Some(Word::Quoted(word)) => return *word == whole,
            _ => {}
        }
        field.name.iter().enumerate().all(|(index, name)| {
            let is_last = index + 1 == field.name.len();
            self.plain(at + index).is_some_and(|word| is_word(word, name, is_last))
        })
    }

    /// Finds the values of fields that are named.
    fn find_values(&mut self) {
        for at in 0..self.words.len() {
            let mut mention = Mention { at, length: 0, counts: Vec::new() };
            for field in &self.known.fields {
                for (value, count) in &field.values {
                    let length = self.value_at(at, value);
                    if length > mention.length {
                        mention = Mention { at, length, counts: Vec::new() };
                    }
                    if length > 0 && length == mention.length {
                        mention.counts.push((field, *count));
                    }
                }
            }
            if mention.length > 0 && !self.is_of_field(at) {
                self.values.push(mention);
            } else {
                self.values.extend(self.truth_at(at));
            }
        }
    }

    /// The name of a field that is true or false, where it is said that it is true: `are verified`.
    fn truth_at(&self, at: usize) -> Option<Mention<'c>> {
        let is_said = matches!(self.before(at, 1), Some("are" | "is" | "were" | "was"));
        let (field, _) = self.fields.iter().find(|(_, from)| *from == at)?;
        let is_last = at + field.name.len() == self.words.len();
        let is_truth = |value: &String| matches!(value.as_str(), "true" | "false");
        let is_boolean = field.are_all && field.values.keys().all(is_truth);
        let count = field.values.get("true").copied().unwrap_or_default();
        (is_said && is_last && is_boolean).then(|| Mention {
            at,
            length: field.name.len(),
            counts: vec![(*field, count)],
        })
    }

    /// Over how many words a value stands at a place; 0 if it does not.
    fn value_at(&self, at: usize, value: &str) -> usize {
        // What is no word is not looked for: numbers count themselves, and a letter is no name.
        let is_name = value.len() > 1 && value.chars().any(char::is_alphabetic);
        if !is_name {
            return 0;
        }
        match self.words.get(at) {
            Some(Word::Quoted(word)) => return usize::from(word == value),
            Some(Word::Plain(_)) => {}
            _ => return 0,
        }
        // These stand in sentences for themselves.
        if matches!(value, "true" | "false" | "null" | "none" | "other" | "all" | "no" | "yes") {
            return 0;
        }
        let words: Vec<&str> = value.split_whitespace().collect();
        let fits = words.iter().enumerate().all(|(index, it)| self.plain(at + index) == Some(it));
        if fits { words.len() } else { 0 }
    }
}
