//! Finds passages by their words.
//!
//! A question becomes the words that tell something, and those are looked for in the order of how rare
//! they are: a word that stands everywhere costs much and tells little. A passage that has only one of several may
//! have it by chance, unless it is a number or a name with one.

use std::collections::HashSet;

use rusqlite::{Row, params_from_iter, types::Value};

use crate::{
    SearchError,
    columns::count,
    database::{Database, ROWS_PER_DOCUMENT},
    index::Meant,
};

/// So many places of words are looked at for a question: it has to be quick however much is kept.
const MAX_PLACES: u64 = 40_000;
/// No question has more words.
const MAX_WORDS: usize = 64;
/// One of more words than these is so little of a question that it counts for nothing anyway.
const FEW_WORDS: usize = 8;
/// How much a word in the title counts, compared with one in the text.
const TITLE_WEIGHT: f64 = 2.0;
/// What a word gets at most for each unit of its rarity, as FTS5 counts.
const MOST_FOR_A_WORD: f64 = 2.2;

/// A passage that has words of a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Worded {
    pub(crate) key: i64,
    pub(crate) passage: usize,
    /// More is better (BM25).
    pub(crate) score: f64,
    /// Whether it may have no more than a word by chance.
    pub(crate) is_chance: bool,
}

/// What was found by words.
#[derive(Debug, Default)]
pub(crate) struct ByWords {
    /// The best first.
    pub(crate) passages: Vec<Worded>,
    /// What no passage can get more than for this question.
    pub(crate) most: f64,
    /// Whether there may be more.
    pub(crate) has_more: bool,
}

/// A word of a question.
struct Term {
    word: String,
    /// In how many passages it is.
    passages: u64,
}

impl Database {
    /// The passages of documents that are meant which have words of `text`, the best first.
    pub(crate) fn find_words(
        &self,
        text: &str,
        meant: &Meant,
        limit: usize,
    ) -> Result<ByWords, SearchError> {
        let total = self.passages()?;
        let terms = self.terms(text)?;
        #[expect(clippy::cast_precision_loss, reason = "they are counts of passages")]
        let most = |term: &Term| {
            let (total, passages) = (total as f64, term.passages as f64);
            MOST_FOR_A_WORD * ((total - passages + 0.5) / (passages + 0.5)).ln().max(1e-6)
        };
        // What a question asks for and nothing has counts, too: a chance word is little of it.
        let most = terms.iter().map(most).sum();
        let asked = terms.len();
        let looked_for = telling(terms);
        if looked_for.is_empty() {
            return Ok(ByWords { most, ..ByWords::default() });
        }
        let quoted: Vec<String> =
            looked_for.iter().map(|term| format!("\"{}\"", term.word)).collect();
        let sql = format!(
            "SELECT rowid, -bm25(words, {TITLE_WEIGHT:.1}, 1.0) FROM words
             WHERE words MATCH ? AND rowid / {ROWS_PER_DOCUMENT} IN
                 (SELECT key FROM documents WHERE {})
             ORDER BY bm25(words, {TITLE_WEIGHT:.1}, 1.0) LIMIT ?",
            meant.sql
        );
        let values = [Value::Text(quoted.join(" OR "))].into_iter();
        let values = values.chain(meant.values.iter().cloned());
        let values = values.chain([Value::Integer(count(limit))]);
        let not_by_chance = self.not_by_chance(&quoted, asked)?;
        let mut query = self.connection.prepare_cached(&sql)?;
        let worded = |row: &Row<'_>| {
            let id: i64 = row.get(0)?;
            let passage = usize::try_from(id % ROWS_PER_DOCUMENT).unwrap_or_default();
            let (key, score) = (id / ROWS_PER_DOCUMENT, row.get(1)?);
            Ok(Worded {
                key,
                passage,
                score,
                is_chance: not_by_chance.as_ref().is_some_and(|them| !them.contains(&id)),
            })
        };
        let rows = query.query_map(params_from_iter(values), worded)?;
        let passages: Vec<Worded> = rows.collect::<rusqlite::Result<_>>()?;
        let has_more = passages.len() == limit;
        Ok(ByWords { passages, most, has_more })
    }

    /// The rows that have two of the words, or one that is a number or a name with one. `None` if a word alone
    /// is no chance: nothing else was asked for, or so much else that it counts for nothing.
    fn not_by_chance(
        &self,
        quoted: &[String],
        asked: usize,
    ) -> Result<Option<HashSet<i64>>, SearchError> {
        if !(2..=FEW_WORDS).contains(&asked) {
            return Ok(None);
        }
        let mut either = Vec::new();
        for (place, word) in quoted.iter().enumerate() {
            if word.contains(|c: char| c.is_numeric()) {
                either.push(word.clone());
            }
            either.extend(quoted[..place].iter().map(|other| format!("({other} AND {word})")));
        }
        if either.is_empty() {
            return Ok(Some(HashSet::new()));
        }
        let mut query =
            self.connection.prepare_cached("SELECT rowid FROM words WHERE words MATCH ?1")?;
        let rows = query.query_map([either.join(" OR ")], |row| row.get(0))?;
        Ok(Some(rows.collect::<rusqlite::Result<_>>()?))
    }

    /// How many passages there are.
    fn passages(&self) -> Result<u64, SearchError> {
        let query = "SELECT coalesce(sum(passages), 0) FROM documents";
        let count: i64 = self.connection.prepare_cached(query)?.query_row([], |row| row.get(0))?;
        Ok(count.cast_unsigned())
    }

    /// The words of a text that tell something, and in how many passages each is.
    fn terms(&self, text: &str) -> Result<Vec<Term>, SearchError> {
        self.connection.execute_batch(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary
                 USING fts5vocab('main', 'words', 'row');
             CREATE VIRTUAL TABLE IF NOT EXISTS temp.question USING fts5(
                 word, tokenize = 'porter unicode61 remove_diacritics 2');
             CREATE VIRTUAL TABLE IF NOT EXISTS temp.question_terms
                 USING fts5vocab('temp', 'question', 'instance');
             DELETE FROM temp.question;",
        )?;
        let mut ask = self
            .connection
            .prepare_cached("INSERT INTO temp.question (rowid, word) VALUES (?1, ?2)")?;
        let mut stem = self.connection.prepare_cached(
            "SELECT term FROM temp.question_terms WHERE doc = ?1 ORDER BY \"offset\" LIMIT 1",
        )?;
        let mut frequency = self
            .connection
            .prepare_cached("SELECT coalesce(max(doc), 0) FROM temp.vocabulary WHERE term = ?1")?;
        let (mut terms, mut seen) = (Vec::new(), HashSet::new());
        for (number, word) in words_of(text).into_iter().enumerate() {
            ask.execute((count(number), &word))?;
            let stem: Vec<String> = stem
                .query_map([count(number)], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            // The same word in another form counts once.
            let Some(stem) = stem.into_iter().next().filter(|stem| seen.insert(stem.clone()))
            else {
                continue;
            };
            let passages: i64 = frequency.query_row([&stem], |row| row.get(0))?;
            terms.push(Term { word, passages: passages.cast_unsigned() });
        }
        Ok(terms)
    }
}

/// The words that are looked for: the rare ones, as far as that is quick. Those that are nowhere are not.
fn telling(mut terms: Vec<Term>) -> Vec<Term> {
    terms.retain(|term| term.passages > 0);
    terms.sort_by_key(|term| term.passages);
    let mut places = 0;
    let mut count = 0;
    for term in &terms {
        places += term.passages;
        if count > 0 && places > MAX_PLACES {
            break;
        }
        count += 1;
    }
    terms.truncate(count);
    terms
}

/// The words of a question, each once; those that every sentence has only if there are no others.
pub(crate) fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut seen = HashSet::new();
    let all: Vec<String> = words
        .map(str::to_lowercase)
        .filter(|word| seen.insert(word.clone()))
        .take(MAX_WORDS)
        .collect();
    let telling: Vec<String> =
        all.iter().filter(|word| !EVERYWHERE.contains(&word.as_str())).cloned().collect();
    if telling.is_empty() { all } else { telling }
}

/// Words that every English sentence may have.
const EVERYWHERE: [&str; 116] = [
    "a", "about", "above", "after", "again", "against", "all", "am", "an", "and", "any", "are",
    "as", "at", "be", "because", "been", "before", "being", "below", "between", "both", "but",
    "by", "can", "could", "did", "do", "does", "doing", "down", "during", "each", "few", "for",
    "from", "further", "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his",
    "how", "i", "if", "in", "into", "is", "it", "its", "itself", "just", "me", "more", "most",
    "my", "no", "nor", "not", "now", "of", "off", "on", "once", "only", "or", "other", "our",
    "out", "over", "own", "same", "she", "should", "so", "some", "such", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too",
    "under", "until", "up", "very", "was", "we", "were", "what", "when", "where", "which", "while",
    "who", "whom", "why", "will", "with", "would", "you", "your",
];
