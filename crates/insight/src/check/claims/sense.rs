//! How exactly a number is meant, and whether it agrees with what is known.

use super::{
    super::words::{Number, Word},
    clause::Clause,
};

/// Words that say how exactly a number is meant, in front of it.
pub(super) const SENSES: [&str; 20] = [
    "about",
    "around",
    "roughly",
    "approximately",
    "nearly",
    "almost",
    "circa",
    "some",
    "only",
    "just",
    "exactly",
    "over",
    "under",
    "more",
    "less",
    "fewer",
    "than",
    "at",
    "least",
    "most",
];

/// How exactly a number is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    Exactly,
    About,
    MoreThan,
    LessThan,
}

impl Clause<'_> {
    /// How the number at a place is meant.
    pub(super) fn sense(&self, at: usize) -> Sense {
        let (one, two) = (self.before(at, 1), self.before(at, 2));
        match (two, one) {
            (
                _,
                Some(
                    "about" | "around" | "roughly" | "approximately" | "nearly" | "almost"
                    | "circa" | "some",
                ),
            ) => Sense::About,
            // `no more than 5`
            (Some("more" | "greater" | "higher"), Some("than"))
                if self.before(at, 3) == Some("no") =>
            {
                Sense::LessThan
            }
            (Some("less" | "fewer" | "lower"), Some("than"))
                if self.before(at, 3) == Some("no") =>
            {
                Sense::MoreThan
            }
            (_, Some("over" | "above" | "exceeding"))
            | (Some("more" | "greater" | "higher"), Some("than"))
            | (Some("at"), Some("least")) => Sense::MoreThan,
            (_, Some("under" | "below"))
            | (Some("less" | "fewer" | "lower"), Some("than"))
            | (Some("at"), Some("most"))
            | (Some("up"), Some("to")) => Sense::LessThan,
            _ if self.words.get(at.wrapping_sub(1)) == Some(&Word::Mark('~'))
                || self.words.get(at.wrapping_sub(1)) == Some(&Word::Mark('≈')) =>
            {
                Sense::About
            }
            _ => Sense::Exactly,
        }
    }
}

/// True if a number says what is true, as it is meant.
pub(super) fn agrees(number: Number, truth: f64, sense: Sense) -> bool {
    let Number { value, slack, .. } = number;
    match sense {
        Sense::Exactly => (value - truth).abs() <= slack.max(truth.abs() * 1e-9),
        Sense::About => (value - truth).abs() <= slack.max(truth.abs() * 0.1),
        Sense::MoreThan => value - slack <= truth,
        Sense::LessThan => value + slack >= truth,
    }
}

pub(super) fn slack_of(sense: Sense) -> f64 {
    match sense {
        Sense::About => 1.1,
        Sense::Exactly | Sense::MoreThan | Sense::LessThan => 1.0,
    }
}
