//! Chooses the passages of a long document that are found by their meaning, too: some that say that something
//! went wrong, since these are asked for, and the rest spread over all of it.

use super::evenly;
use crate::Passage;

/// Words that say so, in small letters.
const WRONG: [&str; 12] = [
    "error",
    "fatal",
    "fail",
    "exception",
    "panic",
    "critical",
    "warn",
    "denied",
    "refused",
    "timeout",
    "timed out",
    "traceback",
];

/// The places of `count` passages, in their order; of all if they are no more.
pub(crate) fn chosen(passages: &[Passage], count: usize) -> Vec<usize> {
    if passages.len() <= count {
        return (0..passages.len()).collect();
    }
    let is_telling = |passage: &Passage| {
        let text = passage.text.to_lowercase();
        WRONG.iter().any(|word| text.contains(word))
    };
    let telling: Vec<usize> =
        (1..passages.len()).filter(|place| is_telling(&passages[*place])).collect();
    // Where most are of that kind it tells nothing.
    if telling.is_empty() || telling.len() > passages.len() / 2 {
        return evenly(passages.len(), count);
    }
    let mut places: Vec<usize> =
        evenly(telling.len(), count / 2).into_iter().map(|place| telling[place]).collect();
    let others: Vec<usize> =
        (0..passages.len()).filter(|place| places.binary_search(place).is_err()).collect();
    let left = count - places.len();
    places.extend(evenly(others.len(), left).into_iter().map(|place| others[place]));
    places.sort_unstable();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passages(count: usize, telling: &[usize]) -> Vec<Passage> {
        let text =
            |place| if telling.contains(&place) { "FATAL: no space left" } else { "all is well" };
        (0..count)
            .map(|place| Passage { text: text(place).to_owned(), ..Passage::default() })
            .collect()
    }

    #[test]
    fn what_went_wrong_is_among_the_chosen_and_the_rest_is_spread() {
        assert_eq!(chosen(&passages(3, &[1]), 5), [0, 1, 2]);
        assert_eq!(chosen(&passages(100, &[77]), 4), [0, 33, 66, 77]);
        let many: Vec<usize> = (0..90).collect();
        assert_eq!(chosen(&passages(100, &many), 4), evenly(100, 4));
        let places = chosen(&passages(1_000, &[5, 500, 501, 502, 999]), 64);
        assert_eq!(places.len(), 64);
        assert!([0, 5, 500, 501, 502, 999].iter().all(|place| places.contains(place)));
    }
}
