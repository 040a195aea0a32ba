//! Numbers that say how many there are of what the result holds.

use super::{
    super::{known::as_float, words::Number},
    clause::Clause,
    scope::{NO_RESTRICTIONS, RESTRICTIONS},
    sense::{SENSES, Sense, agrees, slack_of},
};

pub(super) const RECORD_NOUNS: [&str; 16] = [
    "record",
    "records",
    "row",
    "rows",
    "entry",
    "entries",
    "item",
    "items",
    "result",
    "results",
    "object",
    "objects",
    "document",
    "documents",
    "line",
    "lines",
];
/// What is said to have, hold or list something is the whole.
const WHOLES: [&str; 14] = [
    "result",
    "results",
    "dataset",
    "data",
    "response",
    "list",
    "table",
    "file",
    "output",
    "report",
    "collection",
    "payload",
    "it",
    "this",
];
/// Words that may stand between `there are` and the number, beside those that say how exactly it is meant.
const BEFORE_NUMBERS: [&str; 4] = ["total", "of", "a", "the"];

impl Clause<'_> {
    /// True if a number that says how many there are is the number of nothing that is there.
    pub(super) fn is_false_total(&self, at: usize, number: Number, sense: Sense) -> bool {
        let next = self.plain(at + 1);
        let is_record = |word: Option<&str>| word.is_some_and(|it| self.is_record_noun(it));
        if is_record(next) {
            self.is_false_count_of_records(at, at + 1, number, sense)
        } else if is_record(self.plain(at + 2)) {
            self.is_false_count_of_records(at, at + 2, number, sense)
        } else if let Some(distinct) = self.distinct_of_many(at + 1) {
            self.is_false_count_of_values(at + 2, number, sense, distinct)
        } else {
            self.is_false_count_of_things(at, number, sense)
        }
    }

    /// True if a word names records: of any result, or of this one.
    pub(super) fn is_record_noun(&self, word: &str) -> bool {
        RECORD_NOUNS.contains(&word) || self.known.nouns.iter().any(|noun| noun == word)
    }

    /// The whole of `40 of 5,000` is the number of something that is there.
    pub(super) fn is_no_whole(&self, number: Number, sense: Sense) -> bool {
        self.known.records.is_some() && !self.is_figure(number, sense)
    }

    fn is_false_count_of_records(
        &self,
        at: usize,
        noun: usize,
        number: Number,
        sense: Sense,
    ) -> bool {
        let is_lines = self.plain(noun).is_some_and(|it| it.starts_with("line"));
        // Of lines of a table, and of records of a text, nothing is known.
        let told = if is_lines { self.known.lines } else { self.known.records };
        let Some(told) = told else { return false };
        let is_too_many = number.value - number.slack > self.known.most() * slack_of(sense);
        let adjective = (noun == at + 2).then(|| self.plain(at + 1)).flatten();
        let is_adjective_neutral =
            adjective.is_none_or(|it| matches!(it, "total" | "data" | "individual"));
        // `a 4,000-record list of orders`
        let is_attribute =
            self.plain(noun).is_some_and(|it| !it.ends_with('s')) && number.value > 1.0;
        // `all 4,000 records have an id`, but not `all 40 records with errors`
        let verb = self.plain(noun + 1);
        let is_of_all = self.before(at, 1) == Some("all")
            && verb.is_some_and(|it| matches!(it, "have" | "are" | "were" | "had" | "share"));
        // `40 records failed`, but neither `40 records exist` nor `there are 40 records sorted by date`
        let is_of_whole = self.is_of_whole(at);
        let does_something = self.before(at, 1) != Some("the")
            && !is_of_whole
            && verb.is_some_and(|it| !leads_to_whole(it) && !RESTRICTIONS.contains(&it));
        let is_restricted =
            !is_attribute && !is_of_all && (does_something || self.is_restricted(noun + 1));
        let is_of_each = (0..at).any(|it| matches!(self.plain(it), Some("each" | "every" | "per")));
        // `missing in 40 records`
        let is_part = self.is_part_of_whole(at)
            || (!is_of_whole && self.is_of_part(at))
            || self.follows_value;
        let is_whole = is_adjective_neutral && !is_restricted && !is_of_each && !is_part;
        if !is_whole {
            return is_too_many && sense != Sense::LessThan;
        }
        let is_true = |total: f64| is_told(number, total, sense);
        !agrees(number, as_float(told), sense)
            && !self.known.totals.iter().any(|total| is_true(*total))
    }

    /// How many different values the field has whose many are named at a place: `countries`.
    fn distinct_of_many(&self, at: usize) -> Option<u64> {
        let is_many = self.plain(at).is_some_and(|it| it.ends_with('s'));
        let named = self.fields.iter().find(|(field, from)| *from == at && field.name.len() == 1);
        named.filter(|_| is_many)?.0.distinct
    }

    /// `41 countries`, where there are 40 different ones.
    fn is_false_count_of_values(
        &self,
        behind: usize,
        number: Number,
        sense: Sense,
        distinct: u64,
    ) -> bool {
        let is_total = |total: &f64| agrees(number, *total, sense);
        let is_right =
            agrees(number, as_float(distinct), sense) || self.known.totals.iter().any(is_total);
        let is_of_all = behind >= self.words.len() || self.says_that_they_are_there(behind);
        let is_part = !is_of_all && number.value <= as_float(distinct);
        !is_right && !is_part
    }

    /// `There are 600 orders`, whatever orders are: so many there must be of something.
    fn is_false_count_of_things(&self, at: usize, number: Number, sense: Sense) -> bool {
        // That there is nothing of something, no profile can tell.
        if self.known.records.is_none() || number.value <= 0.0 {
            return false;
        }
        let is_noun = |at: usize| {
            let is_word = |it: &str| !RESTRICTIONS.contains(&it) && !matches!(it, "to" | "or");
            self.plain(at).is_some_and(is_word)
        };
        if !is_noun(at + 1) {
            return false;
        }
        let behind =
            if is_noun(at + 2) && !self.says_that_they_are_there(at + 2) { at + 3 } else { at + 2 };
        let is_claim = self.is_of_whole(at)
            || self.says_that_they_are_there(behind)
            || (behind >= self.words.len() && self.is_begun_by_number(at));
        let is_of_all = is_claim && !self.is_restricted(behind);
        is_of_all && !self.is_figure(number, sense)
    }

    /// `there are`, `the dataset contains`, `a total of`
    fn is_of_whole(&self, at: usize) -> bool {
        let mut place = at;
        while place > 0 && self.leads_to_number_at(place - 1) {
            place -= 1;
        }
        let is_total = (place..at).any(|it| self.plain(it) == Some("total"));
        let has_whole = || self.names_whole_before(place);
        is_total
            || match self.before(place, 1) {
                Some("are" | "is" | "were" | "was" | "exist") => {
                    self.before(place, 2) == Some("there")
                }
                Some(
                    "contains" | "contain" | "includes" | "include" | "comprises" | "holds"
                    | "lists" | "returns" | "returned" | "has" | "have" | "shows" | "covers",
                ) => has_whole(),
                _ => false,
            }
    }

    /// True if what is said to have or to come with something is the whole.
    pub(super) fn names_whole_before(&self, at: usize) -> bool {
        (0..at).any(|it| self.plain(it).is_some_and(|it| WHOLES.contains(&it)))
    }

    fn is_begun_by_number(&self, at: usize) -> bool {
        (0..at).all(|it| self.leads_to_number_at(it))
    }

    /// True if the word at a place may stand in front of a number that says how many there are.
    fn leads_to_number_at(&self, at: usize) -> bool {
        match self.plain(at) {
            // `At 12 sites, the stock is zero` says where.
            Some("at") => matches!(self.plain(at + 1), Some("least" | "most")),
            Some(word) => SENSES.contains(&word) || BEFORE_NUMBERS.contains(&word),
            None => false,
        }
    }

    /// `exist`, `were returned`, `in total`, `in the result`
    fn says_that_they_are_there(&self, at: usize) -> bool {
        let first = self.plain(at);
        let is_verb =
            |it: &str| matches!(it, "exist" | "exists" | "appear" | "total" | "altogether");
        let leads = first.is_some_and(|it| matches!(it, "are" | "is" | "were" | "was" | "in"));
        first.is_some_and(is_verb) || (leads && !self.is_restricted(at))
    }

    /// True if a number is one of those that are known of the result.
    fn is_figure(&self, number: Number, sense: Sense) -> bool {
        self.known.figures().any(|figure| is_told(number, figure, sense))
    }
}

/// True if what has a number of records before this word may still be all of them.
fn leads_to_whole(word: &str) -> bool {
    const THERE: [&str; 8] =
        ["exist", "exists", "appear", "appears", "came", "come", "long", "beside"];
    NO_RESTRICTIONS.contains(&word) || THERE.contains(&word)
}

/// True if a number is so near to a total that it is meant to tell it.
fn is_told(number: Number, total: f64, sense: Sense) -> bool {
    // What is said in bounds is said of something that is near the bound.
    let is_near = match sense {
        Sense::Exactly | Sense::About => true,
        Sense::MoreThan => total <= 2.0 * number.value,
        Sense::LessThan => total >= number.value / 2.0,
    };
    agrees(number, total, sense) && is_near
}
