//! Whether a sentence says something that is known to be otherwise.
//!
//! A number alone says nothing; what it counts or measures is told by the words around it, in its clause:
//!
//! | what is claimed | it is contradicted if |
//! |---|---|
//! | how many there are (`4,000 records`, `there are 600 orders`, without a restriction behind) | nothing there is so many of |
//! | how many of them are of some kind (`4,000 records have …`) | there are fewer altogether |
//! | the same with the number behind (`Records: 4,000`, `the number of active orders is 3,000`) | the same |
//! | how often a value stands there (`3,000 are active`, `no active ones`) | it is counted otherwise |
//! | which share a value has (`60% are active`, `half`, `9 in 10`) | the counts give another |
//! | that all, most or the most are of a value | the counts give another |
//! | how many different values a field has, or nulls | they are counted otherwise |
//! | the least, the greatest value or the range of a field of numbers | its range is another |
//! | a mean or a median of such a field | it lies outside of the range |
//! | a day in a field of days | it lies outside of the range |
//! | a value beside the name of a field whose values are all known | it is none of them |
//!
//! Everything else stays. `About`, `over` and their like are taken as they are meant, and what is rounded as
//! it is rounded.

mod clause;
mod counts;
mod measures;
mod quantifiers;
mod scope;
mod sense;
mod subjects;
mod totals;

use self::clause::Clause;
use super::{
    known::Known,
    words::{Word, clauses},
};

/// What is said of a sample is not said of the whole, and of two lists it is not known which number is whose.
const OF_OTHERS: [&str; 6] = ["sample", "sampled", "samples", "shown", "displayed", "respectively"];

/// True if something that `sentence` says is known to be otherwise.
pub(super) fn contradict(sentence: &str, known: &Known) -> bool {
    let clauses = clauses(sentence);
    let mut clauses: Vec<Clause<'_>> =
        clauses.iter().map(|words| Clause::of(words, known)).collect();
    for at in 1..clauses.len() {
        clauses[at].follows_value = clauses[at - 1].is_value_without_number();
        clauses[at - 1].leads_to_values = clauses[at].is_list_of_values();
        clauses[at - 1].leads_to_number =
            matches!(clauses[at].words.first(), Some(Word::Number(_)));
    }
    let is_of_others = clauses.iter().any(|clause| clause.has(&OF_OTHERS));
    let is_false = |(at, clause): (usize, &Clause<'_>)| {
        clause.measures_falsely()
            || (!is_of_others
                && (clause.counts_falsely() || clause.quantifies_falsely(&clauses[at + 1..])))
    };
    clauses.iter().enumerate().any(is_false)
}

/// True if all numbers of `sentence` are known to be the result's, and all words with digits, which may be what
/// identifies a record.
pub(super) fn are_known(sentence: &str, known: &Known) -> bool {
    clauses(sentence).iter().flatten().all(|word| match word {
        Word::Number(number) => known.has(*number),
        Word::Plain(word) | Word::Quoted(word) => {
            !word.contains(|it: char| it.is_ascii_digit()) || known.has_word(word)
        }
        Word::Day(_) | Word::Mark(_) => true,
    })
}
