//! Puts what was found by words and what was found by meaning into one order.
//!
//! What a document gets by its words is a share of the most that the question's words could give. To the cosine
//! comes something for that share: the first words tell most, and all of them together do not outweigh a meaning
//! that is much nearer. One word of several counts for nothing, since a question that is put in other words than
//! its answer shares one with much else. Nothing depends on the list at hand, so that a weak list cannot look
//! strong. How the numbers were found: `eval/retrieval`.

use std::collections::{HashMap, HashSet};

/// A document that one of the ways has found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored {
    pub(crate) key: i64,
    pub(crate) score: f64,
    /// Its best passage.
    pub(crate) passage: usize,
}

/// What was found by words: the documents, the best first, and what none can get more than.
#[derive(Debug, Default)]
pub(crate) struct Worded {
    pub(crate) documents: Vec<Scored>,
    pub(crate) most: f64,
    /// The documents that may have no more than a word of the question by chance.
    pub(crate) by_chance: HashSet<i64>,
}

/// How much the first of the words count, compared with the cosine.
const WORDS: f64 = 0.8;
/// What all of them count at most.
const MOST: f64 = 0.2;
/// A share of no more counts as nothing.
const CHANCE: f64 = 0.1;

/// The documents of both ways, the best first, with scores from 0 to 1. Each way has its best first, and a
/// document once. `meaning` is `None` if there is no vector of the question.
pub(crate) fn fused(words: &Worded, meaning: Option<&Vec<Scored>>) -> Vec<Scored> {
    let share = |score: f64| (score / words.most.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    let Some(meaning) = meaning.filter(|meaning| !meaning.is_empty()) else {
        let documents = words.documents.iter();
        return documents.map(|it| Scored { score: share(it.score), ..*it }).collect();
    };
    // What has not been found by its meaning is no nearer than what has.
    let farthest = meaning.last().map_or(0.0, |it| it.score);
    let mut all: HashMap<i64, Scored> = meaning.iter().map(|it| (it.key, *it)).collect();
    for found in &words.documents {
        let counting = if words.by_chance.contains(&found.key) {
            0.0
        } else {
            (share(found.score) - CHANCE).max(0.0)
        };
        let by_words = MOST * (1.0 - (-WORDS * counting / MOST).exp());
        let scored = all.entry(found.key).or_insert(Scored { score: farthest, ..*found });
        // The passage that is shown is the one with the words, unless they may be there by chance.
        if by_words > 0.0 {
            scored.passage = found.passage;
        }
        scored.score += by_words;
    }
    let mut fused: Vec<Scored> = all.into_values().collect();
    // Of equally good ones the newer.
    fused.sort_by(|one, other| other.score.total_cmp(&one.score).then(other.key.cmp(&one.key)));
    fused.iter().map(|it| Scored { score: it.score.clamp(0.0, 1.0), ..*it }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(scores: &[(i64, f64)]) -> Vec<Scored> {
        scores.iter().map(|(key, score)| Scored { key: *key, score: *score, passage: 0 }).collect()
    }

    fn worded(words: &[(i64, f64)], most: f64) -> Worded {
        Worded { documents: way(words), most, ..Worded::default() }
    }

    fn keys(found: &[Scored]) -> Vec<i64> {
        found.iter().map(|found| found.key).collect()
    }

    fn order(words: &[(i64, f64)], most: f64, meaning: &[(i64, f64)]) -> Vec<i64> {
        keys(&fused(&worded(words, most), Some(&way(meaning))))
    }

    #[test]
    fn one_way_alone_keeps_its_order() {
        let one = [(3, 0.9), (1, 0.4), (2, 0.1)];
        assert_eq!(order(&one, 1.0, &[]), [3, 1, 2]);
        assert_eq!(order(&[], 1.0, &one), [3, 1, 2]);
        assert!(order(&[], 0.0, &[]).is_empty());
        let alone = fused(&worded(&one, 2.0), None);
        assert_eq!(alone.iter().map(|it| it.key).collect::<Vec<_>>(), [3, 1, 2]);
        assert!((alone[0].score - 0.45).abs() < 1e-9, "a share of what could be");
    }

    #[test]
    fn what_both_find_comes_first() {
        let fused = order(&[(1, 8.0), (2, 7.0), (4, 1.0)], 16.0, &[(3, 0.6), (2, 0.55), (5, 0.1)]);
        assert_eq!(fused[0], 2);
    }

    #[test]
    fn a_chance_word_does_not_beat_meaning() {
        let (words, meaning) = ([(1, 2.0), (2, 1.0)], [(3, 0.6), (1, 0.45)]);
        assert_eq!(order(&words, 20.0, &meaning)[0], 3);
        assert_eq!(order(&words, 2.0, &meaning)[0], 1, "all of the question's words do");
    }

    #[test]
    fn what_may_be_there_by_chance_counts_for_nothing_and_is_still_found() {
        let mut words = worded(&[(1, 4.0), (2, 3.0)], 10.0);
        let meaning = way(&[(3, 0.5), (1, 0.45)]);
        assert_eq!(keys(&fused(&words, Some(&meaning))), [1, 2, 3]);
        words.by_chance = HashSet::from([1, 2]);
        assert_eq!(keys(&fused(&words, Some(&meaning))), [3, 2, 1]);
        assert_eq!(keys(&fused(&words, None)), [1, 2], "words alone have nothing else to go by");
    }

    #[test]
    fn scores_are_from_0_to_1() {
        let meaning = way(&[(3, 0.9), (2, 0.8), (4, -0.2)]);
        for found in fused(&worded(&[(3, 8.0), (2, 7.0)], 8.0), Some(&meaning)) {
            assert!((0.0..=1.0).contains(&found.score), "{found:?}");
        }
    }
}
