use proptest::prelude::*;

use super::*;
use crate::token_count;

fn cut(text: &str, tokens: usize, overlap: usize) -> Vec<&str> {
    windows(text, tokens, overlap).into_iter().map(|place| &text[place]).collect()
}

#[test]
fn a_text_that_fits_is_one_part_and_none_has_none() {
    assert_eq!(cut("", 10, 2), Vec::<&str>::new());
    assert_eq!(cut(" \n\t ", 10, 2), Vec::<&str>::new());
    assert_eq!(cut("  one two\nthree\n", 10, 2), ["one two\nthree"]);
}

#[test]
fn parts_end_where_a_line_or_a_sentence_does() {
    let lines = "one two\nthree four five\nsix seven eight\nnine ten";
    assert_eq!(cut(lines, 6, 0), ["one two\nthree four five", "six seven eight\nnine ten"]);
    let sentences = "One two. Three four five! Six seven? Eight nine ten.";
    assert_eq!(cut(sentences, 8, 0), ["One two. Three four five!", "Six seven? Eight nine ten."]);
    let paragraphs = "one two three\nfour\n\nfive\nsix seven eight";
    assert_eq!(cut(paragraphs, 6, 0), ["one two three\nfour", "five\nsix seven eight"]);
}

#[test]
fn a_line_that_is_too_long_is_cut_between_words() {
    assert_eq!(cut("one two three four five", 2, 0), ["one two", "three four", "five"]);
    assert_eq!(cut("one.two.three", 4, 0), ["one.two.", "three"]);
    assert_eq!(cut("中文测试", 2, 0), ["中文", "测试"]);
}

#[test]
fn parts_share_what_they_may_from_a_good_place_on() {
    assert_eq!(
        cut("one two three four five six", 4, 2),
        ["one two three four", "three four five six"]
    );
    let lines = "one two\nthree four\nfive six\nseven eight\nnine";
    assert_eq!(cut(lines, 6, 3), ["one two\nthree four\nfive six", "five six\nseven eight\nnine"]);
}

#[test]
fn what_is_shared_leaves_room_for_what_is_new() {
    assert_eq!(cut("a\n.\njfvhbd,", 2, 1), ["a\n.", "jfvhbd", ","]);
}

#[test]
fn what_has_no_words_is_cut_all_the_same() {
    let blob = "x".repeat(100_000);
    let parts = cut(&blob, 200, 0);
    assert_eq!(parts.len(), 125);
    assert_eq!(parts.concat(), blob);
    let gap = format!("one{}two", " ".repeat(100_000));
    assert_eq!(cut(&gap, 200, 50), ["one", "two"]);
}

#[test]
fn a_word_that_is_too_long_is_a_part_by_itself() {
    let word = "antidisestablishmentarianism";
    assert!(token_count(word) > 2);
    assert_eq!(cut(&format!("a {word} b"), 2, 1), ["a", word, "b"]);
}

proptest! {
    #[test]
    fn every_word_is_in_a_part_and_every_part_fits(
        text in "([a-z]{1,12}[ .,\\n]{1,3}){0,60}|\\PC{0,80}|[a-z \\n\\x{4e00}-\\x{4e20}é😀]{0,300}",
        tokens in 1_usize..40,
        overlap in 0_usize..50,
    ) {
        let parts = windows(&text, tokens, overlap);
        let mut starts = Vec::new();
        crate::tokenize::words(&text, |word| starts.push(word.place.clone()));
        for word in &starts {
            prop_assert!(parts.iter().any(|part| part.start <= word.start && word.end <= part.end));
        }
        for pair in parts.windows(2) {
            prop_assert!(pair[0].start < pair[1].start && pair[0].end < pair[1].end);
        }
        for part in &parts {
            let part = text.get(part.clone()).unwrap();
            prop_assert!(token_count(part) <= tokens.max(100));
        }
    }
}
