//! What fits one question: found by both ways, put in one order, and held against the store.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    sync::Arc,
};

use forebay_store::{DatasetId, Store, StoreError, Viewer};

use crate::{
    Among, Found, Hit, Near, Question, Search, SearchError, Way,
    database::Database,
    events,
    fusion::{Scored, Worded, fused},
    index::{Known, Meant},
    words::ByWords,
};

/// So many documents are looked at for a question, of each way, or as many as are wanted.
pub(crate) const LOOKED_AT: usize = 200;
/// So many passages are asked for, for each document that is looked at; more if they are all of a few.
const PASSAGES_EACH: usize = 3;
/// Which passage of a document is about the whole.
const WHOLE: usize = 0;
/// What share of the best score is nearly as good.
const NEARLY: f64 = 0.85;
/// Nothing is learnt from a first answer that is no nearer. How the numbers were found: `eval/retrieval`.
const NEAR: f64 = 0.35;
/// How far a question is moved towards its first answer.
const LEARNT: f32 = 0.3;
/// Asked for again so often, each time for four times as many.
const ROUNDS: u32 = 6;
/// A service is asked no oftener, and answers no more: it may have far more of others than of ours.
const ROUNDS_ELSEWHERE: u32 = 2;
/// No more datasets are named to a service.
const MOST_NAMED: usize = 500;

/// The answer to one question in the making.
pub(crate) struct Finding<'a> {
    search: &'a Search,
    way: Way,
    question: &'a Question,
    viewer: &'a Viewer,
    meant: &'a Meant,
    known: HashMap<i64, Known>,
    /// Whether something was in the index that exists no more.
    pub(crate) has_met_gone: bool,
}

impl<'a> Finding<'a> {
    pub(crate) fn new(
        search: &'a Search,
        way: Way,
        question: &'a Question,
        viewer: &'a Viewer,
        meant: &'a Meant,
    ) -> Self {
        Self { search, way, question, viewer, meant, known: HashMap::new(), has_met_gone: false }
    }

    /// The documents that have words of the question, the best first, `wanted` if there are so many.
    pub(crate) fn words(&mut self, wanted: usize) -> Result<Worded, SearchError> {
        let mut found = Worded::default();
        match self.way {
            Way::Meaning => return Ok(found),
            Way::Words | Way::Both => {}
        }
        let named = match &self.question.within {
            None => None,
            Some(these) => {
                let keys = self.search.reader.ask(|it| it.keys_of(these, self.meant))?;
                Some(Meant::named(&keys.unwrap_or_default()))
            }
        };
        let meant = named.as_ref().unwrap_or(self.meant);
        let mut limit = wanted * PASSAGES_EACH;
        for _ in 0..ROUNDS {
            let text = &self.question.text;
            let look = |it: &Database| it.find_words(text, meant, limit);
            let words = self.search.reader.ask(look)?;
            let ByWords { passages, most, has_more } = words.unwrap_or_default();
            let scored = passages.iter().map(|it| Scored {
                key: it.key,
                score: it.score,
                passage: it.passage,
            });
            let telling = passages.iter().filter(|it| !it.is_chance).map(|it| it.key);
            let telling: HashSet<i64> = telling.collect();
            let by_chance = passages.iter().map(|it| it.key).filter(|it| !telling.contains(it));
            let by_chance = by_chance.collect();
            found = Worded { documents: each_once(scored), most, by_chance };
            if !has_more || found.documents.len() >= wanted {
                break;
            }
            limit *= 4;
        }
        let keys: Vec<i64> = found.documents.iter().map(|it| it.key).collect();
        let known = self.search.reader.ask(|it| it.known(&keys, self.meant))?;
        self.known.extend(known.unwrap_or_default());
        Ok(found)
    }

    /// The documents that mean nearly the same, the nearest first, `wanted` if there are so many.
    fn meaning(&mut self, vector: &[f32], wanted: usize) -> Result<Vec<Scored>, SearchError> {
        let mut among = Among {
            principal: self.viewer.principal.clone(),
            server: self.question.server.clone(),
            tool: self.question.tool.clone(),
            since: self.question.since,
            until: self.question.until,
            min_bytes: self.question.min_bytes,
            within: self.question.within.clone(),
        };
        let is_elsewhere = self.search.elsewhere().is_some();
        let rounds = if is_elsewhere { ROUNDS_ELSEWHERE } else { ROUNDS };
        let mut documents = Vec::new();
        let mut limit = wanted * PASSAGES_EACH;
        for _ in 0..rounds {
            let near = self.search.vectors.nearest(vector, &among, limit)?;
            documents = self.of_known(&near)?;
            if near.len() < limit || documents.len() >= wanted {
                break;
            }
            // Where most of what lies near is not meant, those that are can be named if they are few.
            if among.within.is_none() {
                let own = self.search.reader.ask(|it| it.datasets(self.meant, MOST_NAMED))?;
                among.within = own.flatten().map(Arc::new);
            }
            if among.within.as_ref().is_some_and(|these| these.len() <= documents.len()) {
                break;
            }
            limit *= 4;
        }
        Ok(documents)
    }

    /// What lies near the question once it is moved towards the first answer, which has more of the words that
    /// answers are put in. `None` if there is nothing to learn from: the first look stands.
    fn second_look(
        &mut self,
        vector: Option<&[f32]>,
        meaning: &[Scored],
        all: &[Scored],
        wanted: usize,
    ) -> Option<Vec<Scored>> {
        match self.way {
            Way::Words | Way::Meaning => return None,
            Way::Both => {}
        }
        let (vector, best) = (vector?, all.first()?);
        let near = meaning.iter().find(|it| it.key == best.key && it.score >= NEAR)?;
        let dataset = self.known.get(&best.key)?.dataset.clone();
        let answer = self.search.vectors.of(&dataset, near.passage).ok()??;
        self.meaning(&moved(vector, &answer)?, wanted).ok()
    }

    /// The documents of passages, of those that may be seen.
    fn of_known(&mut self, near: &[Near]) -> Result<Vec<Scored>, SearchError> {
        let mut datasets: Vec<DatasetId> = near.iter().map(|it| it.dataset.clone()).collect();
        datasets.sort();
        datasets.dedup();
        // Most of them are known from the words, or from a look before.
        let before: HashSet<&DatasetId> = self.known.values().map(|it| &it.dataset).collect();
        datasets.retain(|dataset| !before.contains(dataset));
        let known = self.search.reader.ask(|it| it.known_of(&datasets, self.meant))?;
        self.known.extend(known.unwrap_or_default());
        let keys: HashMap<&DatasetId, i64> =
            self.known.values().map(|it| (&it.dataset, it.key)).collect();
        let scored = near.iter().filter_map(|it| {
            let key = *keys.get(&it.dataset)?;
            Some(Scored { key, score: f64::from(it.similarity), passage: it.passage })
        });
        Ok(each_once(scored))
    }

    /// Fills in what fits best, and exists, and may be seen.
    pub(crate) fn hits(
        &mut self,
        store: &Store,
        words: Worded,
        vector: Option<&[f32]>,
        found: &mut Found,
    ) -> Result<(), SearchError> {
        let (mut words, mut wanted) = (words, LOOKED_AT);
        for round in 0..ROUNDS {
            if round > 0 || wanted < self.question.limit {
                wanted = (wanted * 4).max(self.question.limit);
                words = self.words(wanted)?;
            }
            let meaning = match vector {
                None => Vec::new(),
                Some(vector) => self.meaning(vector, wanted).unwrap_or_else(|error| {
                    // Each question counts once, however often it is asked again.
                    if found.by_words_alone.is_none() {
                        self.search.tally_soon(&error);
                    }
                    found.by_words_alone = Some(events::told(&error));
                    Vec::new()
                }),
            };
            let mut all = fused(&words, vector.is_some().then_some(&meaning));
            if let Some(second) = self.second_look(vector, &meaning, &all, wanted) {
                all = fused(&words, Some(&second));
            }
            found.hits = self.existing(store, &all)?;
            let is_all = words.documents.len() < wanted && meaning.len() < wanted;
            if is_all || found.hits.len() >= self.question.limit {
                break;
            }
        }
        Ok(())
    }

    /// Those of the best that exist and may be seen, as many as are wanted.
    fn existing(&mut self, store: &Store, all: &[Scored]) -> Result<Vec<Hit>, SearchError> {
        let mut hits = Vec::new();
        for scored in all {
            if hits.len() >= self.question.limit {
                break;
            }
            let Some(known) = self.known.get(&scored.key) else { continue };
            match store.dataset(&known.dataset) {
                Ok(dataset) if self.viewer.sees(dataset.metadata()) => {}
                Ok(_) => continue,
                Err(StoreError::Unknown(_)) => {
                    self.has_met_gone = true;
                    continue;
                }
                // One that is damaged cannot be read by whoever finds it.
                Err(_) => continue,
            }
            let passage = self.search.reader.ask(|it| it.passage(scored.key, scored.passage))?;
            let passage = passage.flatten().unwrap_or_default();
            #[expect(clippy::cast_possible_truncation, reason = "it is from 0 to 1")]
            let fit = scored.score as f32;
            hits.push(Hit {
                dataset: known.dataset.clone(),
                score: fit,
                title: known.title.clone(),
                passage,
                left_out: known.left_out,
            });
        }
        Ok(hits)
    }
}

/// A vector moved towards another, of length one.
fn moved(vector: &[f32], towards: &[f32]) -> Option<Vec<f32>> {
    if vector.len() != towards.len() {
        return None;
    }
    let sum: Vec<f32> = vector.iter().zip(towards).map(|(from, to)| from + LEARNT * to).collect();
    let length = sum.iter().map(|number| number * number).sum::<f32>().sqrt();
    (length > f32::EPSILON).then(|| sum.iter().map(|number| number / length).collect())
}

/// The documents of passages, the best first, each with its best one. A place in a document tells more than a
/// passage about the whole that fits little better.
fn each_once(passages: impl Iterator<Item = Scored>) -> Vec<Scored> {
    let mut places: HashMap<i64, usize> = HashMap::new();
    let mut documents: Vec<Scored> = Vec::new();
    for scored in passages {
        match places.entry(scored.key) {
            Entry::Vacant(place) => {
                place.insert(documents.len());
                documents.push(scored);
            }
            Entry::Occupied(place) => {
                let best = &mut documents[*place.get()];
                if best.passage == WHOLE && scored.score >= NEARLY * best.score {
                    best.passage = scored.passage;
                }
            }
        }
    }
    documents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_if_it_fits_nearly_as_well_as_the_whole() {
        let scored = |key, passage, score| Scored { key, score, passage };
        let passages = [
            scored(1, WHOLE, 0.5),
            scored(2, WHOLE, 0.48),
            scored(1, 7, 0.47),
            scored(1, 9, 0.46),
            scored(2, 3, 0.2),
        ];
        let documents = each_once(passages.into_iter());
        assert_eq!(documents, [scored(1, 7, 0.5), scored(2, WHOLE, 0.48)]);
    }

    #[test]
    fn a_question_is_moved_a_little_towards_its_answer() {
        let moved_towards = moved(&[1.0, 0.0], &[0.0, 1.0]).unwrap();
        assert!((moved_towards[1] / moved_towards[0] - LEARNT).abs() < 1e-6);
        let length: f32 = moved_towards.iter().map(|number| number * number).sum();
        assert!((length - 1.0).abs() < 1e-6);
        assert_eq!(moved(&[1.0, 0.0], &[1.0]), None, "of another model");
        assert_eq!(moved(&[0.0], &[0.0]), None, "without a direction");
    }
}
