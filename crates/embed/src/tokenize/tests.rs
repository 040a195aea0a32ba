use proptest::prelude::*;
use serde::Deserialize;

use super::*;

/// A text, and what the model's own tokenizer makes of it (PyPI `tokenizers` 0.23, no more than 256 pieces).
#[derive(Deserialize)]
struct Reference {
    text: String,
    ids: Vec<u16>,
}

#[test]
fn texts_are_cut_as_the_models_own_tokenizer_cuts_them() {
    let lines = include_str!("reference.jsonl").lines();
    let references: Vec<Reference> =
        lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(references.len() >= 40, "{}", references.len());
    for Reference { text, ids } in references {
        assert_eq!(tokens(&text), ids, "{text:?}");
        if ids.len() < MAX_TOKENS {
            assert_eq!(token_count(&text), ids.len() - 2, "{text:?}");
        }
    }
}

#[test]
fn every_character_is_taken_as_the_models_own_tokenizer_takes_it() {
    // FNV-1a over the numbers that PyPI's `tokenizers` gives for each character between two letters.
    const EXPECTED: u64 = 0x13f3_22b4_0f12_b312;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for character in '\0'..=char::MAX {
        for token in tokens(&format!("a{character}b")) {
            for byte in token.to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    assert_eq!(hash, EXPECTED);
}

#[test]
fn a_long_text_has_all_its_pieces_counted_and_the_first_ones_looked_at() {
    let text = "word ".repeat(100_000);
    assert_eq!(token_count(&text), 100_000);
    let tokens = tokens(&text);
    assert_eq!(tokens.len(), MAX_TOKENS);
    assert_eq!((tokens[0], tokens[MAX_TOKENS - 1]), (BEGINNING, END));
}

#[test]
fn a_text_is_shortened_between_two_characters() {
    let text = format!("x{}", "ü".repeat(MAX_TEXT_BYTES));
    let shortened = shortened(&text);
    assert_eq!(shortened.len(), MAX_TEXT_BYTES - 1);
    assert!(text.starts_with(shortened));
}

proptest! {
    #[test]
    fn any_text_is_cut_into_words_that_lie_in_it_in_order(text in ".{0,200}|\\PC{0,50}|[\\x00-\\x{10FFFF}]{0,80}") {
        let tokens = tokens(&text);
        prop_assert!(tokens.len() <= MAX_TOKENS);
        prop_assert_eq!((tokens[0], tokens[tokens.len() - 1]), (BEGINNING, END));
        let mut last = 0;
        words(&text, |word| {
            assert!(last <= word.place.start && text.get(word.place.clone()).is_some(), "{text:?}");
            last = word.place.start;
        });
    }
}
